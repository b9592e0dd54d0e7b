#include "coder/beyond.h"

#include <algorithm>
#include <set>

#include "actions/flow.h"
#include "actions/schedule.h"
#include "targets/cost.h"

namespace mtmc {
namespace {

constexpr size_t kMostBeyond = 8;  // at one state: each of them may cost money

bool replaces(const Action& action) {
  return action.type == "lower" || action.type == "fuse" || action.type == "simplify";
}

// Kernels by position.
std::vector<int> out_of_reach(const Program& program, const std::vector<Proposal>& legal) {
  std::set<ValueId> reached;
  for (const Proposal& proposal : legal)
    if (replaces(proposal.action))
      for (const auto& region : proposal.action.regions) reached.insert(region.begin(), region.end());
  const Links links(program);
  std::vector<int> found;
  for (size_t k = 0; k < program.kernels.size(); ++k) {
    const Kernel& kernel = program.kernels[k];
    const auto is_reached = [&](ValueId id) { return reached.contains(id); };
    if (kernel.family == Family::library && !is_view_kernel(links, kernel) && !is_constant_kernel(links, kernel) &&
        std::none_of(kernel.values.begin(), kernel.values.end(), is_reached))
      found.push_back(static_cast<int>(k));
  }
  return found;
}

}  // namespace

std::vector<std::vector<ValueId>> beyond_reach(const Program& program, const std::vector<Proposal>& legal) {
  std::vector<std::vector<ValueId>> calls;
  for (int k : out_of_reach(program, legal)) calls.push_back(program.kernels[k].values);
  return calls;
}

std::vector<Proposal> proposals_beyond(const CodeState& state, const std::vector<Proposal>& legal,
                                       const ActionContext& context) {
  const Program& program = *state.program;
  std::vector<int> calls = out_of_reach(program, legal);
  if (calls.empty()) return {};
  const std::vector<KernelCost> costs = cost_of(program, context.target, context.hardware);
  std::stable_sort(calls.begin(), calls.end(), [&](int a, int b) { return costs[a].seconds > costs[b].seconds; });
  std::vector<Proposal> proposals;
  std::set<std::set<ValueId>> seen;
  const auto propose = [&](const char* type, std::initializer_list<int> kernels) {
    std::set<ValueId> values;
    for (int k : kernels) values.insert(program.kernels[k].values.begin(), program.kernels[k].values.end());
    if (proposals.size() == kMostBeyond || !seen.insert(values).second) return;
    Action action{type, {{values.begin(), values.end()}}, ""};
    std::string text = render(action, program, state.code);
    proposals.push_back({std::move(action), std::move(text), true});
  };
  for (int k : calls) propose("lower", {k});
  const KernelFlow flow(program);
  for (int k : calls) {
    for (int other : flow.producers(k))
      if (flow.is_convex({std::min(k, other), std::max(k, other)})) propose("fuse", {other, k});
    for (int other : flow.consumers(k))
      if (flow.is_convex({std::min(k, other), std::max(k, other)})) propose("fuse", {k, other});
  }
  return proposals;
}

}  // namespace mtmc
