// Helpers for writing type rules and definitions.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "ops/op.h"

namespace mtmc {

// The type to compute in: f32 for f16 and bf16, else itself.
DType compute_type(DType dtype);
// The result of float functions on this type: integers become f32.
DType float_type(DType dtype);
// torch's promotion over all operands: tensors with dimensions win over scalar tensors of the same category.
DType promoted(const OpCall& call, int first = 0);

Error refusal(const OpCall& call, std::string wrong, std::string got = {}, std::string wanted = {});
Status require_operands(const OpCall& call, int least, int most);
// An axis, negative ones from the end.
Result<int> resolve_axis(const OpCall& call, int64_t dim, int rank);
// Several, ascending and without repeats; `attr` absent or empty means all.
Result<std::vector<int>> resolve_axes(const OpCall& call, std::string_view attr, int rank);
// What Python's slice takes of an axis of the first operand: attributes dim (0), start, end, step.
struct Slice {
  int axis = 0;
  int64_t start = 0, step = 1, count = 1;
};
Result<Slice> slice_of(const OpCall& call);
// The attribute `index` on an axis of the first operand, negative ones from the end.
Result<int64_t> index_on(const OpCall& call, int axis);
// For definitions, where infer has checked already.
int axis_of(const OpCall& call, std::string_view attr, int64_t otherwise, int rank);
std::vector<int> axes_of(const OpCall& call, std::string_view attr, int rank);

using Indices = std::vector<ExprP>;
// a0 .. a(rank-1), starting at `first`.
Indices spatial(int rank, int first = 0);
// A load of an operand, converted to its compute type.
ExprP operand(const OpCall& call, int which, Indices indices, ExprP guard = nullptr, double other = 0);
// The same, unconverted.
ExprP raw_operand(const OpCall& call, int which, Indices indices, ExprP guard = nullptr, double other = 0);
// A load of an index operand as i64.
ExprP index_operand(const OpCall& call, int which, Indices indices);
// The operand broadcast against `out` at the indices of out.
Indices broadcast_indices(const Shape& operand, const Indices& out);
// The multi-index of a flat row-major position.
Indices unflatten(ExprP flat, const Shape& shape);
ExprP flatten(const Indices& indices, const Shape& shape);
// low <= index < high, without what always holds when low or high is unset.
ExprP in_range(ExprP index, std::optional<int64_t> low, std::optional<int64_t> high);
ExprP number(DType dtype, double value);
// Of the type of the first operand.
inline ExprP num(std::span<const ExprP> operands, double value) { return number(operands[0]->dtype, value); }
inline ExprP f32(double value) { return number(DType::f32, value); }
ExprP fn(Fn function, ExprP a);
ExprP fn(Fn function, ExprP a, ExprP b);

// Collects stages; bodies are simplified with the extents known.
class Builder {
 public:
  // Returns the stage's number.
  int map(std::string name, TensorType type, ExprP body);
  int reduce(std::string name, TensorType type, std::vector<int64_t> over, Combine combine, ExprP body);
  int scan(std::string name, TensorType type, int along, Combine combine, ExprP body);
  // A load of a stage's result.
  ExprP at(int stage, Indices indices) const;
  const TensorType& type(int stage) const { return definition_.stages[stage].type; }
  // Casts to the output's type when the stage has another, and makes it the next output.
  void output(int stage, DType dtype);
  Definition done() { return std::move(definition_); }

 private:
  int push(Stage stage);
  Definition definition_;
};

// How a tensor's axes split into kept and reduced ones.
struct Split {
  std::vector<int> axes;  // reduced, ascending
  Shape shape;            // of the result: kept axes, and ones when keepdim
  std::vector<int64_t> over;
  Indices input;  // index of the input element at (result axes, reduce axes)
  Indices row;    // index of the reduced result for the element at the input's axes (stages over the whole input)
};
Split split_axes(const Shape& input, std::vector<int> axes, bool keepdim);

// One definition of one stage: a pointwise map of the output type.
Definition single(const OpCall& call, std::string name, ExprP body);

// A row of a table of operators.
OpDef op(std::string_view name, std::string_view doc, decltype(OpDef::infer) infer, decltype(OpDef::define) define,
         std::string_view spelling, std::vector<AtenRule> aten);
// A row of a table of pointwise operators.
OpDef scalar_op(std::string_view name, std::string_view doc, ScalarRule rule, std::string_view spelling,
                std::vector<AtenRule> aten);
// Type rule and definition of operators with a ScalarRule.
Result<std::vector<TensorType>> infer_scalar(const OpCall& call);
Definition define_scalar(const OpCall& call);

}  // namespace mtmc
