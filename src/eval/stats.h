// Robust statistics of timing samples.
#pragma once
#include <vector>

#include "eval/verdict.h"

namespace mtmc {

// The q-quantile (0 to 1) with linear interpolation between neighbours; `samples` must not be empty.
double quantile(std::vector<double> samples, double q);
inline double median(const std::vector<double>& samples) { return quantile(samples, 0.5); }

// Median and interquartile range; the samples are kept in the order measured.
Timing summarize(std::vector<double> samples_ms);

// Of two series measured in interleaved rounds: how many times faster `b` is than `a`, by medians.
double speedup_of(const Timing& a, const Timing& b);

}  // namespace mtmc
