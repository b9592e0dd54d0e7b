#pragma once
#include <string>

#include "base/result.h"

namespace mtmc {

// How a task is searched: "greedy/tree" or, with the paper's actions only, "greedy/tree/paper", by a coder of its own
// "chat/rollout@builtin,llm". The policy's argument may have slashes: "lm:models/small/rollout".
struct Way {
  std::string policy, strategy;
  bool paper_only = false;
  std::string coder = {};  // as --coder; empty: the command line's
  std::string text() const {
    return policy + "/" + strategy + (paper_only ? "/paper" : "") + (coder.empty() ? "" : "@" + coder);
  }
};

// POLICY/STRATEGY[/paper][@CODER]. An Error: there is no such policy, strategy or coder.
Result<Way> parse_way(const std::string& word);

}  // namespace mtmc
