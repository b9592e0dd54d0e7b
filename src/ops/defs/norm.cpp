// Layer, RMS, group and instance normalisation: mean, variance in a second pass, then the scaled difference.
#include <limits>

#include "ops/aten.h"
#include "ops/build.h"
#include "ops/moments.h"

namespace mtmc {
namespace {

// The last axes, as many as normalized_shape names.
Status check_rows(const OpCall& call) {
  const TensorType& x = call.type(0);
  const Shape rows = call.attrs.list("normalized_shape");
  if (rows.empty() || rows.size() > x.shape.size() ||
      !std::equal(rows.begin(), rows.end(), x.shape.end() - static_cast<long>(rows.size())))
    return refusal(call, "normalized_shape is not the end of the input's shape", to_string(TensorType{x.dtype, rows}),
                   "the last dimensions of " + to_string(x));
  if (!is_float(x.dtype)) return refusal(call, "needs floating point numbers", to_string(x), "f32");
  for (int i = 1; i < call.count(); ++i)
    if (call.has(i) && call.type(i).shape != rows)
      return refusal(call, "weight or bias of another shape", to_string(call.type(i)),
                     to_string(TensorType{x.dtype, rows}));
  return ok_status();
}

Split rows_of(const OpCall& call, bool keepdim) {
  const TensorType& x = call.type(0);
  std::vector<int> axes;
  for (int i = x.rank() - static_cast<int>(call.attrs.list("normalized_shape").size()); i < x.rank(); ++i)
    axes.push_back(i);
  return split_axes(x.shape, axes, keepdim);
}

Result<std::vector<TensorType>> infer_rows(const OpCall& call) {
  MTMC_RETURN_IF_ERROR(require_operands(call, 1, 3));
  MTMC_RETURN_IF_ERROR(check_rows(call));
  return std::vector<TensorType>{call.type(0)};
}
Result<std::vector<TensorType>> infer_native(const OpCall& call) {
  MTMC_TRY(auto types, infer_rows(call));
  const TensorType stats{call.has(1) ? call.type(1).dtype : types[0].dtype, rows_of(call, true).shape};
  types.push_back(stats);
  types.push_back(stats);
  return types;
}

// value * weight + bias, where operands `weight` and `weight + 1` are present, at `index` of them.
ExprP affine(const OpCall& call, ExprP value, int weight, const Indices& index) {
  const DType inner = value->dtype;
  if (call.has(weight)) value = value * cast(inner, raw_operand(call, weight, index));
  if (call.has(weight + 1)) value = value + cast(inner, raw_operand(call, weight + 1, index));
  return value;
}

Definition layer_norm(const OpCall& call, bool statistics) {
  const TensorType& in = call.type(0);
  const Split split = rows_of(call, statistics);
  const Indices at = spatial(in.rank());
  const Indices row(at.end() - static_cast<long>(split.axes.size()), at.end());
  Builder b;
  const Moments rows =
      moments(b, split.shape, split.over, operand(call, 0, split.input), call.attrs.number("eps", 1e-5));
  const ExprP normal = (operand(call, 0, at) - b.at(rows.mean, split.row)) * b.at(rows.inverse, split.row);
  b.output(b.map("normalised", in, cast(in.dtype, affine(call, normal, 1, row))), in.dtype);
  if (statistics) {
    const DType stats = infer_native(call).value()[1].dtype;
    b.output(rows.mean, stats);
    b.output(rows.inverse, stats);
  }
  return b.done();
}
Definition define_layer_norm(const OpCall& call) { return layer_norm(call, false); }
Definition define_native_layer_norm(const OpCall& call) { return layer_norm(call, true); }

Definition define_rms_norm(const OpCall& call) {
  const TensorType& in = call.type(0);
  const Split split = rows_of(call, false);
  const Indices at = spatial(in.rank());
  const Indices row(at.end() - static_cast<long>(split.axes.size()), at.end());
  const ExprP x = operand(call, 0, split.input);
  const TensorType rows{x->dtype, split.shape};
  const double smallest = x->dtype == DType::f64 ? std::numeric_limits<double>::epsilon()
                                                 : static_cast<double>(std::numeric_limits<float>::epsilon());
  Builder b;
  const int squares = b.reduce("squares", rows, split.over, Combine::sum, x * x);
  const ExprP mean = b.at(squares, spatial(rows.rank())) / number(x->dtype, static_cast<double>(product(split.over)));
  const int inverse =
      b.map("inverse", rows, fn(Fn::rsqrt, mean + number(x->dtype, call.attrs.number("eps", smallest))));
  const ExprP normal = operand(call, 0, at) * b.at(inverse, split.row);
  b.output(b.map("normalised", in, cast(in.dtype, affine(call, normal, 1, row))), in.dtype);
  return b.done();
}

// Groups of channels: [N, C, ...] as rows [N, G] over [C/G, ...]. Instance norm has one channel a group.
int64_t groups_of(const OpCall& call) {
  return call.op == "group_norm" ? call.attrs.integer("num_groups") : call.type(0).shape[1];
}

Result<std::vector<TensorType>> infer_groups(const OpCall& call) {
  MTMC_RETURN_IF_ERROR(require_operands(call, 1, 3));
  const TensorType& x = call.type(0);
  if (x.rank() < 2 || !is_float(x.dtype))
    return refusal(call, "needs batch and channels", to_string(x), "f32[N,C,...]");
  const int64_t channels = x.shape[1], groups = groups_of(call);
  if (groups < 1 || channels % groups != 0)
    return refusal(call, "channels do not divide into groups", std::to_string(channels),
                   "a multiple of " + std::to_string(groups));
  for (int i = 1; i < 3; ++i)
    if (call.has(i) && call.type(i).shape != Shape{channels})
      return refusal(call, "weight or bias of another shape", to_string(call.type(i)),
                     to_string(TensorType{x.dtype, {channels}}));
  return std::vector<TensorType>{x};
}

Definition define_groups(const OpCall& call) {
  const TensorType& in = call.type(0);
  const int64_t groups = groups_of(call), each = in.shape[1] / groups;
  std::vector<int64_t> over = {each};
  over.insert(over.end(), in.shape.begin() + 2, in.shape.end());
  Indices inside = spatial(in.rank() + 1);  // n, g, channel in group, positions
  inside[1] = inside[1] * index_constant(each) + inside[2];
  inside.erase(inside.begin() + 2);
  const Indices at = spatial(in.rank()), group = {at[0], at[1] / index_constant(each)};
  Builder b;
  const Moments rows =
      moments(b, {in.shape[0], groups}, over, operand(call, 0, inside), call.attrs.number("eps", 1e-5));
  const ExprP normal = (operand(call, 0, at) - b.at(rows.mean, group)) * b.at(rows.inverse, group);
  b.output(b.map("normalised", in, cast(in.dtype, affine(call, normal, 1, {at[1]}))), in.dtype);
  return b.done();
}

template <const char* Name>
void drop(AtenCall& call) {
  call.args.erase(Name);
}
constexpr char kEnable[] = "cudnn_enable", kEnabled[] = "cudnn_enabled";

// Only the mode that normalises by its input's own statistics; momentum then moves nothing.
void input_statistics(AtenCall& call) {
  const bool* own = call.get<bool>("use_input_stats");
  if (!own || !*own) return;
  for (const char* name : {"use_input_stats", "momentum", "cudnn_enabled"}) call.args.erase(name);
}

}  // namespace

extern const OpFile norm_def = {
    {.name = "layer_norm",
     .doc = "Rows shifted and scaled to mean 0 and variance 1, then weighted.",
     .infer = infer_rows,
     .define = define_layer_norm,
     .spelling = "F.layer_norm({0}, {normalized_shape}, {1}, {2}, {eps|1e-05})",
     .aten = {{"aten.layer_norm.default", "input weight bias", "normalized_shape eps", "", drop<kEnable>}}},
    {.name = "native_layer_norm",
     .doc = "layer_norm, with the rows' means and inverse deviations.",
     .infer = infer_native,
     .define = define_native_layer_norm,
     .spelling = "torch.native_layer_norm({0}, {normalized_shape}, {1}, {2}, {eps|1e-05})",
     .aten = {{"aten.native_layer_norm.default", "input weight bias", "normalized_shape eps"}}},
    {.name = "rms_norm",
     .doc = "Rows divided by their root mean square, then weighted.",
     .infer = infer_rows,
     .define = define_rms_norm,
     .spelling = "F.rms_norm({0}, {normalized_shape}, {1}, {eps|None})",
     .aten = {{"aten.rms_norm.default", "input weight", "normalized_shape eps"}}},
    {.name = "group_norm",
     .doc = "Groups of channels shifted and scaled to mean 0 and variance 1, then weighted by channel.",
     .infer = infer_groups,
     .define = define_groups,
     .spelling = "F.group_norm({0}, {num_groups}, {1}, {2}, {eps|1e-05})",
     .aten = {{"aten.group_norm.default", "input weight bias", "num_groups eps", "", drop<kEnabled>}}},
    {.name = "instance_norm",
     .doc = "Channels of each image shifted and scaled to mean 0 and variance 1, then weighted by channel.",
     .infer = infer_groups,
     .define = define_groups,
     .spelling = "F.instance_norm({0}, None, None, {1}, {2}, True, 0.1, {eps|1e-05})",
     .aten = {{"aten.instance_norm.default", "input weight bias", "eps", "", input_statistics}}},
};

}  // namespace mtmc
