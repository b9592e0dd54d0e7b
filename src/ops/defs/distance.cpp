// Losses and similarities of rows: sums over one axis, then a function of the sums.
#include <cmath>

#include "ops/build.h"

namespace mtmc {
namespace {

using Types = Result<std::vector<TensorType>>;

Result<TensorType> common(const OpCall& call, int operands) {
  MTMC_RETURN_IF_ERROR(require_operands(call, operands, operands));
  TensorType all = call.type(0);
  for (int i = 1; i < operands; ++i) {
    const auto shape = broadcast(all.shape, call.type(i).shape);
    if (!shape) return refusal(call, "shapes do not broadcast", to_string(call.type(i)), to_string(call.type(0)));
    all.shape = *shape;
  }
  all.dtype = promoted(call);
  if (!is_float(all.dtype) || all.rank() == 0)
    return refusal(call, "needs rows of floating point numbers", to_string(call.type(0)), "f32[N,D]");
  return all;
}

Types infer_cosine(const OpCall& call) {
  MTMC_TRY(const TensorType all, common(call, 2));
  MTMC_TRY(const int along, resolve_axis(call, call.attrs.integer("dim", 1), all.rank()));
  return std::vector<TensorType>{{all.dtype, split_axes(all.shape, {along}, false).shape}};
}
Definition define_cosine(const OpCall& call) {
  const TensorType all = common(call, 2).value();
  const DType inner = compute_type(all.dtype);
  const Split split = split_axes(all.shape, {axis_of(call, "dim", 1, all.rank())}, false);
  const TensorType rows{inner, split.shape};
  const auto x = [&](int which) {
    return cast(inner, raw_operand(call, which, broadcast_indices(call.type(which).shape, split.input)));
  };
  Builder b;
  const auto sum = [&](const char* name, const ExprP& body) {
    return b.at(b.reduce(name, rows, split.over, Combine::sum, body), spatial(rows.rank()));
  };
  const ExprP dot = sum("dot", x(0) * x(1)), left = sum("left", x(0) * x(0)), right = sum("right", x(1) * x(1));
  const ExprP eps = number(inner, call.attrs.number("eps", 1e-8));
  const ExprP length = fn(Fn::max, fn(Fn::sqrt, left), eps) * fn(Fn::max, fn(Fn::sqrt, right), eps);
  b.output(b.map("cosine", rows, dot / length), all.dtype);
  return b.done();
}

Types infer_triplet(const OpCall& call) {
  MTMC_TRY(const TensorType all, common(call, 3));
  const double p = call.attrs.number("p", 2.0);
  if (!(p > 0) || std::isinf(p)) return refusal(call, "not a norm that is a sum", std::to_string(p), "p above 0");
  if (call.attrs.integer("reduction", 1) != 0) return std::vector<TensorType>{{all.dtype, {}}};
  return std::vector<TensorType>{{all.dtype, split_axes(all.shape, {all.rank() - 1}, false).shape}};
}
// The rows' losses, or their mean or sum.
Definition finish(Builder b, const TensorType& rows, const ExprP& loss, const OpCall& call, DType out) {
  const TensorType scalar{rows.dtype, {}};
  const int64_t reduction = call.attrs.integer("reduction", 1);
  int stage = 0;
  if (reduction == 0) {
    stage = b.map("loss", rows, loss);
  } else {
    stage = b.reduce("total", scalar, rows.shape, Combine::sum, loss);
    if (reduction == 1)
      stage = b.map("mean", scalar, b.at(stage, {}) / number(rows.dtype, static_cast<double>(product(rows.shape))));
  }
  b.output(stage, out);
  return b.done();
}

Definition define_triplet(const OpCall& call) {
  const TensorType all = common(call, 3).value();
  const DType inner = compute_type(all.dtype);
  const Split split = split_axes(all.shape, {all.rank() - 1}, false);
  const TensorType rows{inner, split.shape};
  const double p = call.attrs.number("p", 2.0);
  const auto x = [&](int which) {
    return cast(inner, raw_operand(call, which, broadcast_indices(call.type(which).shape, split.input)));
  };
  Builder b;
  const auto distance = [&](const char* name, int one, int other) {
    const ExprP difference = x(one) - x(other) + number(inner, call.attrs.number("eps", 1e-6));
    const ExprP size = fn(Fn::abs, difference);
    const ExprP body = p == 2 ? difference * difference : p == 1 ? size : fn(Fn::pow, size, number(inner, p));
    const ExprP sum = b.at(b.reduce(name, rows, split.over, Combine::sum, body), spatial(rows.rank()));
    return p == 2 ? fn(Fn::sqrt, sum) : p == 1 ? sum : fn(Fn::pow, sum, number(inner, 1 / p));
  };
  const ExprP near = distance("near", 0, 1);
  ExprP far = distance("far", 0, 2);
  if (call.attrs.flag("swap")) far = fn(Fn::min, far, distance("swapped", 1, 2));
  const ExprP loss = fn(Fn::max, near - far + number(inner, call.attrs.number("margin", 1.0)), number(inner, 0));
  return finish(std::move(b), rows, loss, call, all.dtype);
}

// Rows of a and b, and a target 1 or -1 for each.
Types infer_embedding(const OpCall& call) {
  MTMC_RETURN_IF_ERROR(require_operands(call, 3, 3));
  const TensorType &a = call.type(0), &b = call.type(1), &target = call.type(2);
  const auto shape = broadcast(a.shape, b.shape);
  if (!shape || shape->empty() || !is_float(a.dtype) || a.dtype != b.dtype ||
      target.shape != Shape(shape->begin(), shape->end() - 1))
    return refusal(call, "needs rows and a target for each", to_string(a) + " and " + to_string(target),
                   "f32[N,D], [N]");
  return std::vector<TensorType>{{a.dtype, call.attrs.integer("reduction", 1) == 0 ? target.shape : Shape{}}};
}
Definition define_embedding(const OpCall& call) {
  const Shape all = *broadcast(call.type(0).shape, call.type(1).shape);
  const DType inner = compute_type(call.type(0).dtype);
  const Split split = split_axes(all, {static_cast<int>(all.size()) - 1}, false);
  const TensorType rows{inner, split.shape};
  const auto x = [&](int which) {
    return operand(call, which, broadcast_indices(call.type(which).shape, split.input));
  };
  const auto num = [&](double value) { return number(inner, value); };
  Builder b;
  const auto sum = [&](const char* name, const ExprP& body) {
    return b.at(b.reduce(name, rows, split.over, Combine::sum, body), spatial(rows.rank()));
  };
  const ExprP dot = sum("dot", x(0) * x(1)), left = sum("left", x(0) * x(0)), right = sum("right", x(1) * x(1));
  const ExprP cosine = dot / fn(Fn::sqrt, (left + num(1e-12)) * (right + num(1e-12)));  // torch's constants
  const ExprP target = cast(inner, raw_operand(call, 2, spatial(rows.rank())));
  const ExprP apart = fn(Fn::max, cosine - num(call.attrs.number("margin", 0.0)), num(0));
  const ExprP loss =
      select(fn(Fn::eq, target, num(1)), num(1) - cosine, select(fn(Fn::eq, target, num(-1)), apart, num(0)));
  return finish(std::move(b), rows, loss, call, call.type(0).dtype);
}

// How far other classes come within a margin of the target's.
Types infer_multi(const OpCall& call) {
  MTMC_RETURN_IF_ERROR(require_operands(call, 2, 3));
  const TensorType &x = call.type(0), &target = call.type(1);
  if (x.rank() != 2 || !is_float(x.dtype) || target.dtype != DType::i64 || target.shape != Shape{x.shape[0]} ||
      (call.has(2) && call.type(2).shape != Shape{x.shape[1]}))
    return refusal(call, "needs rows and a class for each", to_string(x) + " and " + to_string(target),
                   "f32[N,C], i64[N]");
  const double p = call.attrs.number("p", 1.0);
  if (p != 1 && p != 2) return refusal(call, "an uncommon power", std::to_string(p), "1 or 2");
  return std::vector<TensorType>{{x.dtype, call.attrs.integer("reduction", 1) == 0 ? target.shape : Shape{}}};
}
Definition define_multi(const OpCall& call) {
  const TensorType& x = call.type(0);
  const DType inner = compute_type(x.dtype);
  const TensorType rows{inner, {x.shape[0]}};
  const auto num = [&](double value) { return number(inner, value); };
  const ExprP target = index_operand(call, 1, {axis(0)});
  const ExprP gap = num(call.attrs.number("margin", 1.0)) - operand(call, 0, {axis(0), target}) +
                    operand(call, 0, {axis(0), axis(1)});
  ExprP each = fn(Fn::max, gap, num(0));
  if (call.attrs.number("p", 1.0) == 2) each = each * each;
  if (call.has(2)) each = each * operand(call, 2, {target});
  Builder b;
  const int sum =
      b.reduce("margins", rows, {x.shape[1]}, Combine::sum, select(fn(Fn::eq, axis(1), target), num(0), each));
  const ExprP loss = b.at(sum, {axis(0)}) / num(static_cast<double>(x.shape[1]));
  return finish(std::move(b), rows, loss, call, x.dtype);
}

}  // namespace

extern const OpFile distance_def = {
    {.name = "cosine_similarity",
     .doc = "The cosine of the angle between rows.",
     .infer = infer_cosine,
     .define = define_cosine,
     .spelling = "F.cosine_similarity({0}, {1}, {dim|1}, {eps|1e-08})",
     .aten = {{"aten.cosine_similarity.default", "x1 x2", "dim eps"}}},
    {.name = "triplet_margin_loss",
     .doc = "How much nearer, less than a margin, rows are to positive than to negative ones.",
     .infer = infer_triplet,
     .define = define_triplet,
     .spelling = "torch.ops.aten.triplet_margin_loss({0}, {1}, {2}, {margin|1.0}, {p|2.0}, {eps|1e-06}, {swap|False}, "
                 "{reduction|1})",
     .aten = {{"aten.triplet_margin_loss.default", "anchor positive negative", "margin p eps swap reduction"}}},
    {.name = "cosine_embedding_loss",
     .doc = "1 - cosine of rows that belong together, the cosine above a margin of those that do not.",
     .infer = infer_embedding,
     .define = define_embedding,
     .spelling = "torch.ops.aten.cosine_embedding_loss({0}, {1}, {2}, {margin|0.0}, {reduction|1})",
     .aten = {{"aten.cosine_embedding_loss.default", "input1 input2 target", "margin reduction"}}},
    {.name = "multi_margin_loss",
     .doc = "How far other classes come within a margin of the target's.",
     .infer = infer_multi,
     .define = define_multi,
     .spelling = "torch.ops.aten.multi_margin_loss({0}, {1}, {p|1}, {margin|1}, {2}, {reduction|1})",
     .aten = {{"aten.multi_margin_loss.default", "self target weight", "p margin reduction"}}},
};

}  // namespace mtmc
