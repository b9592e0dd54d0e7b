// Losses and similarities of rows: sums over one axis, then a function of the sums.
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
  if (call.attrs.number("p", 2.0) != 2.0 || call.attrs.flag("swap"))
    return refusal(call, "only Euclidean distances without swap", std::to_string(call.attrs.number("p", 2.0)), "p = 2");
  if (call.attrs.integer("reduction", 1) != 0) return std::vector<TensorType>{{all.dtype, {}}};
  return std::vector<TensorType>{{all.dtype, split_axes(all.shape, {all.rank() - 1}, false).shape}};
}
Definition define_triplet(const OpCall& call) {
  const TensorType all = common(call, 3).value();
  const DType inner = compute_type(all.dtype);
  const Split split = split_axes(all.shape, {all.rank() - 1}, false);
  const TensorType rows{inner, split.shape}, scalar{inner, {}};
  const Indices at = spatial(rows.rank());
  const auto x = [&](int which) {
    return cast(inner, raw_operand(call, which, broadcast_indices(call.type(which).shape, split.input)));
  };
  Builder b;
  const auto squares = [&](const char* name, int other) {
    const ExprP difference = x(0) - x(other) + number(inner, call.attrs.number("eps", 1e-6));
    return fn(Fn::sqrt, b.at(b.reduce(name, rows, split.over, Combine::sum, difference * difference), at));
  };
  const ExprP near = squares("near", 1), far = squares("far", 2);
  const ExprP loss = fn(Fn::max, near - far + number(inner, call.attrs.number("margin", 1.0)), number(inner, 0));
  const int64_t reduction = call.attrs.integer("reduction", 1);
  int stage = 0;
  if (reduction == 0) {
    stage = b.map("loss", rows, loss);
  } else {
    stage = b.reduce("total", scalar, rows.shape, Combine::sum, loss);
    if (reduction == 1)
      stage = b.map("mean", scalar, b.at(stage, {}) / number(inner, static_cast<double>(product(rows.shape))));
  }
  b.output(stage, all.dtype);
  return b.done();
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
};

}  // namespace mtmc
