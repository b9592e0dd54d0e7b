#include "targets/cpu/loop_nest.h"

#include <algorithm>
#include <set>

namespace mtmc {
namespace {

constexpr double kLanes = 16;  // of f32 in a vector

// What one lane-step along axis a costs: 1 for a unit-stride access, little for none, much for gathers.
double access_cost(const ExprP& flat, const ExprP& guard, int a, int axes) {
  const std::optional<int64_t> stride = lane_stride(flat, a, axes);
  if (guard && uses_axis(guard, a)) return stride == 1 ? 3 : 12;
  if (!stride) return 8;
  if (*stride == 0) return 0.5;
  return *stride == 1 ? 1 : 10;
}

// The loops that are left of a stage in a tile, outermost first.
std::vector<int> loop_order(const StagePlan& plan, int vector) {
  const Stage& stage = plan.stage->stage;
  const int axes = static_cast<int>(plan.loops.size());
  const int scanned = is_scan(stage.combine) ? stage.scan_axis : -1;
  // Lanes that each reduce or scan for themselves do so in loops inside the vector's.
  const bool apart = vector >= 0 && vector < stage.rank() && vector != scanned && stage.combine != Combine::none;
  std::vector<int> order;
  const auto add = [&](int a) {
    if (a >= 0 && !plan.loops[a].fixed) order.push_back(a);
  };
  for (int a = 0; a < stage.rank(); ++a)
    if (a != vector && a != scanned) add(a);
  if (apart) add(vector);
  if (scanned != vector) add(scanned);
  for (int a = stage.rank(); a < axes; ++a)
    if (a != vector) add(a);
  if (!apart) add(vector);
  return order;
}

// Whether it does more than to read, and not the same in every call.
bool computes(const ExprP& expr) {
  if (expr->kind == Expr::Kind::cast) return computes(expr->args[0]);
  return expr->kind == Expr::Kind::call && expr->dtype != DType::i64;
}

}  // namespace

int choose_vector_axis(const StagePlan& plan) {
  const Stage& stage = plan.stage->stage;
  if (stage.combine == Combine::argmax || stage.combine == Combine::argmin) return -1;
  if (plan.preferred_axis >= 0 && !plan.loops[plan.preferred_axis].fixed) return plan.preferred_axis;
  const int axes = static_cast<int>(plan.loops.size());
  const ExprPrinter printer(context_of(plan, -1));
  std::vector<ExprP> own;
  for (int a = 0; a < stage.rank(); ++a) own.push_back(axis(a));
  const ExprP stored = printer.flat_index(plan.stage->dest, own);
  std::vector<std::pair<ExprP, ExprP>> loaded;  // flat indices and guards
  for (const Expr* e : loads_of(stage.body)) loaded.emplace_back(printer.flat_index(e->tensor, e->args), e->guard);
  int best = -1;
  double best_cost = 1e9;
  for (int a = 0; a < axes; ++a) {
    const AxisLoop& loop = plan.loops[a];
    if (loop.fixed || loop.length < 4) continue;
    double cost = 0;
    if (a < stage.rank()) cost += access_cost(stored, nullptr, a, axes);
    for (const auto& [flat, guard] : loaded) cost += access_cost(flat, guard, a, axes);
    const double lanes = static_cast<double>(loop.length);
    cost *= std::max(1.0, 16.0 / lanes);  // short loops leave lanes empty
    if (a >= stage.rank()) cost *= 1.05;  // a horizontal sum at the end
    if (cost <= best_cost) {
      best_cost = cost;
      best = a;
    }
  }
  return best;
}

std::vector<ExprP> unchanging_parts(const ExprP& body, uint64_t inner) {
  std::vector<ExprP> parts;
  ExprNumbers numbers;
  std::set<int> met;
  const std::function<void(const ExprP&)> visit = [&](const ExprP& e) {
    if (e->kind != Expr::Kind::call && e->kind != Expr::Kind::cast) return;
    if (!met.insert(numbers.of(e)).second) return;
    if ((e->axes & inner) == 0) {
      if (computes(e) && (e->axes != 0 || e->loads)) parts.push_back(e);
      return;
    }
    for (const ExprP& arg : e->args) visit(arg);
  };
  visit(body);
  return parts;
}

LoopNest::LoopNest(const StagePlan& plan, double tiles) : tiles_(tiles) {
  const int vector = choose_vector_axis(plan);
  if (vector >= 0) vector_ = uint64_t{1} << vector;
  for (const int a : loop_order(plan, vector))
    loops_.push_back({uint64_t{1} << a, static_cast<double>(plan.loops[a].length)});
}

double LoopNest::elements(uint64_t axes) const {
  double all = tiles_, computed = tiles_;
  for (const Loop& loop : loops_) {
    all *= loop.length;
    if (axes & loop.axis) computed = all;
  }
  return vector_ == 0 || (axes & vector_) ? computed : std::min(all, kLanes * computed);
}

}  // namespace mtmc
