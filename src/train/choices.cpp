#include "train/choices.h"

#include <algorithm>

#include "learn/walks.h"

namespace mtmc::train {

namespace {
constexpr int kNoStopBefore = 4;
}

size_t at_random(const Episode& episode, Rng& rng) {
  const size_t count = episode.actions().size();
  return rng.below(episode.taken() < kNoStopBefore && count > 1 ? count - 1 : count);
}

size_t steepest(const Tree& tree, const Episode& episode) {
  const Place& place = episode.place();
  const auto& outcomes = tree.outcomes[static_cast<size_t>(&place - tree.places.data())];
  const std::vector<size_t>& offered = episode.offered();
  size_t best = offered.size();
  double least = place.time / kFaster;
  for (size_t i = 0; i < offered.size(); ++i) {
    const std::vector<int>& led = outcomes[offered[i]];
    double time = 0;
    for (const int to : led) {
      const bool right = to != kNoCode && tree.places[static_cast<size_t>(to)].standing == Standing::right;
      time += (right ? tree.places[static_cast<size_t>(to)].time : place.time) / static_cast<double>(led.size());
    }
    if (!led.empty() && time < least) least = time, best = i;
  }
  return best;
}

size_t expected_most(const Episode& episode) {
  const std::vector<double>& gains = episode.gains();
  return static_cast<size_t>(std::max_element(gains.begin(), gains.end()) - gains.begin());
}

}  // namespace mtmc::train
