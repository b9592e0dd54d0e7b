// Tensors side by side.
#include "ops/build.h"

namespace mtmc {
namespace {

using Types = Result<std::vector<TensorType>>;

// torch skips operands of shape [0] whatever the others' shape.
bool skipped(const OpCall& call, int i) { return call.type(i).shape == Shape{0}; }

Types infer_cat(const OpCall& call) {
  MTMC_RETURN_IF_ERROR(require_operands(call, std::max(call.count(), 1), call.count()));
  int first = 0;
  while (first + 1 < call.count() && skipped(call, first)) ++first;
  TensorType out = call.type(first);
  if (out.rank() == 0) return refusal(call, "a scalar has no dimension");
  MTMC_TRY(const int along, resolve_axis(call, call.attrs.integer("dim", 0), out.rank()));
  for (int i = first + 1; i < call.count(); ++i) {
    if (skipped(call, i)) continue;
    Shape expected = out.shape, got = call.type(i).shape;
    if (got.size() == expected.size()) expected[along] = got[along];
    if (got != expected)
      return refusal(call, "shapes do not fit", to_string(call.type(i)),
                     "all but dimension " + std::to_string(along) + " of " + to_string(call.type(first)));
    out.shape[along] += got[along];
  }
  out.dtype = promoted(call);
  return std::vector<TensorType>{out};
}

Definition define_cat(const OpCall& call) {
  const TensorType out = infer_cat(call).value()[0];
  const int along = axis_of(call, "dim", 0, out.rank());
  const Indices at = spatial(out.rank());
  ExprP body = number(out.dtype, 0);
  int64_t begin = out.shape[along];
  for (int i = call.count(); i-- > 0;) {
    if (skipped(call, i)) continue;
    const int64_t end = begin;
    begin -= call.type(i).shape[along];
    if (begin == end) continue;
    Indices inside = at;
    inside[along] = at[along] - index_constant(begin);
    const ExprP guard = in_range(at[along], begin, end);
    if (call.type(i).dtype == out.dtype) {
      body = load(i, out.dtype, inside, guard, body);
    } else {
      body = select(guard, cast(out.dtype, raw_operand(call, i, inside, guard, 0)), body);
    }
  }
  return single(call, "cat", body);
}

Types infer_stack(const OpCall& call) {
  MTMC_RETURN_IF_ERROR(require_operands(call, std::max(call.count(), 1), call.count()));
  TensorType out = call.type(0);
  MTMC_TRY(const int along, resolve_axis(call, call.attrs.integer("dim", 0), out.rank() + 1));
  for (int i = 1; i < call.count(); ++i)
    if (call.type(i).shape != out.shape)
      return refusal(call, "shapes differ", to_string(call.type(i)), to_string(call.type(0)));
  out.shape.insert(out.shape.begin() + along, call.count());
  out.dtype = promoted(call);
  return std::vector<TensorType>{out};
}

Definition define_stack(const OpCall& call) {
  const TensorType out = infer_stack(call).value()[0];
  const int along = axis_of(call, "dim", 0, out.rank());
  Indices inside = spatial(out.rank());
  inside.erase(inside.begin() + along);
  const auto element = [&](int i) { return cast(out.dtype, raw_operand(call, i, inside)); };
  ExprP body = element(call.count() - 1);
  for (int i = call.count() - 1; i-- > 0;) body = select(fn(Fn::eq, axis(along), index_constant(i)), element(i), body);
  return single(call, "stack", body);
}

}  // namespace

extern const OpFile concat_def = {
    {.name = "cat",
     .doc = "Tensors one after the other along an axis.",
     .infer = infer_cat,
     .define = define_cat,
     .spelling = "torch.cat([{*}], {dim|0})",
     .aten = {{"aten.cat.default", "*tensors", "dim"}, {"aten.concat.default", "*tensors", "dim"}}},
    {.name = "stack",
     .doc = "Tensors one after the other along a new axis.",
     .infer = infer_stack,
     .define = define_stack,
     .spelling = "torch.stack([{*}], {dim|0})",
     .aten = {{"aten.stack.default", "*tensors", "dim"}}},
};

}  // namespace mtmc
