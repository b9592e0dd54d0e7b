// The cost model's favourite first: actions by predicted time after them, stop where less than 2 % is to be gained.
#include <algorithm>
#include <numeric>

#include "search/policy.h"
#include "targets/cost.h"

namespace mtmc {
namespace {

constexpr double kWorthwhile = 0.98;  // of the time before

class GreedyPolicy final : public Policy {
 public:
  explicit GreedyPolicy(const PolicyOptions& options)
      : context_{options.hardware, options.target, options.paper_only} {}
  std::string name() const override { return "greedy"; }

  Result<std::vector<size_t>> rank(const Observation& observation, const std::vector<Proposal>& proposals) override {
    if (observation.program == nullptr)
      return Error{"ranking actions", "the greedy policy needs a Program to predict with", "free text", ""};
    const double now = total_seconds(*observation.program, context_.hardware);
    std::vector<double> after;
    for (const Proposal& proposal : proposals) after.push_back(predict(*observation.program, proposal, now));
    std::vector<size_t> order(proposals.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return after[a] < after[b]; });
    return order;
  }

 private:
  double predict(const Program& program, const Proposal& proposal, double now) const {
    if (proposal.stop()) return kWorthwhile * now;
    const auto next = apply_action(program, proposal.action, context_);
    return next.ok() ? total_seconds(*next, context_.hardware) : std::numeric_limits<double>::infinity();
  }

  ActionContext context_;
};

}  // namespace

extern const PolicyDef greedy_def;
const PolicyDef greedy_def{
    "greedy", "the action that the cost model expects most of; stop below 2 % expected gain",
    [](const PolicyOptions& options) -> std::unique_ptr<Policy> { return std::make_unique<GreedyPolicy>(options); }};

}  // namespace mtmc
