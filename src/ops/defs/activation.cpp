// Activations. Each is written with the fewest transcendental functions that keep its accuracy.
#include <limits>
#include <numbers>

#include "ops/build.h"

namespace mtmc {
namespace {

using X = std::span<const ExprP>;
using enum ScalarRule::Promotion;

ExprP attr(X x, const OpCall& call, std::string_view key, double otherwise) {
  return num(x, call.attrs.number(key, otherwise));
}
ExprP positive(X x) { return fn(Fn::gt, x[0], num(x, 0)); }
ExprP sigmoid_of(const ExprP& v) {
  const ExprP one = number(v->dtype, 1);
  return one / (one + fn(Fn::exp, fn(Fn::neg, v)));
}
// min(max(x, low), high)
ExprP between(const ExprP& v, double low, double high) {
  return fn(Fn::min, fn(Fn::max, v, number(v->dtype, low)), number(v->dtype, high));
}

ExprP relu(X x, const OpCall&) { return fn(Fn::max, x[0], num(x, 0)); }
ExprP relu6(X x, const OpCall&) { return between(x[0], 0, 6); }
ExprP leaky_relu(X x, const OpCall& call) {
  return select(positive(x), x[0], x[0] * attr(x, call, "negative_slope", 0.01));
}
ExprP elu(X x, const OpCall& call) {
  const double scale = call.attrs.number("scale", 1.0);
  const ExprP inner = x[0] * attr(x, call, "input_scale", 1.0);
  return select(positive(x), scale == 1.0 ? x[0] : x[0] * num(x, scale),
                fn(Fn::expm1, inner) * num(x, call.attrs.number("alpha", 1.0) * scale));
}
ExprP selu(X x, const OpCall&) {
  constexpr double kAlpha = 1.6732632423543772848170429916717, kScale = 1.0507009873554804934193349852946;
  return select(positive(x), x[0] * num(x, kScale), fn(Fn::expm1, x[0]) * num(x, kAlpha * kScale));
}
ExprP celu(X x, const OpCall& call) {
  const double alpha = call.attrs.number("alpha", 1.0);
  const ExprP inner = alpha == 1.0 ? x[0] : x[0] * num(x, 1 / alpha);
  return select(positive(x), x[0], fn(Fn::expm1, inner) * num(x, alpha));
}
ExprP gelu(X x, const OpCall& call) {
  const ExprP half = x[0] * num(x, 0.5), one = num(x, 1);
  if (!call.attrs.has("approximate") || call.attrs.text("approximate") != "tanh")
    return half * (one + fn(Fn::erf, x[0] * num(x, 1 / std::numbers::sqrt2)));
  const ExprP inner = x[0] + x[0] * x[0] * x[0] * num(x, 0.044715);
  return half * (one + fn(Fn::tanh, inner * num(x, std::numbers::sqrt2 * std::numbers::inv_sqrtpi)));
}
ExprP silu(X x, const OpCall&) { return x[0] / (num(x, 1) + fn(Fn::exp, fn(Fn::neg, x[0]))); }
// tanh(log(1 + e)) = n / (n + 2) with n = e (e + 2), e = exp(x): one exponential instead of three functions. Above 20
// the quotient is 1, in f64 too.
ExprP mish(X x, const OpCall&) {
  const ExprP e = fn(Fn::exp, fn(Fn::min, x[0], num(x, 20))), two = num(x, 2);
  const ExprP n = e * (e + two);
  return x[0] * (n / (n + two));
}
ExprP softplus(X x, const OpCall& call) {
  const double beta = call.attrs.number("beta", 1.0);
  const ExprP scaled = beta == 1.0 ? x[0] : x[0] * num(x, beta);
  const ExprP smooth = fn(Fn::log1p, fn(Fn::exp, scaled));
  return select(fn(Fn::gt, scaled, attr(x, call, "threshold", 20.0)), x[0],
                beta == 1.0 ? smooth : smooth * num(x, 1 / beta));
}
ExprP softsign(X x, const OpCall&) { return x[0] / (num(x, 1) + fn(Fn::abs, x[0])); }
ExprP sigmoid(X x, const OpCall&) { return sigmoid_of(x[0]); }
ExprP hardsigmoid(X x, const OpCall&) { return between(x[0] + num(x, 3), 0, 6) * num(x, 1.0 / 6); }
ExprP hardswish(X x, const OpCall&) { return x[0] * between(x[0] + num(x, 3), 0, 6) * num(x, 1.0 / 6); }
ExprP hardtanh(X x, const OpCall& call) {
  return between(x[0], call.attrs.number("min_val", -1.0), call.attrs.number("max_val", 1.0));
}
ExprP tanh(X x, const OpCall&) { return fn(Fn::tanh, x[0]); }
ExprP log_sigmoid(X x, const OpCall&) {
  return fn(Fn::min, x[0], num(x, 0)) - fn(Fn::log1p, fn(Fn::exp, fn(Fn::neg, fn(Fn::abs, x[0]))));
}
ExprP tanhshrink(X x, const OpCall&) { return x[0] - fn(Fn::tanh, x[0]); }
ExprP threshold(X x, const OpCall& call) {
  return select(fn(Fn::le, x[0], attr(x, call, "threshold", 0)), attr(x, call, "value", 0), x[0]);
}
ExprP hardshrink(X x, const OpCall& call) {
  return select(fn(Fn::le, fn(Fn::abs, x[0]), attr(x, call, "lambd", 0.5)), num(x, 0), x[0]);
}
ExprP softshrink(X x, const OpCall& call) {
  const ExprP cut = attr(x, call, "lambd", 0.5);
  return select(fn(Fn::gt, x[0], cut), x[0] - cut,
                select(fn(Fn::lt, x[0], fn(Fn::neg, cut)), x[0] + cut, x[0] * num(x, 0)));
}

}  // namespace

extern const OpFile activation_def = {
    scalar_op("relu", "max(x, 0).", {common, 1, relu}, "torch.relu({0})", {{"aten.relu.default", "self"}}),
    scalar_op("relu6", "x clamped to [0, 6].", {common, 1, relu6}, "F.relu6({0})", {{"aten.relu6.default", "self"}}),
    scalar_op("leaky_relu", "x where positive, else x times a slope.", {common, 1, leaky_relu},
              "F.leaky_relu({0}, {negative_slope|0.01})", {{"aten.leaky_relu.default", "self", "negative_slope"}}),
    scalar_op("elu", "x where positive, else alpha (exp(x) - 1), scaled.", {common, 1, elu},
              "torch.ops.aten.elu({0}, {alpha|1}, {scale|1}, {input_scale|1})",
              {{"aten.elu.default", "self", "alpha scale input_scale"}}),
    scalar_op("selu", "The self-normalising elu.", {common, 1, selu}, "F.selu({0})", {{"aten.selu.default", "self"}}),
    scalar_op("celu", "max(0, x) + min(0, alpha (exp(x / alpha) - 1)).", {common, 1, celu}, "F.celu({0}, {alpha|1.0})",
              {{"aten.celu.default", "self", "alpha"}}),
    scalar_op("gelu", "x times the normal distribution function of x, exact or by tanh.", {common, 1, gelu},
              "F.gelu({0}, approximate={approximate|'none'})", {{"aten.gelu.default", "self", "approximate"}}),
    scalar_op("silu", "x sigmoid(x).", {common, 1, silu}, "F.silu({0})", {{"aten.silu.default", "self"}}),
    scalar_op("mish", "x tanh(softplus(x)).", {common, 1, mish}, "F.mish({0})", {{"aten.mish.default", "self"}}),
    scalar_op("softplus", "log(1 + exp(beta x)) / beta, linear above a threshold.", {common, 1, softplus},
              "F.softplus({0}, {beta|1.0}, {threshold|20.0})", {{"aten.softplus.default", "self", "beta threshold"}}),
    scalar_op("softsign", "x / (1 + |x|).", {common, 1, softsign}, "F.softsign({0})", {}),
    scalar_op("sigmoid", "1 / (1 + exp(-x)).", {to_float, 1, sigmoid}, "torch.sigmoid({0})",
              {{"aten.sigmoid.default", "self"}}),
    scalar_op("hardsigmoid", "relu6(x + 3) / 6.", {common, 1, hardsigmoid}, "F.hardsigmoid({0})",
              {{"aten.hardsigmoid.default", "self"}}),
    scalar_op("hardswish", "x relu6(x + 3) / 6.", {common, 1, hardswish}, "F.hardswish({0})",
              {{"aten.hardswish.default", "self"}}),
    scalar_op("hardtanh", "x clamped between two constants.", {common, 1, hardtanh},
              "F.hardtanh({0}, {min_val|-1.0}, {max_val|1.0})", {{"aten.hardtanh.default", "self", "min_val max_val"}}),
    scalar_op("tanh", "The hyperbolic tangent.", {to_float, 1, tanh}, "torch.tanh({0})",
              {{"aten.tanh.default", "self"}}),
    scalar_op("log_sigmoid", "log(sigmoid(x)) without overflow.", {common, 1, log_sigmoid}, "F.logsigmoid({0})",
              {{"aten.log_sigmoid.default", "self"}}),
    scalar_op("tanhshrink", "x - tanh(x).", {common, 1, tanhshrink}, "F.tanhshrink({0})", {}),
    scalar_op("threshold", "x above a threshold, else a value.", {common, 1, threshold},
              "F.threshold({0}, {threshold}, {value})", {{"aten.threshold.default", "self", "threshold value"}}),
    scalar_op("hardshrink", "x where |x| exceeds lambda, else 0.", {common, 1, hardshrink},
              "F.hardshrink({0}, {lambd|0.5})", {{"aten.hardshrink.default", "self", "lambd"}}),
    scalar_op("softshrink", "x moved towards 0 by lambda.", {common, 1, softshrink}, "F.softshrink({0}, {lambd|0.5})",
              {{"aten.softshrink.default", "self", "lambd"}}),
};

}  // namespace mtmc
