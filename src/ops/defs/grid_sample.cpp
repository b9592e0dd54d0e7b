// Images sampled where a grid says: positions from -1 to 1 along each axis.
#include "ops/build.h"

namespace mtmc {
namespace {

using Types = Result<std::vector<TensorType>>;

Types infer(const OpCall& call) {
  MTMC_RETURN_IF_ERROR(require_operands(call, 2, 2));
  const TensorType &x = call.type(0), &grid = call.type(1);
  if (x.rank() != 4 || grid.rank() != 4 || grid.shape[0] != x.shape[0] || grid.shape[3] != 2 || !is_float(x.dtype) ||
      grid.dtype != x.dtype)
    return refusal(call, "needs images and a grid for each", to_string(x) + " and " + to_string(grid),
                   "f32[N,C,H,W] and f32[N,H',W',2]");
  if (call.attrs.integer("interpolation_mode") > 1 || call.attrs.integer("padding_mode") > 1)
    return refusal(call, "cubic interpolation or reflected borders");
  return std::vector<TensorType>{{x.dtype, {x.shape[0], x.shape[1], grid.shape[1], grid.shape[2]}}};
}

// Modes: interpolation 0 bilinear, 1 nearest; padding 0 zeros, 1 the border's elements.
Definition define(const OpCall& call) {
  const TensorType out = infer(call).value()[0];
  const DType inner = compute_type(out.dtype);
  const bool corners = call.attrs.flag("align_corners"), border = call.attrs.integer("padding_mode") == 1;
  const auto num = [&](double value) { return number(inner, value); };
  // The position along image axis 2 + i; the grid holds x before y.
  const auto position = [&](int i) {
    const double extent = static_cast<double>(call.type(0).shape[2 + i]);
    const ExprP place = operand(call, 1, {axis(0), axis(2), axis(3), index_constant(1 - i)}) + num(1);
    ExprP at = corners ? place * num((extent - 1) / 2) : (place * num(extent) - num(1)) * num(0.5);
    return border ? fn(Fn::min, fn(Fn::max, at, num(0)), num(extent - 1)) : at;
  };
  const auto element = [&](const ExprP& row, const ExprP& column) {
    const Shape& shape = call.type(0).shape;
    ExprP guard = fn(Fn::logical_and, in_range(row, 0, shape[2]), in_range(column, 0, shape[3]));
    return operand(call, 0, {axis(0), axis(1), row, column}, guard, 0);
  };
  const ExprP y = position(0), x = position(1);
  if (call.attrs.integer("interpolation_mode") == 1)
    return single(call, "sample",
                  cast(out.dtype, element(cast(DType::i64, fn(Fn::round, y)), cast(DType::i64, fn(Fn::round, x)))));
  const ExprP top = fn(Fn::floor, y), left = fn(Fn::floor, x);
  ExprP total;
  for (int i = 0; i < 4; ++i) {
    const int down = i / 2, right = i % 2;
    const ExprP share_y = down ? y - top : num(1) - (y - top), share_x = right ? x - left : num(1) - (x - left);
    const ExprP value =
        element(cast(DType::i64, top) + index_constant(down), cast(DType::i64, left) + index_constant(right));
    const ExprP part = value * (share_y * share_x);
    total = total ? total + part : part;
  }
  return single(call, "sample", cast(out.dtype, total));
}

}  // namespace

extern const OpFile grid_sample_def = {
    op("grid_sample", "Images sampled at the positions of a grid.", infer, define,
       "torch.grid_sampler({0}, {1}, {interpolation_mode}, {padding_mode}, {align_corners})",
       {{"aten.grid_sampler.default", "input grid", "interpolation_mode padding_mode align_corners"}}),
};

}  // namespace mtmc
