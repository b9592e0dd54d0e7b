// The numbers that the referee (python/mtmc/measure.py) takes of one output of one call.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"

namespace mtmc {

// Of a random mask: how many of its elements are dropped, or have the fate of another element (python/mtmc/chance.py).
struct Fraction {
  double hits = 0, of = 0;  // elements, or pairs of them
};
using Fractions = std::map<std::string, Fraction>;
Fractions fractions_from(const Json& json);

struct Measurement {
  std::string output;            // "0", "1", ..., "state:NAME"
  std::string mismatch, detail;  // wrong-shape or wrong-dtype, when nothing could be compared
  std::string dtype;             // torch's name of eager's type
  bool floating = false;
  bool exact = false;           // bit for bit eager's
  int64_t poison = 0;           // elements that hold the pattern of memory nobody wrote
  std::optional<double> error;  // |c - t| / |t| in the 2-norm; absent when t = 0 and c is not
  double norm_truth = 0;
  double max_error = 0, max_truth = 0;  // largest |c - t| and |t|
  int64_t nonfinite = 0;                // c is not finite where eager is
  int64_t mismatched = 0;               // eager and truth are not finite, and c is not alike
  int64_t nonzero = 0;                  // t = 0: elements that are not 0 where eager's are
  int64_t wrong = 0;                    // integers that differ from t and point to no tied value
  double gap = 0;                       // largest distance of a tied value from the best, in units of the values' rms
  Fractions fractions;                  // of an output that was judged under the candidate's own mask
  int64_t official_bad = 0, legacy_bad = 0;  // elements outside KernelBench's allclose to eager
};

Measurement measurement_from(const Json& json);
std::vector<Measurement> measurements_from(const Json& list);

}  // namespace mtmc
