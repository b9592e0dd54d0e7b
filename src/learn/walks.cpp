#include "learn/walks.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace mtmc {

template <typename Visit>
void Walks::for_each_right(size_t place, Visit visit) const {
  for (size_t a = 0; a < tree_.outcomes[place].size(); ++a) {
    const std::set<int> results(tree_.outcomes[place][a].begin(), tree_.outcomes[place][a].end());
    for (const int to : results)
      if (to != kNoCode && tree_.places[static_cast<size_t>(to)].standing == Standing::right)
        visit(a, static_cast<size_t>(to));
  }
}

Walks::Walks(const Tree& tree, int steps) : tree_(tree), steps_(steps) {
  std::vector<Best> own;
  for (const Place& place : tree.places) own.push_back({place.standing == Standing::right ? place.time : 1e300, 0});
  best_.push_back(std::move(own));
  for (int left = 1; left <= steps; ++left) {
    const std::vector<Best>& before = best_.back();
    std::vector<Best> now = before;
    for (size_t p = 0; p < now.size(); ++p)
      for_each_right(p, [&](size_t, size_t to) {
        const Best by_it{before[to].time, before[to].steps + 1};
        if (by_it.time < now[p].time || (by_it.time == now[p].time && by_it.steps < now[p].steps)) now[p] = by_it;
      });
    best_.push_back(std::move(now));
  }
}

std::vector<size_t> Walks::best_actions(size_t place, int left) const {
  std::vector<size_t> actions;
  const Best& wanted = best_[static_cast<size_t>(left)][place];
  if (left == 0 || tree_.places[place].time < kFaster * wanted.time) return actions;
  const std::vector<Best>& after = best_[static_cast<size_t>(left) - 1];
  for_each_right(place, [&](size_t action, size_t to) {
    const bool leads = after[to].time == wanted.time && after[to].steps + 1 == wanted.steps;
    if (leads && (actions.empty() || actions.back() != action)) actions.push_back(action);
  });
  return actions;
}

std::vector<double> Walks::values(size_t place, int left, double best) const {
  std::vector<double> values;
  for (const std::vector<int>& results : tree_.outcomes[place]) {
    double value = results.empty() ? -kStep : 0;
    for (const int to : results) {
      // Where there is no code, or none that is right, the walk stays where it was.
      const bool right = to != kNoCode && tree_.places[static_cast<size_t>(to)].standing == Standing::right;
      double gain = 0;
      for (int more = 0; more < std::max(1, left); ++more) {
        const Best& reached = best_[static_cast<size_t>(more)][right ? static_cast<size_t>(to) : place];
        gain = std::max(gain, std::log(best / reached.time) * std::pow(kLater, reached.steps));
      }
      value += (gain - kStep) / static_cast<double>(results.size());
    }
    values.push_back(value);
  }
  values.push_back(0);
  return values;
}

double Walks::count() const {
  std::vector<double> ways(tree_.places.size(), 0);
  ways[0] = 1;
  double total = 0;
  for (int step = 0; step < steps_; ++step) {
    std::vector<double> next(ways.size(), 0);
    for (size_t p = 0; p < ways.size(); ++p)
      if (ways[p] > 0) for_each_right(p, [&](size_t, size_t to) { next[to] += ways[p]; });
    for (const double one : next) total += one;
    ways = std::move(next);
  }
  return total;
}

}  // namespace mtmc
