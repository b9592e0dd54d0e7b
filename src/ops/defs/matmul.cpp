// Products of matrices: a sum over k of left * right, then what is added to it.
#include "ops/aten.h"
#include "ops/build.h"

namespace mtmc {
namespace {

using Types = Result<std::vector<TensorType>>;

// How the two operands of a product line up: batch axes broadcast, then m, n; k is the last stage axis.
struct Product {
  Shape batch;
  bool row = false, column = false;  // the result has an m, an n axis
  int64_t m = 1, n = 1, k = 1;

  Shape shape() const {
    Shape all = batch;
    if (row) all.push_back(m);
    if (column) all.push_back(n);
    return all;
  }
};

// torch.matmul's rule for operands `a` and `b` of any rank >= 1.
Result<Product> line_up(const OpCall& call, int a, int b) {
  const TensorType &x = call.type(a), &y = call.type(b);
  const auto misfit = [&] {
    return refusal(call, "shapes do not fit", to_string(x) + " and " + to_string(y), "equal inner dimensions");
  };
  if (x.rank() == 0 || y.rank() == 0) return misfit();
  if (x.dtype != y.dtype)
    return refusal(call, "element types differ", std::string(name(y.dtype)), std::string(name(x.dtype)));
  Product product;
  product.row = x.rank() > 1;
  product.column = y.rank() > 1;
  product.k = x.shape.back();
  if (product.row) product.m = x.shape[x.rank() - 2];
  if (product.column) product.n = y.shape.back();
  if (y.shape[product.column ? y.rank() - 2 : 0] != product.k) return misfit();
  const auto batch = broadcast(Shape(x.shape.begin(), x.shape.end() - (product.row ? 2 : 1)),
                               Shape(y.shape.begin(), y.shape.end() - (product.column ? 2 : 1)));
  if (!batch) return misfit();
  product.batch = *batch;
  return product;
}

int product_stage(Builder& builder, const OpCall& call, int a, int b, const Product& p) {
  const Shape out = p.shape();
  const int rank = static_cast<int>(out.size()), batches = static_cast<int>(p.batch.size());
  const ExprP k = axis(rank);
  const Indices batch = spatial(batches);
  const TensorType &x = call.type(a), &y = call.type(b);
  Indices left = broadcast_indices(Shape(x.shape.begin(), x.shape.end() - (p.row ? 2 : 1)), batch);
  if (p.row) left.push_back(axis(batches));
  left.push_back(k);
  Indices right = broadcast_indices(Shape(y.shape.begin(), y.shape.end() - (p.column ? 2 : 1)), batch);
  right.push_back(k);
  if (p.column) right.push_back(axis(rank - 1));
  const ExprP body = operand(call, a, left) * operand(call, b, right);
  return builder.reduce("product", {body->dtype, out}, {p.k}, Combine::sum, body);
}

Types infer_matmul(const OpCall& call) {
  MTMC_RETURN_IF_ERROR(require_operands(call, 2, 2));
  MTMC_TRY(const Product product, line_up(call, 0, 1));
  return std::vector<TensorType>{{call.type(0).dtype, product.shape()}};
}
Definition define_matmul(const OpCall& call) {
  Builder builder;
  builder.output(product_stage(builder, call, 0, 1, line_up(call, 0, 1).value()), call.type(0).dtype);
  return builder.done();
}

Types infer_linear(const OpCall& call) {
  MTMC_RETURN_IF_ERROR(require_operands(call, 2, 3));
  const TensorType &x = call.type(0), &w = call.type(1);
  if (x.rank() < 1 || w.rank() != 2 || x.shape.back() != w.shape[1])
    return refusal(call, "shapes do not fit", to_string(x) + " and weight " + to_string(w),
                   "a weight [out, in] with in = the input's last dimension");
  if (x.dtype != w.dtype)
    return refusal(call, "element types differ", std::string(name(w.dtype)), std::string(name(x.dtype)));
  if (call.has(2) && call.type(2).shape != Shape{w.shape[0]})
    return refusal(call, "bias of another shape", to_string(call.type(2)),
                   to_string(TensorType{x.dtype, {w.shape[0]}}));
  Shape out = x.shape;
  out.back() = w.shape[0];
  return std::vector<TensorType>{{x.dtype, out}};
}
Definition define_linear(const OpCall& call) {
  const TensorType out = infer_linear(call).value()[0];
  const int rank = out.rank();
  Indices left = spatial(rank);
  left.back() = axis(rank);
  const ExprP body = operand(call, 0, left) * operand(call, 1, {axis(rank - 1), axis(rank)});
  Builder builder;
  int stage = builder.reduce("product", {body->dtype, out.shape}, {call.type(1).shape[1]}, Combine::sum, body);
  if (call.has(2)) {
    const ExprP sum = builder.at(stage, spatial(rank)) + operand(call, 2, {axis(rank - 1)});
    stage = builder.map("biased", out, cast(out.dtype, sum));
  }
  builder.output(stage, out.dtype);
  return builder.done();
}

// beta * operand 0 + alpha * (operand 1 @ operand 2)
Types infer_add_product(const OpCall& call) {
  MTMC_RETURN_IF_ERROR(require_operands(call, 3, 3));
  MTMC_TRY(const Product product, line_up(call, 1, 2));
  const auto shape = broadcast(call.type(0).shape, product.shape());
  if (!shape || *shape != product.shape())
    return refusal(call, "the added tensor does not broadcast", to_string(call.type(0)),
                   to_string(TensorType{call.type(1).dtype, product.shape()}));
  if (call.type(0).dtype != call.type(1).dtype)
    return refusal(call, "element types differ", std::string(name(call.type(0).dtype)),
                   std::string(name(call.type(1).dtype)));
  return std::vector<TensorType>{{call.type(1).dtype, product.shape()}};
}
Definition define_add_product(const OpCall& call) {
  const TensorType out = infer_add_product(call).value()[0];
  const Indices at = spatial(out.rank());
  Builder builder;
  const int product = product_stage(builder, call, 1, 2, line_up(call, 1, 2).value());
  const DType inner = builder.type(product).dtype;
  const double alpha = call.attrs.number("alpha", 1.0), beta = call.attrs.number("beta", 1.0);
  ExprP sum = builder.at(product, at);
  if (alpha != 1) sum = sum * number(inner, alpha);
  if (beta != 0) {  // torch ignores the added tensor, NaN included, when beta is 0
    ExprP added = operand(call, 0, broadcast_indices(call.type(0).shape, at));
    sum = (beta == 1 ? added : added * number(inner, beta)) + sum;
  }
  builder.output(builder.map("sum", out, cast(out.dtype, sum)), out.dtype);
  return builder.done();
}

Types infer_outer(const OpCall& call) {
  MTMC_RETURN_IF_ERROR(require_operands(call, 2, 2));
  if (call.type(0).rank() != 1 || call.type(1).rank() != 1)
    return refusal(call, "needs two vectors", to_string(call.type(0)) + " and " + to_string(call.type(1)));
  return std::vector<TensorType>{{promoted(call), {call.type(0).shape[0], call.type(1).shape[0]}}};
}
Definition define_outer(const OpCall& call) {
  const TensorType out = infer_outer(call).value()[0];
  const DType inner = compute_type(out.dtype);
  const ExprP body = cast(inner, raw_operand(call, 0, {axis(0)})) * cast(inner, raw_operand(call, 1, {axis(1)}));
  return single(call, "outer", cast(out.dtype, body));
}

}  // namespace

extern const OpFile matmul_def = {
    {.name = "matmul",
     .doc = "The product of matrices, vectors or stacks of matrices that broadcast.",
     .infer = infer_matmul,
     .define = define_matmul,
     .spelling = "torch.matmul({0}, {1})",
     .aten = {{"aten.matmul.default", "self other"},
              {"aten.mm.default", "self mat2"},
              {"aten.bmm.default", "self mat2"},
              {"aten.mv.default", "self vec"},
              {"aten.dot.default", "self tensor"},
              {"aten.vdot.default", "self other"}}},
    {.name = "linear",
     .doc = "x times the transposed weight, plus a bias.",
     .infer = infer_linear,
     .define = define_linear,
     .spelling = "F.linear({0}, {1}, {2|None})",
     .aten = {{"aten.linear.default", "input weight bias"}}},
    {.name = "addmm",
     .doc = "beta * a + alpha * (b @ c) of matrices, a broadcasting.",
     .infer = infer_add_product,
     .define = define_add_product,
     .spelling = "torch.addmm({0}, {1}, {2}, beta={beta|1}, alpha={alpha|1})",
     .aten = {{"aten.addmm.default", "self mat1 mat2", "beta alpha"}}},
    {.name = "addmv",
     .doc = "beta * a + alpha * (b @ v).",
     .infer = infer_add_product,
     .define = define_add_product,
     .spelling = "torch.addmv({0}, {1}, {2}, beta={beta|1}, alpha={alpha|1})",
     .aten = {{"aten.addmv.default", "self mat vec", "beta alpha"}}},
    {.name = "baddbmm",
     .doc = "beta * a + alpha * (b @ c) of stacks of matrices.",
     .infer = infer_add_product,
     .define = define_add_product,
     .spelling = "torch.baddbmm({0}, {1}, {2}, beta={beta|1}, alpha={alpha|1})",
     .aten = {{"aten.baddbmm.default", "self batch1 batch2", "beta alpha"}}},
    {.name = "outer",
     .doc = "The products of every element of one vector with every element of another.",
     .infer = infer_outer,
     .define = define_outer,
     .spelling = "torch.outer({0}, {1})",
     .aten = {{"aten.outer.default", "self vec2"}}},
};

}  // namespace mtmc
