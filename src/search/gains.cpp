#include "search/gains.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <string>

#include "base/parallel.h"
#include "targets/cost.h"

namespace mtmc {
namespace {

constexpr double kAtOnce = 0.5;  // weight of what is gained before the kernels are completed
constexpr double kHope = 0.04;   // gain hoped for, against the model, from a kernel that takes all the time
// What a graph gains beyond what is predicted, at most: on the same tasks walks reached 88.9 % without it, 89.7 % with
// it. Not more than the host takes for launches, some of which are never hidden. Where batch norms follow a product of
// 0.8 ms, a graph saved 0.07 to 0.14 ms and what it copied; where the product took 2.9 ms, less than it copied.
constexpr double kGraph = 0.3;
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
      now_.now += kernels[k].now, now_.completed += kernels[k].completed, now_.host += kernels[k].host;
      seconds_[program.kernels[k].values.front()] += kernels[k].now;
      calls_ += kernels[k].now > 0;
    }
  }

  std::vector<double> gains(const std::vector<Proposal>& proposals) {
    std::vector<Action> steps;            // each at one place
    std::map<std::string, size_t> alike;  // the step that stands for it, by its text
    std::vector<size_t> step_of(proposals.size());
    for (const bool several : {true, false})  // actions of several places first: they say which are alike
      for (size_t i = 0; i < proposals.size(); ++i) {
        const Action& action = proposals[i].action;
        if (unpriced(proposals[i]) || (action.regions.size() > 1) != several) continue;
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
      if (!unpriced(proposals[i])) gains[i] = gain(proposals[i].action, changes[step_of[i]]);
    for (size_t i = 0; i < proposals.size(); ++i)  // nobody knows what free code is worth: all that it may save
      if (proposals[i].beyond) gains[i] = share(proposals[i].action);
    return gains;
  }

 private:
  static bool unpriced(const Proposal& proposal) { return proposal.stop() || proposal.beyond; }

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
    if (action.type == "capture")
      return sure + (context_.target.graphs && calls_ > 1 && later > -kModelError ? std::min(kGraph, launching()) : 0);
    const bool schedules = std::find(kSchedule.begin(), kSchedule.end(), action.type) != kSchedule.end();
    return schedules && later > -kModelError ? std::max(sure, kHope * share(action)) : sure;
  }

  // Of the program's time, what the host needs to launch it.
  double launching() const { return now_.now > 0 ? now_.host / now_.now : 0; }

  // The logarithm of how many times faster it gets.
  static double gained(double seconds, double change) {
    if (seconds <= 0) return 0;
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
  int calls_ = 0;
};

}  // namespace

std::vector<double> expected_gains(const Program& program, const std::vector<Proposal>& proposals,
                                   const ActionContext& context, Forecaster& forecaster) {
  return Pricing(program, context, forecaster).gains(proposals);
}

std::vector<double> gains_of_scores(const std::vector<double>& scores, double prior) {
  std::vector<double> gains;
  for (const double score : scores) gains.push_back((score - scores.back()) / prior + kStopsWalk);
  return gains;
}

}  // namespace mtmc
