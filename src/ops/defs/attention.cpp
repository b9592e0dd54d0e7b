// scaled_dot_product_attention: scores, row softmax, weighted values; the division comes last.
#include <cmath>
#include <limits>

#include "ops/build.h"

namespace mtmc {
namespace {

struct Heads {
  Shape batch;  // all but the last two axes
  int64_t queries, keys, width, out;
  int64_t group = 1;  // query heads that share a key head
};

Result<Heads> line_up(const OpCall& call) {
  MTMC_RETURN_IF_ERROR(require_operands(call, 3, 4));
  const TensorType &q = call.type(0), &k = call.type(1), &v = call.type(2);
  const auto misfit = [&] {
    return refusal(call, "shapes do not fit", to_string(q) + ", " + to_string(k) + ", " + to_string(v),
                   "[.., L, E], [.., S, E], [.., S, V]");
  };
  const int rank = q.rank();
  if (rank < 2 || k.rank() != rank || v.rank() != rank || k.shape[rank - 1] != q.shape[rank - 1] ||
      v.shape[rank - 2] != k.shape[rank - 2])
    return misfit();
  if (q.dtype != k.dtype || q.dtype != v.dtype) return refusal(call, "element types differ");
  Heads heads{Shape(q.shape.begin(), q.shape.end() - 2), q.shape[rank - 2], k.shape[rank - 2], q.shape[rank - 1],
              v.shape[rank - 1]};
  if (call.attrs.flag("enable_gqa") && rank > 2 && k.shape[rank - 3] > 0) {
    if (q.shape[rank - 3] % k.shape[rank - 3] != 0) return misfit();
    heads.group = q.shape[rank - 3] / k.shape[rank - 3];
  }
  for (int i = 0; i < rank - 2; ++i) {
    const int64_t shared = i == rank - 3 ? heads.group : 1;
    if (k.shape[i] * shared != q.shape[i] || v.shape[i] != k.shape[i]) return misfit();
  }
  if (call.has(3)) {
    Shape scores = heads.batch;
    scores.insert(scores.end(), {heads.queries, heads.keys});
    if (broadcast(call.type(3).shape, scores) != scores)
      return refusal(call, "the mask does not broadcast", to_string(call.type(3)),
                     to_string(TensorType{call.type(3).dtype, scores}));
    if (call.attrs.flag("is_causal")) return refusal(call, "is_causal and a mask exclude each other");
  }
  return heads;
}

Result<std::vector<TensorType>> infer(const OpCall& call) {
  MTMC_TRY(const Heads heads, line_up(call));
  Shape shape = heads.batch;
  shape.insert(shape.end(), {heads.queries, heads.out});
  return std::vector<TensorType>{{call.type(0).dtype, shape}};
}

// The score with its scale and mask, at axes [batch.., query, key].
ExprP masked_score(const OpCall& call, const ExprP& score, int rank) {
  const DType inner = score->dtype;
  const double width = static_cast<double>(call.type(0).shape.back());
  const ExprP scaled = score * number(inner, call.attrs.number("scale", 1 / std::sqrt(width)));
  const ExprP nothing = number(inner, -std::numeric_limits<double>::infinity());
  if (call.attrs.flag("is_causal")) return select(fn(Fn::le, axis(rank - 1), axis(rank - 2)), scaled, nothing);
  if (!call.has(3)) return scaled;
  const ExprP mask = raw_operand(call, 3, broadcast_indices(call.type(3).shape, spatial(rank)));
  return mask->dtype == DType::b1 ? select(mask, scaled, nothing) : scaled + cast(inner, mask);
}

Definition define(const OpCall& call) {
  const Heads heads = line_up(call).value();
  const TensorType out = infer(call).value()[0];
  const DType inner = compute_type(out.dtype);
  const int rank = out.rank(), batches = rank - 2;
  Indices batch = spatial(batches), shared = batch;
  if (heads.group > 1) shared.back() = shared.back() / index_constant(heads.group);
  const auto at = [](Indices front, ExprP row, ExprP column) {
    front.push_back(std::move(row));
    front.push_back(std::move(column));
    return front;
  };
  TensorType scores{inner, heads.batch}, rows{inner, heads.batch};
  scores.shape.insert(scores.shape.end(), {heads.queries, heads.keys});
  rows.shape.push_back(heads.queries);
  const ExprP row = axis(batches), last = axis(rank - 1), reduced = axis(rank);
  const Indices here = spatial(rank), of_row = spatial(rank - 1);
  Builder b;
  const int score = b.reduce("scores", scores, {heads.width}, Combine::sum,
                             operand(call, 0, at(batch, row, reduced)) * operand(call, 1, at(shared, last, reduced)));
  const int masked = b.map("masked", scores, masked_score(call, b.at(score, here), rank));
  const int largest = b.reduce("row_max", rows, {heads.keys}, Combine::max, b.at(masked, here));
  ExprP shift = b.at(largest, of_row), sum;
  // A row may be masked out altogether, or its products may all be -inf: then its maximum is -inf, and its result 0.
  // (So it is on a CPU, and on a GPU but for torch's kernel in fp32 without a mask, which makes NaN of it.)
  shift = select(fn(Fn::eq, shift, number(inner, -std::numeric_limits<double>::infinity())), number(inner, 0), shift);
  const int weight = b.map("weights", scores, fn(Fn::exp, b.at(masked, here) - shift));
  const int total = b.reduce("row_sum", rows, {heads.keys}, Combine::sum, b.at(weight, here));
  const int context = b.reduce("context", {inner, out.shape}, {heads.keys}, Combine::sum,
                               b.at(weight, at(batch, row, reduced)) * operand(call, 2, at(shared, reduced, last)));
  sum = b.at(total, of_row);
  ExprP result = b.at(context, here) / sum;
  result = select(fn(Fn::eq, sum, number(inner, 0)), number(inner, 0), result);
  b.output(b.map("attention", out, cast(out.dtype, result)), out.dtype);
  return b.done();
}

}  // namespace

extern const OpFile attention_def = {
    {.name = "scaled_dot_product_attention",
     .doc = "Values averaged with the softmax of scaled products of queries and keys.",
     .infer = infer,
     .define = define,
     .spelling = "F.scaled_dot_product_attention({0}, {1}, {2}, {3}, 0.0, {is_causal|False}, scale={scale|None}, "
                 "enable_gqa={enable_gqa|False})",
     .aten = {{"aten.scaled_dot_product_attention.default", "query key value attn_mask",
               "is_causal scale enable_gqa"}}},
};

}  // namespace mtmc
