// How many times faster, and what may be said of it: a measurement is an interval, and the number that is printed,
// stored and ranked by is one that the interval vouches for.
#pragma once
#include <string>

namespace mtmc {

// The interval holds the true median at the level of the verdict's tier (`level_of` in eval/stats.h). Too few rounds
// for any: from 0 to infinity.
struct Speedup {
  double median = 0, low = 0, high = 0;
};
// One that is known without measuring.
inline Speedup exactly(double times) { return {times, times, times}; }

enum class Claim {
  clear,     // the interval is narrow: "1.82x"
  at_least,  // wide: its low end, "at least 1.82x"
  faster,    // above 1, but so wide that no figure means anything
  unclear,   // wide around 1: faster or slower, nobody knows
};
std::string to_string(Claim claim);  // "clear", "at-least", "faster", "unclear"

bool narrow(const Speedup& speedup);
Claim claim(const Speedup& speedup);
bool has_figure(const Speedup& speedup);  // clear or at-least
// The number to print and to rank by: the median of a narrow interval, else its low end. Above 1 only where the whole
// interval is, so that a lucky measurement wins nothing.
double headline(const Speedup& speedup);

// "1.82x eager", "at least 1.82x eager", of what is slower "0.34x to 0.81x eager", "faster, but this machine was too
// busy to say by how much", "this machine was too busy to compare it with eager".
std::string say(const Speedup& speedup, const std::string& baseline);

}  // namespace mtmc
