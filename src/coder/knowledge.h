// What is known about making kernels fast: short notes, ours from measurements and those that runs have added, found by
// their words.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace mtmc {

// A note is a Markdown file: "# Title", a line "for: triton; matmul, reduction" (targets or all; behind the semicolon
// families, which are only words to be found), and some lines of text.
struct Note {
  std::string title, targets, text;  // text: everything behind the line of targets
  std::filesystem::path file = {};   // empty: one of ours
};

// Our notes (src/coder/notes) and those of a folder, in the order of their names; empty: ours only. An Error: there is
// no such folder, or it or a note in it cannot be read.
Result<std::vector<Note>> read_notes(const std::filesystem::path& folder);
// An Error says what the text lacks.
Result<Note> parse_note(std::string_view text);

// What the notes say, in one word: the same notes have the same digest, wherever they lie.
std::string digest_of(const std::vector<Note>& notes);

// The notes of a target (empty: of any) that say most about a question, best first: Okapi BM25 (Robertson & Zaragoza
// 2009) with k1 = 1.2, b = 0.75; words of the title count three times. Notes that share no word with it are left out.
std::vector<const Note*> find_notes(const std::vector<Note>& notes, std::string_view question, std::string_view target,
                                    size_t most);

// Whether a note is for a target (empty: any).
bool is_for(const Note& note, std::string_view target);

// Adds a note to a folder, which is made where there is none; its file is named by its content. An Error: it is longer
// than 2000 bytes, has no title, the folder holds 500, or cannot be written.
Status add_note(const std::filesystem::path& folder, const Note& note);

}  // namespace mtmc
