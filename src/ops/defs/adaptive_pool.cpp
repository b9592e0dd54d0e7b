// Pooling into as many windows as asked for, whatever the input's extents are.
#include <limits>

#include "ops/build.h"
#include "ops/window.h"

namespace mtmc {
namespace {

using Types = Result<std::vector<TensorType>>;

// Window i covers [floor(i * in / out), ceil((i + 1) * in / out)): its start, and its end.
ExprP adaptive_start(const ExprP& at, int64_t in, int64_t out) { return at * index_constant(in) / index_constant(out); }
ExprP adaptive_end(const ExprP& at, int64_t in, int64_t out) {
  return (at * index_constant(in) + index_constant(in + out - 1)) / index_constant(out);
}

Result<std::vector<int64_t>> adaptive_size(const OpCall& call) {
  MTMC_RETURN_IF_ERROR(require_operands(call, 1, 1));
  const int axes = window_axes(call);
  if (call.type(0).rank() != axes + 1 && call.type(0).rank() != axes + 2)
    return refusal(call, "wrong number of dimensions", to_string(call.type(0)),
                   std::to_string(axes + 1) + " or " + std::to_string(axes + 2) + " dimensions");
  MTMC_TRY(auto size, spread(call, "output_size", axes, {}));
  for (int64_t extent : size)
    if (extent < 1) return refusal(call, "output_size must be positive", std::to_string(extent), "at least 1");
  return size;
}
Types infer_adaptive(const OpCall& call) {
  MTMC_TRY(const auto size, adaptive_size(call));
  TensorType out = call.type(0);
  std::copy(size.begin(), size.end(), out.shape.end() - static_cast<long>(size.size()));
  return std::vector<TensorType>{out};
}

// The windows' elements: index and guard at (output axes, window axes), the widest window, and how many one has.
struct Windows {
  Indices index;
  ExprP guard = constant(DType::b1, 1), count = index_constant(1);
  std::vector<int64_t> widest;
};
Windows windows_of(const OpCall& call) {
  const TensorType& in = call.type(0);
  const TensorType out = infer_adaptive(call).value()[0];
  const int axes = window_axes(call), rank = in.rank(), first = rank - axes;
  Windows w;
  w.index = spatial(rank);
  for (int i = 0; i < axes; ++i) {
    const int64_t from = in.shape[first + i], to = out.shape[first + i];
    int64_t most = 0;
    for (int64_t o = 0; o < to; ++o) most = std::max(most, ((o + 1) * from + to - 1) / to - o * from / to);
    w.widest.push_back(most);
    const ExprP start = adaptive_start(axis(first + i), from, to), end = adaptive_end(axis(first + i), from, to);
    w.index[first + i] = start + axis(rank + i);
    if (from % to != 0) w.guard = fn(Fn::logical_and, w.guard, fn(Fn::lt, w.index[first + i], end));
    w.count = w.count * (end - start);
  }
  return w;
}
ExprP element(const OpCall& call, const Windows& w, double outside) {
  return operand(call, 0, w.index, is_constant(w.guard) ? nullptr : w.guard, outside);
}

Definition define_mean(const OpCall& call) {
  const TensorType out = infer_adaptive(call).value()[0];
  const Windows w = windows_of(call);
  const ExprP body = element(call, w, 0);
  Builder b;
  const int sum = b.reduce("window_sum", {body->dtype, out.shape}, w.widest, Combine::sum, body);
  const ExprP mean = b.at(sum, spatial(out.rank())) / cast(body->dtype, simplify(w.count, out.shape));
  b.output(b.map("mean", out, cast(out.dtype, mean)), out.dtype);
  return b.done();
}

Types infer_max(const OpCall& call) {
  MTMC_TRY(auto types, infer_adaptive(call));
  if (!is_float(types[0].dtype)) return refusal(call, "needs floating point numbers", to_string(types[0]), "f32");
  types.push_back({DType::i64, types[0].shape});
  return types;
}
// The largest element, and its position in the input's plane.
Definition define_max(const OpCall& call) {
  const TensorType& in = call.type(0);
  const TensorType out = infer_adaptive(call).value()[0];
  const int rank = in.rank(), axes = window_axes(call), first = rank - axes;
  const Windows w = windows_of(call);
  const ExprP body = element(call, w, -std::numeric_limits<double>::infinity());
  Builder b;
  b.output(b.reduce("window_max", {body->dtype, out.shape}, w.widest, Combine::max, body), out.dtype);
  const TensorType indices{DType::i64, out.shape};
  const int which = b.reduce("window_argmax", indices, w.widest, Combine::argmax, body);
  const Indices inside = unflatten(b.at(which, spatial(rank)), w.widest);
  Indices plane;
  for (int i = 0; i < axes; ++i)
    plane.push_back(adaptive_start(axis(first + i), in.shape[first + i], out.shape[first + i]) + inside[i]);
  b.output(b.map("position", indices, flatten(plane, Shape(in.shape.begin() + first, in.shape.end()))), DType::i64);
  return b.done();
}

OpDef mean(std::string_view name, std::string_view spelling, std::string_view overload) {
  return op(name, "The means of as many windows as asked for.", infer_adaptive, define_mean, spelling,
            {{overload, "self", "output_size"}});
}
OpDef largest(std::string_view name, std::string_view spelling, std::string_view overload) {
  return op(name, "The largest elements of as many windows as asked for, and where they are.", infer_max, define_max,
            spelling, {{overload, "self", "output_size"}});
}

}  // namespace

extern const OpFile adaptive_pool_def = {
    mean("adaptive_avg_pool1d", "F.adaptive_avg_pool1d({0}, {output_size})", "aten.adaptive_avg_pool1d.default"),
    mean("adaptive_avg_pool2d", "F.adaptive_avg_pool2d({0}, {output_size})", "aten.adaptive_avg_pool2d.default"),
    mean("adaptive_avg_pool3d", "F.adaptive_avg_pool3d({0}, {output_size})", "aten.adaptive_avg_pool3d.default"),
    largest("adaptive_max_pool1d", "F.adaptive_max_pool1d({0}, {output_size}, True)",
            "aten.adaptive_max_pool1d.default"),
    largest("adaptive_max_pool2d", "F.adaptive_max_pool2d({0}, {output_size}, True)",
            "aten.adaptive_max_pool2d.default"),
    largest("adaptive_max_pool3d", "F.adaptive_max_pool3d({0}, {output_size}, True)",
            "aten.adaptive_max_pool3d.default"),
};

}  // namespace mtmc
