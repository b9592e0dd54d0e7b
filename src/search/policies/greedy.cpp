// The cost model's favourite first. What counts is what the Program can become (see Forecaster) and, half as much, what
// it gains at once; stop stands where less than 2 % is to be gained.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "search/policy.h"
#include "search/prospect.h"

namespace mtmc {
namespace {

constexpr double kWorthwhile = 0.02;  // gain, as a logarithm of times
constexpr double kAtOnce = 0.5;       // weight of what is gained before the kernels are completed

class GreedyPolicy final : public Policy {
 public:
  explicit GreedyPolicy(const PolicyOptions& options)
      : context_{options.hardware, options.target, options.paper_only}, forecaster_(context_) {}
  std::string name() const override { return "greedy"; }

  Result<std::vector<size_t>> rank(const Observation& observation, const std::vector<Proposal>& proposals) override {
    if (observation.program == nullptr)
      return Error{"ranking actions", "the greedy policy needs a Program to predict with", "free text", ""};
    const Prospect now = forecaster_.prospect(*observation.program);
    std::vector<double> gains;
    for (const Proposal& proposal : proposals)
      gains.push_back(proposal.stop() ? kWorthwhile : gain(*observation.program, now, proposal.action));
    std::vector<size_t> order(proposals.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return gains[a] > gains[b]; });
    return order;
  }

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
    return later < -kWorthwhile ? later : later + kAtOnce * std::max(0.0, std::log(now.now / after.now));
  }

  ActionContext context_;
  Forecaster forecaster_;
};

}  // namespace

extern const PolicyDef greedy_def;
const PolicyDef greedy_def{
    "greedy", "the action that the cost model expects most of; stop below 2 % expected gain",
    [](const PolicyOptions& options) -> std::unique_ptr<Policy> { return std::make_unique<GreedyPolicy>(options); }};

}  // namespace mtmc
