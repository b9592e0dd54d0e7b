// The rules of certification (docs/JUDGE.md) as pure functions over measurements.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "eval/measurement.h"
#include "eval/verdict.h"

namespace mtmc {

// B: how far eager itself is from the truth on draws of one kind, the worst of all its runs.
struct Budget {
  double error = 0;      // norm-wise, relative
  double max_error = 0;  // largest element
  double gap = 0;        // of ties between integers
  int64_t wrong = 0;     // integers that eager gets wrong
  bool finite = true;    // eager is finite wherever the truth is, and alike where it is not
};

// By output name. `runs` holds eager's measurements run by run.
using Budgets = std::map<std::string, Budget>;
Budgets worst_of(const std::vector<std::vector<Measurement>>& runs);

// u: half a unit in the last place of an output's type.
double unit_of(std::string_view dtype);

// The limits of rules (a) and (b).
double error_limit(const Budget& budget, std::string_view dtype);
double max_limit(const Budget& budget, std::string_view dtype, double max_truth);

constexpr double kIllConditioned = 0.05;  // a budget above it proves nothing
inline bool ill_conditioned(const Budget& budget) { return budget.error > kIllConditioned; }

// Does a structured draw count? Eager must be finite (or as it should be) and at most 100 times worse than on the
// task's.
bool structured_counts(const Budgets& structured, const Budgets& task);

// Rules (a) to (e) for one output. `broken` names the first that fails: a, b, c, d, or e for shape and type.
OutputError apply_rules(const std::string& draw, const Measurement& m, const Budget& budget);
// The first fraction of a mask that is not as in eager's masks, six standard deviations allowed; empty when all are.
std::string unlike_eager(const Fractions& own, const std::vector<Fractions>& eager);
// The reason word and a sentence for a broken rule.
std::string reason_of(const OutputError& error, const Measurement& m);
std::string sentence_of(const OutputError& error, const Measurement& m);

// KernelBench's own test, over the outputs of all calls on the task's draws.
bool official_passes(const std::vector<Measurement>& outputs);
bool legacy_passes(const std::vector<Measurement>& outputs);

// Do zeros, a constant or a copy of an input pass on every draw? `nulls`: draw -> its outputs' measurements.
bool passes_everywhere(const std::map<std::string, std::vector<Measurement>>& nulls,
                       const std::map<std::string, Budgets>& budgets);

// exact: bitwise eager; fp32: as near to the truth as IEEE fp32 eager; tf32: 10 bits; half: fewer.
std::string accuracy_class(const std::vector<Measurement>& outputs, const Budgets& budgets);

// The time reported from inside against the one seen from outside; `ping_ms` is what an empty call costs.
bool clock_agrees(double inside_ms, double outside_ms, double ping_ms);

// The same for all calls of a series. A busy machine delays many calls seen from outside, while work that was hidden
// from the inner clock is missing in each: of the faster half, which makes the median, a quarter must agree.
bool clocks_agree(const std::vector<double>& inside_ms, const std::vector<double>& outside_ms, double ping_ms);
// Faster than half the time that a copy of that many bytes takes? Says nothing (false) below what caches may hold.
bool faster_than_physics(double time_ms, double needed_bytes, double bytes_per_second, double cache_bytes);

}  // namespace mtmc
