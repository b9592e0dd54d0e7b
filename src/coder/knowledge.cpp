#include "coder/knowledge.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>

#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"
#include "coder_notes.h"

namespace mtmc {
namespace {

constexpr double kK1 = 1.2, kB = 0.75;
constexpr size_t kMostBytes = 2000, kMostNotes = 500;
constexpr int kTitle = 3;  // how often a word of the title counts

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words(1);
  for (const char sign : text) {
    const auto byte = static_cast<unsigned char>(sign);
    if (std::isalnum(byte) || sign == '_')
      words.back() += static_cast<char>(std::tolower(byte));
    else if (!words.back().empty())
      words.emplace_back();
  }
  if (words.back().empty()) words.pop_back();
  for (std::string& word : words)  // "kernels" finds "kernel"
    if (word.size() > 3 && word.ends_with('s') && !word.ends_with("ss")) word.pop_back();
  return words;
}

std::vector<std::string> words_of(const Note& note) {
  std::vector<std::string> words = words_of(note.targets + "\n" + note.text);
  const std::vector<std::string> title = words_of(note.title);
  for (int i = 0; i < kTitle; ++i) words.insert(words.end(), title.begin(), title.end());
  return words;
}

}  // namespace

bool is_for(const Note& note, std::string_view target) {
  if (target.empty()) return true;
  const std::vector<std::string> words = words_of(note.targets.substr(0, note.targets.find(';')));
  return std::any_of(words.begin(), words.end(), [&](const auto& word) { return word == "all" || word == target; });
}

Result<Note> parse_note(std::string_view text) {
  const std::vector<std::string> lines = split(std::string(text), '\n');
  const auto wrong = [](const std::string& what, const std::string& got, const std::string& wanted) {
    return Error{"reading a note", what, "'" + got.substr(0, 80) + "'", wanted};
  };
  if (!lines[0].starts_with("# ") || trim(std::string_view(lines[0]).substr(2)).empty())
    return wrong("it has no title", lines[0], "# Title");
  if (lines.size() < 2 || !lines[1].starts_with("for: "))
    return wrong("its second line does not say what it is for", lines.size() < 2 ? "" : lines[1],
                 "for: triton; matmul");
  std::string rest;
  for (size_t i = 2; i < lines.size(); ++i) rest += lines[i] + "\n";
  if (trim(rest).empty()) return wrong("it says nothing", "", "some lines of text");
  return Note{std::string(trim(std::string_view(lines[0]).substr(2))),
              std::string(trim(std::string_view(lines[1]).substr(5))), std::string(trim(rest)) + "\n"};
}

Result<std::vector<Note>> read_notes(const std::filesystem::path& folder) {
  std::vector<Note> notes;
  for (const auto& [stem, text] : kNotes) {
    MTMC_TRY(Note note, parse_note(text));
    notes.push_back(std::move(note));
  }
  if (folder.empty()) return notes;
  std::vector<std::filesystem::path> files;
  std::error_code failed;
  if (!std::filesystem::is_directory(folder, failed))
    return Error{"reading notes", "no such folder", "'" + folder.string() + "'", "a folder of Markdown files"};
  for (const auto& entry : std::filesystem::directory_iterator(folder, failed))
    if (entry.path().extension() == ".md") files.push_back(entry.path());
  if (failed) return Error{"reading notes", failed.message(), folder.string(), "a folder of Markdown files"};
  std::sort(files.begin(), files.end());
  for (const auto& file : files) {
    MTMC_TRY(const std::string text, read_file(file));
    Result<Note> note = parse_note(text);
    if (!note.ok()) {
      Error error = note.error();
      error.doing = "reading " + file.string();
      return error;
    }
    note->file = file;
    notes.push_back(std::move(*note));
  }
  return notes;
}

std::string digest_of(const std::vector<Note>& notes) {
  std::vector<std::string> all;  // each one's digest: what belongs to which is not in doubt
  for (const Note& note : notes) all.push_back(sha256(note.title + "\n" + note.targets + "\n" + note.text));
  std::sort(all.begin(), all.end());
  return short_hash(join(all, "\n"), 12);
}

std::vector<const Note*> find_notes(const std::vector<Note>& notes, std::string_view question, std::string_view target,
                                    size_t most) {
  struct Ranked {
    const Note* note;
    std::map<std::string, int> counts;
    double length, score = 0;
  };
  std::vector<Ranked> candidates;
  double all = 0;
  for (const Note& note : notes) {
    if (!is_for(note, target)) continue;
    Ranked one{&note, {}, 0};
    for (const std::string& word : words_of(note)) ++one.counts[word], ++one.length;
    all += one.length;
    candidates.push_back(std::move(one));
  }
  const double count = static_cast<double>(candidates.size());
  for (const std::string& word : words_of(question)) {
    const auto with = static_cast<double>(std::count_if(candidates.begin(), candidates.end(),
                                                        [&](const Ranked& one) { return one.counts.contains(word); }));
    const double rare = std::log(1 + (count - with + 0.5) / (with + 0.5));
    for (Ranked& one : candidates) {
      const auto found = one.counts.find(word);
      if (found == one.counts.end()) continue;
      const double times = found->second;
      one.score += rare * times * (kK1 + 1) / (times + kK1 * (1 - kB + kB * one.length * count / all));
    }
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Ranked& a, const Ranked& b) { return a.score > b.score; });
  std::vector<const Note*> found;
  for (const Ranked& one : candidates)
    if (one.score > 0 && found.size() < most) found.push_back(one.note);
  return found;
}

Status add_note(const std::filesystem::path& folder, const Note& note) {
  const std::string text = "# " + note.title + "\nfor: " + note.targets + "\n\n" + note.text;
  const auto wrong = [](const std::string& what, const std::string& got, const std::string& wanted) {
    return Error{"adding a note", what, got, wanted};
  };
  if (text.size() > kMostBytes)
    return wrong("it is too long", std::to_string(text.size()) + " bytes", std::to_string(kMostBytes));
  MTMC_TRY([[maybe_unused]] const Note same, parse_note(text));
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) return wrong(failed.message(), folder.string(), "a folder that can be made");
  const auto files = std::filesystem::directory_iterator(folder, failed);
  if (failed) return wrong(failed.message(), folder.string(), "a folder");
  if (static_cast<size_t>(std::distance(begin(files), end(files))) >= kMostNotes)
    return wrong("there are enough", folder.string(), "fewer than " + std::to_string(kMostNotes));
  return write_file(folder / ("learned-" + short_hash(text, 12) + ".md"), text);
}

}  // namespace mtmc
