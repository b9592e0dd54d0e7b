// Arithmetic of two tensors, with torch's promotion; integer division and remainders as torch has them.
#include "ops/build.h"

namespace mtmc {
namespace {

using X = std::span<const ExprP>;
using enum ScalarRule::Promotion;

ExprP scaled(const ExprP& value, const OpCall& call, std::string_view attr) {
  const double factor = call.attrs.number(attr, 1.0);
  return factor == 1.0 ? value : value * number(value->dtype, factor);
}

ExprP add(X x, const OpCall& call) {
  if (x[0]->dtype == DType::b1) return fn(Fn::logical_or, x[0], x[1]);
  return x[0] + scaled(x[1], call, "alpha");
}
ExprP sub(X x, const OpCall& call) { return x[0] - scaled(x[1], call, "alpha"); }
ExprP rsub(X x, const OpCall& call) { return x[1] - scaled(x[0], call, "alpha"); }
ExprP mul(X x, const OpCall&) { return x[0]->dtype == DType::b1 ? fn(Fn::logical_and, x[0], x[1]) : x[0] * x[1]; }
ExprP divide(X x, const OpCall&) { return x[0] / x[1]; }

// C's truncating division of integers, from the floored one.
ExprP truncated(const ExprP& a, const ExprP& b) {
  if (is_float(a->dtype)) return fn(Fn::trunc, a / b);
  const ExprP zero = number(a->dtype, 0);
  const ExprP inexact = fn(Fn::ne, a % b, zero);
  const ExprP mixed = fn(Fn::ne, fn(Fn::lt, a, zero), fn(Fn::lt, b, zero));
  return a / b + cast(a->dtype, fn(Fn::logical_and, inexact, mixed));
}
// torch divides the remainder off first, so that the quotient is exact, then snaps to the nearest integer.
ExprP floored(const ExprP& a, const ExprP& b) {
  if (!is_float(a->dtype)) return a / b;
  const ExprP quotient = (a - a % b) / b;
  const ExprP whole = fn(Fn::floor, quotient);
  const ExprP snapped = whole + cast(a->dtype, fn(Fn::gt, quotient - whole, number(a->dtype, 0.5)));
  return select(fn(Fn::eq, b, number(a->dtype, 0)), a / b, snapped);
}
ExprP divide_mode(X x, const OpCall& call) {
  return call.attrs.text("rounding_mode") == "trunc" ? truncated(x[0], x[1]) : floored(x[0], x[1]);
}
ExprP floor_divide(X x, const OpCall&) { return floored(x[0], x[1]); }
ExprP remainder(X x, const OpCall&) { return x[0] % x[1]; }
ExprP fmod(X x, const OpCall&) {
  const ExprP zero = number(x[0]->dtype, 0);
  const ExprP rest = fn(Fn::abs, x[0]) % fn(Fn::abs, x[1]);
  return select(fn(Fn::lt, x[0], zero), fn(Fn::neg, rest), rest);
}

// Small whole exponents are multiplications, as in torch's own kernels.
ExprP pow(X x, const OpCall&) {
  const ExprP& b = x[1];
  if (is_constant(b)) {
    const double exponent = is_float(b->dtype) ? b->number : static_cast<double>(b->integer);
    if (exponent == 1.0) return x[0];
    if (exponent == 2.0) return x[0] * x[0];
    if (exponent == 3.0) return x[0] * x[0] * x[0];
    if (exponent == 0.5 && is_float(b->dtype)) return fn(Fn::sqrt, x[0]);
  }
  return fn(Fn::pow, x[0], b);
}
// A constant exponent as an attribute keeps the multiplications visible to everybody.
ExprP pow_scalar(X x, const OpCall& call) {
  const ExprP operands[] = {x[0], number(x[0]->dtype, call.attrs.number("exponent"))};
  return pow(operands, call);
}
Result<std::vector<TensorType>> infer_pow_scalar(const OpCall& call) {
  MTMC_RETURN_IF_ERROR(require_operands(call, 1, 1));
  TensorType type = call.type(0);
  if (std::holds_alternative<double>(call.attrs.find("exponent")->second)) type.dtype = float_type(type.dtype);
  if (type.dtype == DType::b1) type.dtype = DType::i64;
  if (!is_float(type.dtype) && call.attrs.number("exponent") < 0)
    return refusal(call, "an integer cannot be raised to a negative integer power");
  return std::vector<TensorType>{type};
}
Definition define_pow_scalar(const OpCall& call) {
  const TensorType out = infer_pow_scalar(call).value()[0];
  const ExprP x[] = {cast(compute_type(out.dtype), raw_operand(call, 0, spatial(out.rank())))};
  Builder builder;
  builder.output(builder.map("pow", out, cast(out.dtype, pow_scalar(x, call))), out.dtype);
  return builder.done();
}

ExprP maximum(X x, const OpCall&) {
  return x[0]->dtype == DType::b1 ? fn(Fn::logical_or, x[0], x[1]) : fn(Fn::max, x[0], x[1]);
}
ExprP minimum(X x, const OpCall&) {
  return x[0]->dtype == DType::b1 ? fn(Fn::logical_and, x[0], x[1]) : fn(Fn::min, x[0], x[1]);
}
// Unlike maximum and minimum, these return the number when the other is NaN.
ExprP without_nan(X x, Fn function) {
  if (!is_float(x[0]->dtype)) return fn(function, x[0], x[1]);
  return select(fn(Fn::isnan, x[0]), x[1], select(fn(Fn::isnan, x[1]), x[0], fn(function, x[0], x[1])));
}
ExprP fmax(X x, const OpCall&) { return without_nan(x, Fn::max); }
ExprP fmin(X x, const OpCall&) { return without_nan(x, Fn::min); }
ExprP atan2(X x, const OpCall&) { return fn(Fn::atan2, x[0], x[1]); }
// log(exp(a) + exp(b)): the larger, plus a logarithm that cannot overflow; equal infinities are their own sum.
ExprP logaddexp(X x, const OpCall&) {
  const ExprP larger = fn(Fn::max, x[0], x[1]), distance = fn(Fn::abs, x[0] - x[1]);
  const ExprP sum = larger + fn(Fn::log1p, fn(Fn::exp, fn(Fn::neg, distance)));
  return select(fn(Fn::logical_and, fn(Fn::isinf, x[0]), fn(Fn::eq, x[0], x[1])), x[0], sum);
}
// x log y, 0 where x is 0 and y is a number.
ExprP xlogy(X x, const OpCall&) {
  const ExprP zero = number(x[0]->dtype, 0);
  const ExprP none = fn(Fn::logical_and, fn(Fn::eq, x[0], zero), fn(Fn::logical_not, fn(Fn::isnan, x[1])));
  return select(none, zero, x[0] * fn(Fn::log, x[1]));
}
ExprP hypot(X x, const OpCall&) { return fn(Fn::sqrt, x[0] * x[0] + x[1] * x[1]); }

// torch evaluates from the nearer end, so that weight 1 gives exactly `end`.
ExprP lerp(X x, const OpCall&) {
  const ExprP one = number(x[0]->dtype, 1);
  return select(fn(Fn::lt, fn(Fn::abs, x[2]), number(x[0]->dtype, 0.5)), x[0] + x[2] * (x[1] - x[0]),
                x[1] - (x[1] - x[0]) * (one - x[2]));
}
ExprP addcmul(X x, const OpCall& call) { return x[0] + scaled(x[1], call, "value") * x[2]; }
ExprP addcdiv(X x, const OpCall& call) { return x[0] + scaled(x[1], call, "value") / x[2]; }

OpDef pow_scalar_op() {
  OpDef def;
  def.name = "pow_scalar";
  def.doc = "A tensor to the power of a constant.";
  def.infer = infer_pow_scalar;
  def.define = define_pow_scalar;
  def.spelling = "torch.pow({0}, {exponent})";
  def.aten = {{"aten.pow.Tensor_Scalar", "self", "exponent"}};
  return def;
}

}  // namespace

extern const OpFile arithmetic_def = {
    scalar_op("add", "a + alpha * b.", {common, 2, add}, "torch.add({0}, {1}, alpha={alpha|1})",
              {{"aten.add.Tensor", "self other", "alpha"}, {"aten.add.Scalar", "self other", "alpha"}}),
    scalar_op("sub", "a - alpha * b.", {common, 2, sub}, "torch.sub({0}, {1}, alpha={alpha|1})",
              {{"aten.sub.Tensor", "self other", "alpha"},
               {"aten.sub.Scalar", "self other", "alpha"},
               {"aten.subtract.Tensor", "self other", "alpha"},
               {"aten.subtract.Scalar", "self other", "alpha"}}),
    scalar_op("rsub", "b - alpha * a.", {common, 2, rsub}, "torch.sub({1}, {0}, alpha={alpha|1})",
              {{"aten.rsub.Tensor", "self other", "alpha"}, {"aten.rsub.Scalar", "self other", "alpha"}}),
    scalar_op("mul", "a * b.", {common, 2, mul}, "torch.mul({0}, {1})",
              {{"aten.mul.Tensor", "self other"},
               {"aten.mul.Scalar", "self other"},
               {"aten.multiply.Tensor", "self other"},
               {"aten.multiply.Scalar", "self other"}}),
    scalar_op("div", "a / b, of floats.", {to_float, 2, divide}, "torch.div({0}, {1})",
              {{"aten.div.Tensor", "self other"},
               {"aten.div.Scalar", "self other"},
               {"aten.true_divide.Tensor", "self other"},
               {"aten.true_divide.Scalar", "self other"},
               {"aten.divide.Tensor", "self other"},
               {"aten.divide.Scalar", "self other"}}),
    scalar_op("div_mode", "a / b rounded to a whole number, towards zero (trunc) or down (floor).",
              {common, 2, divide_mode}, "torch.div({0}, {1}, rounding_mode={rounding_mode})",
              {{"aten.div.Tensor_mode", "self other", "rounding_mode"},
               {"aten.div.Scalar_mode", "self other", "rounding_mode"}}),
    scalar_op("floor_divide", "a / b rounded down.", {common, 2, floor_divide}, "torch.floor_divide({0}, {1})",
              {{"aten.floor_divide.default", "self other"}, {"aten.floor_divide.Scalar", "self other"}}),
    scalar_op("remainder", "The rest of a / b with b's sign.", {common, 2, remainder}, "torch.remainder({0}, {1})",
              {{"aten.remainder.Tensor", "self other"},
               {"aten.remainder.Scalar", "self other"},
               {"aten.remainder.Scalar_Tensor", "self other"}}),
    scalar_op("fmod", "The rest of a / b with a's sign.", {common, 2, fmod}, "torch.fmod({0}, {1})",
              {{"aten.fmod.Tensor", "self other"}, {"aten.fmod.Scalar", "self other"}}),
    scalar_op("pow", "a to the power of b.", {common, 2, pow}, "torch.pow({0}, {1})",
              {{"aten.pow.Tensor_Tensor", "self exponent"}, {"aten.pow.Scalar", "self exponent"}}),
    pow_scalar_op(),
    scalar_op("maximum", "The larger of two; NaN wins.", {common, 2, maximum}, "torch.maximum({0}, {1})",
              {{"aten.maximum.default", "self other"}, {"aten.max.other", "self other"}}),
    scalar_op("minimum", "The smaller of two; NaN wins.", {common, 2, minimum}, "torch.minimum({0}, {1})",
              {{"aten.minimum.default", "self other"}, {"aten.min.other", "self other"}}),
    scalar_op("fmax", "The larger of two; NaN loses.", {common, 2, fmax}, "torch.fmax({0}, {1})",
              {{"aten.fmax.default", "self other"}}),
    scalar_op("fmin", "The smaller of two; NaN loses.", {common, 2, fmin}, "torch.fmin({0}, {1})",
              {{"aten.fmin.default", "self other"}}),
    scalar_op("atan2", "The angle of the point (b, a).", {to_float, 2, atan2}, "torch.atan2({0}, {1})",
              {{"aten.atan2.default", "self other"}}),
    scalar_op("hypot", "The length of (a, b).", {common, 2, hypot}, "torch.hypot({0}, {1})",
              {{"aten.hypot.default", "self other"}}),
    scalar_op("logaddexp", "log(exp(a) + exp(b)).", {to_float, 2, logaddexp}, "torch.logaddexp({0}, {1})",
              {{"aten.logaddexp.default", "self other"}}),
    scalar_op("xlogy", "a log(b), 0 where a is 0.", {to_float, 2, xlogy}, "torch.xlogy({0}, {1})",
              {{"aten.xlogy.Tensor", "self other"},
               {"aten.xlogy.Scalar_Self", "self other"},
               {"aten.xlogy.Scalar_Other", "self other"}}),
    scalar_op("lerp", "a + weight * (b - a).", {common, 3, lerp}, "torch.lerp({0}, {1}, {2})",
              {{"aten.lerp.Scalar", "self end weight"}, {"aten.lerp.Tensor", "self end weight"}}),
    scalar_op("addcmul", "a + value * b * c.", {common, 3, addcmul}, "torch.addcmul({0}, {1}, {2}, value={value|1})",
              {{"aten.addcmul.default", "self tensor1 tensor2", "value"}}),
    scalar_op("addcdiv", "a + value * b / c.", {common, 3, addcdiv}, "torch.addcdiv({0}, {1}, {2}, value={value|1})",
              {{"aten.addcdiv.default", "self tensor1 tensor2", "value"}}),
};

}  // namespace mtmc
