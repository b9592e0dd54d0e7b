// Two phases of a result that lie between each other in memory (columns of a transposed convolution), computed by one
// program: an accumulator for each, stored interleaved, so that neighbouring lanes write neighbouring elements.
#include <algorithm>
#include <set>

#include "targets/triton/contraction_printer.h"

namespace mtmc::triton {
namespace {

constexpr int64_t kPhases = 2;    // tl.join makes pairs
constexpr int64_t kMostTaps = 4;  // of a step

}  // namespace

// The axis of two matrices whose elements are neighbours where they are stored; -1: none.
int ContractionPrinter::find_phase() const {
  const GroupStage& last = group_.stages[last_];
  if (f32_ || products_.halves || last.place.empty() || m_.empty()) return -1;
  for (int s = first_; s < last_; ++s)
    if (stored(s)) return -1;
  std::vector<ExprP> place;
  for (const ExprP& e : last.place) place.push_back(canonical(last_, e));
  const ExprP flat = simplify(flat_index(place, group_.tensors[last.dest].strides), extents_);
  const Affine form = affine(flat, static_cast<int>(extents_.size()));
  if (!form.ok) return -1;
  const auto next = std::find_if(batch_.begin(), batch_.end(), [&](int a) {
    return extents_[a] == kPhases && form.coefficients[a] == 1 && form.coefficients[m_.back()] == kPhases;
  });
  return next == batch_.end() ? -1 : *next;
}

// The axis of K along which the phases read some of the same elements of the left operand; -1: none.
int ContractionPrinter::find_tap() {
  for (int a : k_loop_) {
    if (extents_[a] > kMostTaps) continue;
    std::set<std::string> read;
    for (int64_t tap = 0; tap < extents_[a]; ++tap)
      for (int64_t p = 0; p < kPhases; ++p) {
        stand_in(phase_, index_constant(p));
        stand_in(a, index_constant(tap));
        read.insert(to_string(operand_expr(true)));
      }
    stand_in(phase_, axis(phase_));
    stand_in(a, axis(a));
    if (static_cast<int64_t>(read.size()) < kPhases * extents_[a]) return a;
  }
  return -1;
}

void ContractionPrinter::plan_phases(int64_t phases, int64_t taps) {
  if (phases == 1) return;
  phases_ = kPhases;
  std::erase(batch_, phase_);
  if (taps > 1) tap_ = find_tap();
  if (tap_ < 0) return;
  taps_ = extents_[tap_];
  std::erase(k_loop_, tap_);
}

// What is printed next is of this phase and tap.
void ContractionPrinter::turn_to(int64_t phase, int64_t tap) {
  if (phases_ > 1) stand_in(phase_, index_constant(phase));
  if (taps_ > 1) stand_in(tap_, index_constant(tap));
}

// What follows the products is computed for each phase by itself: what belongs to a phase, a scale say, is then one
// number for all rows.
void ContractionPrinter::interleave() {
  std::string both;
  for (int64_t p = 0; p < phases_; ++p) {
    turn_to(p, 0);
    Value one = define(first_, {sums_[p], kRows | kColumns}, DType::f32);
    for (int s = first_ + 1; s <= last_; ++s) one = define(s, value(body(s), result_), stage(s).body->dtype);
    if (one.dims != (kRows | kColumns)) throw Unsupported{"phases with results that are all the same"};
    both += (p == 0 ? "" : ", ") + one.text;
  }
  stand_in(phase_, axis(phase_));
  Tile places = result_;
  places.name = "places";
  places.rows.axes.push_back(phase_);
  places.rows.block = phases_ * bm_;
  const std::string times = std::to_string(phases_);
  open_lane(places.rows, "place", m_start_ == "0" ? "0" : m_start_ + " * " + times, phases_ * extent_of(m_));
  const std::string joined = "tl.reshape(tl.permute(tl.join(" + both + "), [0, 2, 1]), [" +
                             std::to_string(places.rows.block) + ", " + std::to_string(bn_) + "])";
  put(last_, {joined, kRows | kColumns}, places);
}

}  // namespace mtmc::triton
