// Diagonals taken, made and summed, and axes turned or interleaved.
#include "ops/build.h"

namespace mtmc {
namespace {

using Types = Result<std::vector<TensorType>>;

// A matrix with the operand's last axis on a diagonal of the axes dim1 and dim2.
Types infer_embed(const OpCall& call) {
  MTMC_RETURN_IF_ERROR(require_operands(call, 1, 1));
  const int rank = call.type(0).rank() + 1;
  if (rank < 2) return refusal(call, "a scalar has no dimension");
  MTMC_TRY(const int a, resolve_axis(call, call.attrs.integer("dim1", -2), rank));
  MTMC_TRY(const int b, resolve_axis(call, call.attrs.integer("dim2", -1), rank));
  if (a == b) return refusal(call, "needs two different dimensions", std::to_string(a));
  const int64_t extent = call.type(0).shape.back() + std::abs(call.attrs.integer("offset", 0));
  Shape shape(call.type(0).shape.begin(), call.type(0).shape.end() - 1);
  for (const int at : {std::min(a, b), std::max(a, b)}) shape.insert(shape.begin() + at, extent);
  return std::vector<TensorType>{{call.type(0).dtype, shape}};
}
Definition define_embed(const OpCall& call) {
  const TensorType out = infer_embed(call).value()[0];
  const int a = axis_of(call, "dim1", -2, out.rank()), b = axis_of(call, "dim2", -1, out.rank());
  const int64_t offset = call.attrs.integer("offset", 0);
  Indices at;
  for (int i = 0; i < out.rank(); ++i)
    if (i != a && i != b) at.push_back(axis(i));
  const ExprP along = offset > 0 ? axis(a) : axis(b);
  at.push_back(along);
  const ExprP on = fn(Fn::eq, axis(b) - axis(a), index_constant(offset));
  const ExprP guard = fn(Fn::logical_and, on, in_range(along, std::nullopt, call.type(0).shape.back()));
  return single(call, "diag_embed", raw_operand(call, 0, at, simplify(guard, out.shape), 0));
}

// The diagonal of a matrix, or a matrix of a vector.
Types infer_diag(const OpCall& call) {
  MTMC_RETURN_IF_ERROR(require_operands(call, 1, 1));
  const TensorType& x = call.type(0);
  const int64_t offset = call.attrs.integer("diagonal", 0);
  if (x.rank() == 1) {
    const int64_t extent = x.shape[0] + std::abs(offset);
    return std::vector<TensorType>{{x.dtype, {extent, extent}}};
  }
  if (x.rank() != 2) return refusal(call, "needs a vector or a matrix", to_string(x));
  const int64_t count = std::min(x.shape[0] + std::min<int64_t>(offset, 0), x.shape[1] - std::max<int64_t>(offset, 0));
  return std::vector<TensorType>{{x.dtype, {std::max<int64_t>(count, 0)}}};
}
Definition define_diag(const OpCall& call) {
  const int64_t offset = call.attrs.integer("diagonal", 0);
  const ExprP down = index_constant(std::max<int64_t>(-offset, 0)),
              right = index_constant(std::max<int64_t>(offset, 0));
  if (call.type(0).rank() == 2) return single(call, "diag", raw_operand(call, 0, {axis(0) + down, axis(0) + right}));
  const ExprP on = fn(Fn::eq, axis(1) - axis(0), index_constant(offset));
  const ExprP along = offset > 0 ? axis(0) : axis(1);
  const ExprP guard = fn(Fn::logical_and, on, in_range(along, std::nullopt, call.type(0).shape[0]));
  return single(call, "diag", raw_operand(call, 0, {along}, simplify(guard, infer_diag(call).value()[0].shape), 0));
}

Types infer_trace(const OpCall& call) {
  MTMC_RETURN_IF_ERROR(require_operands(call, 1, 1));
  const TensorType& x = call.type(0);
  if (x.rank() != 2) return refusal(call, "needs a matrix", to_string(x));
  return std::vector<TensorType>{{is_float(x.dtype) ? x.dtype : DType::i64, {}}};
}
Definition define_trace(const OpCall& call) {
  const TensorType out = infer_trace(call).value()[0];
  const DType inner = compute_type(out.dtype);
  Builder b;
  b.output(b.reduce("trace", {inner, {}}, {std::min(call.type(0).shape[0], call.type(0).shape[1])}, Combine::sum,
                    cast(inner, raw_operand(call, 0, {axis(0), axis(0)}))),
           out.dtype);
  return b.done();
}

// [N, groups * each, ..] to [N, each * groups, ..]
Types infer_channels(const OpCall& call) {
  MTMC_RETURN_IF_ERROR(require_operands(call, 1, 1));
  const TensorType& x = call.type(0);
  const int64_t groups = call.attrs.integer("groups");
  if (x.rank() < 3 || groups < 1 || x.shape[1] % groups != 0)
    return refusal(call, "channels do not divide into groups", to_string(x), "a multiple of " + std::to_string(groups));
  return std::vector<TensorType>{x};
}
Definition define_channels(const OpCall& call) {
  const TensorType& x = call.type(0);
  const int64_t groups = call.attrs.integer("groups");
  Indices at = spatial(x.rank());
  at[1] = at[1] % index_constant(groups) * index_constant(x.shape[1] / groups) + at[1] / index_constant(groups);
  return single(call, "channel_shuffle", raw_operand(call, 0, at));
}

// k quarter turns from the first of two axes to the second.
Types infer_turn(const OpCall& call) {
  MTMC_RETURN_IF_ERROR(require_operands(call, 1, 1));
  TensorType out = call.type(0);
  const auto dims = call.attrs.has("dims") ? call.attrs.list("dims") : std::vector<int64_t>{0, 1};
  if (dims.size() != 2 || out.rank() < 2) return refusal(call, "needs two dimensions", to_string(out));
  MTMC_TRY(const int a, resolve_axis(call, dims[0], out.rank()));
  MTMC_TRY(const int b, resolve_axis(call, dims[1], out.rank()));
  if (a == b) return refusal(call, "a dimension appears twice", std::to_string(a));
  if (call.attrs.integer("k", 1) % 2 != 0) std::swap(out.shape[a], out.shape[b]);
  return std::vector<TensorType>{out};
}
Definition define_turn(const OpCall& call) {
  const TensorType& x = call.type(0);
  const auto dims = call.attrs.has("dims") ? call.attrs.list("dims") : std::vector<int64_t>{0, 1};
  const int a = resolve_axis(call, dims[0], x.rank()).value(), b = resolve_axis(call, dims[1], x.rank()).value();
  const int64_t turns = (call.attrs.integer("k", 1) % 4 + 4) % 4;
  Indices at = spatial(x.rank());
  const ExprP last_a = index_constant(x.shape[a] - 1), last_b = index_constant(x.shape[b] - 1);
  const ExprP from_a = axis(a), from_b = axis(b);
  if (turns == 1) at[a] = from_b, at[b] = last_b - from_a;
  if (turns == 2) at[a] = last_a - from_a, at[b] = last_b - from_b;
  if (turns == 3) at[a] = last_a - from_b, at[b] = from_a;
  return single(call, "rot90", raw_operand(call, 0, at));
}

}  // namespace

extern const OpFile diagonals_def = {
    op("diag_embed", "The last axis on a diagonal of two axes, zeros elsewhere.", infer_embed, define_embed,
       "torch.diag_embed({0}, {offset|0}, {dim1|-2}, {dim2|-1})",
       {{"aten.diag_embed.default", "self", "offset dim1 dim2"}}),
    op("diag", "The diagonal of a matrix, or the matrix with a vector on its diagonal.", infer_diag, define_diag,
       "torch.diag({0}, {diagonal|0})", {{"aten.diag.default", "self", "diagonal"}}),
    op("trace", "The sum of a matrix's diagonal.", infer_trace, define_trace, "torch.trace({0})",
       {{"aten.trace.default", "self"}}),
    op("channel_shuffle", "Channels of several groups interleaved.", infer_channels, define_channels,
       "F.channel_shuffle({0}, {groups})", {{"aten.channel_shuffle.default", "self", "groups"}}),
    op("rot90", "Quarter turns from one axis to another.", infer_turn, define_turn,
       "torch.rot90({0}, {k|1}, {dims|[0, 1]})", {{"aten.rot90.default", "self", "k dims"}}),
};

}  // namespace mtmc
