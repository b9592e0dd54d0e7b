#include "learn/episode.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "search/gains.h"

namespace mtmc {

void Episode::stand_at(const Place& place) {
  place_ = &place;
  visited_.insert(place.state);
  met_.insert(place.state);
  best_ = std::min(best_, place.time);
}

void Episode::offer() {
  std::vector<size_t> news, back;
  for (size_t a = 0; a < place_->actions.size(); ++a) {
    if (tried_.contains({place_->state, place_->actions[a].action})) continue;
    const std::string to = dynamics_.leads_to(task_, *place_, a);
    if (to.empty() || !met_.contains(to))
      news.push_back(a);
    else if (to != place_->state && visited_.contains(to))
      back.push_back(a);
  }
  offered_ = news.empty() ? std::move(back) : std::move(news);
  actions_.clear(), gains_.clear();
  for (const size_t a : offered_)
    actions_.push_back(place_->actions[a].text), gains_.push_back(place_->actions[a].gain);
  actions_.push_back("stop"), gains_.push_back(kStopsWalk);
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
  visited_.clear(), met_.clear(), tried_.clear();
  taken_ = 0;
  best_ = paid_ = start->time;
  stand_at(*start);
  offer();
  done_ = offered_.empty();
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
  const size_t which = offered_[action];
  if (dynamics_.unknown(task_, *place_, which)) {
    done_ = true;
    return Stepped{.done = true, .cut = true};
  }
  MTMC_TRY(const Place* reached, dynamics_.take(task_, *place_, which, rng_));
  tried_.emplace(place_->state, place_->actions[which].action);
  if (reached != nullptr) met_.insert(reached->state);
  const Payment payment = pay(reached);
  paid_ *= std::exp(-payment.gain);
  HistoryStep told{actions_[action], reached == nullptr ? "no code" : reached->outcome, 0};
  if (reached != nullptr && reached->standing == Standing::right) {
    told.speedup = 1 / reached->time;
    stand_at(*reached);
  }
  history_.push_back(std::move(told));
  ++taken_;
  offer();
  done_ = taken_ >= options_.steps || offered_.empty();
  return Stepped{payment.reward, done_, false, reached};
}

Result<std::string> Episode::prompt(const PromptOptions& options) const {
  MTMC_CHECK(place_ != nullptr, "an episode that was not begun");
  std::vector<std::string> texts;
  std::vector<double> shares;
  for (const size_t a : offered_) texts.push_back(place_->actions[a].text), shares.push_back(place_->actions[a].share);
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
