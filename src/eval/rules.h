// The rules of certification (docs/JUDGE.md) as pure functions over measurements.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "eval/measurement.h"
#include "eval/verdict.h"

namespace mtmc {

// How far eager itself is from the truth on draws of one kind, the worst of all its runs.
struct Budget {
  double error = 0;            // B: norm-wise, relative
  double eager = 0;            // the part of B that eager itself errs by
  bool moved = false;          // is it what half an ulp in the arguments makes, more than eager errs?
  double off = 0;              // the same, absolute
  double max_error = 0;        // largest element
  double block_error = 0;      // worst block of a slice
  double spread = 1;           // its worst run over its best, at most kMostSpread: few runs are a sample, no bound
  double max_spread = 1;       // the same of the largest element
  int64_t astray = 0;          // see Measurement
  double gap = 0;              // of ties between integers
  int64_t wrong = 0;           // integers that eager gets wrong
  double distance = 0;         // and by how much
  bool finite = true;          // eager is finite wherever the truth is, and alike where it is not
  bool exact_suffices = true;  // whatever is bit for bit eager's is right; not where more than eager is asked for
  Tail elements, rows;
};
constexpr double kMostSpread = 4;

// By output name. `runs` holds eager's measurements run by run.
using Budgets = std::map<std::string, Budget>;
Budgets worst_of(const std::vector<std::vector<Measurement>>& runs);
// Makes room for other runs, which say nothing about how eager's scatter.
void widen(Budgets& budgets, const Budgets& others);
// The same up to 16 times eager's own errors, and no budget becomes ill-conditioned by it: what sums in another order
// lose altogether, nobody may lose.
void widen_within_reason(Budgets& budgets, const Budgets& others);
// Outputs whose limits come from `others` (arguments moved by half an ulp, sums in another order) rather than from
// eager's own errors: one sentence each.
std::vector<std::string> dominated(const Budgets& eager, const Budgets& others, const std::string& by);

// u: half a unit in the last place of an output's type.
double unit_of(std::string_view dtype);

// The limits of rules (a) and (b).
double error_limit(const Budget& budget, std::string_view dtype);
double max_limit(const Budget& budget, std::string_view dtype, double max_truth);

// Rule (f): how many of an output's elements or rows may err by 4^-step of themselves or more. Four times as many as of
// eager's err by a quarter of that; and of `near_zero` as many as an error of 2^-21 makes beside values of a normal
// distribution, with a chance of 1e-4 that it is more. Where that is fewer than two, up to two: as many as twice
// `eager_error`, relative to eager's norm, makes, of which eager itself may have had none.
int64_t tail_limit(const Tail& budget, double eager_error, int64_t near_zero, size_t step);
// Of `near_zero` elements, how many twice `eager_error` takes to 4^-step of themselves; too many rather than too few.
double seldom(double eager_error, int64_t near_zero, size_t step);
// The most of what comes `mean` times on average (Poisson): more has a chance below 1e-4.
int64_t by_chance(double mean);
// A row of four elements or more is hardly ever near zero as a whole.
int64_t rows_near_zero(const Measurement& m);
// Eager's error without the rounding of the result's type, which errs by no more of small elements.
double error_beyond_rounding(const Measurement& m, const Budget& budget);

constexpr double kIllConditioned = 0.05;  // a relative budget above it proves nothing
inline bool ill_conditioned(const Budget& budget) { return budget.error > kIllConditioned; }

// Does a structured draw count? Eager must be finite (or as it should be) and at most 100 times worse than on the
// task's, outputs excepted for which the task's own draws are ill-conditioned.
bool structured_counts(const Budgets& structured, const Budgets& task);

// Rules (a) to (g) for one output. `broken` names the first that fails: a, b, c, d, f, g, or e for shape and type. What
// is bit for bit eager's breaks none where that suffices (Budget::exact_suffices). A truth that is 0, or of which eager
// gets hardly a digit, has no relative error: it is held to eager's absolute ones.
OutputError apply_rules(const std::string& draw, const Measurement& m, const Budget& budget);
// Of each output whose truth is known in slices: what was compared with what, and which errors could not hide.
std::vector<std::string> compared_in_slices(const std::vector<OutputError>& errors);
// Why the task's own draws prove nothing: every output that is returned is ill-conditioned. Empty when one is not.
std::string nothing_proven(const std::vector<OutputError>& errors);
// Outputs and entries of the state, each once, that were held to absolute errors only.
std::vector<std::string> unproven(const std::vector<OutputError>& errors);
// The first fraction of a mask that is not as in eager's masks, six standard deviations allowed; empty when all are.
std::string unlike_eager(const Fractions& own, const std::vector<Fractions>& eager);
// Would the output be right if its elements that are not finite were?
bool merely_not_finite(const OutputError& error, const Measurement& m, const Budget& budget);
// The reason word and a sentence for a broken rule.
std::string reason_of(const OutputError& error, const Measurement& m);
std::string sentence_of(const OutputError& error, const Measurement& m);

// KernelBench's own test, over the outputs of all calls on the task's draws.
bool official_passes(const std::vector<Measurement>& outputs);
bool legacy_passes(const std::vector<Measurement>& outputs);

// Do the results of one call on a draw break no rule?
bool passes(const std::vector<Measurement>& outputs, const Budgets& budgets);

// exact: bitwise eager; fp32: as near to the truth as IEEE fp32 eager; tf32: 10 bits; half: fewer.
std::string accuracy_class(const std::vector<Measurement>& outputs, const Budgets& budgets);

// The clock inside a process against the one outside, call by call. `inside` and `outside` hold, in ms, the candidate's
// samples, and eager's and those of a call without work from the same rounds, whose clocks are honest: what lies
// between them is what a call costs besides. Where the candidate's clocks are further apart than that and its noise,
// the outside one is believed: in full, its noise included, where that is a quarter of the time said. A lie is more
// than what the ways to a process and back may take besides, for honest ones at this moment or at any. Who hides less
// gains nothing, and is not refused.
struct ClockCheck {
  std::vector<double> samples_ms;  // of the candidate, as they are believed
  double apart_ms = 0;             // how much further its clocks are apart than honest ones (stats.h: shift_of)
  double noise_ms = 0;             // of that difference, at this moment
  bool doubted = false;            // too often too far apart, which may be chance
  bool parted = false;             // too often a quarter of the time said, and no chance
  bool lies = false;               // and more than ways to processes may differ
};
using SeriesMs = std::map<std::string, std::vector<double>>;  // engine -> samples
struct Clocks {
  SeriesMs inside, outside;
  SeriesMs processor;  // processor time of the whole tree in the same calls
  int cores = 0;       // that it may be spent on at once; 0: it says nothing, since threads that wait spin
};
ClockCheck check_clocks(const Clocks& clocks);

// Does it work beside the calls, by the processor time for getting ready and for keeping results, surely more than half
// as much again as eager's, and 5 ms?
bool works_beside(const std::vector<double>& own_ms, std::vector<double> eager_ms);

// Faster than half the time that a copy of that many bytes takes? Says nothing (false) below what caches may hold.
bool faster_than_physics(double time_ms, double needed_bytes, double bytes_per_second, double cache_bytes);

}  // namespace mtmc
