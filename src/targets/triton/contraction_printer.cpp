#include "targets/triton/contraction_printer.h"

#include <algorithm>

#include "base/check.h"
#include "base/text.h"

namespace mtmc::triton {

ExprP narrow(const ExprP& expr) {
  if (expr->kind == Expr::Kind::cast && expr->dtype == DType::f32 &&
      (expr->args[0]->dtype == DType::f16 || expr->args[0]->dtype == DType::bf16))
    return expr->args[0];
  return expr;
}

namespace {

constexpr int64_t kManyResults = 128;  // of one thread
constexpr int64_t kBusy = 120;         // programs that nearly fill a GPU

struct Sizes {
  int64_t m = 1, n = 1, k = 1, programs = 1;
};

Sizes sizes_of(const Group& group, const Frame& frame) {
  const GroupStage& stage = group.stages[frame.first];
  const std::vector<int64_t> extents = stage.stage.extents();
  Sizes sizes;
  for (int a : stage.contraction->m) sizes.m *= extents[a];
  for (int a : stage.contraction->n) sizes.n *= extents[a];
  for (int a : stage.contraction->k) sizes.k *= extents[a];
  for (int a : stage.contraction->batch) sizes.programs *= extents[a];
  return sizes;
}

int64_t fit(int64_t wanted, int64_t extent) { return std::min(wanted, std::max<int64_t>(16, power_of_two(extent))); }

Numbers default_numbers(const Sizes& sizes, bool f32, bool halves, int64_t lane) {
  Numbers numbers;
  if (f32) {
    numbers = {{"m", fit(64, sizes.m)}, {"n", fit(64, sizes.n)}, {"k", fit(32, lane)}, {"warps", 4}, {"stages", 2}};
  } else {
    numbers = {{"m", fit(128, sizes.m)},
               {"n", fit(256, sizes.n)},
               {"k", fit(64, lane)},
               {"warps", 8},
               {"stages", halves ? 4 : 3}};
    while (blocks(sizes.m, numbers["m"]) * blocks(sizes.n, numbers["n"]) * sizes.programs < kBusy &&
           (numbers["n"] > 64 || numbers["m"] > 64)) {
      int64_t& larger = numbers["n"] >= numbers["m"] ? numbers["n"] : numbers["m"];
      larger /= 2;
    }
    // Three stages of 128 x 128 leave room for two programs.
    const int64_t results = numbers["m"] * numbers["n"];
    if (results <= 128 * 128) numbers["warps"] = 4, numbers["stages"] = results == 128 * 128 ? 3 : 4;
  }
  numbers["group"] = 8;
  return numbers;
}

// Of two phases that one program may compute. Reading operands from the second-level cache takes the time, so a step
// multiplies all taps along the phases' axis: both phases' products of a tile read it once.
std::vector<Numbers> phase_numbers(const Sizes& sizes, int64_t lane) {
  std::vector<Numbers> all;
  const auto add = [&](int64_t phases, int64_t taps, int64_t m, int64_t k, int64_t warps, int64_t stages) {
    all.push_back({{"phases", phases},
                   {"taps", taps},
                   {"m", fit(m, sizes.m)},
                   {"n", fit(64, sizes.n)},
                   {"k", fit(k, lane)},
                   {"warps", warps},
                   {"stages", stages},
                   {"group", 8}});
  };
  add(2, 2, 128, 32, 8, 2);
  add(2, 2, 128, 32, 4, 2);
  add(2, 2, 256, 32, 8, 3);
  add(2, 2, 64, 64, 4, 2);
  add(2, 1, 128, 64, 8, 2);
  add(2, 1, 128, 32, 4, 4);
  add(1, 1, 128, 64, 4, 4);
  return all;
}

// The axis of K that runs along a lane: the longest when it is long enough, else all of them together.
std::vector<int> lane_axes(const std::vector<int>& k, const std::vector<int64_t>& extents) {
  int longest = k.front();
  for (int a : k)
    if (extents[a] > extents[longest]) longest = a;
  if (k.size() > 1 && extents[longest] >= 16) return {longest};
  return k;
}

int64_t lane_extent(const Group& group, const Frame& frame) {
  const GroupStage& stage = group.stages[frame.first];
  const std::vector<int64_t> extents = stage.stage.extents();
  int64_t extent = 1;
  for (int a : lane_axes(stage.contraction->k, extents)) extent *= extents[a];
  return extent;
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
  for (int s = frame.first + 1; s <= frame.last; ++s) {
    if (group.stages[s].stage.combine != Combine::none) return false;
    for (int a = 0; a < group.stages[s].stage.rank(); ++a)
      if (group.stages[s].stage.type.shape[a] > 1 && frame.shared_of(s, a) < 0) return false;
  }
  return true;
}

ContractionPrinter::ContractionPrinter(const Group& group, const Frame& frame, Products products, std::string name,
                                       const Numbers& numbers)
    : StagePrinter(group, frame.first, frame.last, std::move(name)), frame_(frame), products_(std::move(products)) {
  if (wide_) throw Unsupported{"a contraction of more than 2^31 elements"};
  f32_ = is_f32(products_);
  plan_axes();
  phase_ = find_phase();
  Numbers chosen = phase_ < 0
                       ? default_numbers(sizes_of(group, frame), f32_, products_.halves, lane_extent(group, frame))
                       : phase_numbers(sizes_of(group, frame), lane_extent(group, frame)).front();
  for (const auto& [key, value] : numbers)
    if (chosen.count(key)) chosen[key] = value;
  bm_ = chosen["m"], bn_ = chosen["n"], bk_ = chosen["k"];
  warps_ = chosen["warps"], stages_ = chosen["stages"], group_size_ = chosen["group"];
  if (phase_ >= 0) plan_phases(chosen["phases"], chosen["taps"]);
}

void ContractionPrinter::plan_axes() {
  for (const SharedAxis& axis : frame_.shared) extents_.push_back(axis.extent);
  for (int s = first_; s <= last_; ++s)
    for (int a = 0; a < stage(s).rank(); ++a) axes_[s].push_back(frame_.shared_of(s, a));
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
  k_lane_ = lane_axes(k, extents_);
  for (int a : k)
    if (std::find(k_lane_.begin(), k_lane_.end(), a) == k_lane_.end()) k_loop_.push_back(a);
  if (products_.halves)
    for (int* part : {&left_part_, &right_part_}) {
      *part = static_cast<int>(extents_.size());
      extents_.push_back(2);
    }
  for (Tile* tile : {&left_, &right_, &result_}) tile->extents = extents_;
  left_.name = "left", right_.name = "right", result_.name = "result";
}

int64_t ContractionPrinter::extent_of(const std::vector<int>& axes) const {
  int64_t extent = 1;
  for (int a : axes) extent *= extents_[a];
  return extent;
}

// Programs in groups of rows of tiles, so that what is in the second-level cache is used again.
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
    const std::string first = out_.fresh("first"), size = out_.fresh("size"), inside = text(group_size_ * tiles_n);
    pm = out_.fresh("tile_m"), pn = out_.fresh("tile_n");
    out_.line(first + " = " + rest + " // " + inside + " * " + text(group_size_));
    out_.line(size + " = min(" + text(tiles_m) + " - " + first + ", " + text(group_size_) + ")");
    out_.line(pm + " = " + first + " + " + rest + " % " + inside + " % " + size);
    out_.line(pn + " = " + rest + " % " + inside + " // " + size);
  }
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
  const bool halves = last_ > first_ && bm_ * bn_ / (32 * warps_) >= kManyResults && bn_ <= 128;
  std::string result = "acc";
  if (halves) {
    const std::string both = out_.fresh("halves"), half = out_.fresh("half"), width = std::to_string(bn_ / 2);
    out_.line(both + " = tl.split(tl.permute(tl.reshape(acc, [" + std::to_string(bm_) + ", 2, " + width +
              "]), [0, 2, 1]))");
    out_.open("for " + half + " in tl.static_range(2):");
    Lane columns;
    columns.axes = n_, columns.block = bn_ / 2;
    open_lane(columns, "n", (n_start_ == "0" ? "" : n_start_ + " + ") + half + " * " + width, extent_of(n_));
    result_.columns = columns;
    result = both + "[" + half + "]";
  }
  keep(first_, {result, kRows | kColumns}, DType::f32, result_);
  for (int s = first_ + 1; s <= last_; ++s) keep(s, value(body(s), result_), stage(s).body->dtype, result_);
  if (halves) out_.close();
}

TritonLaunch ContractionPrinter::run() {
  out_.fresh("acc"), out_.fresh("part");
  header();
  accumulate();
  phases_ > 1 ? interleave() : epilogue();
  TritonLaunch launch = finished(programs_, warps_, stages_);
  rectangles_.pass(launch);
  return launch;
}

TritonLaunch print_contraction(const Group& group, const Frame& frame, const Products& products,
                               const std::string& name, const Numbers& numbers) {
  return ContractionPrinter(group, frame, products, name, numbers).run();
}

std::vector<Numbers> contraction_candidates(const Group& group, const Frame& frame, const Products& products) {
  const Sizes sizes = sizes_of(group, frame);
  if (ContractionPrinter(group, frame, products, "", {}).has_phases())
    return phase_numbers(sizes, lane_extent(group, frame));
  const bool f32 = is_f32(products);
  const Numbers base = default_numbers(sizes, f32, products.halves, lane_extent(group, frame));
  std::vector<Numbers> all = {base};
  const auto add = [&](int64_t m, int64_t n, int64_t k, int64_t warps, int64_t stages) {
    Numbers one = {{"m", std::min(m, std::max<int64_t>(16, power_of_two(sizes.m)))},
                   {"n", std::min(n, std::max<int64_t>(16, power_of_two(sizes.n)))},
                   {"k", std::min(k, std::max<int64_t>(16, power_of_two(lane_extent(group, frame))))},
                   {"warps", warps},
                   {"stages", stages},
                   {"group", base.at("group")}};
    if (std::find(all.begin(), all.end(), one) == all.end()) all.push_back(std::move(one));
  };
  if (f32) {
    add(128, 64, 16, 8, 2);
    add(32, 32, 32, 4, 3);
  } else if (products.halves) {
    add(128, 256, 64, 8, 4);
    add(256, 128, 64, 8, 4);
    add(128, 128, 64, 4, 3);
    add(128, 64, 64, 4, 4);
    add(64, 64, 64, 4, 4);
  } else {
    add(128, 128, 64, 4, 3);
    add(128, 256, 64, 8, 4);
    add(256, 128, 64, 8, 3);
    add(128, 64, 64, 4, 4);
    add(64, 64, 64, 4, 4);
  }
  return all;
}

}  // namespace mtmc::triton
