#include "eval/stats.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mtmc {
namespace {

constexpr double kLeastMs = 1e-6;  // no call takes less
constexpr double kRanks = 1.2;     // high over low, enough for a search to rank by the low end

// How many of the smallest, and of the largest, of n ratios can be left outside an interval of this level: the median
// lies below the k smallest as often as n coins show fewer than k heads. 0: not even all n of them are enough.
size_t left_outside(size_t n, double level) {
  MTMC_CHECK(n <= 1000, "powers of 1/2 that a double can hold");
  double chance = std::ldexp(1.0, -static_cast<int>(n)), below = 0;
  size_t k = 0;
  while (k < n / 2 && 2 * (below += chance) <= 1 - level) {
    ++k;
    chance *= static_cast<double>(n - k + 1) / static_cast<double>(k);
  }
  return k;
}

double width(const Speedup& speedup) {
  return speedup.low > 0 ? std::log(speedup.high / speedup.low) : std::numeric_limits<double>::infinity();
}

Timing first_half(const Timing& timing) {
  const auto middle = timing.samples_ms.begin() + static_cast<long>(timing.samples_ms.size() / 2);
  return {{timing.samples_ms.begin(), middle}, 0, 0};
}

}  // namespace

double quantile(std::vector<double> samples, double q) {
  MTMC_CHECK(!samples.empty(), "a quantile of no samples");
  std::sort(samples.begin(), samples.end());
  const double place = q * static_cast<double>(samples.size() - 1);
  const size_t below = static_cast<size_t>(std::floor(place));
  const size_t above = std::min(below + 1, samples.size() - 1);
  const double share = place - static_cast<double>(below);
  return samples[below] * (1 - share) + samples[above] * share;
}

double geometric_mean(const std::vector<double>& values) {
  double logs = 0;
  for (const double value : values) logs += std::log(value);
  return std::exp(logs / static_cast<double>(values.size()));
}

Timing summarize(std::vector<double> samples_ms) {
  Timing timing;
  timing.median_ms = median(samples_ms);
  timing.spread_ms = quantile(samples_ms, 0.75) - quantile(samples_ms, 0.25);
  timing.samples_ms = std::move(samples_ms);
  return timing;
}

Shift shift_of(const std::vector<double>& samples, const std::vector<double>& others, double deviations) {
  std::vector<double> differences;
  for (const double sample : samples)
    for (const double other : others) differences.push_back(sample - other);
  std::sort(differences.begin(), differences.end());
  const double n = static_cast<double>(samples.size()), m = static_cast<double>(others.size());
  const double below = n * m / 2 - deviations * std::sqrt(n * m * (n + m + 1) / 12);
  return {median(differences), differences[static_cast<size_t>(std::max(0.0, below))]};
}

double chance_of_so_many(size_t marked, size_t n, size_t others, size_t m) {
  const auto log_choose = [](size_t of, size_t k) {
    const auto factorial = [](size_t x) { return std::lgamma(static_cast<double>(x) + 1); };
    return factorial(of) - factorial(k) - factorial(of - k);
  };
  const size_t all = marked + others;
  double chance = 0;
  for (size_t k = marked; k <= std::min(n, all); ++k)
    if (all - k <= m) chance += std::exp(log_choose(n, k) + log_choose(m, all - k) - log_choose(n + m, all));
  return chance;
}

double level_of(Tier tier) { return tier == Tier::screen ? 0.95 : 0.99; }

Speedup speedup_of(const Timing& baseline, const Timing& candidate, double level) {
  const std::vector<double>&theirs = baseline.samples_ms, &ours = candidate.samples_ms;
  MTMC_CHECK(!ours.empty() && ours.size() == theirs.size(), "both are timed once in each round");
  std::vector<double> logs;
  for (size_t i = 0; i < ours.size(); ++i)
    logs.push_back(std::log(std::max(theirs[i], kLeastMs) / std::max(ours[i], kLeastMs)));
  std::sort(logs.begin(), logs.end());
  const double middle = std::exp(median(logs));
  const size_t k = left_outside(logs.size(), level);
  if (k == 0) return {middle, 0, std::numeric_limits<double>::infinity()};
  return {middle, std::exp(logs[k - 1]), std::exp(logs[logs.size() - k])};
}

int most_rounds(Tier tier, int planned) { return tier == Tier::screen ? 3 * planned : 4 * planned; }

void take_longer(Verdict& verdict, double ms) {
  Timing& own = verdict.times.at("candidate");
  for (double& sample : own.samples_ms) sample += ms;
  own = summarize(std::move(own.samples_ms));
  verdict.time_ms = own.median_ms;
  for (auto& [baseline, speedup] : verdict.speedup)
    speedup = speedup_of(verdict.times.at(baseline), own, level_of(verdict.tier));
}

int further_rounds(const Timing& eager, const Timing& candidate, Tier tier, int planned, double spent_seconds) {
  const int left = most_rounds(tier, planned) - static_cast<int>(candidate.samples_ms.size());
  if (left <= 0 || spent_seconds > (tier == Tier::screen ? 2 : 10)) return 0;
  const Speedup now = speedup_of(eager, candidate, level_of(tier));
  if (narrow(now) || now.high < 1 || (tier == Tier::screen && now.high <= kRanks * now.low)) return 0;
  if (candidate.samples_ms.size() >= 2) {
    const Speedup before = speedup_of(first_half(eager), first_half(candidate), level_of(tier));
    if (std::isfinite(width(before)) && width(now) >= width(before)) return 0;
  }
  return std::min(left, (planned + 1) / 2);
}

}  // namespace mtmc
