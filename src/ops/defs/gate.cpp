// Activations with structure: halves that gate each other, a slope per channel.
#include "ops/build.h"

namespace mtmc {
namespace {

using Types = Result<std::vector<TensorType>>;

Types infer_glu(const OpCall& call) {
  MTMC_RETURN_IF_ERROR(require_operands(call, 1, 1));
  TensorType out = call.type(0);
  MTMC_TRY(const int along, resolve_axis(call, call.attrs.integer("dim", -1), out.rank()));
  if (out.rank() == 0 || out.shape[along] % 2 != 0)
    return refusal(call, "the axis does not halve", to_string(out), "an even extent");
  out.shape[along] /= 2;
  return std::vector<TensorType>{out};
}
Definition define_glu(const OpCall& call) {
  const TensorType out = infer_glu(call).value()[0];
  const int along = axis_of(call, "dim", -1, out.rank());
  const Indices first = spatial(out.rank());
  Indices second = first;
  second[along] = second[along] + index_constant(out.shape[along]);
  const ExprP value = operand(call, 0, first), gate = operand(call, 0, second), one = number(gate->dtype, 1);
  return single(call, "glu", cast(out.dtype, value / (one + fn(Fn::exp, fn(Fn::neg, gate)))));
}

Types infer_prelu(const OpCall& call) {
  MTMC_RETURN_IF_ERROR(require_operands(call, 2, 2));
  const TensorType &x = call.type(0), &w = call.type(1);
  const int64_t channels = x.rank() > 1 ? x.shape[1] : 1;
  if (w.rank() > 1 || (w.elements() != 1 && w.elements() != channels))
    return refusal(call, "one slope, or one per channel", to_string(w), std::to_string(channels) + " slopes");
  return std::vector<TensorType>{x};
}
Definition define_prelu(const OpCall& call) {
  const TensorType &x = call.type(0), &w = call.type(1);
  Indices slope(static_cast<size_t>(w.rank()), w.elements() == 1 ? index_constant(0) : axis(1));
  const ExprP value = operand(call, 0, spatial(x.rank()));
  const ExprP scaled = value * cast(value->dtype, raw_operand(call, 1, slope));
  return single(call, "prelu", cast(x.dtype, select(fn(Fn::gt, value, number(value->dtype, 0)), value, scaled)));
}

}  // namespace

extern const OpFile gate_def = {
    {.name = "glu",
     .doc = "The first half of an axis times the sigmoid of the second.",
     .infer = infer_glu,
     .define = define_glu,
     .spelling = "F.glu({0}, {dim|-1})",
     .aten = {{"aten.glu.default", "self", "dim"}}},
    {.name = "prelu",
     .doc = "x where positive, else x times a learned slope.",
     .infer = infer_prelu,
     .define = define_prelu,
     .spelling = "F.prelu({0}, {1})",
     .aten = {{"aten.prelu.default", "self weight"}}},
};

}  // namespace mtmc
