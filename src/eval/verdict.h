// What the judge says about a candidate: one value, stored, shown and reported as JSON. "Not measured" is absent, never
// -1.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "eval/speedup.h"

namespace mtmc {

enum class Tier { screen, certify };
enum class Outcome { certified, refused, ill_conditioned };

std::string to_string(Tier tier);
std::string to_string(Outcome outcome);  // "certified", "refused", "ill-conditioned"

// The error of one output on one draw, against the float64 truth; the limits are rules (a) and (b) of docs/JUDGE.md.
struct OutputError {
  std::string draw;                     // "task-0", "scaled-up", ...
  std::string output;                   // "0", "1.hidden", "state:bn.running_mean"
  double error = 0, limit = 0;          // norm-wise, relative
  double max_error = 0, max_limit = 0;  // largest element, absolute
  double budget = 0;                    // B: what eager itself errs
  bool counts = true;                   // false: eager is not exact enough on this draw to prove anything
  std::string broken;                   // the rule that failed, "a" to "g"; empty when all hold
  std::string detail = {};              // of rule (f): what there is too much of
  bool gross = false;                   // of rules (f) and (g): is it more than a lower precision does?
  int64_t compared = 0, elsewhere = 0;  // elements held to the truth and to eager; 0: all of them to the truth
  double beyond =
      0;  // elements that err by more, under rule (f) of themselves, are named; infinite: what is not finite
  double seen_from = 0;  // an element that errs by this part of the rms is seen wherever it lies
  bool moved = false;    // is the budget what half an ulp in the arguments makes, more than eager errs?
};

struct Timing {
  std::vector<double> samples_ms;       // in the order measured
  double median_ms = 0, spread_ms = 0;  // spread: interquartile range
};

struct Verdict {
  Tier tier = Tier::screen;
  Outcome outcome = Outcome::refused;
  std::string stage;                      // how far it came: compile, run, correctness, timing
  std::string reason;                     // a stable word of docs/JUDGE.md; empty when certified
  std::string message;                    // one sentence with figures
  bool official = false, legacy = false;  // KernelBench's allclose to eager at 1e-4 and at 1e-2
  bool degenerate = false;                // zeros, a constant or a copy of an input would pass this task
  std::string accuracy_class;             // exact, fp32, tf32, half; empty when not measured
  std::vector<OutputError> errors;
  std::vector<std::string> draws;
  std::optional<double> time_ms;                         // median of the candidate
  std::map<std::string, Timing> times;                   // candidate, eager, compile, max-autotune, graph
  std::map<std::string, Speedup> speedup;                // over each of the others
  std::optional<double> clock_apart_ms, clock_noise_ms;  // of the clocks inside and outside (rules.h, ClockCheck)
  std::optional<double> own_kernel_share;                // of the time, outside the framework's operators
  std::map<std::string, double> kernel_shares;           // of the time, by name, as the profile says
  std::optional<int> launches;                           // kernels and copies of one call on a GPU
  std::string library_use;                               // none, BLAS, any; empty when not measured
  std::string weights;                                   // how they were given: by-name, by-order, none
  std::vector<std::string> notes;  // labels: few-structured-draws, above-roofline, frozen-weights, ...
  std::string sandbox;             // bubblewrap, namespaces, rlimits, none
  double seconds = 0;              // what judging took
  double compiling_seconds = 0;    // of these, waiting for torch.compile to compile the module that it is compared with
  std::string evaluator;           // version of the rules and of the machinery

  bool certified() const { return outcome == Outcome::certified; }
  // The cost model's word (search/cost_judge.h): no code was run.
  bool estimated() const { return evaluator.starts_with("cost-"); }
};

// Over a baseline, or null when it was not measured.
const Speedup* speedup_over(const Verdict& verdict, const std::string& baseline);

Json to_json(const Verdict& verdict);
Result<Verdict> verdict_from_json(const Json& json);

}  // namespace mtmc
