#include "ops/build.h"

#include <algorithm>
#include <set>

namespace mtmc {

DType compute_type(DType dtype) { return dtype == DType::f16 || dtype == DType::bf16 ? DType::f32 : dtype; }
DType float_type(DType dtype) { return is_float(dtype) ? dtype : DType::f32; }

DType promoted(const OpCall& call, int first) {
  const auto category = [](DType dtype) { return is_float(dtype) ? 2 : dtype == DType::b1 ? 0 : 1; };
  std::optional<DType> wide, scalar;  // of operands with dimensions, of those without
  for (int i = first; i < call.count(); ++i) {
    if (!call.has(i)) continue;
    const TensorType& type = call.type(i);
    auto& slot = type.rank() > 0 ? wide : scalar;
    slot = slot ? promote(*slot, type.dtype) : type.dtype;
  }
  MTMC_CHECK(wide || scalar, std::string(call.op) + " without operands");
  if (!wide) return *scalar;
  return scalar && category(*scalar) > category(*wide) ? promote(*wide, *scalar) : *wide;
}

Error refusal(const OpCall& call, std::string wrong, std::string got, std::string wanted) {
  return Error{std::string(call.op), std::move(wrong), std::move(got), std::move(wanted)};
}

Status require_operands(const OpCall& call, int least, int most) {
  for (int i = 0; i < least; ++i)
    if (!call.has(i)) return refusal(call, "operand " + std::to_string(i) + " is missing");
  if (call.count() > most)
    return refusal(call, "too many operands", std::to_string(call.count()), "at most " + std::to_string(most));
  return ok_status();
}

Result<int> resolve_axis(const OpCall& call, int64_t dim, int rank) {
  const int64_t span = std::max(rank, 1);  // torch accepts dim 0 and -1 of a scalar
  if (dim < -span || dim >= span)
    return refusal(call, "dimension out of range", std::to_string(dim),
                   std::to_string(-span) + " to " + std::to_string(span - 1));
  return static_cast<int>(dim < 0 ? dim + span : dim);
}

Result<std::vector<int>> resolve_axes(const OpCall& call, std::string_view attr, int rank) {
  std::set<int> axes;
  if (call.attrs.has(attr))
    for (int64_t dim : call.attrs.list(attr)) {
      MTMC_TRY(const int axis, resolve_axis(call, dim, rank));
      if (!axes.insert(axis).second) return refusal(call, "a dimension appears twice", std::to_string(dim));
    }
  if (rank == 0) return std::vector<int>{};
  if (axes.empty())
    for (int i = 0; i < rank; ++i) axes.insert(i);
  return std::vector<int>(axes.begin(), axes.end());
}

Result<Slice> slice_of(const OpCall& call) {
  const TensorType& x = call.type(0);
  if (x.rank() == 0) return refusal(call, "a scalar has no dimension");
  Slice slice;
  MTMC_TRY(slice.axis, resolve_axis(call, call.attrs.integer("dim", 0), x.rank()));
  const int64_t extent = x.shape[slice.axis];
  const auto bound = [&](int64_t at) { return std::clamp(at < 0 ? at + extent : at, int64_t(0), extent); };
  slice.start = bound(call.attrs.integer("start", 0));
  slice.step = call.attrs.integer("step", 1);
  if (slice.step < 1) return refusal(call, "the step must be positive", std::to_string(slice.step), "at least 1");
  const int64_t end = std::max(bound(call.attrs.integer("end", extent)), slice.start);
  slice.count = (end - slice.start + slice.step - 1) / slice.step;
  return slice;
}

Result<int64_t> index_on(const OpCall& call, int axis) {
  const int64_t index = call.attrs.integer("index"), extent = call.type(0).shape[axis];
  if (index < -extent || index >= extent)
    return refusal(call, "index out of range", std::to_string(index),
                   std::to_string(-extent) + " to " + std::to_string(extent - 1));
  return index < 0 ? index + extent : index;
}

int axis_of(const OpCall& call, std::string_view attr, int64_t otherwise, int rank) {
  return resolve_axis(call, call.attrs.integer(attr, otherwise), rank).value();
}
std::vector<int> axes_of(const OpCall& call, std::string_view attr, int rank) {
  return resolve_axes(call, attr, rank).value();
}

Indices spatial(int rank, int first) {
  Indices indices;
  for (int i = 0; i < rank; ++i) indices.push_back(axis(first + i));
  return indices;
}

ExprP number(DType dtype, double value) { return constant(dtype, value); }
ExprP fn(Fn function, ExprP a) { return call(function, {std::move(a)}); }
ExprP fn(Fn function, ExprP a, ExprP b) { return call(function, {std::move(a), std::move(b)}); }

ExprP raw_operand(const OpCall& call, int which, Indices indices, ExprP guard, double other) {
  const DType dtype = call.type(which).dtype;
  ExprP instead = guard ? number(dtype, other) : nullptr;
  return load(which, dtype, std::move(indices), std::move(guard), std::move(instead));
}

ExprP operand(const OpCall& call, int which, Indices indices, ExprP guard, double other) {
  return cast(compute_type(call.type(which).dtype),
              raw_operand(call, which, std::move(indices), std::move(guard), other));
}

ExprP index_operand(const OpCall& call, int which, Indices indices) {
  return cast(DType::i64, raw_operand(call, which, std::move(indices)));
}

Indices broadcast_indices(const Shape& operand, const Indices& out) {
  Indices indices;
  const size_t skip = out.size() - operand.size();
  for (size_t i = 0; i < operand.size(); ++i) indices.push_back(operand[i] == 1 ? index_constant(0) : out[skip + i]);
  return indices;
}

Indices unflatten(ExprP flat, const Shape& shape) {
  const auto strides = contiguous_strides(shape);
  Indices indices;
  for (size_t i = 0; i < shape.size(); ++i) {
    ExprP index = flat / index_constant(std::max<int64_t>(strides[i], 1));
    indices.push_back(i == 0 ? index : index % index_constant(std::max<int64_t>(shape[i], 1)));
  }
  return indices;
}

ExprP flatten(const Indices& indices, const Shape& shape) {
  const auto strides = contiguous_strides(shape);
  ExprP flat = index_constant(0);
  for (size_t i = 0; i < shape.size(); ++i) flat = flat + indices[i] * index_constant(strides[i]);
  return flat;
}

ExprP in_range(ExprP index, std::optional<int64_t> low, std::optional<int64_t> high) {
  ExprP guard = constant(DType::b1, 1);
  if (low) guard = fn(Fn::ge, index, index_constant(*low));
  if (high) guard = fn(Fn::logical_and, guard, fn(Fn::lt, index, index_constant(*high)));
  return guard;
}

int Builder::push(Stage stage) {
  stage.body = simplify(stage.body, stage.extents());
  definition_.stages.push_back(std::move(stage));
  return static_cast<int>(definition_.stages.size()) - 1;
}

int Builder::map(std::string name, TensorType type, ExprP body) {
  return push({std::move(name), std::move(type), {}, Combine::none, -1, std::move(body)});
}
int Builder::reduce(std::string name, TensorType type, std::vector<int64_t> over, Combine combine, ExprP body) {
  return push({std::move(name), std::move(type), std::move(over), combine, -1, std::move(body)});
}
int Builder::scan(std::string name, TensorType type, int along, Combine combine, ExprP body) {
  return push({std::move(name), std::move(type), {}, combine, along, std::move(body)});
}

ExprP Builder::at(int stage, Indices indices) const {
  return load(stage_ref(stage), definition_.stages[stage].type.dtype, std::move(indices));
}

void Builder::output(int stage, DType dtype) {
  if (type(stage).dtype != dtype) {
    const TensorType from = type(stage);
    stage = map("rounded", {dtype, from.shape}, cast(dtype, at(stage, spatial(from.rank()))));
  }
  definition_.outputs.push_back(stage);
}

Split split_axes(const Shape& input, std::vector<int> axes, bool keepdim) {
  Split split;
  split.axes = std::move(axes);
  const auto reduced = [&](int i) { return std::find(split.axes.begin(), split.axes.end(), i) != split.axes.end(); };
  const int rank = static_cast<int>(input.size());
  for (int i = 0; i < rank; ++i) {
    if (!reduced(i)) split.shape.push_back(input[i]);
    if (reduced(i) && keepdim) split.shape.push_back(1);
    if (reduced(i)) split.over.push_back(input[i]);
  }
  int kept = 0, over = static_cast<int>(split.shape.size());
  for (int i = 0; i < rank; ++i) {
    split.input.push_back(axis(reduced(i) ? over++ : kept));
    if (!reduced(i)) split.row.push_back(axis(i));
    if (reduced(i) && keepdim) split.row.push_back(index_constant(0));
    kept += !reduced(i) || keepdim;
  }
  return split;
}

Definition single(const OpCall& call, std::string name, ExprP body) {
  Builder builder;
  builder.output(builder.map(std::move(name), find_op(call.op)->infer(call).value()[0], std::move(body)), body->dtype);
  return builder.done();
}

}  // namespace mtmc
