#include "train/guided_search.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <numeric>
#include <utility>

#include "search/frontier.h"
#include "search/strategy.h"

namespace mtmc::train {
namespace {

struct Open {
  Episode episode;
  std::vector<size_t> order = {};  // which of the episode's actions each of the branch's is
};

class TreeSearch final : public GuidedSearch {
 public:
  TreeSearch(TreeDynamics& dynamics, size_t task, size_t states, bool descends)
      : GuidedSearch(dynamics, task, states), descends_(descends) {}

  Status answer(const std::vector<double>& gains) override {
    rank(gains);
    MTMC_TRY(bool waits, goes_deeper());
    while (!waits && !measured().full()) {
      Branch<Open>* chosen = frontier_.most_attractive();
      if (chosen == nullptr) break;
      const size_t action = chosen->next;
      MTMC_TRY(Reached reached, follow(*chosen, action));
      waits = reached.place != nullptr && arrive(std::move(reached), chosen->speed_behind(action));
    }
    if (!waits) asks_ = nullptr;
    return ok_status();
  }

 private:
  void start(Episode episode) override {
    const double speed = 1 / episode.place().time;
    open(std::move(episode), speed);
  }
  void open(Episode episode, double speed) {
    asked_ = &frontier_.open({std::move(episode)}, speed);
    asks_ = &asked_->state.episode;
  }

  void rank(const std::vector<double>& gains) {
    const Episode& episode = asked_->state.episode;
    std::vector<double> hopes;
    for (size_t i = 0; i + 1 < gains.size(); ++i)
      hopes.push_back(hoped(episode.place().actions[episode.offered()[i]].action, gains[i]));
    hopes.push_back(kLeastHope);
    asked_->ranked = asked_->knows_gains = true;
    asked_->state.order = wanted(hopes);
    for (const size_t action : asked_->state.order)
      asked_->chances.push_back({.hope = hopes[action], .sure = gains[action] >= kSure});
  }

  // An action of the branch, of which nothing was measured yet.
  Result<Reached> follow(Branch<Open>& branch, size_t action) {
    branch.tried(action);
    MTMC_TRY(Reached reached, go(branch.state.episode, branch.state.order[action]));
    branch.tries += !reached.known;
    return reached;
  }

  // Whether there is a question about where a step led. Before it is measured, if it could be the way to more.
  bool arrive(Reached reached, double hoped_speed) {
    const bool open_end = reached.right() && !reached.done;
    if (descends_ && open_end) {
      unmeasured_ = reached.place;
      open(std::move(*reached.episode), hoped_speed);
      return true;
    }
    if (!measure(reached.place) || !open_end) return false;
    open(std::move(*reached.episode), 1 / reached.place->time);
    return true;
  }

  // On the way of a descent: a step further, if one is sure and leads to something new, else what was reached is
  // measured. Whether there is a question.
  Result<bool> goes_deeper() {
    if (unmeasured_ == nullptr) return false;
    const Place* here = std::exchange(unmeasured_, nullptr);
    Branch<Open>& branch = *asked_;
    const std::optional<size_t> sure = branch.sure();
    if (sure && would_be_new(branch.state.episode, branch.state.order[*sure])) {
      MTMC_TRY(Reached reached, follow(branch, *sure));
      const bool arrives = reached.place != nullptr && reached.right();
      if (reached.place != nullptr && arrive(std::move(reached), branch.speed_behind(*sure))) return true;
      if (arrives) return false;
    }
    if (!measure(here)) return false;
    branch.speed = 1 / here->time;
    return false;
  }

  const bool descends_;
  Frontier<Open> frontier_;
  Branch<Open>* asked_ = nullptr;
  const Place* unmeasured_ = nullptr;  // where the question is asked, on the way of a descent
};

class BeamSearch final : public GuidedSearch {
 public:
  using GuidedSearch::GuidedSearch;

  Status answer(const std::vector<double>& gains) override {
    int left = options_.breadth;
    for (const size_t action : wanted(gains)) {
      if (left == 0 || measured().full()) break;
      MTMC_TRY(Tried tried, take(*asks_, action));
      left -= tried.fresh;
      if (tried.right != nullptr) found_.push_back(std::move(*tried.right));
    }
    if (++at_ == kept_.size()) go_deeper();
    asks_ = measured().full() || at_ >= kept_.size() ? nullptr : &kept_[at_];
    return ok_status();
  }

 private:
  void start(Episode episode) override {
    best_ = episode.best();
    kept_.push_back(std::move(episode));
    asks_ = &kept_[0];
  }
  void go_deeper() {
    std::vector<size_t> order(found_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return found_[a].place().time < found_[b].place().time; });
    kept_.clear();
    for (size_t i = 0; i < order.size() && i < static_cast<size_t>(options_.width); ++i)
      kept_.emplace_back(found_[order[i]]);
    const bool better = !order.empty() && found_[order[0]].place().time < best_;
    idle_ = better ? 0 : idle_ + 1;
    if (better) best_ = found_[order[0]].place().time;
    if (idle_ == kBeamPatience) kept_.clear();
    found_.clear();
    at_ = 0;
  }

  const StrategyOptions options_;
  std::deque<Episode> kept_, found_;
  size_t at_ = 0;
  double best_ = 1;
  int idle_ = 0;
};

}  // namespace

Measured::Measured(const Tree& tree, size_t states)
    : states_(states), start_(tree.places.front().time), best_(start_), seen_{&tree.places.front()} {}

bool Measured::add(const Place* reached) {
  if (reached == nullptr || full() || !seen_.insert(reached).second) return false;
  if (reached->standing == Standing::right) best_ = std::min(best_, reached->time);
  curve_.push_back(std::log(start_ / best_));
  return true;
}

double Measured::gain(size_t n) const { return curve_.empty() || n == 0 ? 0 : curve_[std::min(n, curve_.size()) - 1]; }

Status GuidedSearch::begin(int steps, uint64_t seed) {
  Episode episode(dynamics_, {.steps = steps});
  MTMC_RETURN_IF_ERROR(episode.reset(task_, seed));
  met_.insert(episode.place().state);
  if (!episode.done()) start(std::move(episode));
  return ok_status();
}

bool GuidedSearch::would_be_new(const Episode& from, size_t action) const {
  const std::string leads = dynamics_.leads_to(task_, from.place(), from.offered()[action]);
  return leads.empty() || !met_.contains(leads);
}

Result<GuidedSearch::Reached> GuidedSearch::go(const Episode& from, size_t action) {
  if (!would_be_new(from, action)) return Reached{.known = true};
  auto next = std::make_unique<Episode>(from);
  MTMC_TRY(const Stepped stepped, next->step(action));
  if (stepped.reached != nullptr) met_.insert(stepped.reached->state);
  return Reached{.place = stepped.reached, .done = stepped.done, .episode = std::move(next)};
}

Result<GuidedSearch::Tried> GuidedSearch::take(const Episode& from, size_t action) {
  MTMC_TRY(Reached reached, go(from, action));
  if (!measure(reached.place)) return Tried{.known = reached.known};
  return Tried{.fresh = true, .right = reached.right() && !reached.done ? std::move(reached.episode) : nullptr};
}

std::vector<size_t> GuidedSearch::wanted(const std::vector<double>& gains) {
  std::vector<size_t> order;
  for (size_t i = 0; i + 1 < gains.size(); ++i)
    if (gains[i] >= gains.back()) order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return gains[a] > gains[b]; });
  return order;
}

std::unique_ptr<GuidedSearch> tree_search(TreeDynamics& dynamics, size_t task, size_t states) {
  return std::make_unique<TreeSearch>(dynamics, task, states, false);
}

std::unique_ptr<GuidedSearch> descending_search(TreeDynamics& dynamics, size_t task, size_t states) {
  return std::make_unique<TreeSearch>(dynamics, task, states, true);
}

std::unique_ptr<GuidedSearch> beam_search(TreeDynamics& dynamics, size_t task, size_t states) {
  return std::make_unique<BeamSearch>(dynamics, task, states);
}

}  // namespace mtmc::train
