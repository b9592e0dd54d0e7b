// cross_entropy and nll_loss: row maximum, row sum of exponentials, the gathered logit, and their reduction.
#include "ops/build.h"

namespace mtmc {
namespace {

using Types = Result<std::vector<TensorType>>;
enum Operand { kInput, kTarget, kWeight };

// Classes are axis 1, or the only axis.
int class_axis(const OpCall& call) { return call.type(kInput).rank() > 1 ? 1 : 0; }
bool soft_targets(const OpCall& call) { return is_float(call.type(kTarget).dtype); }
Shape rows_of(const OpCall& call) {
  Shape rows = call.type(kInput).shape;
  rows.erase(rows.begin() + class_axis(call));
  return rows;
}

Types infer(const OpCall& call) {
  MTMC_RETURN_IF_ERROR(require_operands(call, 2, 3));
  const TensorType &x = call.type(kInput), &target = call.type(kTarget);
  if (x.rank() < 1 || !is_float(x.dtype)) return refusal(call, "needs rows of logits", to_string(x), "f32[N,C]");
  const bool soft = soft_targets(call);
  if (soft && call.op == "nll_loss") return refusal(call, "targets must be class numbers", to_string(target), "i64");
  const Shape expected = soft ? x.shape : rows_of(call);
  if (target.shape != expected)
    return refusal(call, "targets of another shape", to_string(target), to_string(TensorType{target.dtype, expected}));
  const int64_t classes = x.shape[class_axis(call)];
  if (call.has(kWeight) && call.type(kWeight).shape != Shape{classes})
    return refusal(call, "weight of another shape", to_string(call.type(kWeight)),
                   to_string(TensorType{x.dtype, {classes}}));
  return std::vector<TensorType>{{x.dtype, call.attrs.integer("reduction", 1) == 0 ? rows_of(call) : Shape{}}};
}

// The stages that all forms share.
struct Rows {
  Builder b;
  const OpCall& call;
  TensorType type;  // of one number a row
  Split split;
  DType inner;
  int64_t classes;

  explicit Rows(const OpCall& of)
      : call(of),
        type{compute_type(of.type(kInput).dtype), rows_of(of)},
        split(split_axes(of.type(kInput).shape, {class_axis(of)}, false)),
        inner(type.dtype),
        classes(of.type(kInput).shape[class_axis(of)]) {}

  Indices row() const { return spatial(type.rank()); }
  ExprP logit() const { return cast(inner, raw_operand(call, kInput, split.input)); }
  ExprP logit_of(const ExprP& which) const {
    Indices at = row();
    at.insert(at.begin() + class_axis(call), which);
    return cast(inner, raw_operand(call, kInput, at));
  }
  ExprP weight_of(const ExprP& which) const {
    return call.has(kWeight) ? cast(inner, raw_operand(call, kWeight, {which})) : number(inner, 1);
  }
  // log(sum(exp(x))) of each row.
  int log_total() {
    const int largest = b.reduce("row_max", type, split.over, Combine::max, logit());
    const int sum = b.reduce("row_sum", type, split.over, Combine::sum, fn(Fn::exp, logit() - b.at(largest, row())));
    return b.map("log_total", type, fn(Fn::log, b.at(sum, row())) + b.at(largest, row()));
  }
  // Reduces the rows' losses; a mean divides by `divisor`.
  Definition finish(int losses, const std::function<ExprP(Rows&)>& divisor) {
    const DType out = call.type(kInput).dtype;
    const int64_t reduction = call.attrs.integer("reduction", 1);
    if (reduction == 0) {
      b.output(losses, out);
      return b.done();
    }
    const TensorType scalar{inner, {}};
    int result = b.reduce("total", scalar, type.shape, Combine::sum, b.at(losses, row()));
    if (reduction == 1) {
      const ExprP by = divisor(*this);
      result = b.map("mean", scalar, b.at(result, {}) / by);
    }
    b.output(result, out);
    return b.done();
  }
};

// Targets are class numbers; rows whose target is ignore_index lose nothing and do not count.
Definition define_classes(const OpCall& call) {
  Rows rows(call);
  const bool logits = call.op == "cross_entropy";
  const double smoothing = call.attrs.number("label_smoothing", 0.0);
  const ExprP target = index_operand(call, kTarget, rows.row());
  const ExprP valid = fn(Fn::ne, target, index_constant(call.attrs.integer("ignore_index", -100)));
  const ExprP safe = select(valid, target, index_constant(0)), zero = number(rows.inner, 0);
  const int total = logits ? rows.log_total() : -1;
  const auto negative_log = [&](const ExprP& x) { return logits ? rows.b.at(total, rows.row()) - x : fn(Fn::neg, x); };
  ExprP loss = negative_log(rows.logit_of(safe));
  if (call.has(kWeight)) loss = loss * rows.weight_of(safe);
  if (smoothing > 0) {
    ExprP each = negative_log(rows.logit());
    if (call.has(kWeight)) each = each * rows.weight_of(axis(rows.type.rank()));
    const int all = rows.b.reduce("smooth", rows.type, rows.split.over, Combine::sum, each);
    loss = loss * number(rows.inner, 1 - smoothing) +
           rows.b.at(all, rows.row()) * number(rows.inner, smoothing / static_cast<double>(rows.classes));
  }
  const int losses = rows.b.map("row_loss", rows.type, select(valid, loss, zero));
  return rows.finish(losses, [&](Rows& r) {
    const int count =
        r.b.reduce("count", {r.inner, {}}, r.type.shape, Combine::sum, select(valid, r.weight_of(safe), zero));
    return r.b.at(count, {});
  });
}

// Targets are probabilities of every class.
Definition define_probabilities(const OpCall& call) {
  Rows rows(call);
  const double smoothing = call.attrs.number("label_smoothing", 0.0);
  const int total = rows.log_total();
  ExprP share = cast(rows.inner, raw_operand(call, kTarget, rows.split.input));
  if (smoothing > 0)
    share =
        share * number(rows.inner, 1 - smoothing) + number(rows.inner, smoothing / static_cast<double>(rows.classes));
  if (call.has(kWeight)) share = share * rows.weight_of(axis(rows.type.rank()));
  const int losses = rows.b.reduce("row_loss", rows.type, rows.split.over, Combine::sum,
                                   (rows.b.at(total, rows.row()) - rows.logit()) * share);
  return rows.finish(losses, [](Rows& r) { return number(r.inner, static_cast<double>(product(r.type.shape))); });
}

Definition define(const OpCall& call) { return soft_targets(call) ? define_probabilities(call) : define_classes(call); }

}  // namespace

extern const OpFile cross_entropy_def = {
    {.name = "cross_entropy",
     .doc = "The negative log of each row's softmax at its target.",
     .infer = infer,
     .define = define,
     .spelling = "torch.ops.aten.cross_entropy_loss({0}, {1}, {2}, {reduction|1}, {ignore_index|-100}, "
                 "{label_smoothing|0.0})",
     .aten = {{"aten.cross_entropy_loss.default", "self target weight", "reduction ignore_index label_smoothing"}}},
    {.name = "nll_loss",
     .doc = "The negative of each row's element at its target.",
     .infer = infer,
     .define = define,
     .spelling = "torch.ops.aten.nll_loss_nd({0}, {1}, {2}, {reduction|1}, {ignore_index|-100})",
     .aten = {{"aten.nll_loss_nd.default", "self target weight", "reduction ignore_index"},
              {"aten.nll_loss.default", "self target weight", "reduction ignore_index"}}},
};

}  // namespace mtmc
