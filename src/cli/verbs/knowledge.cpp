// `mtmc knowledge`: the notes that an agent finds, ours and those of a folder: listed, searched, shown, added to.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/verb.h"
#include "coder/knowledge.h"
#include "targets/target.h"

namespace mtmc {
namespace {

constexpr std::array kWhats = {"list", "search", "show", "add"};

struct KnowledgeOptions {
  std::string what = "list", folder, target = "all";
  std::vector<std::string> words;
  int64_t most = 3;
  bool as_json = false;
};

Json note_json(const Note& note) {
  return {{"title", note.title},
          {"for", note.targets},
          {"text", note.text},
          {"file", note.file.empty() ? Json(nullptr) : Json(note.file.string())}};
}

int print_notes(const std::vector<const Note*>& notes, bool as_json, bool whole) {
  Json all = Json::array();
  for (const Note* note : notes) {
    if (as_json)
      all.push_back(note_json(*note));
    else if (whole)
      fmt::print("# {}\nfor: {}\n\n{}{}", note->title, note->targets, note->text, note == notes.back() ? "" : "\n");
    else
      fmt::print("{:<50}  {}{}\n", note->title, note->targets, note->file.empty() ? "" : "  " + note->file.string());
  }
  if (as_json) fmt::print("{}\n", all.dump(2));
  return kDone;
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

Result<int> add(const KnowledgeOptions& options) {
  if (options.folder.empty())
    return Error{"adding a note", "--knowledge is missing", "", "the folder that notes are added to"};
  for (const std::string& file : options.words) {
    MTMC_TRY(const std::string text, read_file(file));
    Result<Note> note = parse_note(text);
    if (!note.ok()) return Error{"reading " + file, note.error().wrong, note.error().got, note.error().wanted};
    MTMC_RETURN_IF_ERROR(add_note(options.folder, *note));
    fmt::print("added: {}\n", note->title);
  }
  return kDone;
}

Result<int> knowledge(const KnowledgeOptions& options) {
  const std::string words = join(options.words, " "), target = options.target == "all" ? "" : options.target;
  if (std::find(kWhats.begin(), kWhats.end(), options.what) == kWhats.end())
    return Error{"reading what to do with notes", "there is no such thing", "'" + options.what + "'",
                 "one of " + join({kWhats.begin(), kWhats.end()}, ", ")};
  if (options.what == "list" && !words.empty())
    return Error{"listing notes", "it takes no words", "'" + words + "'", "mtmc knowledge search WORDS"};
  if (options.what != "list" && words.empty())
    return Error{"reading what to " + options.what, "nothing is named", "",
                 "mtmc knowledge " + options.what + (options.what == "add" ? " FILE..." : " WORDS")};
  if (options.what == "add") return add(options);
  MTMC_TRY(const std::vector<Note> notes, read_notes(options.folder));
  if (options.what == "search") {
    const auto found = find_notes(notes, words, target, static_cast<size_t>(options.most));
    if (found.empty() && !options.as_json) fmt::print("no note says anything about that\n");
    return print_notes(found, options.as_json, true);
  }
  std::vector<const Note*> chosen;
  for (const Note& note : notes)
    if (is_for(note, target) && (options.what == "list" || lower(note.title) == lower(words))) chosen.push_back(&note);
  if (options.what == "show" && chosen.empty())
    return Error{"showing a note", "there is none of that title", "'" + words + "'",
                 "one that `mtmc knowledge list` prints"};
  return print_notes(chosen, options.as_json, options.what == "show");
}

VerbBody declare(Options& options) {
  const auto given = std::make_shared<KnowledgeOptions>();
  options.optional_positional(given->what, "WHAT", "list (the default), search, show or add");
  options.positional_words(given->words, "WORDS", "search: what for; show: a title; add: files, each a note");
  options.text(given->folder, "--knowledge", "DIR", "a folder of notes, beside those that are shipped");
  std::vector<std::string> targets = {"all"};
  for (const TargetDef* target : all_targets()) targets.emplace_back(target->name);
  options.choice(given->target, "--target", std::move(targets), "notes for this target only");
  options.integer(given->most, "--most", 1, "search: the most notes that are printed");
  options.flag(given->as_json, "--json", "print JSON");
  return [given] { return knowledge(*given); };
}

}  // namespace

extern const Verb knowledge_def;
const Verb knowledge_def{"knowledge", "Notes for --coder agent: list, search or show them, or add to a folder.",
                         declare};

}  // namespace mtmc
