// What erred too much is multiplied more exactly: the ladder of the target's `precisions`, one rung at a time.
#include <algorithm>

#include "search/remedy.h"

namespace mtmc {
namespace {

// Of a network the state that a kernel leaves is the most exact witness: a mean over a batch.
bool erred_too_much(const Verdict& verdict) {
  const bool of_state = verdict.reason == "state-differs" && !verdict.errors.empty();
  return verdict.reason == "precision" || (of_state && !verdict.errors.back().broken.empty());
}

// Which of many products it was, nobody knows: all that are as inexact as the least exact one climb together.
std::optional<Proposal> propose(const SearchNode& refused, const ActionContext& context) {
  // A screen that refuses a rung leaves the rest of the ladder to the strategy.
  const bool tried = refused.action.type == "precision" && !refused.certify;
  if (!erred_too_much(refused.verdict()) || tried || refused.state.program == nullptr || context.paper_only)
    return std::nullopt;
  const Program& program = *refused.state.program;
  Action action{"precision", {}, ""};
  size_t longest = 1;  // of what is left of a ladder
  for (const Kernel& kernel : program.kernels) {
    const auto now = kernel.choices.find("precision");
    if (now == kernel.choices.end()) continue;
    const std::vector<std::string> ladder = context.target.precisions(program, kernel);
    const auto rung = std::find(ladder.begin(), ladder.end(), now->second);
    const auto left = static_cast<size_t>(ladder.end() - rung);
    if (left < 2 || left < longest) continue;
    if (left > longest) longest = left, action.detail = rung[1], action.regions.clear();
    action.regions.push_back(kernel.values);
  }
  if (action.regions.empty()) return std::nullopt;
  std::string text = render(action, program, refused.state.code);
  return Proposal{std::move(action), std::move(text)};
}

}  // namespace

extern const RemedyDef more_exact_def;
const RemedyDef more_exact_def{"more_exact", "refused for its precision: the next more exact way to multiply", propose};

}  // namespace mtmc
