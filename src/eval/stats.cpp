#include "eval/stats.h"

#include <algorithm>
#include <cmath>

namespace mtmc {

double quantile(std::vector<double> samples, double q) {
  MTMC_CHECK(!samples.empty(), "a quantile of no samples");
  std::sort(samples.begin(), samples.end());
  const double place = q * static_cast<double>(samples.size() - 1);
  const size_t below = static_cast<size_t>(std::floor(place));
  const size_t above = std::min(below + 1, samples.size() - 1);
  const double share = place - static_cast<double>(below);
  return samples[below] * (1 - share) + samples[above] * share;
}

Timing summarize(std::vector<double> samples_ms) {
  Timing timing;
  timing.median_ms = median(samples_ms);
  timing.spread_ms = quantile(samples_ms, 0.75) - quantile(samples_ms, 0.25);
  timing.samples_ms = std::move(samples_ms);
  return timing;
}

double speedup_of(const Timing& a, const Timing& b) { return a.median_ms / std::max(b.median_ms, 1e-6); }

}  // namespace mtmc
