#include "targets/triton/contraction_printer.h"

#include <algorithm>
#include <cstdlib>
#include <set>

#include "base/check.h"
#include "base/text.h"
#include "targets/triton/contraction_numbers.h"
#include "targets/triton/depths.h"

namespace mtmc::triton {

ExprP narrow(const ExprP& expr) {
  if (expr->kind == Expr::Kind::cast && expr->dtype == DType::f32 &&
      (expr->args[0]->dtype == DType::f16 || expr->args[0]->dtype == DType::bf16))
    return expr->args[0];
  return expr;
}

namespace {

constexpr int64_t kManyResults = 128;             // of one thread
constexpr int64_t kMostAlong = int64_t{1} << 28;  // rows, columns or terms; phases of four are counted one by one

// The axis of K that runs along a lane: the longest when it is long enough, else all of them together.
std::vector<int> lane_axes(const std::vector<int>& k, const std::vector<int64_t>& extents) {
  int longest = k.front();
  for (int a : k)
    if (extents[a] > extents[longest]) longest = a;
  if (k.size() > 1 && extents[longest] >= 16) return {longest};
  return k;
}

bool is_f32(const Products& products) {
  const DType left = narrow(products.left)->dtype, right = narrow(products.right)->dtype;
  return left == DType::f32 || right == DType::f32 || left != right;
}

}  // namespace

bool is_contraction(const Group& group, const Frame& frame) {
  const GroupStage& first = group.stages[frame.first];
  if (!first.contraction) return false;
  for (int a = 0; a < first.stage.rank(); ++a)
    if (first.stage.type.shape[a] > 1 && frame.shared_of(frame.first, a) < 0) return false;
  // Tiles are of the product's own axes: a stage that has more of them, for which the product is the same, is not
  // there.
  for (size_t a = 0; a < frame.shared.size(); ++a)
    if (frame.shared[a].extent > 1 && frame.axis_of(static_cast<int>(a), frame.first) < 0) return false;
  for (int s = frame.first + 1; s <= frame.last; ++s) {
    if (is_of_tile(group.stages[s])) continue;
    if (group.stages[s].stage.combine != Combine::none) return false;
    for (int a = 0; a < group.stages[s].stage.rank(); ++a)
      if (group.stages[s].stage.type.shape[a] > 1 && frame.shared_of(s, a) < 0) return false;
  }
  return true;
}

ContractionPrinter::ContractionPrinter(const Group& group, const Frame& frame, Products products, std::string name,
                                       const Numbers& numbers, const Hardware& hardware)
    : StagePrinter(group, frame.first, frame.last, std::move(name)), frame_(frame), products_(std::move(products)) {
  splits_ = splits_in_loop(products_);
  f32_ = !splits_ && is_f32(products_);
  plan_axes();
  for (const auto* lane : {&m_, &n_, &k_lane_})  // where a tile begins is i32
    if (extent_of(*lane) > kMostAlong) throw Unsupported{"a contraction of too many rows or columns"};
  find_phase();
  const bool two = phase_ >= 0 && !within_;
  candidates_ = contraction_numbers({extent_of(m_), extent_of(n_), extent_of(k_lane_), extent_of(batch_), f32_,
                                     products_.two_part, splits_, two, !f32_ && overlaps()},
                                    hardware);
  std::vector<Numbers> fitting;
  for (Numbers& one : candidates_)
    if (fit_tile(one); std::find(fitting.begin(), fitting.end(), one) == fitting.end()) fitting.push_back(one);
  candidates_ = std::move(fitting);
  Numbers chosen = candidates_.front();
  for (const auto& [key, value] : numbers)
    if (chosen.count(key)) chosen[key] = value;
  fit_tile(chosen);  // numbers may be older than what the tile computes
  bm_ = chosen["m"], bn_ = chosen["n"], bk_ = chosen["k"];
  warps_ = chosen["warps"], stages_ = chosen["stages"], group_size_ = chosen["group"];
  // What a step computes of its loads lies beside those of the step.
  while (stages_ > 2 && (stages_ - (splits_ ? 0 : 1)) * bytes_of_step() > room_ahead(hardware)) --stages_;
  by_columns_ = numbers.count("by_columns") > 0;
  if (two) plan_phases(chosen);
  plan_live();
}

void ContractionPrinter::plan_axes() {
  for (const SharedAxis& axis : frame_.shared) extents_.push_back(axis.extent);
  for (int s = first_; s <= last_; ++s) {
    axes_[s];  // none of a single number
    for (int a = 0; a < stage(s).rank(); ++a) axes_[s].push_back(frame_.shared_of(s, a));
  }
  const Contraction& contraction = *group_.stages[first_].contraction;
  std::vector<int> k;
  for (int a : contraction.k) {
    axes_[first_].push_back(static_cast<int>(extents_.size()));
    k.push_back(static_cast<int>(extents_.size()));
    extents_.push_back(stage(first_).extents()[a]);
  }
  const auto role = [&](const std::vector<int>& from, std::vector<int>& to) {
    for (int a : from)
      if (axes_[first_][a] >= 0) to.push_back(axes_[first_][a]);
  };
  role(contraction.batch, batch_);
  role(contraction.m, m_);
  role(contraction.n, n_);
  for (int s = first_ + 1; s <= last_; ++s)
    if (gives_part(s))
      walk_tile(s);
    else if (!group_.stages[s].in_tile.empty())
      hold_columns(s);
  k_lane_ = lane_axes(k, extents_);
  neighbours_last();
  for (int a : k)
    if (std::find(k_lane_.begin(), k_lane_.end(), a) == k_lane_.end()) k_loop_.push_back(a);
  if (products_.two_part)
    for (int* part : {&left_part_, &right_part_}) {
      *part = static_cast<int>(extents_.size());
      extents_.push_back(2);
    }
  for (Tile* tile : {&left_, &right_, &result_}) tile->extents = extents_, tile->widens = wide_;
  left_.name = "left", right_.name = "right", result_.name = "result";
}

// Axes that share a lane of K: neighbours of the left operand in memory are neighbours in a block.
void ContractionPrinter::neighbours_last() {
  const ExprP operand = canonical(first_, products_.left);
  const auto loads = loads_of(operand);
  if (k_lane_.size() < 2 || loads.size() != 1) return;
  std::vector<ExprP> in_one_matrix;
  for (int a = 0; a < static_cast<int>(extents_.size()); ++a)
    in_one_matrix.push_back(std::count(batch_.begin(), batch_.end(), a) > 0 ? index_constant(0) : axis(a));
  const ExprP flat = flat_index(loads[0]->args, group_.tensors[loads[0]->tensor].strides);
  const Affine at = affine(simplify(substitute_axes(flat, in_one_matrix), extents_), static_cast<int>(extents_.size()));
  if (!at.ok) return;
  std::stable_sort(k_lane_.begin(), k_lane_.end(), [&](int a, int b) {
    return extents_[a] > 1 && extents_[b] > 1 && std::abs(at.coefficients[a]) > std::abs(at.coefficients[b]);
  });
}

int64_t ContractionPrinter::extent_of(const std::vector<int>& axes) const { return product(extents_, axes); }

// What a step of the loop over K loads: an operand may be computed of several tensors.
int64_t ContractionPrinter::bytes_of_step() const {
  int64_t bytes = 0;
  for (const bool left : {true, false}) {
    const std::vector<int>& lane = left ? m_ : n_;
    std::set<std::string> met;
    const ExprP operand = canonical(first_, left ? products_.left : products_.right);
    for (const Expr* one : loads_of(operand)) {
      std::string text = std::to_string(one->tensor);
      bool along_lane = false, along_k = false;
      for (const ExprP& index : one->args) {
        text += " " + to_string(index);
        along_lane = along_lane || uses(index, lane), along_k = along_k || uses(index, k_lane_);
      }
      if (along_lane && along_k && met.insert(text).second)
        bytes += (left ? bm_ : bn_) * bk_ * static_cast<int64_t>(mtmc::bytes(one->dtype)) * (left && splits_ ? 2 : 1);
    }
  }
  return bytes;
}

// Programs in groups of rows (or columns) of tiles, so that what is in the second-level cache is used again.
void ContractionPrinter::header() {
  const int64_t tiles_m = blocks(extent_of(m_), bm_), tiles_n = blocks(extent_of(n_), bn_);
  programs_ = tiles_m * tiles_n * extent_of(batch_);
  const auto text = [](int64_t n) { return std::to_string(n); };
  std::string rest = out_.fresh("pid");
  out_.line(rest + " = tl.program_id(0)");
  if (!batch_.empty()) {
    // Phases of one result lie between each other in memory: programs that fill the same lines run at the same time.
    const bool phases = std::any_of(group_.stages.begin() + first_, group_.stages.begin() + last_ + 1,
                                    [](const GroupStage& s) { return !s.place.empty(); });
    const int64_t tiles = tiles_m * tiles_n, matrices = extent_of(batch_);
    std::string which = out_.fresh("matrix");
    out_.line(which + " = " + rest + (phases ? " % " + text(matrices) : " // " + text(tiles)));
    const std::string inner = out_.fresh("pid");
    out_.line(inner + " = " + rest + (phases ? " // " + text(matrices) : " % " + text(tiles)));
    rest = inner;
    for (size_t i = batch_.size(); i-- > 0;) {
      const std::string name = i == 0 ? which : out_.fresh("b");
      if (i > 0) {
        const std::string next = out_.fresh("matrix");
        out_.line(name + " = " + which + " % " + text(extents_[batch_[i]]));
        out_.line(next + " = " + which + " // " + text(extents_[batch_[i]]));
        which = next;
      }
      for (Tile* tile : {&left_, &right_, &result_}) tile->scalars[batch_[i]] = name;
    }
  }
  std::string pm = "0", pn = "0";
  if (tiles_n == 1) {
    pm = rest;
  } else if (tiles_m == 1) {
    pn = rest;
  } else {
    const int64_t grouped = by_columns_ ? tiles_n : tiles_m, others = by_columns_ ? tiles_m : tiles_n;
    const std::string first = out_.fresh("first"), size = out_.fresh("size"), inside = text(group_size_ * others);
    pm = out_.fresh("tile_m"), pn = out_.fresh("tile_n");
    out_.line(first + " = " + rest + " // " + inside + " * " + text(group_size_));
    out_.line(size + " = min(" + text(grouped) + " - " + first + ", " + text(group_size_) + ")");
    out_.line((by_columns_ ? pn : pm) + " = " + first + " + " + rest + " % " + inside + " % " + size);
    out_.line((by_columns_ ? pm : pn) + " = " + rest + " % " + inside + " // " + size);
  }
  if (tile_axis_ >= 0) result_.scalars[tile_axis_] = pm;
  m_start_ = pm == "0" ? "0" : pm + " * " + text(bm_);
  n_start_ = pn == "0" ? "0" : pn + " * " + text(bn_);
  Lane rows, columns;
  rows.axes = m_, rows.block = bm_;
  columns.axes = n_, columns.block = bn_;
  open_lane(rows, "m", m_start_, extent_of(m_));
  open_lane(columns, "n", n_start_, extent_of(n_));
  left_.rows = result_.rows = rows;
  right_.columns = result_.columns = columns;
}

// A thread that holds many results finishes them half by half: what the later stages compute would not fit its
// registers. Halves of wider tiles would have to move between threads, which costs more.
void ContractionPrinter::epilogue() {
  if (phases_ > 1) return finish_phases();
  const bool halves =
      last_ > first_ && bm_ * bn_ / (32 * warps_) >= kManyResults && bn_ <= 128 && !whole_rows_ && bn_ / 2 >= columns_;
  if (!halves) return finish("acc", n_start_);
  const std::string both = out_.fresh("halves"), half = out_.fresh("half"), width = std::to_string(bn_ / 2);
  out_.line(both + " = tl.split(tl.permute(tl.reshape(acc, [" + std::to_string(bm_) + ", 2, " + width +
            "]), [0, 2, 1]))");
  out_.open("for " + half + " in tl.static_range(2):");
  const std::string start = (n_start_ == "0" ? "" : n_start_ + " + ") + half + " * " + width;
  result_.columns.block = bn_ / 2;
  open_lane(result_.columns, "n", start, extent_of(n_), bn_);
  finish(both + "[" + half + "]", "(" + start + ")");
  out_.close();
}

// The stages after the products, for the columns of `result_`, which begin at `start`.
void ContractionPrinter::finish(const std::string& sums, const std::string& start) {
  if (within_) return finish_columns(sums, start);
  keep(first_, {sums, kRows | kColumns}, DType::f32, result_);
  for (int s = first_ + 1; s <= last_; ++s)
    if (gives_part(s))
      sum_tile(s);
    else if (is_reduction(stage(s).combine))
      reduce_columns(s);
    else
      keep(s, value(body(s), result_), stage(s).body->dtype, result_);
}

std::vector<Numbers> ContractionPrinter::depths(const Numbers& now, const Hardware& hardware) const {
  if (stages_ == 1 || blocks(extent_of(k_lane_), bk_) * extent_of(k_loop_) == 1) return {};
  return other_depths(now, stages_, (bm_ + bn_) * bk_ * (f32_ || splits_ ? 4 : 2), hardware);
}

TritonLaunch ContractionPrinter::run() {
  out_.fresh("acc"), out_.fresh("part");
  header();
  accumulate();
  epilogue();
  TritonLaunch launch = finished(programs_, warps_, stages_);
  rectangles_.pass(launch);
  return launch;
}

TritonLaunch print_contraction(const Group& group, const Frame& frame, const Products& products,
                               const std::string& name, const Numbers& numbers, const Hardware& hardware) {
  return ContractionPrinter(group, frame, products, name, numbers, hardware).run();
}

std::vector<Numbers> contraction_candidates(const Group& group, const Frame& frame, const Products& products,
                                            const Hardware& hardware) {
  return ContractionPrinter(group, frame, products, "", {}, hardware).candidates();
}

std::vector<Numbers> contraction_depths(const Group& group, const Frame& frame, const Products& products,
                                        const Numbers& now, const Hardware& hardware) {
  return ContractionPrinter(group, frame, products, "", now, hardware).depths(now, hardware);
}

}  // namespace mtmc::triton
