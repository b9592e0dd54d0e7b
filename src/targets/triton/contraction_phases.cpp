// Results that lie between each other in memory, columns of a transposed convolution: one program computes several
// phases and stores them interleaved, so that neighbouring lanes write neighbouring elements.
#include <algorithm>
#include <set>

#include "targets/triton/contraction_printer.h"

namespace mtmc::triton {
namespace {

constexpr int64_t kPhases = 2;  // accumulators: tl.join makes pairs
constexpr int64_t kMostColumns = 4;

}  // namespace

// Elements lie between each other where the rows' innermost axis goes on by as many elements as another axis has.
void ContractionPrinter::find_phase() {
  const GroupStage& last = group_.stages[last_];
  if (m_.empty() || n_.empty() || is_of_tile(last)) return;
  for (int s = first_; s < last_; ++s)
    if (stored(s)) return;
  std::vector<ExprP> place;
  for (const ExprP& e : last.place) place.push_back(canonical(last_, e));
  if (place.empty()) place = own_indices(last_);
  const ExprP flat = simplify(flat_index(place, group_.tensors[last.dest].strides), extents_);
  const Affine form = affine(flat, static_cast<int>(extents_.size()));
  if (!form.ok) return;
  const auto between = [&](int a) { return form.coefficients[a] == 1 && form.coefficients[m_.back()] == extents_[a]; };
  const int inner = n_.back();
  within_ = n_.size() > 1 && between(inner) && (extents_[inner] == kPhases || extents_[inner] == kMostColumns);
  if (within_) phase_ = inner;
  if (within_ || f32_ || products_.two_part) return;
  for (int a : batch_)
    if (between(a) && extents_[a] == kPhases) phase_ = a;
}

// The axis of K along which the phases read some of the same elements of the left operand; -1: none.
int ContractionPrinter::find_tap(int64_t most) {
  for (int a : k_loop_) {
    if (extents_[a] == 1 || extents_[a] > most) continue;
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

void ContractionPrinter::plan_phases(const Numbers& numbers) {
  if (numbers.at("phases") == 1) return;
  phases_ = kPhases;
  std::erase(batch_, phase_);
  tap_ = live_tap() >= 0 ? live_tap() : find_tap(numbers.at("taps"));
  if (tap_ < 0) return;
  taps_ = extents_[tap_];
  std::erase(k_loop_, tap_);
}

// What is printed next is of this phase and tap.
void ContractionPrinter::turn_to(int64_t phase, int64_t tap) {
  if (phases_ > 1) stand_in(phase_, index_constant(phase));
  if (taps_ > 1) stand_in(tap_, index_constant(tap));
}

// What follows the products, of one accumulator.
Value ContractionPrinter::finished_tile(const std::string& sums) {
  Value one = define(first_, {sums, kRows | kColumns}, DType::f32);
  for (int s = first_ + 1; s <= last_; ++s) one = define(s, value(body(s), result_), stage(s).body->dtype);
  if (one.dims != (kRows | kColumns)) throw Unsupported{"neighbours with results that are all the same"};
  return one;
}

// Each phase is finished by itself: what belongs to it, a scale say, is then one number for all rows.
void ContractionPrinter::finish_phases() {
  std::string both;
  for (int64_t p = 0; p < phases_; ++p) {
    turn_to(p, 0);
    both += (p == 0 ? "" : ", ") + finished_tile(sums_[p]).text;
  }
  stand_in(phase_, axis(phase_));
  put_interleaved("tl.join(" + both + ")", result_.columns);
}

void ContractionPrinter::finish_columns(const std::string& sums, const std::string& start) {
  const std::string one = finished_tile(sums).text, count = std::to_string(extents_[phase_]);
  Lane columns;
  columns.axes = n_;
  columns.axes.pop_back();
  columns.block = result_.columns.block / extents_[phase_];
  open_lane(columns, "n", start == "0" ? "0" : start + " // " + count, extent_of(columns.axes), bn_ / extents_[phase_]);
  put_interleaved(
      "tl.reshape(" + one + ", [" + std::to_string(bm_) + ", " + std::to_string(columns.block) + ", " + count + "])",
      columns);
}

// Stores values by [row, column, phase].
void ContractionPrinter::put_interleaved(const std::string& values, const Lane& columns) {
  Tile places = result_;
  places.name = "places";
  places.columns = columns;
  places.rows.axes.push_back(phase_);
  places.rows.block = extents_[phase_] * bm_;
  open_lane(places.rows, "place", m_start_ == "0" ? "0" : m_start_ + " * " + std::to_string(extents_[phase_]),
            extents_[phase_] * extent_of(m_));
  put(last_,
      {"tl.reshape(tl.permute(" + values + ", [0, 2, 1]), [" + std::to_string(places.rows.block) + ", " +
           std::to_string(columns.block) + "])",
       kRows | kColumns},
      places);
}

}  // namespace mtmc::triton
