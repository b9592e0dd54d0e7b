// Type rule and definition of every pointwise operator, from its ScalarRule.
#include "ops/build.h"

namespace mtmc {
namespace {

using Promotion = ScalarRule::Promotion;

// The type that operand `which` has inside the body.
DType inner_type(const OpCall& call, Promotion promotion, int which) {
  switch (promotion) {
    case Promotion::boolean: return DType::b1;
    case Promotion::condition: return which == 0 ? DType::b1 : compute_type(promoted(call, 1));
    case Promotion::keep: return call.type(which).dtype == DType::b1 ? DType::b1 : compute_type(call.type(0).dtype);
    case Promotion::to_float: return compute_type(float_type(promoted(call)));
    default: return compute_type(promoted(call));
  }
}

DType result_type(const OpCall& call, Promotion promotion) {
  switch (promotion) {
    case Promotion::predicate:
    case Promotion::boolean: return DType::b1;
    case Promotion::condition: return promoted(call, 1);
    case Promotion::keep: return call.type(0).dtype;
    case Promotion::to_float: return float_type(promoted(call));
    default: return promoted(call);
  }
}

}  // namespace

OpDef op(std::string_view name, std::string_view doc, decltype(OpDef::infer) infer, decltype(OpDef::define) define,
         std::string_view spelling, std::vector<AtenRule> aten) {
  OpDef def;
  def.name = name;
  def.doc = doc;
  def.infer = infer;
  def.define = define;
  def.spelling = spelling;
  def.aten = std::move(aten);
  return def;
}

OpDef scalar_op(std::string_view name, std::string_view doc, ScalarRule rule, std::string_view spelling,
                std::vector<AtenRule> aten) {
  OpDef def = op(name, doc, infer_scalar, define_scalar, spelling, std::move(aten));
  def.scalar = rule;
  return def;
}

Result<std::vector<TensorType>> infer_scalar(const OpCall& call) {
  const ScalarRule& rule = find_op(call.op)->scalar;
  MTMC_RETURN_IF_ERROR(require_operands(call, rule.least, std::max(rule.least, rule.most)));
  Shape shape;
  for (int i = 0; i < call.count(); ++i) {
    if (!call.has(i)) continue;
    const auto common = broadcast(shape, call.type(i).shape);
    if (!common)
      return refusal(call, "shapes do not broadcast", to_string(TensorType{call.type(i).dtype, call.type(i).shape}),
                     "a shape that fits " + to_string(TensorType{call.type(0).dtype, shape}));
    shape = *common;
  }
  return std::vector<TensorType>{{result_type(call, rule.promotion), shape}};
}

Definition define_scalar(const OpCall& call) {
  const OpDef& def = *find_op(call.op);
  const TensorType out = infer_scalar(call).value()[0];
  const Indices at = spatial(out.rank());
  std::vector<ExprP> x;
  for (int i = 0; i < std::max(call.count(), 3); ++i) {
    if (!call.has(i)) {
      x.push_back(nullptr);
      continue;
    }
    x.push_back(cast(inner_type(call, def.scalar.promotion, i),
                     raw_operand(call, i, broadcast_indices(call.type(i).shape, at))));
  }
  Builder builder;
  builder.output(builder.map(std::string(def.name), out, cast(out.dtype, def.scalar.body(x, call))), out.dtype);
  return builder.done();
}

}  // namespace mtmc
