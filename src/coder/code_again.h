// The code of an attempt that a language model wrote, from the answers that the store keeps: nobody is asked.
#pragma once
#include <optional>
#include <string>

#include "base/result.h"
#include "store/store.h"

namespace mtmc {

// Whether its note says which answers its code came from. Drafts of an agent that an earlier version had judged do not.
bool names_answers(const NodeRecord& attempt);

// What the answers that the attempt's note names hold today, `before` being its parent's code. Nothing where the note
// names none, or the store lacks one of them. An Error: none of them holds code that can be used.
Result<std::optional<std::string>> code_again(Store& store, const NodeRecord& attempt, const std::string& before);

}  // namespace mtmc
