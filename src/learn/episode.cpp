#include "learn/episode.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "search/gains.h"

namespace mtmc {

void Episode::stand_at(const Place& place) {
  place_ = &place;
  visited_.insert(place.state);
  best_ = std::min(best_, place.time);
  actions_.clear(), gains_.clear();
  for (const PlaceAction& action : place.actions) actions_.push_back(action.text), gains_.push_back(action.gain);
  actions_.push_back("stop"), gains_.push_back(kWorthwhile);
}

Status Episode::reset(size_t task, uint64_t seed) {
  MTMC_CHECK(task < dynamics_.tasks(), "there is no such task");
  MTMC_TRY(const Place* start, dynamics_.start(task));
  if (start->standing != Standing::right)
    return Error{"beginning an episode", "the untouched program is refused", start->outcome,
                 "a task that can be judged"};
  task_ = task;
  rng_ = Rng(seed);
  history_.clear();
  visited_.clear();
  taken_ = 0;
  best_ = paid_ = start->time;
  stand_at(*start);
  done_ = place_->actions.empty();
  return ok_status();
}

Payment Episode::pay(const Place* reached) {
  Moment moment{.step = taken_, .steps = options_.steps, .progress = progress_, .before = paid_};
  moment.standing = reached == nullptr ? Standing::no_build : reached->standing;
  if (moment.standing == Standing::right) {
    moment.after = reached->time;
    moment.revisited = visited_.contains(reached->state);
  }
  return options_.reward->of(options_.reward_options, moment);
}

Result<Stepped> Episode::step(size_t action) {
  MTMC_CHECK(!done_ && action < actions_.size(), "a step that there is not");
  if (action + 1 == actions_.size()) {
    done_ = true;
    return Stepped{.done = true};
  }
  if (dynamics_.unknown(task_, *place_, action)) {
    done_ = true;
    return Stepped{.done = true, .cut = true};
  }
  MTMC_TRY(const Place* reached, dynamics_.take(task_, *place_, action, rng_));
  const Payment payment = pay(reached);
  paid_ *= std::exp(-payment.gain);
  HistoryStep told{actions_[action], reached == nullptr ? "no code" : reached->outcome, 0};
  if (reached != nullptr && reached->standing == Standing::right) {
    told.speedup = 1 / reached->time;
    stand_at(*reached);
  }
  history_.push_back(std::move(told));
  ++taken_;
  done_ = taken_ >= options_.steps || place_->actions.empty();
  return Stepped{payment.reward, done_, false};
}

Result<std::string> Episode::prompt(const PromptOptions& options) const {
  MTMC_CHECK(place_ != nullptr, "an episode that was not begun");
  std::vector<std::string> texts;
  std::vector<double> shares;
  for (const PlaceAction& action : place_->actions) texts.push_back(action.text), shares.push_back(action.share);
  return prompt_text({.hardware = dynamics_.hardware(task_),
                      .description = dynamics_.description(task_),
                      .code = place_->code,
                      .history = history_,
                      .step = taken_,
                      .steps = options_.steps,
                      .regions = regions_of(texts, shares),
                      .left_out = place_->left_out},
                     options);
}

}  // namespace mtmc
