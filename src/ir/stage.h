// A definition: what an operator computes, as a list of stages in scalar loops. Evaluated in double it is the slow
// reference; inlined and mapped to a frame it is what every target prints.
#pragma once
#include <string>
#include <vector>

#include "ir/expr.h"

namespace mtmc {

// How the body's values along the reduce axes (or along the scanned axis) become one value.
enum class Combine { none, sum, prod, max, min, argmax, argmin, scan_sum, scan_prod };
std::string_view name(Combine combine);
inline bool is_scan(Combine combine) { return combine == Combine::scan_sum || combine == Combine::scan_prod; }
inline bool is_reduction(Combine combine) { return combine != Combine::none && !is_scan(combine); }

// for every index of type.shape (axes 0..rank-1): value = combine over the reduce axes (rank, rank+1, ...) of body.
// argmax / argmin: body is the value compared, the result the flat row-major position in the reduce axes of its first
// occurrence (NaN wins). scans: value[.., i, ..] = body[.., 0, ..] op ... op body[.., i, ..] along scan_axis; no reduce
// axes. Sums of f16 / bf16 accumulate in f32. Loads in an operator's definition: tensor >= 0 is the operand of that
// number, tensor = -1-i is the result of the definition's own stage i.
struct Stage {
  std::string name;  // for people: "row_max"
  TensorType type;
  std::vector<int64_t> reduce;
  Combine combine = Combine::none;
  int scan_axis = -1;
  ExprP body;

  int rank() const { return type.rank(); }
  std::vector<int64_t> extents() const;  // of all axes: spatial, then reduce
};

struct Definition {
  std::vector<Stage> stages;
  std::vector<int> outputs;  // which stage is output 0, 1, ... of the operator
};

inline TensorRef stage_ref(int stage) { return -1 - stage; }

// "row_max : f32[64] max over [512] of %0[a0, a1]"
std::string to_string(const Stage& stage);

}  // namespace mtmc
