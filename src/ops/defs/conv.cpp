// Convolutions and transposed convolutions over one, two or three axes: sums over channels and the kernel's axes of a
// guarded load times a weight.
#include <algorithm>
#include <numeric>

#include "ops/aten.h"
#include "ops/build.h"
#include "ops/window.h"

namespace mtmc {
namespace {

using Types = Result<std::vector<TensorType>>;

struct Convolution {
  Window window;
  int64_t groups = 1, batch = 1, in = 1, out = 1;  // channels
  Shape shape() const {
    Shape all = {batch, out};
    all.insert(all.end(), window.out.begin(), window.out.end());
    return all;
  }
};

int axes_of(const OpCall& call) { return call.op.back() == 'd' ? call.op[call.op.size() - 2] - '0' : 2; }

// Operands x [N, C, ...], weight, optional bias; what both directions check alike.
Result<Convolution> channels(const OpCall& call, bool transposed) {
  MTMC_RETURN_IF_ERROR(require_operands(call, 2, 3));
  const TensorType &x = call.type(0), &w = call.type(1);
  const int axes = axes_of(call);
  if (x.rank() != axes + 2 || w.rank() != axes + 2)
    return refusal(call, "wrong number of dimensions", to_string(x) + " and weight " + to_string(w),
                   std::to_string(axes + 2) + " dimensions each");
  if (x.dtype != w.dtype)
    return refusal(call, "element types differ", std::string(name(w.dtype)), std::string(name(x.dtype)));
  Convolution c;
  c.groups = call.attrs.integer("groups", 1);
  c.batch = x.shape[0];
  c.in = x.shape[1];
  c.out = transposed ? w.shape[1] * c.groups : w.shape[0];
  const int64_t fed = transposed ? w.shape[0] : w.shape[1] * c.groups;
  if (c.groups < 1 || fed != c.in || c.out % c.groups != 0)
    return refusal(call, "channels do not fit",
                   to_string(x) + " and weight " + to_string(w) + " in " + std::to_string(c.groups) + " groups",
                   "weight for " + std::to_string(c.in) + " input channels");
  if (call.has(2) && call.type(2).shape != Shape{c.out})
    return refusal(call, "bias of another shape", to_string(call.type(2)), to_string(TensorType{x.dtype, {c.out}}));
  c.window.in.assign(x.shape.begin() + 2, x.shape.end());
  c.window.kernel.assign(w.shape.begin() + 2, w.shape.end());
  const std::vector<int64_t> ones(axes, 1);
  MTMC_TRY(c.window.stride, spread(call, "stride", axes, ones));
  MTMC_TRY(c.window.dilation, spread(call, "dilation", axes, ones));
  return c;
}

Result<Convolution> convolution(const OpCall& call) {
  MTMC_TRY(Convolution c, channels(call, false));
  const std::vector<int64_t> zeros(c.window.axes(), 0);
  const auto padding = call.attrs.find("padding");
  const bool named = padding != call.attrs.end() && std::holds_alternative<std::string>(padding->second);
  c.window.padding = zeros;
  if (!named) {
    MTMC_TRY(c.window.padding, spread(call, "padding", c.window.axes(), zeros));
  } else if (call.attrs.text("padding") == "same") {
    // The output is as large as the input; what does not divide is padded on the right.
    for (int i = 0; i < c.window.axes(); ++i) {
      if (c.window.stride[i] != 1) return refusal(call, "padding 'same' needs stride 1");
      c.window.padding[i] = c.window.dilation[i] * (c.window.kernel[i] - 1) / 2;
    }
    c.window.out = c.window.in;
    return c;
  }
  MTMC_TRY(c.window, fit(call, c.window, false));
  return c;
}

Result<Convolution> transposed(const OpCall& call) {
  MTMC_TRY(Convolution c, channels(call, true));
  Window& w = c.window;
  const std::vector<int64_t> zeros(w.axes(), 0);
  MTMC_TRY(w.padding, spread(call, "padding", w.axes(), zeros));
  MTMC_TRY(const auto extra, spread(call, "output_padding", w.axes(), zeros));
  for (int i = 0; i < w.axes(); ++i) {
    w.out.push_back((w.in[i] - 1) * w.stride[i] - 2 * w.padding[i] + w.dilation[i] * (w.kernel[i] - 1) + extra[i] + 1);
    if (w.out.back() < 1 || w.stride[i] < 1) return refusal(call, "the output would be empty");
  }
  return c;
}

Types infer_conv(const OpCall& call) {
  MTMC_TRY(const Convolution c, convolution(call));
  return std::vector<TensorType>{{call.type(0).dtype, c.shape()}};
}
Types infer_transposed(const OpCall& call) {
  MTMC_TRY(const Convolution c, transposed(call));
  return std::vector<TensorType>{{call.type(0).dtype, c.shape()}};
}

// The sum over input channels of a group and the kernel's axes, then the bias. `guarded` is the input's element,
// `weight` the weight's.
Definition finish(const OpCall& call, const Convolution& c, const ExprP& element, const ExprP& weight) {
  std::vector<int64_t> over = {c.in / c.groups};
  over.insert(over.end(), c.window.kernel.begin(), c.window.kernel.end());
  const TensorType out{call.type(0).dtype, c.shape()};
  const ExprP body = element * weight;
  Builder b;
  int stage = b.reduce("product", {body->dtype, out.shape}, over, Combine::sum, body);
  if (call.has(2)) {
    const ExprP sum = b.at(stage, spatial(out.rank())) + operand(call, 2, {axis(1)});
    stage = b.map("biased", out, cast(out.dtype, sum));
  }
  b.output(stage, out.dtype);
  return b.done();
}

ExprP settled(const ExprP& guard, const Convolution& c) {
  Shape extents = c.shape();
  extents.push_back(c.in / c.groups);
  extents.insert(extents.end(), c.window.kernel.begin(), c.window.kernel.end());
  const ExprP known = simplify(guard, extents);
  return is_constant(known) ? nullptr : known;
}

Definition define_conv(const OpCall& call) {
  const Convolution c = convolution(call).value();
  const int rank = c.window.axes() + 2;
  const ExprP channel = axis(rank), group = axis(1) / index_constant(c.out / c.groups);
  Indices from = {axis(0), group * index_constant(c.in / c.groups) + channel}, weight = {axis(1), channel};
  ExprP guard = constant(DType::b1, 1);
  for (int i = 0; i < c.window.axes(); ++i) {
    from.push_back(position(c.window, i, axis(2 + i), axis(rank + 1 + i)));
    weight.push_back(axis(rank + 1 + i));
    guard = fn(Fn::logical_and, guard, inside(c.window, i, from.back()));
  }
  return finish(call, c, operand(call, 0, from, settled(guard, c), 0), operand(call, 1, weight));
}

// Along one axis, the kernel's elements that reach phase p: k = first + each * t, from the inputs q + start - far * t,
// where `exists` (null: always).
struct Phase {
  ExprP first, start, exists;
  int64_t each, far;
};
Phase phase_of(const ExprP& shifted, int64_t stride, int64_t dilation) {
  const auto of = [](int64_t n) { return index_constant(n); };
  if (dilation == 1) return {shifted % of(stride), shifted / of(stride), nullptr, stride, 1};
  const int64_t common = std::gcd(stride, dilation), each = stride / common;
  int64_t inverse = 0;  // of dilation / common, modulo `each`
  while (each > 1 && inverse * (dilation / common) % each != 1) ++inverse;
  const ExprP rest = shifted % of(stride), first = (rest / of(common) * of(inverse)) % of(each);
  const int64_t ahead = ((each - 1) * dilation + stride - 1) / stride;  // so that what is divided is not negative
  const ExprP start = (shifted + of(ahead * stride) - first * of(dilation)) / of(stride) - of(ahead);
  return {first, start, common > 1 ? fn(Fn::eq, rest % of(common), of(0)) : nullptr, each, dilation / common};
}

// Where no phase of a dilated kernel has two elements, the input would be packed once for each phase: a sum with
// conditions is faster.
bool pays_by_phases(const Window& window) {
  bool strided = false;
  for (int i = 0; i < window.axes(); ++i) {
    const int64_t stride = window.stride[i], dilation = window.dilation[i];
    if (stride > 1 && dilation > 1 && window.kernel[i] <= stride / std::gcd(stride, dilation)) return false;
    strided |= stride > 1;
  }
  return strided;
}

// By stride phases, each an ordinary convolution: output o = stride * q + p is reached by the kernel's elements k
// with k * dilation = p + padding (modulo stride), without dilation k = (p + padding) mod stride + stride * t from the
// inputs q + (p + padding) div stride - t.
Definition define_phases(const OpCall& call, const Convolution& c) {
  const int axes = c.window.axes(), rank = 2 + 2 * axes;
  const int64_t each = c.out / c.groups;
  Shape phases = {c.batch, c.out}, quotients;
  std::vector<int64_t> over = {c.in / c.groups};
  const ExprP channel = (axis(1) / index_constant(each)) * index_constant(over[0]) + axis(rank);
  Indices from = {axis(0), channel}, weight = {channel, axis(1) % index_constant(each)};
  ExprP reached = constant(DType::b1, 1), exists = reached;
  for (int i = 0; i < axes; ++i) {
    const int64_t stride = c.window.stride[i];
    phases.push_back(stride);
    quotients.push_back((c.window.out[i] + stride - 1) / stride);
    const ExprP shifted = axis(2 + i) + index_constant(c.window.padding[i]), t = axis(rank + 1 + i);
    const Phase phase = phase_of(shifted, stride, c.window.dilation[i]);
    over.push_back((c.window.kernel[i] + phase.each - 1) / phase.each);
    weight.push_back(phase.first + t * index_constant(phase.each));
    from.push_back(axis(2 + axes + i) + phase.start - t * index_constant(phase.far));
    if (phase.exists) exists = fn(Fn::logical_and, exists, phase.exists);
    exists = fn(Fn::logical_and, exists, fn(Fn::lt, weight.back(), index_constant(c.window.kernel[i])));
    reached = fn(Fn::logical_and, reached, inside(c.window, i, from.back()));
  }
  Shape shape = phases;
  shape.insert(shape.end(), quotients.begin(), quotients.end());
  Shape extents = shape;
  extents.insert(extents.end(), over.begin(), over.end());
  const auto guard = [&](const ExprP& condition) {
    const ExprP known = simplify(condition, extents);
    return is_constant(known) ? nullptr : known;
  };
  // Where the kernel has no element, nothing is read: infinity times zero is no zero.
  reached = fn(Fn::logical_and, reached, exists);
  const ExprP body = operand(call, 0, from, guard(reached), 0) * operand(call, 1, weight, guard(exists), 0);
  Builder b;
  const int product = b.reduce("phases", {body->dtype, shape}, over, Combine::sum, body);
  Indices at = {axis(0), axis(1)};
  for (int i = 0; i < axes; ++i) at.push_back(axis(2 + i) % index_constant(c.window.stride[i]));
  for (int i = 0; i < axes; ++i) at.push_back(axis(2 + i) / index_constant(c.window.stride[i]));
  ExprP value = b.at(product, at);
  if (call.has(2)) value = value + operand(call, 2, {axis(1)});
  const TensorType out{call.type(0).dtype, c.shape()};
  b.output(b.map("interleaved", out, cast(out.dtype, value)), out.dtype);
  return b.done();
}

// Input element i reaches output i * stride + k * dilation - padding: the terms are those whose i is whole and inside.
Definition define_transposed(const OpCall& call) {
  const Convolution c = transposed(call).value();
  if (pays_by_phases(c.window)) return define_phases(call, c);
  const int rank = c.window.axes() + 2;
  const int64_t each = c.out / c.groups;
  const ExprP channel = (axis(1) / index_constant(each)) * index_constant(c.in / c.groups) + axis(rank);
  Indices from = {axis(0), channel}, weight = {channel, axis(1) % index_constant(each)};
  ExprP guard = constant(DType::b1, 1);
  for (int i = 0; i < c.window.axes(); ++i) {
    const ExprP stride = index_constant(c.window.stride[i]), k = axis(rank + 1 + i);
    const ExprP reached = axis(2 + i) + index_constant(c.window.padding[i]) - k * index_constant(c.window.dilation[i]);
    from.push_back(reached / stride);
    weight.push_back(k);
    guard = fn(Fn::logical_and, guard, fn(Fn::eq, reached % stride, index_constant(0)));
    guard = fn(Fn::logical_and, guard, inside(c.window, i, from.back()));
  }
  return finish(call, c, operand(call, 0, from, settled(guard, c), 0), operand(call, 1, weight));
}

OpDef conv(std::string_view name, std::string_view spelling, std::string_view overload, std::string_view padded) {
  OpDef def;
  def.name = name;
  def.doc = "A convolution with stride, padding, dilation and groups, plus a bias.";
  def.infer = infer_conv;
  def.define = define_conv;
  def.spelling = spelling;
  def.in_tf32 = true;
  for (std::string_view which : {overload, padded})
    def.aten.push_back({which, "input weight bias", "stride padding dilation groups"});
  return def;
}
OpDef conv_transpose(std::string_view name, std::string_view spelling, std::string_view overload) {
  OpDef def;
  def.name = name;
  def.doc = "The transposed convolution (each input element adds a scaled kernel to the output), plus a bias.";
  def.infer = infer_transposed;
  def.define = define_transposed;
  def.spelling = spelling;
  def.in_tf32 = true;
  def.aten = {{overload, "input weight bias", "stride padding output_padding groups dilation"}};
  return def;
}
#define MTMC_CONV(f) "F." f "({0}, {1}, {2}, {stride|1}, {padding|0}, {dilation|1}, {groups|1})"
#define MTMC_CONV_TRANSPOSE(f) \
  "F." f "({0}, {1}, {2}, {stride|1}, {padding|0}, {output_padding|0}, {groups|1}, {dilation|1})"

}  // namespace

extern const OpFile conv_def = {
    conv("conv1d", MTMC_CONV("conv1d"), "aten.conv1d.default", "aten.conv1d.padding"),
    conv("conv2d", MTMC_CONV("conv2d"), "aten.conv2d.default", "aten.conv2d.padding"),
    conv("conv3d", MTMC_CONV("conv3d"), "aten.conv3d.default", "aten.conv3d.padding"),
    conv_transpose("conv_transpose1d", MTMC_CONV_TRANSPOSE("conv_transpose1d"), "aten.conv_transpose1d.default"),
    conv_transpose("conv_transpose2d", MTMC_CONV_TRANSPOSE("conv_transpose2d"), "aten.conv_transpose2d.input"),
    conv_transpose("conv_transpose3d", MTMC_CONV_TRANSPOSE("conv_transpose3d"), "aten.conv_transpose3d.input"),
};

}  // namespace mtmc
