// Reductions over some or all axes.
#include <cmath>
#include <limits>

#include "ops/aten.h"
#include "ops/build.h"

namespace mtmc {
namespace {

Split split_of(const OpCall& call) {
  const TensorType& x = call.type(0);
  return split_axes(x.shape, axes_of(call, "dim", x.rank()), call.attrs.flag("keepdim"));
}

// The shape of the result, or why the axes do not fit. `some`: an empty reduction has no value.
Result<Shape> reduced_shape(const OpCall& call, bool some) {
  MTMC_RETURN_IF_ERROR(require_operands(call, 1, 1));
  const TensorType& x = call.type(0);
  MTMC_TRY(auto axes, resolve_axes(call, "dim", x.rank()));
  Split split = split_axes(x.shape, std::move(axes), call.attrs.flag("keepdim"));
  if (some && product(split.over) == 0) return refusal(call, "nothing to reduce", to_string(x), "at least one element");
  return split.shape;
}

DType sum_type(const OpCall& call) {
  if (call.attrs.has("dtype")) return call.attrs.dtype("dtype");
  return is_float(call.type(0).dtype) ? call.type(0).dtype : DType::i64;
}

Result<std::vector<TensorType>> infer_sum(const OpCall& call) {
  MTMC_TRY(Shape shape, reduced_shape(call, false));
  return std::vector<TensorType>{{sum_type(call), shape}};
}
Result<std::vector<TensorType>> infer_float(const OpCall& call) {
  MTMC_TRY(Shape shape, reduced_shape(call, false));
  const DType dtype = call.attrs.has("dtype") ? call.attrs.dtype("dtype") : call.type(0).dtype;
  if (!is_float(dtype)) return refusal(call, "needs floating point numbers", to_string(call.type(0)), "f32");
  return std::vector<TensorType>{{dtype, shape}};
}
Result<std::vector<TensorType>> infer_same(const OpCall& call) {
  MTMC_TRY(Shape shape, reduced_shape(call, true));
  return std::vector<TensorType>{{call.type(0).dtype, shape}};
}
Result<std::vector<TensorType>> infer_bool(const OpCall& call) {
  MTMC_TRY(Shape shape, reduced_shape(call, false));
  return std::vector<TensorType>{{DType::b1, shape}};
}
Result<std::vector<TensorType>> infer_arg(const OpCall& call) {
  MTMC_TRY(Shape shape, reduced_shape(call, true));
  return std::vector<TensorType>{{DType::i64, shape}};
}
Result<std::vector<TensorType>> infer_extreme(const OpCall& call) {
  MTMC_TRY(Shape shape, reduced_shape(call, true));
  return std::vector<TensorType>{{call.type(0).dtype, shape}, {DType::i64, shape}};
}
Result<std::vector<TensorType>> infer_count(const OpCall& call) {
  MTMC_TRY(Shape shape, reduced_shape(call, false));
  return std::vector<TensorType>{{DType::i64, shape}};
}
Result<std::vector<TensorType>> infer_extremes(const OpCall& call) {
  MTMC_TRY(Shape shape, reduced_shape(call, true));
  return std::vector<TensorType>(2, {call.type(0).dtype, shape});
}
Result<std::vector<TensorType>> infer_pair(const OpCall& call) {
  MTMC_TRY(auto one, infer_float(call));
  return std::vector<TensorType>{one[0], one[0]};
}

// The input element converted to the type that sums of `result` run in.
ExprP element(const OpCall& call, const Split& split, DType result) {
  return cast(compute_type(result), raw_operand(call, 0, split.input));
}

Definition define_accumulate(const OpCall& call, Combine combine) {
  const Split split = split_of(call);
  const DType out = sum_type(call);
  Builder b;
  b.output(
      b.reduce(std::string(call.op), {compute_type(out), split.shape}, split.over, combine, element(call, split, out)),
      out);
  return b.done();
}
Definition define_sum(const OpCall& call) { return define_accumulate(call, Combine::sum); }
Definition define_prod(const OpCall& call) { return define_accumulate(call, Combine::prod); }

int mean_stage(Builder& b, const Split& split, ExprP x) {
  const TensorType type{x->dtype, split.shape};
  const int sum = b.reduce("sum", type, split.over, Combine::sum, x);
  const double count = static_cast<double>(product(split.over));
  return b.map("mean", type, b.at(sum, spatial(type.rank())) / number(type.dtype, count));
}

Definition define_mean(const OpCall& call) {
  const Split split = split_of(call);
  const DType out = infer_float(call).value()[0].dtype;
  Builder b;
  b.output(mean_stage(b, split, element(call, split, out)), out);
  return b.done();
}

Definition define_extreme(const OpCall& call, Combine combine) {
  const Split split = split_of(call);
  const DType out = call.type(0).dtype;
  const DType inner = out == DType::b1 ? DType::i32 : compute_type(out);
  Builder b;
  b.output(b.reduce(std::string(call.op), {inner, split.shape}, split.over, combine,
                    cast(inner, raw_operand(call, 0, split.input))),
           out);
  return b.done();
}
Definition define_amax(const OpCall& call) { return define_extreme(call, Combine::max); }
Definition define_amin(const OpCall& call) { return define_extreme(call, Combine::min); }

Definition define_truth(const OpCall& call, Combine combine) {
  const Split split = split_of(call);
  Builder b;
  b.output(b.reduce(std::string(call.op), {DType::i32, split.shape}, split.over, combine,
                    cast(DType::i32, cast(DType::b1, raw_operand(call, 0, split.input)))),
           DType::b1);
  return b.done();
}
Definition define_any(const OpCall& call) { return define_truth(call, Combine::max); }
Definition define_all(const OpCall& call) { return define_truth(call, Combine::min); }

int arg_stage(Builder& b, const OpCall& call, const Split& split, Combine combine) {
  const DType dtype = call.type(0).dtype;
  return b.reduce(std::string(name(combine)), {DType::i64, split.shape}, split.over, combine,
                  cast(dtype == DType::b1 ? DType::i32 : compute_type(dtype), raw_operand(call, 0, split.input)));
}
Definition define_arg(const OpCall& call, Combine combine) {
  Builder b;
  b.output(arg_stage(b, call, split_of(call), combine), DType::i64);
  return b.done();
}
Definition define_argmax(const OpCall& call) { return define_arg(call, Combine::argmax); }
Definition define_argmin(const OpCall& call) { return define_arg(call, Combine::argmin); }

Definition define_with_index(const OpCall& call, Combine value, Combine index) {
  const Split split = split_of(call);
  Definition definition = define_extreme(call, value);
  Builder b;
  const int which = static_cast<int>(definition.stages.size());
  b.output(arg_stage(b, call, split, index), DType::i64);
  definition.stages.push_back(b.done().stages[0]);
  definition.outputs.push_back(which);
  return definition;
}
Definition define_max_dim(const OpCall& call) { return define_with_index(call, Combine::max, Combine::argmax); }
Definition define_min_dim(const OpCall& call) { return define_with_index(call, Combine::min, Combine::argmin); }

// Two passes: the mean, then the sum of squared differences, divided by max(count - correction, 0).
void variance(Builder& b, const OpCall& call, bool root, bool with_mean) {
  const Split split = split_of(call);
  const DType out = infer_float(call).value()[0].dtype;
  const ExprP x = element(call, split, out);
  const int rank = static_cast<int>(split.shape.size());
  const TensorType type{x->dtype, split.shape};
  const int mean = mean_stage(b, split, x);
  const ExprP difference = x - b.at(mean, spatial(rank));
  const int squares = b.reduce("squares", type, split.over, Combine::sum, difference * difference);
  const double correction = call.attrs.number("correction", 1.0);
  const double count = std::max(static_cast<double>(product(split.over)) - correction, 0.0);
  ExprP value = b.at(squares, spatial(rank)) / number(x->dtype, count);
  b.output(b.map(root ? "std" : "var", type, root ? fn(Fn::sqrt, value) : value), out);
  if (with_mean) b.output(mean, out);
}
template <bool Root, bool WithMean>
Definition define_variance(const OpCall& call) {
  Builder b;
  variance(b, call, Root, WithMean);
  return b.done();
}

// The maximum is taken out of the exponential, unless it is infinite.
Definition define_logsumexp(const OpCall& call) {
  const Split split = split_of(call);
  const DType out = call.type(0).dtype;
  const ExprP x = element(call, split, out);
  const TensorType type{x->dtype, split.shape};
  const Indices at = spatial(type.rank());
  Builder b;
  const int largest = b.reduce("row_max", type, split.over, Combine::max, x);
  const int shift =
      b.map("shift", type, select(fn(Fn::isinf, b.at(largest, at)), number(x->dtype, 0), b.at(largest, at)));
  const int sum = b.reduce("row_sum", type, split.over, Combine::sum, fn(Fn::exp, x - b.at(shift, at)));
  b.output(b.map("logsumexp", type, fn(Fn::log, b.at(sum, at)) + b.at(shift, at)), out);
  return b.done();
}

// (sum |x|^ord)^(1/ord), and its limits 0, inf and -inf.
Definition define_norm(const OpCall& call) {
  const Split split = split_of(call);
  const DType out = infer_float(call).value()[0].dtype;
  const ExprP x = element(call, split, out), size = fn(Fn::abs, x);
  const DType dtype = x->dtype;
  const TensorType type{dtype, split.shape};
  const double ord = call.attrs.number("ord", 2.0);
  Builder b;
  const auto reduce = [&](std::string name, Combine combine, ExprP body) {
    return b.reduce(std::move(name), type, split.over, combine, std::move(body));
  };
  const auto finish = [&](int stage, const std::function<ExprP(ExprP)>& body) {
    return b.map("norm", type, body(b.at(stage, spatial(type.rank()))));
  };
  int result = 0;
  if (std::isinf(ord)) {
    result = reduce("norm", ord > 0 ? Combine::max : Combine::min, size);
  } else if (ord == 0) {
    result = reduce("norm", Combine::sum, cast(dtype, fn(Fn::ne, x, number(dtype, 0))));
  } else if (ord == 1) {
    result = reduce("norm", Combine::sum, size);
  } else if (ord == 2) {
    result = finish(reduce("squares", Combine::sum, x * x), [](ExprP sum) { return fn(Fn::sqrt, sum); });
  } else {
    result = finish(reduce("powers", Combine::sum, fn(Fn::pow, size, number(dtype, ord))),
                    [&](ExprP sum) { return fn(Fn::pow, sum, number(dtype, 1 / ord)); });
  }
  b.output(result, out);
  return b.done();
}

// norm's p may be None: 2.
void default_order(AtenCall& call) {
  if (const auto* p = call.args.find("p") == call.args.end() ? nullptr : &call.args.find("p")->second)
    if (std::holds_alternative<std::monostate>(*p)) call.args.erase("p");
}

Definition define_count(const OpCall& call) {
  const Split split = split_of(call);
  const ExprP x = raw_operand(call, 0, split.input);
  Builder b;
  b.output(b.reduce("count", {DType::i64, split.shape}, split.over, Combine::sum,
                    cast(DType::i64, fn(Fn::ne, cast(compute_type(x->dtype), x), number(compute_type(x->dtype), 0)))),
           DType::i64);
  return b.done();
}
Definition define_nansum(const OpCall& call) {
  const DType out = infer_sum(call).value()[0].dtype, inner = compute_type(out);
  const Split split = split_of(call);
  const ExprP x = cast(inner, raw_operand(call, 0, split.input));
  const ExprP known = is_float(inner) ? select(fn(Fn::isnan, x), number(inner, 0), x) : x;
  Builder b;
  b.output(b.reduce("sum", {inner, split.shape}, split.over, Combine::sum, known), out);
  return b.done();
}
Definition define_extremes(const OpCall& call) {
  const DType out = call.type(0).dtype;
  const Split split = split_of(call);
  const ExprP x = operand(call, 0, split.input);
  Builder b;
  b.output(b.reduce("smallest", {x->dtype, split.shape}, split.over, Combine::min, x), out);
  b.output(b.reduce("largest", {x->dtype, split.shape}, split.over, Combine::max, x), out);
  return b.done();
}

}  // namespace

extern const OpFile reduction_def = {
    op("sum", "The sum; of integers as i64.", infer_sum, define_sum,
       "torch.ops.aten.sum.dim_IntList({0}, {dim|None}, {keepdim|False}, dtype={dtype|None})",
       {{"aten.sum.default", "self", "dtype"}, {"aten.sum.dim_IntList", "self", "dim keepdim dtype"}}),
    op("mean", "The arithmetic mean.", infer_float, define_mean,
       "torch.ops.aten.mean.dim({0}, {dim|None}, {keepdim|False}, dtype={dtype|None})",
       {{"aten.mean.default", "self", "dtype"}, {"aten.mean.dim", "self", "dim keepdim dtype"}}),
    {.name = "prod",
     .doc = "The product; of integers as i64.",
     .infer = infer_sum,
     .define = define_prod,
     .aten = {{"aten.prod.default", "self", "dtype"}, {"aten.prod.dim_int", "self", "dim keepdim dtype"}},
     .spell = [](const OpCall& call, std::span<const std::string> args) -> std::string {
       OpDef def;
       def.spelling = call.attrs.has("dim") ? "torch.prod({0}, {dim}, {keepdim|False}, dtype={dtype|None})"
                                            : "torch.prod({0}, dtype={dtype|None})";
       return def.torch(call, args);
     }},
    op("amax", "The largest value; NaN wins.", infer_same, define_amax, "torch.amax({0}, {dim|[]}, {keepdim|False})",
       {{"aten.amax.default", "self", "dim keepdim"}, {"aten.max.default", "self"}}),
    op("amin", "The smallest value; NaN wins.", infer_same, define_amin, "torch.amin({0}, {dim|[]}, {keepdim|False})",
       {{"aten.amin.default", "self", "dim keepdim"}, {"aten.min.default", "self"}}),
    op("any", "Whether some element is not 0.", infer_bool, define_any,
       "torch.any({0}, dim={dim|None}, keepdim={keepdim|False})",
       {{"aten.any.default", "self"},
        {"aten.any.dim", "self", "dim keepdim"},
        {"aten.any.dims", "self", "dim keepdim"}}),
    op("all", "Whether no element is 0.", infer_bool, define_all,
       "torch.all({0}, dim={dim|None}, keepdim={keepdim|False})",
       {{"aten.all.default", "self"},
        {"aten.all.dim", "self", "dim keepdim"},
        {"aten.all.dims", "self", "dim keepdim"}}),
    op("argmax", "The position of the largest value's first occurrence.", infer_arg, define_argmax,
       "torch.argmax({0}, {dim|None}, {keepdim|False})", {{"aten.argmax.default", "self", "dim keepdim"}}),
    op("argmin", "The position of the smallest value's first occurrence.", infer_arg, define_argmin,
       "torch.argmin({0}, {dim|None}, {keepdim|False})", {{"aten.argmin.default", "self", "dim keepdim"}}),
    op("max_dim", "The largest value and its position.", infer_extreme, define_max_dim,
       "torch.max({0}, {dim}, {keepdim|False})", {{"aten.max.dim", "self", "dim keepdim"}}),
    op("min_dim", "The smallest value and its position.", infer_extreme, define_min_dim,
       "torch.min({0}, {dim}, {keepdim|False})", {{"aten.min.dim", "self", "dim keepdim"}}),
    op("count_nonzero", "How many elements are not 0.", infer_count, define_count,
       "torch.count_nonzero({0}, {dim|None})",
       {{"aten.count_nonzero.default", "self", "dim"}, {"aten.count_nonzero.dim_IntList", "self", "dim"}}),
    op("nansum", "The sum of what is not NaN.", infer_sum, define_nansum,
       "torch.nansum({0}, {dim|None}, {keepdim|False}, dtype={dtype|None})",
       {{"aten.nansum.default", "self", "dim keepdim dtype"}}),
    op("aminmax", "The smallest and the largest value; NaN wins.", infer_extremes, define_extremes,
       "torch.aminmax({0}, dim={dim|None}, keepdim={keepdim|False})",
       {{"aten.aminmax.default", "self", "dim keepdim"}}),
    op("var", "The variance.", infer_float, define_variance<false, false>,
       "torch.var({0}, {dim|None}, correction={correction|1}, keepdim={keepdim|False})",
       {{"aten.var.correction", "self", "dim correction keepdim"},
        {"aten.var.dim", "self", "dim unbiased>correction keepdim"},
        {"aten.var.default", "self", "unbiased>correction"}}),
    op("std", "The standard deviation.", infer_float, define_variance<true, false>,
       "torch.std({0}, {dim|None}, correction={correction|1}, keepdim={keepdim|False})",
       {{"aten.std.correction", "self", "dim correction keepdim"},
        {"aten.std.dim", "self", "dim unbiased>correction keepdim"},
        {"aten.std.default", "self", "unbiased>correction"}}),
    op("var_mean", "The variance and the mean.", infer_pair, define_variance<false, true>,
       "torch.var_mean({0}, {dim|None}, correction={correction|1}, keepdim={keepdim|False})",
       {{"aten.var_mean.correction", "self", "dim correction keepdim"},
        {"aten.var_mean.dim", "self", "dim unbiased>correction keepdim"},
        {"aten.var_mean.default", "self", "unbiased>correction"}}),
    op("std_mean", "The standard deviation and the mean.", infer_pair, define_variance<true, true>,
       "torch.std_mean({0}, {dim|None}, correction={correction|1}, keepdim={keepdim|False})",
       {{"aten.std_mean.correction", "self", "dim correction keepdim"},
        {"aten.std_mean.dim", "self", "dim unbiased>correction keepdim"},
        {"aten.std_mean.default", "self", "unbiased>correction"}}),
    op("logsumexp", "log(sum(exp(x))) without overflow.", infer_float, define_logsumexp,
       "torch.logsumexp({0}, {dim}, {keepdim|False})", {{"aten.logsumexp.default", "self", "dim keepdim"}}),
    op("vector_norm", "(sum |x|^ord)^(1/ord).", infer_float, define_norm,
       "torch.linalg.vector_norm({0}, {ord|2}, {dim|None}, {keepdim|False}, dtype={dtype|None})",
       {{"aten.linalg_vector_norm.default", "self", "ord dim keepdim dtype"},
        {"aten.linalg_norm.default", "self", "dim keepdim dtype"},
        {"aten.norm.Scalar", "self", "p>ord", "", default_order},
        {"aten.norm.ScalarOpt_dim", "self", "p>ord dim keepdim", "", default_order},
        {"aten.norm.ScalarOpt_dim_dtype", "self", "p>ord dim keepdim dtype", "", default_order},
        {"aten.frobenius_norm.dim", "self", "dim keepdim"}}),
};

}  // namespace mtmc
