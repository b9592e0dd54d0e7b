// Functions of one number, and casts.
#include <cmath>
#include <limits>
#include <numbers>

#include "ops/aten.h"
#include "ops/build.h"

namespace mtmc {
namespace {

using X = std::span<const ExprP>;
using enum ScalarRule::Promotion;

template <Fn F>
ExprP apply(X x, const OpCall&) {
  return fn(F, x[0]);
}
// Rounding functions leave integers alone.
template <Fn F>
ExprP rounded(X x, const OpCall&) {
  return is_float(x[0]->dtype) ? fn(F, x[0]) : x[0];
}
ExprP absolute(X x, const OpCall&) { return x[0]->dtype == DType::u8 ? x[0] : fn(Fn::abs, x[0]); }
ExprP reciprocal(X x, const OpCall&) { return num(x, 1) / x[0]; }
ExprP square(X x, const OpCall&) { return x[0] * x[0]; }
ExprP sign(X x, const OpCall&) {
  return select(fn(Fn::gt, x[0], num(x, 0)), num(x, 1), select(fn(Fn::lt, x[0], num(x, 0)), num(x, -1), num(x, 0)));
}
ExprP frac(X x, const OpCall&) { return x[0] - fn(Fn::trunc, x[0]); }
ExprP log10(X x, const OpCall&) { return fn(Fn::log, x[0]) * num(x, std::numbers::log10e); }
ExprP identity(X x, const OpCall&) { return x[0]; }
ExprP logit(X x, const OpCall& call) {
  ExprP z = x[0];
  if (call.attrs.has("eps")) {
    const double eps = call.attrs.number("eps");
    z = fn(Fn::min, fn(Fn::max, z, num(x, eps)), num(x, 1 - eps));
  }
  return fn(Fn::log, z / (num(x, 1) - z));
}
ExprP nan_to_num(X x, const OpCall& call) {
  if (!is_float(x[0]->dtype)) return x[0];
  const DType dtype = call.type(0).dtype;
  const double largest = dtype == DType::f16    ? 65504.0
                         : dtype == DType::bf16 ? std::ldexp(255.0 / 128, 127)
                         : dtype == DType::f32  ? static_cast<double>(std::numeric_limits<float>::max())
                                                : std::numeric_limits<double>::max();
  const double infinity = std::numeric_limits<double>::infinity();
  const ExprP finite =
      select(fn(Fn::eq, x[0], num(x, infinity)), num(x, call.attrs.number("posinf", largest)),
             select(fn(Fn::eq, x[0], num(x, -infinity)), num(x, call.attrs.number("neginf", -largest)), x[0]));
  return select(fn(Fn::isnan, x[0]), num(x, call.attrs.number("nan", 0.0)), finite);
}
template <Fn F>
ExprP test(X x, const OpCall&) {
  return is_float(x[0]->dtype) ? fn(F, x[0]) : number(DType::b1, 0);
}
ExprP isfinite(X x, const OpCall&) {
  if (!is_float(x[0]->dtype)) return number(DType::b1, 1);
  return fn(Fn::logical_not, fn(Fn::logical_or, fn(Fn::isnan, x[0]), fn(Fn::isinf, x[0])));
}

Result<std::vector<TensorType>> infer_to(const OpCall& call) {
  MTMC_RETURN_IF_ERROR(require_operands(call, 1, 1));
  return std::vector<TensorType>{
      {call.attrs.has("dtype") ? call.attrs.dtype("dtype") : call.type(0).dtype, call.type(0).shape}};
}
Definition define_to(const OpCall& call) {
  const TensorType out = infer_to(call).value()[0];
  Builder builder;
  builder.output(builder.map("to", out, cast(out.dtype, raw_operand(call, 0, spatial(out.rank())))), out.dtype);
  return builder.done();
}
// The first operand in the second's element type.
Result<std::vector<TensorType>> infer_type_as(const OpCall& call) {
  MTMC_RETURN_IF_ERROR(require_operands(call, 2, 2));
  return std::vector<TensorType>{{call.type(1).dtype, call.type(0).shape}};
}
Definition define_type_as(const OpCall& call) {
  return single(call, "type_as", cast(call.type(1).dtype, raw_operand(call, 0, spatial(call.type(0).rank()))));
}
OpDef to_op() {
  OpDef def;
  def.name = "to";
  def.doc = "The same numbers in another element type.";
  def.infer = infer_to;
  def.define = define_to;
  def.spelling = "torch.ops.aten._to_copy({0}, dtype={dtype|None})";
  def.aten = {{"aten._to_copy.default", "self", "dtype"},
              {"aten.to.dtype", "self", "dtype"},
              {"aten.to.dtype_layout", "self", "dtype"}};
  return def;
}
OpDef view_of(OpDef def) {
  def.is_view = true;
  return def;
}

template <Fn F>
OpDef function(std::string_view name, std::string_view doc, std::string_view spelling, std::string_view overload) {
  return scalar_op(name, doc, {to_float, 1, apply<F>}, spelling, {{overload, "self"}});
}

}  // namespace

extern const OpFile math_def = {
    function<Fn::exp>("exp", "e to the power of x.", "torch.exp({0})", "aten.exp.default"),
    function<Fn::exp2>("exp2", "2 to the power of x.", "torch.exp2({0})", "aten.exp2.default"),
    function<Fn::expm1>("expm1", "exp(x) - 1, exact near 0.", "torch.expm1({0})", "aten.expm1.default"),
    function<Fn::log>("log", "The natural logarithm.", "torch.log({0})", "aten.log.default"),
    function<Fn::log2>("log2", "The binary logarithm.", "torch.log2({0})", "aten.log2.default"),
    function<Fn::log1p>("log1p", "log(1 + x), exact near 0.", "torch.log1p({0})", "aten.log1p.default"),
    scalar_op("log10", "The decimal logarithm.", {to_float, 1, log10}, "torch.log10({0})",
              {{"aten.log10.default", "self"}}),
    function<Fn::sqrt>("sqrt", "The square root.", "torch.sqrt({0})", "aten.sqrt.default"),
    function<Fn::rsqrt>("rsqrt", "1 / sqrt(x).", "torch.rsqrt({0})", "aten.rsqrt.default"),
    function<Fn::sin>("sin", "The sine.", "torch.sin({0})", "aten.sin.default"),
    function<Fn::cos>("cos", "The cosine.", "torch.cos({0})", "aten.cos.default"),
    function<Fn::tan>("tan", "The tangent.", "torch.tan({0})", "aten.tan.default"),
    function<Fn::asin>("asin", "The inverse sine.", "torch.asin({0})", "aten.asin.default"),
    function<Fn::acos>("acos", "The inverse cosine.", "torch.acos({0})", "aten.acos.default"),
    function<Fn::atan>("atan", "The inverse tangent.", "torch.atan({0})", "aten.atan.default"),
    function<Fn::sinh>("sinh", "The hyperbolic sine.", "torch.sinh({0})", "aten.sinh.default"),
    function<Fn::cosh>("cosh", "The hyperbolic cosine.", "torch.cosh({0})", "aten.cosh.default"),
    function<Fn::erf>("erf", "The error function.", "torch.erf({0})", "aten.erf.default"),
    function<Fn::erfc>("erfc", "1 - erf(x), exact where it is next to 0.", "torch.erfc({0})", "aten.erfc.default"),
    scalar_op("reciprocal", "1 / x.", {to_float, 1, reciprocal}, "torch.reciprocal({0})",
              {{"aten.reciprocal.default", "self"}}),
    scalar_op("logit", "log(x / (1 - x)).", {to_float, 1, logit}, "torch.logit({0}, eps={eps|None})",
              {{"aten.logit.default", "self", "eps"}}),
    scalar_op("neg", "-x.", {common, 1, apply<Fn::neg>}, "torch.neg({0})", {{"aten.neg.default", "self"}}),
    scalar_op("abs", "|x|.", {common, 1, absolute}, "torch.abs({0})", {{"aten.abs.default", "self"}}),
    scalar_op("square", "x x.", {common, 1, square}, "torch.square({0})", {{"aten.square.default", "self"}}),
    scalar_op("sign", "-1, 0 or 1.", {common, 1, sign}, "torch.sign({0})",
              {{"aten.sign.default", "self"}, {"aten.sgn.default", "self"}}),
    scalar_op("floor", "The next whole number below.", {common, 1, rounded<Fn::floor>}, "torch.floor({0})",
              {{"aten.floor.default", "self"}}),
    scalar_op("ceil", "The next whole number above.", {common, 1, rounded<Fn::ceil>}, "torch.ceil({0})",
              {{"aten.ceil.default", "self"}}),
    scalar_op("round", "The nearest whole number, half to even.", {common, 1, rounded<Fn::round>}, "torch.round({0})",
              {{"aten.round.default", "self"}}),
    scalar_op("trunc", "The whole part.", {common, 1, rounded<Fn::trunc>}, "torch.trunc({0})",
              {{"aten.trunc.default", "self"}, {"aten.fix.default", "self"}}),
    scalar_op("frac", "x - trunc(x).", {common, 1, frac}, "torch.frac({0})", {{"aten.frac.default", "self"}}),
    scalar_op("nan_to_num", "NaN and infinities replaced by numbers.", {common, 1, nan_to_num},
              "torch.nan_to_num({0}, {nan|0.0}, {posinf|None}, {neginf|None})",
              {{"aten.nan_to_num.default", "self", "nan posinf neginf"}}),
    scalar_op("isnan", "Whether x is NaN.", {predicate, 1, test<Fn::isnan>}, "torch.isnan({0})",
              {{"aten.isnan.default", "self"}}),
    scalar_op("isinf", "Whether x is infinite.", {predicate, 1, test<Fn::isinf>}, "torch.isinf({0})",
              {{"aten.isinf.default", "self"}}),
    scalar_op("isfinite", "Whether x is neither NaN nor infinite.", {predicate, 1, isfinite}, "torch.isfinite({0})",
              {{"aten.isfinite.default", "self"}}),
    scalar_op("clone", "A copy; also dropout in eval mode.", {common, 1, identity},
              "torch.clone({0}, memory_format=torch.contiguous_format)",
              {{"aten.clone.default", "self"},
               {"aten.lift_fresh_copy.default", "self"},
               {"aten.contiguous.default", "self"}}),
    view_of(scalar_op("alias", "The same tensor.", {common, 1, identity}, "torch.ops.aten.alias({0})",
                      {{"aten.alias.default", "self"},
                       {"aten.detach.default", "self"},
                       {"aten.lift_fresh.default", "self"},
                       {"aten.positive.default", "self"},
                       {"aten.dropout.default", "input", "", "",
                        [](AtenCall& call) {
                          if (const bool* train = call.get<bool>("train"); train && !*train) {
                            call.args.erase("train");
                            call.args.erase("p");
                          }
                        }}})),
    to_op(),
    {.name = "type_as",
     .doc = "The same numbers in the element type of another tensor.",
     .infer = infer_type_as,
     .define = define_type_as,
     .spelling = "{0}.type_as({1})",
     .aten = {{"aten.type_as.default", "self other"}}},
};

}  // namespace mtmc
