// softmax and log_softmax: the row maximum, the row sum of exponentials, the quotient.
#include "ops/aten.h"
#include "ops/build.h"

namespace mtmc {
namespace {

DType result_type(const OpCall& call) {
  return call.attrs.has("dtype") ? call.attrs.dtype("dtype") : call.type(0).dtype;
}

Result<std::vector<TensorType>> infer(const OpCall& call) {
  MTMC_RETURN_IF_ERROR(require_operands(call, 1, 1));
  const TensorType& x = call.type(0);
  MTMC_TRY(const int axis, resolve_axis(call, call.attrs.integer("dim"), x.rank()));
  if (x.rank() == 0) return refusal(call, "needs a dimension", to_string(x), "at least one dimension");
  if (!is_float(result_type(call))) return refusal(call, "needs floating point numbers", to_string(x), "f32");
  if (x.shape[axis] == 0) return refusal(call, "empty rows", to_string(x), "at least one element");
  return std::vector<TensorType>{{result_type(call), x.shape}};
}

Definition define_rows(const OpCall& call, bool logarithm) {
  const TensorType& in = call.type(0);
  const DType out = result_type(call), inner = compute_type(out);
  const Split split = split_axes(in.shape, {axis_of(call, "dim", 0, in.rank())}, false);
  const TensorType rows{inner, split.shape};
  const Indices row = spatial(rows.rank());
  const auto x = [&](const Indices& at) { return cast(inner, raw_operand(call, 0, at)); };
  Builder b;
  const int largest = b.reduce("row_max", rows, split.over, Combine::max, x(split.input));
  const ExprP shifted = x(spatial(in.rank())) - b.at(largest, split.row);
  if (logarithm) {
    const int sum =
        b.reduce("row_sum", rows, split.over, Combine::sum, fn(Fn::exp, x(split.input) - b.at(largest, row)));
    const int log_sum = b.map("log_sum", rows, fn(Fn::log, b.at(sum, row)));
    b.output(b.map("log_softmax", {out, in.shape}, cast(out, shifted - b.at(log_sum, split.row))), out);
  } else {
    // A stage of its own, so that a target may keep the exponentials instead of computing them twice.
    const int exps = b.map("exps", {inner, in.shape}, fn(Fn::exp, shifted));
    const int sum = b.reduce("row_sum", rows, split.over, Combine::sum, b.at(exps, split.input));
    b.output(b.map("softmax", {out, in.shape},
                   cast(out, b.at(exps, spatial(in.rank())) * (number(inner, 1) / b.at(sum, split.row)))),
             out);
  }
  return b.done();
}
Definition define_softmax(const OpCall& call) { return define_rows(call, false); }
Definition define_log_softmax(const OpCall& call) { return define_rows(call, true); }

void same_type(AtenCall& call) {
  if (const bool* widen = call.get<bool>("half_to_float"); widen && !*widen) call.args.erase("half_to_float");
}

}  // namespace

extern const OpFile softmax_def = {
    {.name = "softmax",
     .doc = "Exponentials divided by their sum along an axis.",
     .infer = infer,
     .define = define_softmax,
     .spelling = "F.softmax({0}, {dim}, dtype={dtype|None})",
     .aten = {{"aten.softmax.int", "self", "dim dtype"}, {"aten._softmax.default", "self", "dim", "", same_type}}},
    {.name = "log_softmax",
     .doc = "The logarithm of softmax.",
     .infer = infer,
     .define = define_log_softmax,
     .spelling = "F.log_softmax({0}, {dim}, dtype={dtype|None})",
     .aten = {{"aten.log_softmax.int", "self", "dim dtype"},
              {"aten._log_softmax.default", "self", "dim", "", same_type}}},
};

}  // namespace mtmc
