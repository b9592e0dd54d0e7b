// Sums of products of three, of stacks, and distances between all pairs of rows.
#include <cmath>

#include "ops/aten.h"
#include "ops/build.h"

namespace mtmc {
namespace {

using Types = Result<std::vector<TensorType>>;

Types infer_bilinear(const OpCall& call) {
  MTMC_RETURN_IF_ERROR(require_operands(call, 3, 4));
  const TensorType &a = call.type(0), &b = call.type(1), &w = call.type(2);
  const bool fits = a.rank() > 0 && a.rank() == b.rank() && w.rank() == 3 && w.shape[1] == a.shape.back() &&
                    w.shape[2] == b.shape.back() && std::equal(a.shape.begin(), a.shape.end() - 1, b.shape.begin());
  if (!fits || (call.has(3) && call.type(3).shape != Shape{w.shape[0]}))
    return refusal(call, "shapes do not fit", to_string(a) + ", " + to_string(b) + " and weight " + to_string(w),
                   "[.., I], [.., J] and a weight [out, I, J]");
  TensorType out = a;
  out.shape.back() = w.shape[0];
  return std::vector<TensorType>{out};
}
Definition define_bilinear(const OpCall& call) {
  const TensorType out = infer_bilinear(call).value()[0];
  const int rank = out.rank();
  Indices left = spatial(rank), right = left;
  left.back() = axis(rank);
  right.back() = axis(rank + 1);
  const ExprP body =
      operand(call, 0, left) * operand(call, 1, right) * operand(call, 2, {axis(rank - 1), axis(rank), axis(rank + 1)});
  Builder b;
  int stage =
      b.reduce("product", {body->dtype, out.shape}, {call.type(2).shape[1], call.type(2).shape[2]}, Combine::sum, body);
  if (call.has(3))
    stage = b.map("biased", {body->dtype, out.shape}, b.at(stage, spatial(rank)) + operand(call, 3, {axis(rank - 1)}));
  b.output(stage, out.dtype);
  return b.done();
}

// beta * a + alpha * (the sum of b[i] @ c[i])
Types infer_addbmm(const OpCall& call) {
  MTMC_RETURN_IF_ERROR(require_operands(call, 3, 3));
  const TensorType &b = call.type(1), &c = call.type(2);
  const bool fits = b.rank() == 3 && c.rank() == 3 && b.shape[0] == c.shape[0] && b.shape[2] == c.shape[1];
  const Shape shape = fits ? Shape{b.shape[1], c.shape[2]} : Shape{};
  if (!fits || broadcast(call.type(0).shape, shape) != shape || !is_float(b.dtype) || b.dtype != call.type(0).dtype)
    return refusal(call, "shapes or types do not fit",
                   to_string(call.type(0)) + ", " + to_string(b) + " and " + to_string(c),
                   "floats [N,M], [B,N,K] and [B,K,M]");
  return std::vector<TensorType>{{b.dtype, shape}};
}
Definition define_addbmm(const OpCall& call) {
  const TensorType out = infer_addbmm(call).value()[0];
  const double alpha = call.attrs.number("alpha", 1.0), beta = call.attrs.number("beta", 1.0);
  const ExprP body = operand(call, 1, {axis(2), axis(0), axis(3)}) * operand(call, 2, {axis(2), axis(3), axis(1)});
  Builder b;
  const int product =
      b.reduce("product", {body->dtype, out.shape}, {call.type(1).shape[0], call.type(1).shape[2]}, Combine::sum, body);
  ExprP sum = b.at(product, spatial(2));
  if (alpha != 1) sum = sum * number(body->dtype, alpha);
  if (beta != 0) {  // torch ignores the added tensor, NaN included, when beta is 0
    const ExprP added = operand(call, 0, broadcast_indices(call.type(0).shape, spatial(2)));
    sum = (beta == 1 ? added : added * number(body->dtype, beta)) + sum;
  }
  b.output(b.map("sum", out, cast(out.dtype, sum)), out.dtype);
  return b.done();
}

// Batches before the last two axes broadcast.
Types infer_cdist(const OpCall& call) {
  MTMC_RETURN_IF_ERROR(require_operands(call, 2, 2));
  const TensorType &a = call.type(0), &b = call.type(1);
  if (a.rank() < 2 || b.rank() < 2 || a.shape.back() != b.shape.back() || !is_float(a.dtype) || a.dtype != b.dtype)
    return refusal(call, "needs rows of one length", to_string(a) + " and " + to_string(b), "f32[P,M] and f32[R,M]");
  const double p = call.attrs.number("p", 2.0);
  if (p != 1 && p != 2 && !std::isinf(p)) return refusal(call, "an uncommon norm", std::to_string(p), "1, 2 or inf");
  const auto batch = broadcast({a.shape.begin(), a.shape.end() - 2}, {b.shape.begin(), b.shape.end() - 2});
  if (!batch) return refusal(call, "batches do not broadcast", to_string(b), to_string(a));
  Shape shape = *batch;
  shape.push_back(a.shape[a.rank() - 2]);
  shape.push_back(b.shape[b.rank() - 2]);
  return std::vector<TensorType>{{a.dtype, shape}};
}
Definition define_cdist(const OpCall& call) {
  const TensorType out = infer_cdist(call).value()[0];
  const int rank = out.rank();
  const double p = call.attrs.number("p", 2.0);
  const auto row = [&](int which, int own) {
    const Shape& shape = call.type(which).shape;
    Indices at = broadcast_indices({shape.begin(), shape.end() - 2}, spatial(rank - 2));
    at.push_back(axis(own));
    at.push_back(axis(rank));
    return operand(call, which, at);
  };
  const ExprP difference = row(0, rank - 2) - row(1, rank - 1);
  const ExprP body = p == 2 ? difference * difference : fn(Fn::abs, difference);
  const TensorType type{body->dtype, out.shape};
  Builder b;
  int stage =
      b.reduce("distance", type, {call.type(0).shape.back()}, std::isinf(p) ? Combine::max : Combine::sum, body);
  if (p == 2) stage = b.map("root", type, fn(Fn::sqrt, b.at(stage, spatial(rank))));
  b.output(stage, out.dtype);
  return b.done();
}

// The product of vectors of three along an axis.
Types infer_cross(const OpCall& call) {
  MTMC_RETURN_IF_ERROR(require_operands(call, 2, 2));
  const auto shape = broadcast(call.type(0).shape, call.type(1).shape);
  if (!shape || shape->empty()) return refusal(call, "shapes do not broadcast", to_string(call.type(1)));
  MTMC_TRY(const int along, resolve_axis(call, call.attrs.integer("dim", -1), static_cast<int>(shape->size())));
  const auto extent = [&](int which) {
    const Shape& own = call.type(which).shape;
    const int at = along - static_cast<int>(shape->size() - own.size());
    return at < 0 ? int64_t(0) : own[static_cast<size_t>(at)];
  };
  if (extent(0) != 3 || extent(1) != 3) return refusal(call, "vectors of another length", to_string(call.type(0)), "3");
  return std::vector<TensorType>{{promoted(call), *shape}};
}
Definition define_cross(const OpCall& call) {
  const TensorType out = infer_cross(call).value()[0];
  const int along = axis_of(call, "dim", -1, out.rank());
  const DType inner = compute_type(out.dtype);
  const auto turned = [&](int which, int64_t by) {
    Indices at = spatial(out.rank());
    at[along] = (at[along] + index_constant(by)) % index_constant(3);
    return cast(inner, raw_operand(call, which, broadcast_indices(call.type(which).shape, at)));
  };
  return single(call, "cross", cast(out.dtype, turned(0, 1) * turned(1, 2) - turned(0, 2) * turned(1, 1)));
}

}  // namespace

extern const OpFile bilinear_def = {
    op("bilinear", "The sum of a[i] w[o,i,j] b[j] for each output o, plus a bias.", infer_bilinear, define_bilinear,
       "F.bilinear({0}, {1}, {2}, {3})", {{"aten.bilinear.default", "input1 input2 weight bias"}}),
    op("addbmm", "beta * a + alpha * (the sum of b[i] @ c[i]).", infer_addbmm, define_addbmm,
       "torch.addbmm({0}, {1}, {2}, beta={beta|1}, alpha={alpha|1})",
       {{"aten.addbmm.default", "self batch1 batch2", "beta alpha"}}),
    op("cdist", "The distance between every row of a and every row of b.", infer_cdist, define_cdist,
       "torch.cdist({0}, {1}, p={p|2.0})",
       {{"aten.cdist.default", "x1 x2", "p", "", [](AtenCall& call) { call.args.erase("compute_mode"); }}}),
    op("cross", "The product of vectors of three.", infer_cross, define_cross,
       "torch.linalg.cross({0}, {1}, dim={dim|-1})", {{"aten.linalg_cross.default", "self other", "dim"}}),
};

}  // namespace mtmc
