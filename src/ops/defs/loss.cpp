// Losses of pairs of elements, and their reduction: 0 none, 1 mean, 2 sum.
#include <cmath>
#include <limits>

#include "ops/build.h"

namespace mtmc {
namespace {

using Types = Result<std::vector<TensorType>>;
using X = std::vector<ExprP>;  // null where the operand is absent

// What one element loses.
ExprP element_loss(const OpCall& call, const X& x) {
  const ExprP difference = x[0] - x[1], size = fn(Fn::abs, difference);
  if (call.op == "mse_loss") return difference * difference;
  if (call.op == "l1_loss") return size;
  if (call.op == "huber_loss") {
    const double delta = call.attrs.number("delta", 1.0);
    return select(fn(Fn::le, size, num(x, delta)), difference * difference * num(x, 0.5),
                  (size - num(x, 0.5 * delta)) * num(x, delta));
  }
  if (call.op == "smooth_l1_loss") {
    const double beta = call.attrs.number("beta", 1.0);
    if (beta == 0) return size;
    return select(fn(Fn::lt, size, num(x, beta)), difference * difference * num(x, 0.5 / beta),
                  size - num(x, 0.5 * beta));
  }
  if (call.op == "hinge_embedding_loss") {
    const ExprP zero = num(x, 0), margin = fn(Fn::max, num(x, call.attrs.number("margin", 1.0)) - x[0], zero);
    return select(fn(Fn::ne, x[1], num(x, 1)), margin, zero) + select(fn(Fn::ne, x[1], num(x, -1)), x[0], zero);
  }
  if (call.op == "soft_margin_loss") return fn(Fn::log1p, fn(Fn::exp, fn(Fn::neg, x[0] * x[1])));
  if (call.op == "kl_div") {
    if (call.attrs.flag("log_target")) return fn(Fn::exp, x[1]) * (x[1] - x[0]);
    // 0 log 0 is 0.
    const ExprP entropy = select(fn(Fn::eq, x[1], num(x, 0)), num(x, 0), x[1] * fn(Fn::log, x[1]));
    return entropy - x[1] * x[0];
  }
  MTMC_CHECK(false, "no loss " + std::string(call.op));
}

// max(x, 0) - x y + log(1 + exp(-|x|)); torch's form with a positive weight.
ExprP logit_loss(const X& x) {
  const ExprP one = num(x, 1);
  const ExprP tail = fn(Fn::log1p, fn(Fn::exp, fn(Fn::neg, fn(Fn::abs, x[0]))));
  const ExprP softplus_negative = tail + fn(Fn::max, fn(Fn::neg, x[0]), num(x, 0));
  const ExprP factor = x[3] ? (x[3] - one) * x[1] + one : nullptr;
  const ExprP loss = (one - x[1]) * x[0] + (factor ? factor * softplus_negative : softplus_negative);
  return x[2] ? loss * x[2] : loss;
}

// torch bounds the logarithms from below by -100.
ExprP probability_loss(const X& x) {
  const ExprP floor = num(x, -100), one = num(x, 1);
  const ExprP yes = fn(Fn::max, fn(Fn::log, x[0]), floor);
  const ExprP no = fn(Fn::max, fn(Fn::log1p, fn(Fn::neg, x[0])), floor);
  const ExprP loss = (x[1] - one) * no - x[1] * yes;
  return x[2] ? loss * x[2] : loss;
}

Result<TensorType> elements(const OpCall& call) {
  MTMC_RETURN_IF_ERROR(require_operands(call, 2, 4));
  Shape shape = call.type(0).shape;
  for (int i = 1; i < call.count(); ++i) {
    if (!call.has(i)) continue;
    const auto common = broadcast(shape, call.type(i).shape);
    if (!common) return refusal(call, "shapes do not broadcast", to_string(call.type(i)), to_string(call.type(0)));
    shape = *common;
  }
  const DType dtype = promoted(call);
  if (!is_float(dtype)) return refusal(call, "needs floating point numbers", to_string(call.type(0)), "f32");
  return TensorType{dtype, shape};
}

Types infer_loss(const OpCall& call) {
  MTMC_TRY(TensorType type, elements(call));
  if (call.attrs.integer("reduction", 1) != 0) type.shape = {};
  return std::vector<TensorType>{type};
}

Definition define_loss(const OpCall& call) {
  const TensorType all = elements(call).value();
  const DType inner = compute_type(all.dtype);
  const int64_t reduction = call.attrs.integer("reduction", 1);
  X x(4);
  for (int i = 0; i < call.count(); ++i)
    if (call.has(i))
      x[i] = cast(inner, raw_operand(call, i, broadcast_indices(call.type(i).shape, spatial(all.rank()))));
  const ExprP loss = call.op == "binary_cross_entropy_with_logits" ? logit_loss(x)
                     : call.op == "binary_cross_entropy"           ? probability_loss(x)
                                                                   : element_loss(call, x);
  Builder b;
  if (reduction == 0) {
    b.output(b.map("loss", all, cast(all.dtype, loss)), all.dtype);
    return b.done();
  }
  const TensorType scalar{inner, {}};
  int stage = b.reduce("total", scalar, all.shape, Combine::sum, loss);
  if (reduction == 1)
    stage = b.map("mean", scalar, b.at(stage, {}) / number(inner, static_cast<double>(all.elements())));
  b.output(stage, all.dtype);
  return b.done();
}

OpDef loss(std::string_view name, std::string_view doc, std::string_view spelling, AtenRule aten) {
  return op(name, doc, infer_loss, define_loss, spelling, {std::move(aten)});
}

}  // namespace

extern const OpFile loss_def = {
    loss("mse_loss", "Squared differences.", "torch.ops.aten.mse_loss({0}, {1}, {reduction|1})",
         {"aten.mse_loss.default", "self target", "reduction"}),
    loss("l1_loss", "Absolute differences.", "torch.ops.aten.l1_loss({0}, {1}, {reduction|1})",
         {"aten.l1_loss.default", "self target", "reduction"}),
    loss("huber_loss", "Half squared differences up to delta, linear beyond.",
         "torch.ops.aten.huber_loss({0}, {1}, {reduction|1}, {delta|1.0})",
         {"aten.huber_loss.default", "self target", "reduction delta"}),
    loss("smooth_l1_loss", "Half squared differences over beta up to beta, linear beyond.",
         "torch.ops.aten.smooth_l1_loss({0}, {1}, {reduction|1}, {beta|1.0})",
         {"aten.smooth_l1_loss.default", "self target", "reduction beta"}),
    loss("hinge_embedding_loss", "The input where the target is 1, what it lacks of a margin where it is -1.",
         "torch.ops.aten.hinge_embedding_loss({0}, {1}, {margin|1.0}, {reduction|1})",
         {"aten.hinge_embedding_loss.default", "self target", "margin reduction"}),
    loss("soft_margin_loss", "log(1 + exp(-x y)) of targets 1 and -1.",
         "torch.ops.aten.soft_margin_loss({0}, {1}, {reduction|1})",
         {"aten.soft_margin_loss.default", "self target", "reduction"}),
    loss("kl_div", "target (log target - input).",
         "torch.ops.aten.kl_div({0}, {1}, {reduction|1}, log_target={log_target|False})",
         {"aten.kl_div.default", "self target", "reduction log_target"}),
    loss("binary_cross_entropy", "Of probabilities and targets, optionally weighted.",
         "torch.ops.aten.binary_cross_entropy({0}, {1}, {2}, {reduction|1})",
         {"aten.binary_cross_entropy.default", "self target weight", "reduction"}),
    loss("binary_cross_entropy_with_logits", "Of logits and targets, optionally weighted.",
         "torch.ops.aten.binary_cross_entropy_with_logits({0}, {1}, {2}, {3}, {reduction|1})",
         {"aten.binary_cross_entropy_with_logits.default", "self target weight pos_weight", "reduction"}),
};

}  // namespace mtmc
