// Macro thinking by a general language model, which nobody has trained for it: the same actions, in words and by
// number. One of the paper's ablations (arXiv 2511.20100, Table 7).
#pragma once
#include <memory>

#include "llm/client.h"
#include "search/policy.h"

namespace mtmc {

// `context.llm` and `context.store` are not null. What was asked before, with the same words, the store answers.
std::unique_ptr<Policy> make_chat_policy(const PolicyContext& context, ClientParts parts);

}  // namespace mtmc
