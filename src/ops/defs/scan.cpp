// Running sums and products along an axis.
#include "ops/build.h"

namespace mtmc {
namespace {

Result<std::vector<TensorType>> infer(const OpCall& call) {
  MTMC_RETURN_IF_ERROR(require_operands(call, 1, 1));
  TensorType out = call.type(0);
  MTMC_RETURN_IF_ERROR(resolve_axis(call, call.attrs.integer("dim"), out.rank()));
  if (out.rank() == 0) return refusal(call, "needs a dimension", to_string(out), "at least one dimension");
  out.dtype = call.attrs.has("dtype") ? call.attrs.dtype("dtype") : is_float(out.dtype) ? out.dtype : DType::i64;
  return std::vector<TensorType>{out};
}

Definition define(const OpCall& call, Combine combine) {
  const TensorType out = infer(call).value()[0];
  const DType inner = compute_type(out.dtype);
  Builder b;
  b.output(b.scan(std::string(call.op), {inner, out.shape}, axis_of(call, "dim", 0, out.rank()), combine,
                  cast(inner, raw_operand(call, 0, spatial(out.rank())))),
           out.dtype);
  return b.done();
}
Definition define_sum(const OpCall& call) { return define(call, Combine::scan_sum); }
Definition define_prod(const OpCall& call) { return define(call, Combine::scan_prod); }

}  // namespace

extern const OpFile scan_def = {
    {.name = "cumsum",
     .doc = "The sum of all elements up to each, along an axis.",
     .infer = infer,
     .define = define_sum,
     .spelling = "torch.cumsum({0}, {dim}, dtype={dtype|None})",
     .aten = {{"aten.cumsum.default", "self", "dim dtype"}}},
    {.name = "cumprod",
     .doc = "The product of all elements up to each, along an axis.",
     .infer = infer,
     .define = define_prod,
     .spelling = "torch.cumprod({0}, {dim}, dtype={dtype|None})",
     .aten = {{"aten.cumprod.default", "self", "dim dtype"}}},
};

}  // namespace mtmc
