// Comparisons, logic, bits, and choices by a condition.
#include "ops/build.h"

namespace mtmc {
namespace {

using X = std::span<const ExprP>;
using enum ScalarRule::Promotion;

// Truth values compare as numbers.
ExprP ordered(const ExprP& value) { return value->dtype == DType::b1 ? cast(DType::i32, value) : value; }

template <Fn F>
ExprP compare(X x, const OpCall&) {
  return fn(F, ordered(x[0]), ordered(x[1]));
}
template <Fn F>
ExprP logic(X x, const OpCall&) {
  return fn(F, x[0], x[1]);
}
// Bit functions of truth values are logic.
template <Fn Bits, Fn Logic>
ExprP bits(X x, const OpCall&) {
  return fn(x[0]->dtype == DType::b1 ? Logic : Bits, x[0], x[1]);
}
ExprP logical_not(X x, const OpCall&) { return fn(Fn::logical_not, x[0]); }
ExprP bit_not(X x, const OpCall&) {
  return x[0]->dtype == DType::b1 ? fn(Fn::logical_not, x[0]) : fn(Fn::bit_xor, x[0], number(x[0]->dtype, -1));
}
ExprP bit_xor(X x, const OpCall&) {
  return x[0]->dtype == DType::b1 ? fn(Fn::ne, ordered(x[0]), ordered(x[1])) : fn(Fn::bit_xor, x[0], x[1]);
}
ExprP shift_left(X x, const OpCall&) { return fn(Fn::shl, x[0], x[1]); }
ExprP shift_right(X x, const OpCall&) { return fn(Fn::shr, x[0], x[1]); }
ExprP where(X x, const OpCall&) { return select(x[0], x[1], x[2]); }
ExprP masked_fill(X x, const OpCall&) { return select(x[1], x[2], x[0]); }
std::string write_masked(const OpCall&, std::span<const std::string> args) {
  return args[0] + ".masked_fill_(" + args[1] + ", " + args[2] + ")";
}
OpDef written(OpDef def, decltype(OpDef::write) write) {
  def.write = write;
  return def;
}
// Bounds that are absent do not bind; NaN anywhere wins.
ExprP clamp_tensor(X x, const OpCall&) {
  const ExprP low = x[1] ? fn(Fn::max, x[0], x[1]) : x[0];
  return x[2] ? fn(Fn::min, low, x[2]) : low;
}

// Constant bounds; a fractional bound makes integers floats.
Result<std::vector<TensorType>> infer_clamp(const OpCall& call) {
  MTMC_RETURN_IF_ERROR(require_operands(call, 1, 1));
  TensorType type = call.type(0);
  for (const char* key : {"min", "max"})
    if (call.attrs.has(key) && std::holds_alternative<double>(call.attrs.find(key)->second))
      type.dtype = float_type(type.dtype);
  if (type.dtype == DType::b1) type.dtype = DType::i64;
  return std::vector<TensorType>{type};
}
Definition define_clamp(const OpCall& call) {
  const TensorType out = infer_clamp(call).value()[0];
  const DType inner = compute_type(out.dtype);
  ExprP value = cast(inner, raw_operand(call, 0, spatial(out.rank())));
  if (call.attrs.has("min")) value = fn(Fn::max, value, number(inner, call.attrs.number("min")));
  if (call.attrs.has("max")) value = fn(Fn::min, value, number(inner, call.attrs.number("max")));
  return single(call, "clamp", cast(out.dtype, value));
}

template <Fn F>
OpDef comparison(std::string_view name, std::string_view doc, std::string_view spelling, std::string_view tensor,
                 std::string_view scalar) {
  return scalar_op(name, doc, {predicate, 2, compare<F>}, spelling, {{tensor, "self other"}, {scalar, "self other"}});
}

}  // namespace

extern const OpFile compare_def = {
    comparison<Fn::eq>("eq", "Whether a equals b.", "torch.eq({0}, {1})", "aten.eq.Tensor", "aten.eq.Scalar"),
    comparison<Fn::ne>("ne", "Whether a differs from b.", "torch.ne({0}, {1})", "aten.ne.Tensor", "aten.ne.Scalar"),
    comparison<Fn::lt>("lt", "Whether a is less than b.", "torch.lt({0}, {1})", "aten.lt.Tensor", "aten.lt.Scalar"),
    comparison<Fn::le>("le", "Whether a is at most b.", "torch.le({0}, {1})", "aten.le.Tensor", "aten.le.Scalar"),
    comparison<Fn::gt>("gt", "Whether a is greater than b.", "torch.gt({0}, {1})", "aten.gt.Tensor", "aten.gt.Scalar"),
    comparison<Fn::ge>("ge", "Whether a is at least b.", "torch.ge({0}, {1})", "aten.ge.Tensor", "aten.ge.Scalar"),
    scalar_op("logical_and", "Whether neither is 0.", {boolean, 2, logic<Fn::logical_and>},
              "torch.logical_and({0}, {1})", {{"aten.logical_and.default", "self other"}}),
    scalar_op("logical_or", "Whether one is not 0.", {boolean, 2, logic<Fn::logical_or>}, "torch.logical_or({0}, {1})",
              {{"aten.logical_or.default", "self other"}}),
    scalar_op("logical_xor", "Whether exactly one is not 0.", {boolean, 2, compare<Fn::ne>},
              "torch.logical_xor({0}, {1})", {{"aten.logical_xor.default", "self other"}}),
    scalar_op("logical_not", "Whether x is 0.", {boolean, 1, logical_not}, "torch.logical_not({0})",
              {{"aten.logical_not.default", "self"}}),
    scalar_op("bitwise_and", "Bits set in both.", {common, 2, bits<Fn::bit_and, Fn::logical_and>},
              "torch.bitwise_and({0}, {1})",
              {{"aten.bitwise_and.Tensor", "self other"},
               {"aten.bitwise_and.Scalar", "self other"},
               {"aten.__and__.Tensor", "self other"},
               {"aten.__and__.Scalar", "self other"}}),
    scalar_op("bitwise_or", "Bits set in one or both.", {common, 2, bits<Fn::bit_or, Fn::logical_or>},
              "torch.bitwise_or({0}, {1})",
              {{"aten.bitwise_or.Tensor", "self other"},
               {"aten.bitwise_or.Scalar", "self other"},
               {"aten.__or__.Tensor", "self other"},
               {"aten.__or__.Scalar", "self other"}}),
    scalar_op("bitwise_xor", "Bits set in exactly one.", {common, 2, bit_xor}, "torch.bitwise_xor({0}, {1})",
              {{"aten.bitwise_xor.Tensor", "self other"},
               {"aten.bitwise_xor.Scalar", "self other"},
               {"aten.__xor__.Tensor", "self other"},
               {"aten.__xor__.Scalar", "self other"}}),
    scalar_op("bitwise_not", "Every bit flipped.", {common, 1, bit_not}, "torch.bitwise_not({0})",
              {{"aten.bitwise_not.default", "self"}}),
    scalar_op("bitwise_left_shift", "Bits moved up.", {common, 2, shift_left}, "torch.bitwise_left_shift({0}, {1})",
              {{"aten.bitwise_left_shift.Tensor", "self other"},
               {"aten.bitwise_left_shift.Tensor_Scalar", "self other"},
               {"aten.__lshift__.Tensor", "self other"},
               {"aten.__lshift__.Scalar", "self other"}}),
    scalar_op("bitwise_right_shift", "Bits moved down.", {common, 2, shift_right},
              "torch.bitwise_right_shift({0}, {1})",
              {{"aten.bitwise_right_shift.Tensor", "self other"},
               {"aten.bitwise_right_shift.Tensor_Scalar", "self other"},
               {"aten.__rshift__.Tensor", "self other"},
               {"aten.__rshift__.Scalar", "self other"}}),
    scalar_op("where", "a where the condition holds, else b.", {condition, 3, where}, "torch.where({0}, {1}, {2})",
              {{"aten.where.self", "condition self other"},
               {"aten.where.ScalarSelf", "condition self other"},
               {"aten.where.ScalarOther", "condition self other"},
               {"aten.where.Scalar", "condition self other"}}),
    written(scalar_op("masked_fill", "x, with a value where the mask holds.", {keep, 3, masked_fill},
                      "torch.masked_fill({0}, {1}, {2})",
                      {{"aten.masked_fill.Scalar", "self mask value"}, {"aten.masked_fill.Tensor", "self mask value"}}),
            write_masked),
    {.name = "clamp",
     .doc = "x between two constants, either of which may be absent.",
     .infer = infer_clamp,
     .define = define_clamp,
     .spelling = "torch.clamp({0}, {min|None}, {max|None})",
     .aten = {{"aten.clamp.default", "self", "min max"},
              {"aten.clip.default", "self", "min max"},
              {"aten.clamp_min.default", "self", "min"},
              {"aten.clamp_max.default", "self", "max"}}},
    scalar_op("clamp_tensor", "x between two tensors, either of which may be absent.", {common, 1, clamp_tensor, 3},
              "torch.clamp({0}, {1}, {2})",
              {{"aten.clamp.Tensor", "self min max"},
               {"aten.clamp_min.Tensor", "self min"},
               {"aten.clamp_max.Tensor", "self min max"}}),
};

}  // namespace mtmc
