// What erred too much is multiplied more exactly: the ladder of the target's `precisions`, one rung at a time.
#include <algorithm>

#include "search/remedy.h"

namespace mtmc {
namespace {

std::optional<Proposal> propose(const SearchNode& refused, const ActionContext& context) {
  // A screen that refuses a rung leaves the rest of the ladder to the strategy.
  const bool tried = refused.action.type == "precision" && !refused.certify;
  if (refused.verdict().reason != "precision" || tried || refused.state.program == nullptr || context.paper_only)
    return std::nullopt;
  const Program& program = *refused.state.program;
  for (const Kernel& kernel : program.kernels) {
    const auto now = kernel.choices.find("precision");
    if (now == kernel.choices.end()) continue;
    const std::vector<std::string> ladder = context.target.precisions(program, kernel);
    const auto rung = std::find(ladder.begin(), ladder.end(), now->second);
    if (ladder.end() - rung < 2) continue;
    Action action{"precision", {kernel.values}, rung[1]};
    std::string text = render(action, program, refused.state.code);
    return Proposal{std::move(action), std::move(text)};
  }
  return std::nullopt;
}

}  // namespace

extern const RemedyDef more_exact_def;
const RemedyDef more_exact_def{"more_exact", "refused for its precision: the next more exact way to multiply", propose};

}  // namespace mtmc
