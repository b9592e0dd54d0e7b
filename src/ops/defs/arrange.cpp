// Elements moved, repeated or masked by position: pads, flips, rolls, repeats, triangles.
#include "ops/aten.h"
#include "ops/build.h"

namespace mtmc {
namespace {

using Types = Result<std::vector<TensorType>>;

// `pad` lists (before, after) from the last axis on.
struct Padding {
  std::vector<int64_t> before, after;  // by axis
};
Result<Padding> padding_of(const OpCall& call) {
  MTMC_RETURN_IF_ERROR(require_operands(call, 1, 1));
  const int rank = call.type(0).rank();
  const auto pad = call.attrs.list("pad");
  if (pad.size() % 2 != 0 || static_cast<int>(pad.size()) / 2 > rank)
    return refusal(call, "pad has the wrong length", std::to_string(pad.size()),
                   "an even number up to " + std::to_string(2 * rank));
  Padding padding{std::vector<int64_t>(rank, 0), std::vector<int64_t>(rank, 0)};
  for (size_t i = 0; i < pad.size() / 2; ++i) {
    padding.before[rank - 1 - i] = pad[2 * i];
    padding.after[rank - 1 - i] = pad[2 * i + 1];
  }
  return padding;
}
std::string pad_mode(const OpCall& call) { return call.attrs.has("mode") ? call.attrs.text("mode") : "constant"; }

Types infer_pad(const OpCall& call) {
  MTMC_TRY(const Padding padding, padding_of(call));
  TensorType out = call.type(0);
  const std::string mode = pad_mode(call);
  for (int i = 0; i < out.rank(); ++i) {
    const int64_t most = mode == "reflect" ? out.shape[i] - 1 : mode == "circular" ? out.shape[i] : INT64_MAX;
    if (std::max(padding.before[i], padding.after[i]) > std::max<int64_t>(most, 0))
      return refusal(call, "padding is larger than the input", std::to_string(most), "less than the extent");
    out.shape[i] += padding.before[i] + padding.after[i];
    if (out.shape[i] < 0) return refusal(call, "the result would have a negative extent", std::to_string(out.shape[i]));
  }
  if (mode != "constant" && mode != "reflect" && mode != "replicate" && mode != "circular")
    return refusal(call, "unknown mode", mode, "constant, reflect, replicate or circular");
  return std::vector<TensorType>{out};
}

// max(v, -v)
ExprP magnitude(const ExprP& v) { return fn(Fn::max, v, index_constant(0) - v); }

Definition define_pad(const OpCall& call) {
  const TensorType &in = call.type(0), out = infer_pad(call).value()[0];
  const Padding padding = padding_of(call).value();
  const std::string mode = pad_mode(call);
  Indices at = spatial(in.rank());
  ExprP guard = constant(DType::b1, 1);
  for (int i = 0; i < in.rank(); ++i) {
    if (padding.before[i] == 0 && padding.after[i] == 0) continue;
    const ExprP from = at[i] - index_constant(padding.before[i]), last = index_constant(in.shape[i] - 1);
    if (mode == "constant") guard = fn(Fn::logical_and, guard, simplify(in_range(from, 0, in.shape[i]), out.shape));
    if (mode == "reflect") at[i] = last - magnitude(last - magnitude(from));
    if (mode == "replicate") at[i] = fn(Fn::min, fn(Fn::max, from, index_constant(0)), last);
    if (mode == "circular") at[i] = from % index_constant(in.shape[i]);
    if (mode == "constant") at[i] = from;
  }
  return single(call, "pad",
                raw_operand(call, 0, at, is_constant(guard) ? nullptr : guard, call.attrs.number("value", 0.0)));
}

Types infer_flip(const OpCall& call) {
  MTMC_RETURN_IF_ERROR(require_operands(call, 1, 1));
  MTMC_RETURN_IF_ERROR(resolve_axes(call, "dims", call.type(0).rank()));
  return std::vector<TensorType>{call.type(0)};
}
Definition define_flip(const OpCall& call) {
  Indices at = spatial(call.type(0).rank());
  if (!call.attrs.list("dims").empty()) {
    const std::vector<int> axes = axes_of(call, "dims", call.type(0).rank());
    for (int i : axes) at[i] = index_constant(call.type(0).shape[i] - 1) - at[i];
  }
  return single(call, "flip", raw_operand(call, 0, at));
}

Types infer_roll(const OpCall& call) {
  MTMC_RETURN_IF_ERROR(require_operands(call, 1, 1));
  const auto shifts = call.attrs.list("shifts");
  const auto dims = call.attrs.has("dims") ? call.attrs.list("dims") : std::vector<int64_t>{};
  if (dims.empty() ? shifts.size() != 1 : shifts.size() != dims.size())
    return refusal(call, "shifts and dims differ in length", std::to_string(shifts.size()),
                   std::to_string(dims.size()));
  for (int64_t dim : dims) MTMC_RETURN_IF_ERROR(resolve_axis(call, dim, call.type(0).rank()));
  return std::vector<TensorType>{call.type(0)};
}
Definition define_roll(const OpCall& call) {
  const Shape& shape = call.type(0).shape;
  const int rank = call.type(0).rank();
  const auto shifts = call.attrs.list("shifts");
  const auto dims = call.attrs.has("dims") ? call.attrs.list("dims") : std::vector<int64_t>{};
  Indices at = spatial(rank);
  const auto moved = [](const ExprP& from, int64_t shift, int64_t extent) {
    const int64_t by = extent == 0 ? 0 : ((-shift) % extent + extent) % extent;
    return (from + index_constant(by)) % index_constant(std::max<int64_t>(extent, 1));
  };
  for (size_t i = 0; i < dims.size(); ++i) {
    const int which = resolve_axis(call, dims[i], rank).value();
    at[which] = moved(at[which], shifts[i], shape[which]);
  }
  if (dims.empty()) at = unflatten(moved(flatten(at, shape), shifts[0], product(shape)), shape);
  return single(call, "roll", raw_operand(call, 0, at));
}

// How often each axis repeats, new axes in front.
Result<Shape> repeats_of(const OpCall& call) {
  MTMC_RETURN_IF_ERROR(require_operands(call, 1, 1));
  Shape repeats = call.attrs.list("repeats");
  const size_t rank = call.type(0).shape.size();
  if (call.op == "tile" && repeats.size() < rank) repeats.insert(repeats.begin(), rank - repeats.size(), 1);
  if (repeats.size() < rank)
    return refusal(call, "fewer repeats than dimensions", std::to_string(repeats.size()), std::to_string(rank));
  return repeats;
}
Types infer_repeat(const OpCall& call) {
  MTMC_TRY(Shape shape, repeats_of(call));
  const Shape& in = call.type(0).shape;
  for (size_t i = 0; i < in.size(); ++i) shape[shape.size() - in.size() + i] *= in[i];
  return std::vector<TensorType>{{call.type(0).dtype, shape}};
}
Definition define_repeat(const OpCall& call) {
  const Shape& in = call.type(0).shape;
  const int skip = static_cast<int>(repeats_of(call).value().size() - in.size());
  Indices at;
  for (size_t i = 0; i < in.size(); ++i)
    at.push_back(axis(skip + static_cast<int>(i)) % index_constant(std::max<int64_t>(in[i], 1)));
  return single(call, std::string(call.op), raw_operand(call, 0, at));
}

Types infer_interleave(const OpCall& call) {
  MTMC_RETURN_IF_ERROR(require_operands(call, 1, 1));
  TensorType out = call.type(0);
  const int64_t repeats = call.attrs.integer("repeats");
  if (!call.attrs.has("dim")) return std::vector<TensorType>{{out.dtype, {out.elements() * repeats}}};
  MTMC_TRY(const int along, resolve_axis(call, call.attrs.integer("dim"), out.rank()));
  out.shape[along] *= repeats;
  return std::vector<TensorType>{out};
}
Definition define_interleave(const OpCall& call) {
  const TensorType& in = call.type(0);
  const ExprP repeats = index_constant(call.attrs.integer("repeats"));
  Indices at = spatial(in.rank());
  if (call.attrs.has("dim")) {
    const int along = axis_of(call, "dim", 0, in.rank());
    at[along] = at[along] / repeats;
  } else {
    at = unflatten(axis(0) / repeats, in.shape);
  }
  return single(call, "repeat_interleave", raw_operand(call, 0, at));
}

Types infer_triangle(const OpCall& call) {
  MTMC_RETURN_IF_ERROR(require_operands(call, 1, 1));
  if (call.type(0).rank() < 2) return refusal(call, "needs matrices", to_string(call.type(0)), "2 dimensions or more");
  return std::vector<TensorType>{call.type(0)};
}
Definition define_triangle(const OpCall& call) {
  const int rank = call.type(0).rank();
  const ExprP offset = axis(rank - 1) - axis(rank - 2);
  const ExprP diagonal = index_constant(call.attrs.integer("diagonal", 0));
  const ExprP kept = simplify(fn(call.op == "tril" ? Fn::le : Fn::ge, offset, diagonal), call.type(0).shape);
  return single(call, std::string(call.op), raw_operand(call, 0, spatial(rank), kept, 0));
}

}  // namespace

extern const OpFile arrange_def = {
    op("pad", "The input with borders of a constant, or of its own mirrored, repeated or wrapped elements.", infer_pad,
       define_pad, "F.pad({0}, {pad}, {mode|'constant'}, {value|None})",
       {{"aten.pad.default", "self", "pad mode value"},
        {"aten.constant_pad_nd.default", "self", "pad value"},
        {"aten.reflection_pad1d.default", "self", "padding>pad", "mode=\"reflect\""},
        {"aten.reflection_pad2d.default", "self", "padding>pad", "mode=\"reflect\""},
        {"aten.reflection_pad3d.default", "self", "padding>pad", "mode=\"reflect\""},
        {"aten.replication_pad1d.default", "self", "padding>pad", "mode=\"replicate\""},
        {"aten.replication_pad2d.default", "self", "padding>pad", "mode=\"replicate\""},
        {"aten.replication_pad3d.default", "self", "padding>pad", "mode=\"replicate\""}}),
    op("flip", "The order along some axes reversed.", infer_flip, define_flip, "torch.flip({0}, {dims})",
       {{"aten.flip.default", "self", "dims"}}),
    op("roll", "Elements moved along an axis, wrapping around.", infer_roll, define_roll,
       "torch.roll({0}, {shifts}, {dims|None})", {{"aten.roll.default", "self", "shifts dims"}}),
    op("repeat", "The whole tensor repeated along its axes.", infer_repeat, define_repeat,
       "torch.ops.aten.repeat({0}, {repeats})", {{"aten.repeat.default", "self", "repeats"}}),
    op("tile", "The whole tensor repeated along its last axes.", infer_repeat, define_repeat,
       "torch.tile({0}, {repeats})", {{"aten.tile.default", "self", "dims>repeats"}}),
    op("repeat_interleave", "Each element repeated in place.", infer_interleave, define_interleave,
       "torch.repeat_interleave({0}, {repeats}, {dim|None})",
       {{"aten.repeat_interleave.self_int", "self", "repeats dim", "",
         [](AtenCall& call) { call.args.erase("output_size"); }}}),
    op("tril", "The lower triangles of matrices, zeros above.", infer_triangle, define_triangle,
       "torch.tril({0}, {diagonal|0})", {{"aten.tril.default", "self", "diagonal"}}),
    op("triu", "The upper triangles of matrices, zeros below.", infer_triangle, define_triangle,
       "torch.triu({0}, {diagonal|0})", {{"aten.triu.default", "self", "diagonal"}}),
};

}  // namespace mtmc
