// Images as columns of patches, and the sum of patches as an image.
#include "ops/build.h"
#include "ops/window.h"

namespace mtmc {
namespace {

using Types = Result<std::vector<TensorType>>;

// The patches of a plane of the extents `in`.
Result<Window> patches(const OpCall& call, std::vector<int64_t> in) {
  Window window;
  window.in = std::move(in);
  MTMC_TRY(window.kernel, spread(call, "kernel_size", 2, {}));
  MTMC_TRY(window.stride, spread(call, "stride", 2, {1, 1}));
  MTMC_TRY(window.padding, spread(call, "padding", 2, {0, 0}));
  MTMC_TRY(window.dilation, spread(call, "dilation", 2, {1, 1}));
  return fit(call, window, false);
}

Result<Window> patches_of_image(const OpCall& call) {
  MTMC_RETURN_IF_ERROR(require_operands(call, 1, 1));
  const TensorType& x = call.type(0);
  if (x.rank() != 3 && x.rank() != 4) return refusal(call, "needs images", to_string(x), "f32[N,C,H,W]");
  return patches(call, {x.shape.end() - 2, x.shape.end()});
}
Types infer_unfold(const OpCall& call) {
  MTMC_TRY(const Window window, patches_of_image(call));
  TensorType out = call.type(0);
  const int rank = out.rank();
  out.shape.resize(rank - 1);
  out.shape[rank - 3] = call.type(0).shape[rank - 3] * product(window.kernel);
  out.shape[rank - 2] = product(window.out);
  return std::vector<TensorType>{out};
}
Definition define_unfold(const OpCall& call) {
  const Window window = patches_of_image(call).value();
  const TensorType out = infer_unfold(call).value()[0];
  const int rank = call.type(0).rank();
  Shape in_row = {call.type(0).shape[rank - 3]};
  in_row.insert(in_row.end(), window.kernel.begin(), window.kernel.end());
  const Indices row = unflatten(axis(rank - 3), in_row), place = unflatten(axis(rank - 2), window.out);
  Indices at = spatial(rank - 3);
  at.push_back(row[0]);
  ExprP guard = constant(DType::b1, 1);
  for (int i = 0; i < 2; ++i) {
    at.push_back(position(window, i, place[i], row[1 + i]));
    guard = fn(Fn::logical_and, guard, inside(window, i, at.back()));
  }
  guard = simplify(guard, out.shape);
  return single(call, "patches", raw_operand(call, 0, at, is_constant(guard) ? nullptr : guard, 0));
}

Result<Window> patches_of_columns(const OpCall& call) {
  MTMC_RETURN_IF_ERROR(require_operands(call, 1, 1));
  const TensorType& x = call.type(0);
  MTMC_TRY(const Window window, patches(call, call.attrs.list("output_size")));
  const int rank = x.rank();
  if (rank < 2 || rank > 3 || x.shape[rank - 2] % product(window.kernel) != 0 ||
      x.shape[rank - 1] != product(window.out))
    return refusal(call, "the columns do not fit", to_string(x),
                   std::to_string(product(window.out)) + " columns of patches");
  return window;
}
Types infer_fold(const OpCall& call) {
  MTMC_TRY(const Window window, patches_of_columns(call));
  TensorType out = call.type(0);
  const int rank = out.rank();
  out.shape[rank - 2] /= product(window.kernel);
  out.shape[rank - 1] = window.in[0];
  out.shape.push_back(window.in[1]);
  return std::vector<TensorType>{out};
}
// An element of the image is in at most one patch for each element of the window.
Definition define_fold(const OpCall& call) {
  const Window window = patches_of_columns(call).value();
  const TensorType out = infer_fold(call).value()[0];
  const int rank = out.rank();
  Indices at = spatial(rank - 3), row = {axis(rank - 3), axis(rank), axis(rank + 1)}, place;
  ExprP guard = constant(DType::b1, 1);
  for (int i = 0; i < 2; ++i) {
    const ExprP from =
        axis(rank - 2 + i) + index_constant(window.padding[i]) - axis(rank + i) * index_constant(window.dilation[i]);
    place.push_back(from / index_constant(window.stride[i]));
    guard = fn(Fn::logical_and, guard, in_range(place[i], 0, window.out[i]));
    guard = fn(Fn::logical_and, guard, fn(Fn::eq, from % index_constant(window.stride[i]), index_constant(0)));
  }
  Shape in_row = {out.shape[rank - 3]};
  in_row.insert(in_row.end(), window.kernel.begin(), window.kernel.end());
  at.push_back(flatten(row, in_row));
  at.push_back(flatten(place, window.out));
  Shape extents = out.shape;
  extents.insert(extents.end(), window.kernel.begin(), window.kernel.end());
  guard = simplify(guard, extents);
  const ExprP body = operand(call, 0, at, is_constant(guard) ? nullptr : guard, 0);
  Builder b;
  b.output(b.reduce("patch_sum", {body->dtype, out.shape}, window.kernel, Combine::sum, body), out.dtype);
  return b.done();
}

}  // namespace

extern const OpFile fold_def = {
    op("im2col", "Patches of images as columns.", infer_unfold, define_unfold,
       "F.unfold({0}, {kernel_size}, {dilation|1}, {padding|0}, {stride|1})",
       {{"aten.im2col.default", "self", "kernel_size dilation padding stride"}}),
    op("col2im", "Columns of patches summed up as images.", infer_fold, define_fold,
       "F.fold({0}, {output_size}, {kernel_size}, {dilation|1}, {padding|0}, {stride|1})",
       {{"aten.col2im.default", "self", "output_size kernel_size dilation padding stride"}}),
};

}  // namespace mtmc
