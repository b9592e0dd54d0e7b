// The cost model's favourite first. What counts is what the Program can become (see Forecaster) and, half as much, what
// it gains at once; stop stands where less than 2 % is to be gained. The model cannot tell good loop orders from bad
// ones and errs about library calls: such actions on the kernels that take the time are worth a measurement all the
// same.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "search/policy.h"
#include "search/prospect.h"
#include "targets/cost.h"

namespace mtmc {
namespace {

constexpr double kWorthwhile = 0.02;  // gain, as a logarithm of times
constexpr double kAtOnce = 0.5;       // weight of what is gained before the kernels are completed
constexpr double kHope = 0.04;        // gain hoped for, against the model, from a kernel that takes all the time
constexpr double kModelError = 0.35;  // no hope below a predicted loss of this much
constexpr std::array kSchedule = {"tile", "pipeline", "split", "reorder", "lower", "fuse"};

class GreedyPolicy final : public Policy {
 public:
  explicit GreedyPolicy(const PolicyContext& context)
      : context_{context.hardware, context.target, context.paper_only}, forecaster_(context_) {}
  std::string name() const override { return "greedy"; }

  Result<std::vector<size_t>> rank(const Observation& observation, const std::vector<Proposal>& proposals) override {
    std::vector<size_t> order(proposals.size());
    std::iota(order.begin(), order.end(), size_t{0});
    if (observation.program == nullptr) return order;  // nothing to predict with: as its coder proposes
    const Prospect now = forecaster_.prospect(*observation.program);
    std::vector<double> gains;
    for (const Proposal& proposal : proposals)
      gains.push_back(proposal.stop() ? kWorthwhile : gain(*observation.program, now, proposal.action));
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return gains[a] > gains[b]; });
    return order;
  }

  bool foresees() const override { return true; }

  double promise(const Program& program) override {
    const Prospect prospect = forecaster_.prospect(program);
    return prospect.completed > 0 ? prospect.now / prospect.completed : 1;
  }

 private:
  double gain(const Program& program, const Prospect& now, const Action& action) {
    const auto next = apply_action(program, action, context_);
    if (!next.ok()) return -1;
    const Prospect after = forecaster_.prospect(*next);
    const double later = std::log(now.completed / after.completed);
    const double sure = later < -kWorthwhile ? later : later + kAtOnce * std::max(0.0, std::log(now.now / after.now));
    const bool schedules = std::find(kSchedule.begin(), kSchedule.end(), action.type) != kSchedule.end();
    return schedules && later > -kModelError ? std::max(sure, kHope * share(program, now, action)) : sure;
  }

  // Of the program's time, what the kernels of the action's region take.
  double share(const Program& program, const Prospect& now, const Action& action) {
    double seconds = 0;
    for (const Kernel& kernel : program.kernels) {
      const bool touched = std::any_of(action.regions.begin(), action.regions.end(), [&](const auto& region) {
        return std::find(region.begin(), region.end(), kernel.values.front()) != region.end();
      });
      if (touched) seconds += context_.target.cost(program, kernel, context_.hardware).seconds;
    }
    return now.now > 0 ? seconds / now.now : 0;
  }

  ActionContext context_;
  Forecaster forecaster_;
};

}  // namespace

extern const PolicyDef greedy_def;
const PolicyDef greedy_def{"greedy", "the action that the cost model expects most of; stop below 2 % expected gain", "",
                           [](const PolicyContext& context) -> Result<std::unique_ptr<Policy>> {
                             return std::make_unique<GreedyPolicy>(context);
                           }};

}  // namespace mtmc
