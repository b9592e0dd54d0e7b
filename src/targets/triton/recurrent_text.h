// The text of a recurrent kernel: what stays the same (with words between backticks for what does not), and the parts
// that a Recurrence's sums and expressions become.
#pragma once
#include <string>
#include <string_view>

#include "base/result.h"
#include "ops/recurrence.h"

namespace mtmc {

extern const std::string_view kRecurrentKernel;

// Statements that take the slice's sums apart and compute its next states: sum0.. from `sums`, then state0...
Result<std::string> recurrent_cell_text(const Recurrence& recurrence, const std::string& name,
                                        const std::string& doing);
// The block of weight rows of a column whose sum is `part`, and whether that sum has a product with the input (or the
// state).
std::string recurrent_gate_text(const Recurrence& recurrence);
std::string recurrent_part_text(const Recurrence& recurrence, bool input);

}  // namespace mtmc
