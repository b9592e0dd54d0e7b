// Pages that are generated from the tables.
#pragma once
#include <string>

namespace mtmc {

// The action types and the rules of simplify: docs/ACTIONS.md.
std::string actions_markdown();
// The words of a schedule, with the targets that read them: a table in docs/PROGRAM.md.
std::string schedule_words_markdown();

}  // namespace mtmc
