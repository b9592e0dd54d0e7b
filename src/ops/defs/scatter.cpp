// Parts of a tensor replaced: what assignments to views become in a functional graph.
#include "ops/build.h"

namespace mtmc {
namespace {

using Types = Result<std::vector<TensorType>>;

// The replaced part of operand 0 (select: one index, the axis is not in src).
Result<Slice> part_of(const OpCall& call) {
  if (call.op != "select_scatter") return slice_of(call);
  const TensorType& x = call.type(0);
  if (x.rank() == 0) return refusal(call, "a scalar has no dimension");
  Slice part;
  MTMC_TRY(part.axis, resolve_axis(call, call.attrs.integer("dim", 0), x.rank()));
  MTMC_TRY(part.start, index_on(call, part.axis));
  return part;
}

Types infer_part(const OpCall& call) {
  MTMC_RETURN_IF_ERROR(require_operands(call, 2, 2));
  MTMC_TRY(const Slice part, part_of(call));
  TensorType source = call.type(0);
  source.shape[part.axis] = part.count;
  if (call.op == "select_scatter") source.shape.erase(source.shape.begin() + part.axis);
  if (call.type(1) != source)
    return refusal(call, "the new part has another type", to_string(call.type(1)), to_string(source));
  return std::vector<TensorType>{call.type(0)};
}

Definition define_part(const OpCall& call) {
  const TensorType& x = call.type(0);
  const Slice part = part_of(call).value();
  const Indices at = spatial(x.rank());
  const ExprP offset = at[part.axis] - index_constant(part.start);
  Indices from = at;
  ExprP guard = in_range(offset, 0, part.count * part.step);
  if (part.step > 1)
    guard = fn(Fn::logical_and, guard, fn(Fn::eq, offset % index_constant(part.step), index_constant(0)));
  if (call.op == "select_scatter") {
    from.erase(from.begin() + part.axis);
  } else {
    from[part.axis] = offset / index_constant(part.step);
  }
  return single(call, std::string(call.op), load(1, x.dtype, from, simplify(guard, x.shape), raw_operand(call, 0, at)));
}

// "x[:, 3:7] = y".
std::string write_part(const OpCall& call, std::span<const std::string> args) {
  const Slice part = part_of(call).value();
  std::string text = args[0] + "[";
  for (int i = 0; i < part.axis; ++i) text += ":, ";
  text += std::to_string(part.start);
  if (call.op != "select_scatter") {
    text += ":" + std::to_string(part.count == 0 ? part.start : part.start + (part.count - 1) * part.step + 1);
    if (part.step > 1) text += ":" + std::to_string(part.step);
  }
  return text + "] = " + args[1];
}

Types infer_copy(const OpCall& call) {
  MTMC_RETURN_IF_ERROR(require_operands(call, 2, 2));
  if (broadcast(call.type(0).shape, call.type(1).shape) != call.type(0).shape)
    return refusal(call, "the source does not broadcast", to_string(call.type(1)), to_string(call.type(0)));
  return std::vector<TensorType>{call.type(0)};
}
Definition define_copy(const OpCall& call) {
  const TensorType& x = call.type(0);
  return single(call, "copy",
                cast(x.dtype, raw_operand(call, 1, broadcast_indices(call.type(1).shape, spatial(x.rank())))));
}

}  // namespace

extern const OpFile scatter_def = {
    {.name = "slice_scatter",
     .doc = "A tensor with a slice along one axis replaced.",
     .infer = infer_part,
     .define = define_part,
     .spelling = "torch.slice_scatter({0}, {1}, {dim|0}, {start|None}, {end|None}, {step|1})",
     .aten = {{"aten.slice_scatter.default", "self src", "dim start end step"}},
     .write = write_part,
     .part = "slice"},
    {.name = "select_scatter",
     .doc = "A tensor with one index along an axis replaced.",
     .infer = infer_part,
     .define = define_part,
     .spelling = "torch.select_scatter({0}, {1}, {dim}, {index})",
     .aten = {{"aten.select_scatter.default", "self src", "dim index"}},
     .write = write_part,
     .part = "select"},
    {.name = "copy",
     .doc = "The second tensor in the first's type and shape.",
     .infer = infer_copy,
     .define = define_copy,
     .spelling = "torch.ops.aten.copy({0}, {1})",
     .aten = {{"aten.copy.default", "self src"}}},
};

}  // namespace mtmc
