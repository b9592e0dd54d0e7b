#include "train/guided_search.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <numeric>

#include "search/frontier.h"
#include "search/strategy.h"

namespace mtmc::train {
namespace {

struct Open {
  Episode episode;
  std::vector<size_t> order = {};
};

class TreeSearch final : public GuidedSearch {
 public:
  using GuidedSearch::GuidedSearch;

  Status answer(const std::vector<double>& gains) override {
    asked_->ranked = true;
    asked_->state.order = wanted(gains);
    asked_->actions = asked_->state.order.size();
    for (const size_t action : asked_->state.order) asked_->gains.push_back(gains[action]);
    asks_ = nullptr;
    while (!measured().full()) {
      Branch<Open>* chosen = frontier_.most_attractive();
      if (chosen == nullptr) break;
      MTMC_TRY(Tried tried, take(chosen->state.episode, chosen->state.order[chosen->next++]));
      chosen->tries += !tried.known;
      if (tried.right == nullptr) continue;
      open(std::move(*tried.right));
      break;
    }
    return ok_status();
  }

 private:
  void start(Episode episode) override { open(std::move(episode)); }
  void open(Episode episode) {
    const double speed = 1 / episode.place().time;
    asked_ = &frontier_.open({std::move(episode)}, speed);
    asks_ = &asked_->state.episode;
  }

  Frontier<Open> frontier_;
  Branch<Open>* asked_ = nullptr;
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

Result<GuidedSearch::Tried> GuidedSearch::take(const Episode& from, size_t action) {
  const std::string leads = dynamics_.leads_to(task_, from.place(), from.offered()[action]);
  if (!leads.empty() && met_.contains(leads)) return Tried{.known = true};
  auto next = std::make_unique<Episode>(from);
  MTMC_TRY(const Stepped stepped, next->step(action));
  if (stepped.reached == nullptr) return Tried{};
  met_.insert(stepped.reached->state);
  if (!measured_.add(stepped.reached)) return Tried{};
  const bool right = stepped.reached->standing == Standing::right;
  return Tried{.fresh = true, .right = right && !stepped.done ? std::move(next) : nullptr};
}

std::vector<size_t> GuidedSearch::wanted(const std::vector<double>& gains) {
  std::vector<size_t> order;
  for (size_t i = 0; i + 1 < gains.size(); ++i)
    if (gains[i] >= gains.back()) order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return gains[a] > gains[b]; });
  return order;
}

std::unique_ptr<GuidedSearch> tree_search(TreeDynamics& dynamics, size_t task, size_t states) {
  return std::make_unique<TreeSearch>(dynamics, task, states);
}

std::unique_ptr<GuidedSearch> beam_search(TreeDynamics& dynamics, size_t task, size_t states) {
  return std::make_unique<BeamSearch>(dynamics, task, states);
}

}  // namespace mtmc::train
