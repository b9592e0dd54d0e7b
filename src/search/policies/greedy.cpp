// The cost model's favourite first. What counts is what the Program can become (see Forecaster) and, half as much, what
// it gains at once; stop stands where less than 2 % is to be gained. The model cannot tell good loop orders from bad
// ones and errs about library calls: such actions on the kernels that take the time are worth a measurement all the
// same.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>

#include "base/parallel.h"
#include "search/policy.h"
#include "search/prospect.h"
#include "targets/cost.h"

namespace mtmc {
namespace {

constexpr double kWorthwhile = 0.02;  // gain, as a logarithm of times
constexpr double kAtOnce = 0.5;       // weight of what is gained before the kernels are completed
constexpr double kHope = 0.04;        // gain hoped for, against the model, from a kernel that takes all the time
constexpr double kModelError = 0.35;  // no hope below a predicted loss of this much
constexpr double kLeastLeft = 1e-3;   // of the time, however much the places of an action seem to save together
constexpr std::array kSchedule = {"tile", "pipeline", "split", "reorder", "lower", "fuse"};

// What the actions of one Program gain. Of places that are alike one is priced: a large network has hundreds.
class Pricing {
 public:
  Pricing(const Program& program, const ActionContext& context, Forecaster& forecaster)
      : program_(program), context_(context), forecaster_(forecaster) {
    const std::vector<Prospect> kernels = forecaster.prospects(program);
    for (size_t k = 0; k < kernels.size(); ++k) {
      now_.now += kernels[k].now, now_.completed += kernels[k].completed;
      seconds_[program.kernels[k].values.front()] += kernels[k].now;
    }
  }

  std::vector<double> gains(const std::vector<Proposal>& proposals) {
    std::vector<Action> steps;            // each at one place
    std::map<std::string, size_t> alike;  // the step that stands for it, by its text
    std::vector<size_t> step_of(proposals.size());
    for (const bool several : {true, false})  // actions of several places first: they say which are alike
      for (size_t i = 0; i < proposals.size(); ++i) {
        const Action& action = proposals[i].action;
        if (proposals[i].stop() || (action.regions.size() > 1) != several) continue;
        std::vector<Action> places;
        for (const auto& region : action.regions) places.push_back({action.type, {region}, action.detail});
        if (places.empty()) places.push_back(action);
        const auto [at, fresh] = alike.emplace(store_text(places.front()), steps.size());
        if (fresh) steps.push_back(places.front());
        for (const Action& place : places) alike.emplace(store_text(place), at->second);
        step_of[i] = at->second;
      }
    std::vector<Change> changes(steps.size());
    in_parallel(steps.size(), [&](size_t i) { changes[i] = change_by(steps[i]); });
    std::vector<double> gains(proposals.size(), kWorthwhile);
    for (size_t i = 0; i < proposals.size(); ++i)
      if (!proposals[i].stop()) gains[i] = gain(proposals[i].action, changes[step_of[i]]);
    return gains;
  }

 private:
  // What a step changes; empty where it is refused.
  using Change = std::optional<Prospect>;

  Change change_by(const Action& step) const {
    const auto next = apply_action(program_, step, context_);
    if (!next.ok()) return std::nullopt;
    const Prospect after = forecaster_.prospect(*next);
    return Prospect{after.now - now_.now, after.completed - now_.completed};
  }

  double gain(const Action& action, const Change& change) const {
    if (!change) return -1;
    const double places = static_cast<double>(std::max<size_t>(1, action.regions.size()));
    const double later = gained(now_.completed, places * change->completed);
    const double sure =
        later < -kWorthwhile ? later : later + kAtOnce * std::max(0.0, gained(now_.now, places * change->now));
    const bool schedules = std::find(kSchedule.begin(), kSchedule.end(), action.type) != kSchedule.end();
    return schedules && later > -kModelError ? std::max(sure, kHope * share(action)) : sure;
  }

  // The logarithm of how many times faster it gets.
  static double gained(double seconds, double change) {
    return std::log(seconds / std::max(seconds + change, kLeastLeft * seconds));
  }

  // Of the program's time, what the kernels of the action's regions take.
  double share(const Action& action) const {
    double seconds = 0;
    for (const auto& region : action.regions)
      for (ValueId id : region)
        if (const auto at = seconds_.find(id); at != seconds_.end()) seconds += at->second;
    return now_.now > 0 ? seconds / now_.now : 0;
  }

  const Program& program_;
  const ActionContext& context_;
  Forecaster& forecaster_;
  Prospect now_;
  std::map<ValueId, double> seconds_;  // of kernels, by the first value that each computes
};

class GreedyPolicy final : public Policy {
 public:
  explicit GreedyPolicy(const PolicyContext& context)
      : context_{context.hardware, context.target, context.paper_only}, forecaster_(context_) {}
  std::string name() const override { return "greedy"; }

  Result<std::vector<size_t>> rank(const Observation& observation, const std::vector<Proposal>& proposals) override {
    std::vector<size_t> order(proposals.size());
    std::iota(order.begin(), order.end(), size_t{0});
    if (observation.program == nullptr) return order;  // nothing to predict with: as its coder proposes
    const std::vector<double> gains = Pricing(*observation.program, context_, forecaster_).gains(proposals);
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return gains[a] > gains[b]; });
    return order;
  }

  bool foresees() const override { return true; }

  double promise(const Program& program) override {
    const Prospect prospect = forecaster_.prospect(program);
    return prospect.completed > 0 ? prospect.now / prospect.completed : 1;
  }

 private:
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
