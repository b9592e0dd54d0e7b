// Notes about kernels: their form, and finding the ones that a question is about.
#include "coder/knowledge.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "support/source_dir.h"

namespace mtmc {
namespace {

using ::testing::HasSubstr;

std::vector<std::string> titles(const std::vector<const Note*>& notes) {
  std::vector<std::string> found;
  for (const Note* note : notes) found.push_back(note->title);
  return found;
}

struct Folder {
  std::filesystem::path path = std::filesystem::temp_directory_path() / ("notes-" + std::to_string(::getpid()));
  Folder() { std::filesystem::remove_all(path); }
  ~Folder() { std::filesystem::remove_all(path); }
};

TEST(Knowledge, FindsWhatAQuestionIsAbout) {
  const std::vector<Note> notes = read_notes("").value();
  EXPECT_GE(notes.size(), 20u);
  EXPECT_EQ(titles(find_notes(notes, "depthwise convolution", "triton", 1)).front(), "Depthwise convolutions");
  EXPECT_EQ(titles(find_notes(notes, "why is my variance wrong?", "cpu", 1)).front(), "Variances lose digits");
  EXPECT_TRUE(find_notes(notes, "zebra", "triton", 3).empty());
  EXPECT_EQ(find_notes(notes, "matmul precision", "triton", 2).size(), 2u);
}

TEST(Knowledge, OfATargetOrOfAll) {
  const std::vector<Note> notes = {
      {"One", "triton; matmul", "tile\n"}, {"Two", "cpu; matmul", "tile\n"}, {"Three", "all", "a tile\n"}};
  EXPECT_THAT(titles(find_notes(notes, "tile", "cpu", 5)), ::testing::UnorderedElementsAre("Two", "Three"));
}

TEST(Knowledge, TheTitleCountsMoreThanTheTextAndRareWordsMoreThanCommonOnes) {
  const std::vector<Note> notes = {{"Tiles", "all", "about sums and warps\n"},
                                   {"Sums", "all", "about tiles and warps\n"},
                                   {"Warps", "all", "about sums and threads\n"}};
  EXPECT_EQ(titles(find_notes(notes, "sum", "cpu", 3)).front(), "Sums");
  EXPECT_EQ(titles(find_notes(notes, "sums, threads", "cpu", 3)).front(), "Warps") << "threads is the rare one";
}

TEST(Knowledge, WhatIsAddedIsFoundAndLimitsHold) {
  const Folder folder;
  ASSERT_TRUE(add_note(folder.path, {"Zebras", "cpu; learned", "They have stripes.\n"}).ok());
  ASSERT_TRUE(add_note(folder.path, {"Zebras", "cpu; learned", "They have stripes.\n"}).ok());
  const std::vector<Note> notes = read_notes(folder.path).value();
  EXPECT_EQ(notes.size(), read_notes("").value().size() + 1) << "the same note is one file";
  EXPECT_EQ(titles(find_notes(notes, "zebra", "cpu", 3)).front(), "Zebras");
  EXPECT_THAT(add_note(folder.path, {"Long", "all", std::string(3000, 'x')}).error().message(), HasSubstr("too long"));
  EXPECT_THAT(add_note(folder.path, {"", "all", "text"}).error().message(), HasSubstr("no title"));
}

TEST(Knowledge, AMissingFolderIsNoEmptyOne) {
  const Folder folder;
  EXPECT_THAT(read_notes(folder.path).error().message(), HasSubstr("reading notes: no such folder: got '"));
  std::filesystem::create_directories(folder.path);
  EXPECT_EQ(read_notes(folder.path)->size(), read_notes("")->size());
}

TEST(Knowledge, TheDigestIsThatOfWhatTheNotesSay) {
  const Folder folder;
  const std::string ours = digest_of(read_notes("").value());
  ASSERT_TRUE(add_note(folder.path, {"Zebras", "cpu", "Stripes.\n"}).ok());
  const std::string with = digest_of(read_notes(folder.path).value());
  EXPECT_NE(with, ours);
  for (const auto& file : std::filesystem::directory_iterator(folder.path))
    std::filesystem::rename(file.path(), folder.path / "zebras.md");
  EXPECT_EQ(digest_of(read_notes(folder.path).value()), with);
  std::ofstream(folder.path / "zebras.md") << "# Zebras\nfor: cpu\n\nNo stripes.\n";
  EXPECT_NE(digest_of(read_notes(folder.path).value()), with);
}

TEST(Knowledge, WithoutATargetAllNotesAreSearched) {
  const std::vector<Note> notes = {{"One", "triton", "tile\n"}, {"Two", "cpu", "tile\n"}};
  EXPECT_EQ(find_notes(notes, "tile", "", 5).size(), 2u);
}

TEST(Knowledge, ABadNoteIsNamed) {
  const Folder folder;
  std::filesystem::create_directories(folder.path);
  std::ofstream(folder.path / "bad.md") << "# Title\n\ntext\n";
  const std::string message = read_notes(folder.path).error().message();
  EXPECT_THAT(message, HasSubstr("bad.md"));
  EXPECT_THAT(message, HasSubstr("for: triton; matmul"));
}

TEST(Knowledge, OnlyTargetsDecideForWhatANoteIs) {
  const std::vector<Note> notes = {{"Zebras", "cpu; learned by agent:triton-coder", "Stripes.\n"}};
  EXPECT_EQ(find_notes(notes, "zebras", "cpu", 3).size(), 1u);
  EXPECT_TRUE(find_notes(notes, "zebras", "triton", 3).empty());
}

}  // namespace
}  // namespace mtmc
