// Products that do not exist. A phase of a transposed convolution is reached by fewer of the kernel's elements than
// another one: what it lacks is packed as zeros, but infinity times zero is no zero, and the work is spared.
#include <algorithm>

#include "base/text.h"
#include "targets/triton/contraction_printer.h"

namespace mtmc::triton {
namespace {

constexpr int64_t kBits = 31;  // of an i32, that are not its sign

}  // namespace

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
    if (const auto phases = phases_with_products(one)) {
      exists_.push_back(*phases);
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

// Where a condition depends on one axis of the batch alone: which, and a bit for each of its elements that has
// products.
std::optional<std::pair<int, int64_t>> ContractionPrinter::phases_with_products(const ExprP& condition) const {
  int along = -1;
  for (int a = 0; a < static_cast<int>(extents_.size()); ++a) {
    if (!uses_axis(condition, a)) continue;
    if (along >= 0 || std::count(batch_.begin(), batch_.end(), a) == 0 || extents_[a] > kBits) return std::nullopt;
    along = a;
  }
  int64_t bits = 0;
  for (int64_t i = 0; along >= 0 && i < extents_[along]; ++i) {
    std::vector<ExprP> to(extents_.size());
    to[along] = index_constant(i);
    const ExprP one = simplify(substitute_axes(condition, to), extents_);
    if (!is_constant(one)) return std::nullopt;
    bits |= int64_t{one->integer != 0} << i;
  }
  return along < 0 ? std::nullopt : std::optional(std::pair(along, bits));
}

// `steps` of the loop; none where the matrix has no products. As bits, not as the conditions themselves: of two that
// are alike, ((b + 1) % 5 * 3) % 5 < 3 and the same of another axis, LLVM makes additions of two halves at once
// (add.s16x2), and the ptxas of CUDA 12.8 and 12.9 loses what they add (VIADD.16x2 ..., 0x0) from -O1 on.
std::string ContractionPrinter::steps_if_any(const std::string& steps) {
  std::string all;
  for (const auto& [a, bits] : exists_)
    all += (all.empty() ? "" : " & ") + ("(" + std::to_string(bits) + " >> " + left_.scalars.at(a) + ")");
  if (all.empty()) return steps;
  const bool number = steps.find_first_not_of("0123456789") == std::string::npos;
  return steps == "1" ? all + " & 1" : "(" + all + " & 1) * " + (number ? steps : "(" + steps + ")");
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
