// Less common functions of one number or two.
#include <limits>
#include <numbers>

#include "ops/build.h"

namespace mtmc {
namespace {

using X = std::span<const ExprP>;
using enum ScalarRule::Promotion;

// Whether the sign bit is set: of zeros it shows in what 1 is divided by them.
ExprP negative(const ExprP& x) {
  const ExprP zero = number(x->dtype, 0);
  if (!is_float(x->dtype)) return fn(Fn::lt, x, zero);
  return select(fn(Fn::eq, x, zero), fn(Fn::lt, number(x->dtype, 1) / x, zero), fn(Fn::lt, x, zero));
}
ExprP with_sign(const ExprP& size, const ExprP& of) { return select(negative(of), fn(Fn::neg, size), size); }

// log1p keeps the digits of small arguments.
ExprP asinh(X x, const OpCall&) {
  const ExprP size = fn(Fn::abs, x[0]), square = size * size;
  const ExprP large = fn(Fn::log, size) + num(x, std::numbers::ln2);
  const ExprP usual = fn(Fn::log1p, size + square / (num(x, 1) + fn(Fn::sqrt, square + num(x, 1))));
  return with_sign(select(fn(Fn::gt, size, num(x, 1e9)), large, usual), x[0]);
}
ExprP acosh(X x, const OpCall&) {
  const ExprP above = x[0] - num(x, 1);
  const ExprP usual = fn(Fn::log1p, above + fn(Fn::sqrt, above * (above + num(x, 2))));
  return select(fn(Fn::gt, x[0], num(x, 1e9)), fn(Fn::log, x[0]) + num(x, std::numbers::ln2), usual);
}
ExprP atanh(X x, const OpCall&) { return num(x, 0.5) * (fn(Fn::log1p, x[0]) - fn(Fn::log1p, fn(Fn::neg, x[0]))); }
ExprP deg2rad(X x, const OpCall&) { return x[0] * num(x, std::numbers::pi / 180); }
ExprP rad2deg(X x, const OpCall&) { return x[0] * num(x, 180 / std::numbers::pi); }
ExprP signbit(X x, const OpCall&) { return x[0]->dtype == DType::b1 ? number(DType::b1, 0) : negative(x[0]); }
ExprP copysign(X x, const OpCall&) { return with_sign(fn(Fn::abs, x[0]), x[1]); }
ExprP heaviside(X x, const OpCall&) {
  const ExprP step = select(fn(Fn::lt, x[0], num(x, 0)), num(x, 0), num(x, 1));
  return select(fn(Fn::eq, x[0], num(x, 0)), x[1], step);
}
ExprP logaddexp2(X x, const OpCall&) {
  const ExprP larger = fn(Fn::max, x[0], x[1]), smaller = fn(Fn::min, x[0], x[1]);
  const ExprP rest = fn(Fn::log1p, fn(Fn::exp2, smaller - larger)) * num(x, std::numbers::log2e);
  // Two equal infinities have no difference.
  const ExprP same = fn(Fn::logical_and, fn(Fn::eq, x[0], x[1]), fn(Fn::isinf, x[0]));
  return select(same, x[0], larger + rest);
}

}  // namespace

extern const OpFile special_def = {
    scalar_op("asinh", "The inverse hyperbolic sine.", {to_float, 1, asinh}, "torch.asinh({0})",
              {{"aten.asinh.default", "self"}}),
    scalar_op("acosh", "The inverse hyperbolic cosine.", {to_float, 1, acosh}, "torch.acosh({0})",
              {{"aten.acosh.default", "self"}}),
    scalar_op("atanh", "The inverse hyperbolic tangent.", {to_float, 1, atanh}, "torch.atanh({0})",
              {{"aten.atanh.default", "self"}}),
    scalar_op("deg2rad", "Degrees as radians.", {to_float, 1, deg2rad}, "torch.deg2rad({0})",
              {{"aten.deg2rad.default", "self"}}),
    scalar_op("rad2deg", "Radians as degrees.", {to_float, 1, rad2deg}, "torch.rad2deg({0})",
              {{"aten.rad2deg.default", "self"}}),
    scalar_op("signbit", "Whether the sign bit is set.", {predicate, 1, signbit}, "torch.signbit({0})",
              {{"aten.signbit.default", "self"}}),
    scalar_op("copysign", "The size of a with the sign of b.", {to_float, 2, copysign}, "torch.copysign({0}, {1})",
              {{"aten.copysign.Tensor", "self other"}, {"aten.copysign.Scalar", "self other"}}),
    scalar_op("heaviside", "0 below zero, 1 above, b at zero.", {common, 2, heaviside}, "torch.heaviside({0}, {1})",
              {{"aten.heaviside.default", "self values"}}),
    scalar_op("logaddexp2", "log2(2^a + 2^b) without overflow.", {to_float, 2, logaddexp2},
              "torch.logaddexp2({0}, {1})", {{"aten.logaddexp2.default", "self other"}}),
};

}  // namespace mtmc
