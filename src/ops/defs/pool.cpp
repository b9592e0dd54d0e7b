// Max and average pooling over one, two or three axes: reductions over the window's axes with guarded loads.
#include <cmath>
#include <limits>

#include "ops/build.h"
#include "ops/window.h"

namespace mtmc {
namespace {

using Types = Result<std::vector<TensorType>>;

Result<Window> window_of(const OpCall& call) {
  const int axes = window_axes(call);
  const TensorType& x = call.type(0);
  if (x.rank() != axes + 1 && x.rank() != axes + 2)
    return refusal(call, "wrong number of dimensions", to_string(x),
                   std::to_string(axes + 1) + " or " + std::to_string(axes + 2) + " dimensions");
  Window window;
  window.in.assign(x.shape.end() - axes, x.shape.end());
  MTMC_TRY(window.kernel, spread(call, "kernel_size", axes, {}));
  MTMC_TRY(window.stride, spread(call, "stride", axes, window.kernel));
  MTMC_TRY(window.padding, spread(call, "padding", axes, std::vector<int64_t>(axes, 0)));
  MTMC_TRY(window.dilation, spread(call, "dilation", axes, std::vector<int64_t>(axes, 1)));
  for (int i = 0; i < axes; ++i)
    if (window.padding[i] * 2 > window.kernel[i])
      return refusal(call, "padding is more than half the window", std::to_string(window.padding[i]),
                     "at most " + std::to_string(window.kernel[i] / 2));
  return fit(call, window, call.attrs.flag("ceil_mode"));
}

Types infer_pool(const OpCall& call) {
  MTMC_RETURN_IF_ERROR(require_operands(call, 1, 1));
  MTMC_TRY(const Window window, window_of(call));
  TensorType out = call.type(0);
  std::copy(window.out.begin(), window.out.end(), out.shape.end() - window.axes());
  return std::vector<TensorType>{out};
}
Types infer_with_index(const OpCall& call) {
  MTMC_TRY(auto types, infer_pool(call));
  types.push_back({DType::i64, types[0].shape});
  return types;
}

// The element of the input at (output axes, window axes), `other` outside.
ExprP windowed(const OpCall& call, const Window& window, double other) {
  const int rank = call.type(0).rank(), first = rank - window.axes();
  Indices index = spatial(rank);
  ExprP guard = constant(DType::b1, 1);
  for (int i = 0; i < window.axes(); ++i) {
    index[first + i] = position(window, i, axis(first + i), axis(rank + i));
    guard = fn(Fn::logical_and, guard, inside(window, i, index[first + i]));
  }
  guard = simplify(guard, [&] {
    Shape extents = infer_pool(call).value()[0].shape;
    extents.insert(extents.end(), window.kernel.begin(), window.kernel.end());
    return extents;
  }());
  return operand(call, 0, index, is_constant(guard) ? nullptr : guard, other);
}

double lowest(DType dtype) {
  if (is_float(dtype)) return -std::numeric_limits<double>::infinity();
  if (dtype == DType::u8) return 0;
  return -std::ldexp(1.0, 8 * bytes(dtype) - 1);
}

Definition define_max_pool(const OpCall& call) {
  const Window window = window_of(call).value();
  const TensorType out = infer_pool(call).value()[0];
  const ExprP body = windowed(call, window, lowest(out.dtype));
  Builder b;
  b.output(b.reduce("window_max", {body->dtype, out.shape}, window.kernel, Combine::max, body), out.dtype);
  return b.done();
}

// The position in the input's plane. Where a window holds only -inf, padding in front may win: it is clamped to the
// window's first element, as in torch.
Definition define_max_pool_with_index(const OpCall& call) {
  const Window window = window_of(call).value();
  const TensorType out = infer_pool(call).value()[0];
  const int first = out.rank() - window.axes();
  const ExprP body = windowed(call, window, lowest(out.dtype));
  Builder b;
  b.output(b.reduce("window_max", {body->dtype, out.shape}, window.kernel, Combine::max, body), out.dtype);
  const TensorType indices{DType::i64, out.shape};
  const int which = b.reduce("window_argmax", indices, window.kernel, Combine::argmax, body);
  const Indices in_window = unflatten(b.at(which, spatial(out.rank())), window.kernel);
  Indices plane;
  for (int i = 0; i < window.axes(); ++i)
    plane.push_back(fn(Fn::max, position(window, i, axis(first + i), in_window[i]), index_constant(0)));
  b.output(b.map("position", indices, flatten(plane, window.in)), DType::i64);
  return b.done();
}

// How many elements a window's mean counts: those in the input, or in the padded input, or a fixed number.
ExprP divisor(const OpCall& call, const Window& window, DType dtype) {
  if (call.attrs.has("divisor_override"))
    return number(dtype, static_cast<double>(call.attrs.integer("divisor_override")));
  const int first = call.type(0).rank() - window.axes();
  const bool padded = call.attrs.flag("count_include_pad", true);
  ExprP count = index_constant(1);
  for (int i = 0; i < window.axes(); ++i) {
    const ExprP start = position(window, i, axis(first + i), index_constant(0));
    const ExprP stop = fn(Fn::min, start + index_constant(window.kernel[i]),
                          index_constant(window.in[i] + (padded ? window.padding[i] : 0)));
    count = count * (stop - (padded ? start : fn(Fn::max, start, index_constant(0))));
  }
  return cast(dtype, simplify(count, infer_pool(call).value()[0].shape));
}

Definition define_avg_pool(const OpCall& call) {
  const Window window = window_of(call).value();
  const TensorType out = infer_pool(call).value()[0];
  const ExprP body = windowed(call, window, 0);
  Builder b;
  const int sum = b.reduce("window_sum", {body->dtype, out.shape}, window.kernel, Combine::sum, body);
  const ExprP mean = b.at(sum, spatial(out.rank())) / divisor(call, window, body->dtype);
  b.output(b.map("mean", out, cast(out.dtype, mean)), out.dtype);
  return b.done();
}

OpDef max_pool(std::string_view name, std::string_view spelling, std::string_view overload) {
  return op(name, "The largest element of each window.", infer_pool, define_max_pool, spelling,
            {{overload, "self", "kernel_size stride padding dilation ceil_mode"}});
}
OpDef max_pool_with_index(std::string_view name, std::string_view spelling, std::string_view overload) {
  return op(name, "The largest element of each window, and where it is.", infer_with_index, define_max_pool_with_index,
            spelling, {{overload, "self", "kernel_size stride padding dilation ceil_mode"}});
}
OpDef avg_pool(std::string_view name, std::string_view spelling, std::string_view overload) {
  return op(name, "The mean of each window.", infer_pool, define_avg_pool, spelling,
            {{overload, "self", "kernel_size stride padding ceil_mode count_include_pad divisor_override"}});
}
#define MTMC_MAX_POOL(f) "F." f "({0}, {kernel_size}, {stride|None}, {padding|0}, {dilation|1}, {ceil_mode|False})"
#define MTMC_MAX_POOL_WITH_INDEX(f) \
  "F." f "({0}, {kernel_size}, {stride|None}, {padding|0}, {dilation|1}, {ceil_mode|False}, True)"
#define MTMC_AVG_POOL(f) \
  "F." f "({0}, {kernel_size}, {stride|None}, {padding|0}, {ceil_mode|False}, {count_include_pad|True}"

}  // namespace

extern const OpFile pool_def = {
    max_pool("max_pool1d", MTMC_MAX_POOL("max_pool1d"), "aten.max_pool1d.default"),
    max_pool("max_pool2d", MTMC_MAX_POOL("max_pool2d"), "aten.max_pool2d.default"),
    max_pool("max_pool3d", MTMC_MAX_POOL("max_pool3d"), "aten.max_pool3d.default"),
    max_pool_with_index("max_pool1d_with_indices", MTMC_MAX_POOL_WITH_INDEX("max_pool1d"),
                        "aten.max_pool1d_with_indices.default"),
    max_pool_with_index("max_pool2d_with_indices", MTMC_MAX_POOL_WITH_INDEX("max_pool2d"),
                        "aten.max_pool2d_with_indices.default"),
    max_pool_with_index("max_pool3d_with_indices", MTMC_MAX_POOL_WITH_INDEX("max_pool3d"),
                        "aten.max_pool3d_with_indices.default"),
    avg_pool("avg_pool1d", MTMC_AVG_POOL("avg_pool1d") ")", "aten.avg_pool1d.default"),
    avg_pool("avg_pool2d", MTMC_AVG_POOL("avg_pool2d") ", {divisor_override|None})", "aten.avg_pool2d.default"),
    avg_pool("avg_pool3d", MTMC_AVG_POOL("avg_pool3d") ", {divisor_override|None})", "aten.avg_pool3d.default"),
};

}  // namespace mtmc
