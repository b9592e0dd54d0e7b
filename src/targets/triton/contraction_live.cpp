// Products that do not exist. A phase of a transposed convolution is reached by fewer of the kernel's elements than
// another one: what it lacks is packed as zeros, but infinity times zero is no zero, and the work is spared.
#include <algorithm>

#include "base/text.h"
#include "targets/triton/contraction_printer.h"

namespace mtmc::triton {

bool ContractionPrinter::uses(const ExprP& e, const std::vector<int>& axes) const {
  return std::any_of(axes.begin(), axes.end(), [&](int a) { return uses_axis(e, a); });
}

// The axis of K along which phases of one program have different numbers of elements; -1: none.
int ContractionPrinter::live_tap() const {
  for (const ExprP& e : products_.live)
    for (int a : k_loop_)
      if (const ExprP one = canonical(first_, e); uses_axis(one, phase_) && uses_axis(one, a)) return a;
  return -1;
}

// A condition on K alone is its padding, which both operands have. A bound that depends on the matrix, and on one axis
// of the loop, becomes that axis's limit; where one that depends on the matrix alone is false there is no loop; other
// conditions stay.
void ContractionPrinter::plan_live() {
  std::vector<int> matrices = batch_, lanes = m_, taps = {tap_};
  if (phases_ > 1) matrices.push_back(phase_);
  for (const std::vector<int>* axes : {&n_, &k_lane_}) lanes.insert(lanes.end(), axes->begin(), axes->end());
  for (const ExprP& e : products_.live) {
    const ExprP one = canonical(first_, e);
    if (is_constant(one) || !(uses(one, matrices) || uses(one, n_))) continue;
    if (!uses(one, lanes) && !uses(one, k_loop_) && !(phases_ > 1 && uses_axis(one, phase_))) {
      exists_.push_back(one);
      continue;
    }
    std::vector<int> along;
    for (int a : k_loop_)
      if (uses_axis(one, a)) along.push_back(a);
    const bool bounded = one->kind == Expr::Kind::call && one->fn == Fn::lt && is_constant(one->args[1]);
    if (!bounded || products_.two_part || along.size() != 1 || uses(one, lanes) || uses(one, taps) ||
        (phases_ > 1 && uses_axis(one, phase_))) {
      live_.push_back(e);
      continue;
    }
    std::vector<ExprP> at;
    for (int64_t i = 0; i < 2; ++i) {
      std::vector<ExprP> to(extents_.size());
      to[along[0]] = index_constant(i);
      at.push_back(simplify(substitute_axes(one->args[0], to), extents_));
    }
    const ExprP step = simplify(at[1] - at[0], extents_);
    if (!is_constant(step) || step->integer <= 0 || limits_.count(along[0])) {
      live_.push_back(e);
      continue;
    }
    limits_[along[0]] = (index_constant(one->args[1]->integer + step->integer - 1) - at[0]) / step;
  }
}

// How many blocks of K there are.
std::string ContractionPrinter::steps_of_k() {
  int64_t count = blocks(extent_of(k_lane_), bk_);
  std::string steps;
  for (int a : k_loop_) {
    const auto limit = limits_.find(a);
    if (limit == limits_.end()) {
      count *= extents_[a];
      continue;
    }
    counts_[a] = out_.fresh("taps");
    out_.line(counts_[a] + " = " + value(limit->second, left_).text);
    steps += (steps.empty() ? "" : " * ") + counts_[a];
  }
  if (steps.empty()) return std::to_string(count);
  return count == 1 ? steps : steps + " * " + std::to_string(count);
}

// `steps` of the loop; none where the matrix has no products.
std::string ContractionPrinter::steps_if_any(const std::string& steps) {
  std::string all;
  for (const ExprP& one : exists_) all += (all.empty() ? "" : " & ") + ("(" + value(one, left_).text + ")");
  return all.empty() ? steps : "tl.where(" + all + ", " + steps + ", 0)";
}

// Whether the phase and the tap that are printed have no product.
bool ContractionPrinter::is_dead() const {
  return std::any_of(live_.begin(), live_.end(), [&](const ExprP& e) {
    const ExprP one = canonical(first_, e);
    return is_constant(one) && one->integer == 0;
  });
}

// The left operand, zero where there is no product.
std::string ContractionPrinter::without_dead(const std::string& left) {
  std::string mask;
  for (const ExprP& e : live_) {
    const ExprP one = canonical(first_, e);
    if (is_constant(one) || uses(one, n_) || !(uses(one, k_lane_) || uses(one, k_loop_))) continue;
    mask += (mask.empty() ? "" : " & ") + ("(" + value(one, left_).text + ")");
  }
  if (mask.empty()) return left;
  computes_left_ |= !f32_;
  const std::string masked = out_.fresh("left");
  out_.line(masked + " = tl.where(" + mask + ", " + left + ", 0)");
  return masked;
}

// Results without any product.
void ContractionPrinter::clear_dead(const std::string& sums) {
  for (const ExprP& e : live_) {
    const ExprP one = canonical(first_, e);
    if (is_constant(one) || uses(one, k_lane_) || uses(one, k_loop_)) continue;
    out_.line(sums + " = tl.where(" + value(one, result_).text + ", " + sums + ", 0.0)");
  }
}

}  // namespace mtmc::triton
