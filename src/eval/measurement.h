// The numbers that the referee (python/mtmc/referee/measure.py) takes of one output of one call.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"

namespace mtmc {

// Of a random mask: how many of its elements are dropped, or have the fate of another element
// (python/mtmc/referee/chance.py).
struct Fraction {
  double hits = 0, of = 0;  // elements, or pairs of them
};
using Fractions = std::map<std::string, Fraction>;
Fractions fractions_from(const Json& json);

// Of the elements of an output, or of its slices along the last axis: how many err by how much of themselves
// (python/mtmc/referee/tails.py).
struct Tail {
  static constexpr size_t kSteps = 9;
  int64_t of = 0;                           // that are large enough to tell
  std::array<int64_t, kSteps> beyond = {};  // with a relative error of at least 4^-i
};
Tail tail_from(const Json& counts);

// Of a large output: what lies outside the slices whose truth is known is compared with eager's
// (python/mtmc/referee/elsewhere.py). Blocks are of 65,536 elements, their errors relative to `scale`.
struct Elsewhere {
  int64_t numel = 0;
  double error = 0, max_error = 0;              // c - e: the worst block's rms, the largest element
  double max_eager = 0, scale = 0;              // largest |e|; rms of the truth
  double eager_error = 0, eager_max_error = 0;  // eager's own within the slices of this draw
};

struct Measurement {
  std::string output;            // "0", "1", ..., "state:NAME"
  std::string mismatch, detail;  // wrong-shape or wrong-dtype, when nothing could be compared
  std::string dtype;             // torch's name of eager's type
  bool floating = false;
  bool exact = false;           // bit for bit eager's
  int64_t poison = 0;           // elements that hold the pattern of memory nobody wrote
  std::optional<double> error;  // |c - t| / |t| in the 2-norm; absent when t = 0 and c is not
  double off = 0;               // |c - t| in the 2-norm
  double norm_truth = 0;
  Tail elements, rows;
  double block_error = 0;  // the worst block's rms of c - t, relative to that of t; of slices only
  int64_t compared = 0;    // elements whose truth is known, where not all are
  std::optional<Elsewhere> elsewhere;
  double max_error = 0, max_truth = 0;  // largest |c - t| and |t|
  int64_t nonfinite = 0;                // c is not finite where eager is
  int64_t mismatched = 0;               // eager is not finite, and c is neither alike nor near the truth
  int64_t wrong = 0;                    // integers that differ from t and point to no tied value
  double distance = 0;                  // of those from t, at most
  int64_t repeated = 0;                 // indices of an ordering that come again along its axis
  int64_t astray = 0;                   // indices whose value is off by a sixteenth of what is in its own row
  double gap = 0;                       // largest distance of a tied value from the best, in units of the values' rms
  Fractions fractions;                  // of an output that was judged under the candidate's own mask
  int64_t official_bad = 0, legacy_bad = 0;  // elements outside KernelBench's allclose to eager
};

Measurement measurement_from(const Json& json);
std::vector<Measurement> measurements_from(const Json& list);

}  // namespace mtmc
