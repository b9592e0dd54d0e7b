// Robust statistics of timing samples.
#pragma once
#include <vector>

#include "eval/verdict.h"

namespace mtmc {

// The q-quantile (0 to 1) with linear interpolation between neighbours; `samples` must not be empty.
double quantile(std::vector<double> samples, double q);
inline double median(const std::vector<double>& samples) { return quantile(samples, 0.5); }

// Of numbers above 0, at least one.
double geometric_mean(const std::vector<double>& values);

// Median and interquartile range; the samples are kept in the order measured.
Timing summarize(std::vector<double> samples_ms);

// How far samples lie above others: the median of the differences of all pairs (Hodges and Lehmann 1963), and that one
// of the differences which the true shift is not below, so many standard deviations of the rank sum sure. It hears
// nothing of stray samples, however far they stray. Both must not be empty.
struct Shift {
  double middle = 0, low = 0;
};
Shift shift_of(const std::vector<double>& samples, const std::vector<double>& others, double deviations);

// The chance that of all that are marked in two samples (`marked` of `n` and `others` of `m`) so many or more fall into
// the first, if both are marked alike (Fisher's exact test).
double chance_of_so_many(size_t marked, size_t n, size_t others, size_t m);

// How sure a speedup's interval is: 95 % where the search only ranks, 99 % where a result is claimed.
double level_of(Tier tier);

// How many times faster the candidate is than a baseline, both timed once in each round. The ratio is taken round by
// round: what slows a machine for longer than a round is in both halves of it. The interval lies between order
// statistics of those ratios (a sign test, turned round): it assumes no distribution, only that either of two equally
// fast calls is as likely to be the slower one.
Speedup speedup_of(const Timing& baseline, const Timing& candidate, double level = level_of(Tier::certify));

// All of the candidate's calls are taken to have lasted so much longer than was measured.
void take_longer(Verdict& verdict, double ms);

// Measuring goes on while it pays: how many rounds more than those measured so far; 0: enough. It does not pay when the
// interval is narrow (for a screen, 20 % wide), lies below 1, got no narrower since half of the rounds, or costs too
// many rounds, or seconds: `spent_seconds` is what the rounds took until now, with all that lies between the calls.
int further_rounds(const Timing& eager, const Timing& candidate, Tier tier, int planned, double spent_seconds);
// The most rounds that may come of that: so many draws are needed.
int most_rounds(Tier tier, int planned);

}  // namespace mtmc
