// Kernels of one's own are preferred where they are about as fast: nobody waits for another library, they run alike
// with every version of it, and later steps can work on them. So the search ends with a look at what is left in a
// library.
#include <algorithm>
#include <map>

#include "search/environment.h"
#include "targets/cost.h"

namespace mtmc {
namespace {

constexpr double kLeastRest = 0.02;   // of the predicted time: less in a library is nothing
constexpr double kHopelessly = 1.42;  // times as slow as predicted: the model does not err by so much (see gains.cpp)

// Of the predicted time, with what a capture has copied by the library.
double library_share(const Program& program, const TargetDef& target, const Hardware& hardware) {
  double whole = 0, library = 0;
  for (const KernelCost& cost : cost_of(program, target, hardware))
    whole += cost.seconds, library += cost.own ? cost.copying : cost.seconds;
  return whole > 0 ? library / whole : 0;
}

// The library calls that can be generated, but for those that are predicted to be much slower then.
Action lower_all(const Program& program, const ActionContext& context) {
  std::map<std::vector<ValueId>, double> seconds;
  for (const KernelCost& cost : cost_of(program, context.target, context.hardware))
    seconds[program.kernel(cost.kernel)->values] = cost.seconds;
  Action all{"lower", {}, ""};
  for (const Action& one : find_action(all.type)->enumerate(program, context)) {
    if (one.regions.size() != 1) continue;  // places that are alike come one by one, too
    const std::vector<ValueId>& values = one.regions[0];
    const auto next = apply_action(program, one, context);
    if (!next.ok()) continue;
    const auto kernel =
        std::find_if(next->kernels.begin(), next->kernels.end(), [&](const Kernel& k) { return k.values == values; });
    if (kernel != next->kernels.end() &&
        context.target.cost(*next, *kernel, context.hardware).seconds < kHopelessly * seconds[values])
      all.regions.push_back(values);
  }
  return all;
}

}  // namespace

SearchNode* Environment::preferred(bool certified) {
  SearchNode* const best = certified ? best_certified() : this->best();
  if (best == nullptr || !measures()) return best;
  const auto share = [&](const SearchNode& node) {
    return node.state.program ? library_share(*node.state.program, parts_.target, parts_.hardware) : 1;
  };
  SearchNode* preferred = best;
  double least = std::max(kLeastRest, share(*best));
  for (SearchNode& node : nodes_) {
    const bool counts = node.verdict().certified() && (!certified || node.certify);
    const bool loses = best->score() > 1 && node.score() <= 1;  // what is faster than eager is not given away
    if (!counts || loses || node.score() < kAsFast * best->score()) continue;
    const double of_this = std::max(kLeastRest, share(node));
    if (of_this > least || (of_this == least && node.score() <= preferred->score())) continue;
    preferred = &node, least = of_this;
  }
  return preferred;
}

Status Environment::lower_rest() {
  if (!measures()) return ok_status();
  measuring_ = true;
  const LastSteps last(*this);
  SearchNode* node = preferred();
  if (node == nullptr || node->state.program == nullptr || spent()) return ok_status();
  const Program& program = *node->state.program;
  if (library_share(program, parts_.target, parts_.hardware) < kLeastRest) return ok_status();
  const Action all = lower_all(program, context());
  if (all.regions.empty()) return ok_status();
  const size_t places = all.regions.size();
  const std::string text = places == 1 ? render(all, program, node->state.code)
                                       : "lower all " + std::to_string(places) + " calls that are left";
  MTMC_TRY([[maybe_unused]] const Step taken, step(*node, {{all, text}}, 0));
  return ok_status();
}

Status Environment::without_graph() {
  if (!measures() || !parts_.target.graphs || !coder_.account().empty()) return ok_status();
  measuring_ = true;
  const LastSteps last_steps(*this);
  const SearchNode* node = preferred();
  if (node == nullptr || node->state.program == nullptr || node->state.program->captures.empty()) return ok_status();
  Program alone = *node->state.program;
  alone.captures.clear();
  const bool pays = total_seconds(alone, parts_.target, parts_.hardware) >
                    total_seconds(*node->state.program, parts_.target, parts_.hardware);
  if (pays || known_state(mtmc::state_hash(alone)) != nullptr) return ok_status();
  std::vector<const SearchNode*> steps;  // the last first
  for (const SearchNode* at = node; at->parent != nullptr; at = at->parent) steps.push_back(at);
  SearchNode* last = &nodes_.front();
  for (auto at = steps.rbegin(); at != steps.rend(); ++at) {
    if ((*at)->action.type == "capture") continue;
    const Proposal again{(*at)->action, (*at)->rendered};
    const SearchNode* before = met(*last, again);
    if (spent(seconds_a_step()) || (before != nullptr && before->judged && !before->screen.certified()))
      return ok_status();
    MTMC_TRY(const Step made, make(*last, {again}, 0));
    if (made.node == nullptr || made.node->state.program == nullptr) return ok_status();
    last = made.node;
  }
  return last->judged ? ok_status() : judge_kept(*last);
}

}  // namespace mtmc
