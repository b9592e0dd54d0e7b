// What a node costs, counted from its definition.
#include <algorithm>
#include <map>
#include <set>

#include "ops/recurrence.h"

namespace mtmc {
namespace {

// Of one evaluation: plain operations, and weighted ones of exp and its like.
void count(const ExprP& expr, double& plain, double& special) {
  if (expr->kind == Expr::Kind::load) {
    if (expr->other) count(expr->other, plain, special);
    return;  // index arithmetic becomes pointer increments, guards become masks
  }
  if (expr->kind == Expr::Kind::call) {
    double inside = 0;
    for (const ExprP& arg : expr->args) inside += operation_count(arg);
    const double own = operation_count(expr) - inside;
    (own > 1 ? special : plain) += own;
  }
  for (const ExprP& arg : expr->args) count(arg, plain, special);
}

const Expr* load_below_casts(const ExprP& expr) {
  const Expr* at = expr.get();
  while (at->kind == Expr::Kind::cast) at = at->args[0].get();
  return at->kind == Expr::Kind::load ? at : nullptr;
}

// A sum of products of two loads, each of which some result axis does not move: data is used several times.
bool is_contraction(const Stage& stage) {
  const Expr& body = *stage.body;
  if (stage.combine != Combine::sum || body.kind != Expr::Kind::call || body.fn != Fn::mul) return false;
  for (const ExprP& side : body.args) {
    if (!load_below_casts(side)) return false;
    bool reused = false;
    for (int i = 0; i < stage.rank(); ++i) reused |= stage.type.shape[i] > 1 && !uses_axis(side, i);
    if (!reused) return false;
  }
  return true;
}

}  // namespace

Work work_of(const Definition& definition, std::span<const std::optional<TensorType>> operands) {
  Work work;
  std::map<int, double> read;  // elements of each operand that are loaded, at most
  for (const Stage& stage : definition.stages) {
    const auto extents = stage.extents();
    const double steps = static_cast<double>(product(extents));
    double plain = stage.combine == Combine::none ? 0 : 1, special = 0;
    count(stage.body, plain, special);
    work.flops += plain * steps;
    work.special += special * steps;
    if (is_contraction(stage)) work.contraction_flops += 2 * steps;
    for (const Expr* load : loads_of(stage.body)) {
      if (load->tensor < 0) continue;
      double touched = 1;
      for (size_t i = 0; i < extents.size(); ++i) {
        const bool moves = std::any_of(load->args.begin(), load->args.end(),
                                       [&](const ExprP& index) { return uses_axis(index, static_cast<int>(i)); });
        if (moves) touched *= static_cast<double>(extents[i]);
      }
      read[load->tensor] = std::max(read[load->tensor], touched);
    }
  }
  for (const auto& [which, elements] : read) {
    const TensorType& type = *operands[static_cast<size_t>(which)];
    work.bytes += std::min(elements, static_cast<double>(type.elements())) * bytes(type.dtype);
  }
  return work;
}

Work work_of(const OpCall& call) {
  const OpDef* def = find_op(call.op);
  MTMC_CHECK(def != nullptr, "unknown operator " + std::string(call.op));
  if (def->is_view) return {};
  Work work = def->define       ? work_of(def->define(call), call.operands)
              : def->recurrence ? work_of(def->recurrence(call))
                                : Work{};
  const std::vector<TensorType> outputs = def->infer(call).value();
  for (const TensorType& type : outputs) work.bytes += static_cast<double>(type.size_bytes());
  for (int i = 0; i < call.count() && !def->define; ++i)
    if (call.has(i)) work.bytes += static_cast<double>(call.type(i).size_bytes());
  return work;
}

Work work_of(const Program& program, const Node& node) { return work_of(call_of(program, node)); }

}  // namespace mtmc
