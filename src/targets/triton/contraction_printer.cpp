#include "targets/triton/contraction_printer.h"

#include <algorithm>

#include "base/check.h"
#include "base/text.h"

namespace mtmc::triton {
namespace {

// f32(e) of a half-precision e: products of such numbers are exact in f32, so the matrix units may take e itself.
ExprP narrow(const ExprP& expr) {
  if (expr->kind == Expr::Kind::cast && expr->dtype == DType::f32 &&
      (expr->args[0]->dtype == DType::f16 || expr->args[0]->dtype == DType::bf16))
    return expr->args[0];
  return expr;
}

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

Numbers default_numbers(const Sizes& sizes, bool f32, bool split, int64_t lane) {
  const auto fit = [](int64_t wanted, int64_t extent) {
    return std::min(wanted, std::max<int64_t>(16, power_of_two(extent)));
  };
  Numbers numbers;
  if (f32) {
    numbers = {{"m", fit(64, sizes.m)}, {"n", fit(64, sizes.n)}, {"k", fit(32, lane)}, {"warps", 4}, {"stages", 2}};
  } else {
    numbers = {{"m", fit(128, sizes.m)},
               {"n", fit(split ? 128 : 256, sizes.n)},
               {"k", fit(64, lane)},
               {"warps", 8},
               {"stages", 3}};
    while (blocks(sizes.m, numbers["m"]) * blocks(sizes.n, numbers["n"]) * sizes.programs < 132 &&
           (numbers["n"] > 64 || numbers["m"] > 64)) {
      int64_t& larger = numbers["n"] > numbers["m"] ? numbers["n"] : numbers["m"];
      larger /= 2;
    }
    if (numbers["m"] * numbers["n"] <= 128 * 128) numbers["warps"] = split ? 8 : 4;
  }
  numbers["group"] = 8;
  return numbers;
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
  for (const auto& [left, right] : products.pairs)
    if (narrow(left)->dtype == DType::f32 || narrow(right)->dtype == DType::f32 ||
        narrow(left)->dtype != narrow(right)->dtype)
      return true;
  return false;
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
  Numbers chosen = default_numbers(sizes_of(group, frame), f32_, products_.pairs.size() > 1, lane_extent(group, frame));
  for (const auto& [key, value] : numbers)
    if (chosen.count(key)) chosen[key] = value;
  bm_ = chosen["m"], bn_ = chosen["n"], bk_ = chosen["k"];
  warps_ = chosen["warps"], stages_ = chosen["stages"], group_size_ = chosen["group"];
  plan_axes();
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

std::optional<Rectangle> ContractionPrinter::rectangle(const ExprP& expr, bool left) const {
  if (f32_) return std::nullopt;
  const std::vector<int>& lanes = left ? m_ : n_;
  const auto view = find_rectangle(group_, expr, extents_, lanes, k_lane_);
  if (!view) return std::nullopt;
  // A block that reaches over the end of K reads what lies behind it: only zeros may lie there.
  const bool whole = view->inner_across ? extent_of(k_lane_) == view->width && k_loop_.empty() && batch_.empty()
                                        : extent_of(k_lane_) == view->height;
  return extent_of(k_lane_) % bk_ == 0 || whole ? view : std::nullopt;
}

std::string ContractionPrinter::rectangle_text(const Rectangle& view, bool left) {
  const std::string text =
      rectangles_.load(group_, view, left_.scalars, left ? m_start_ : n_start_, k_start_, left ? bm_ : bn_, bk_);
  return text + (view.inner_across == left ? "" : ".T");
}

std::string ContractionPrinter::operand(const ExprP& whole, bool left) {
  const ExprP expr = f32_ ? whole : narrow(whole);
  const std::string name = out_.fresh(left ? "left" : "right");
  if (const auto view = rectangle(expr, left)) {
    out_.line(name + " = " + rectangle_text(*view, left));
    return name;
  }
  const Tile& tile = left ? left_ : right_;
  Value one = value(expr, tile);
  const unsigned k_dim = left ? kColumns : kRows;
  const unsigned all = kRows | kColumns;
  if (one.dims != all)
    one.text = "(" + one.text + " + tl.zeros(" + tile.shape(all) + ", " + dtype_text(expr->dtype) + "))";
  const std::string mask = tile.mask(k_dim);
  if (!mask.empty() && (expr->kind != Expr::Kind::load || expr->guard || one.dims != all))
    one.text = "tl.where(" + mask + ", " + one.text + ", 0)";
  out_.line(name + " = " + one.text);
  return name;
}

// Split operands: where a row or column of the tile holds something that is not finite, its high part alone carries it.
void ContractionPrinter::accumulate() {
  const std::string zeros = "tl.zeros([" + std::to_string(bm_) + ", " + std::to_string(bn_) + "], tl.float32)";
  out_.line("acc = " + zeros);
  if (products_.flags.empty()) {
    loop();
    return;
  }
  std::vector<std::string> least;
  for (size_t i = 0; i < products_.flags.size(); ++i) {
    const GroupTensor& tensor = group_.tensors[products_.flags[i]];
    std::vector<ExprP> rows;
    const Expr* high = loads_of(i == 0 ? products_.pairs[0].first : products_.pairs[0].second)[0];
    for (const ExprP& index : high->args)
      if (index->kind == Expr::Kind::axis && index->axis < stage(first_).rank())
        rows.push_back(canonical(first_, index));
    MTMC_CHECK(rows.size() == static_cast<size_t>(tensor.type.rank()), "scales of " + tensor.name + " of another rank");
    const Value scale = value(load(products_.flags[i], DType::f32, rows), result_);
    least.push_back(scale.dims == 0 ? scale.text : "tl.min(tl.min(" + scale.text + ", axis=1), axis=0)");
  }
  out_.open("if (" + least[0] + " >= 0) & (" + least[1] + " >= 0):");
  loop();
  out_.close();
  out_.open("else:");
  careful_ = true;
  loop();
  out_.close();
}

// One block of K: `step` counts them, the scalar axes of K vary slowest.
void ContractionPrinter::loop() {
  const std::string zeros = "tl.zeros([" + std::to_string(bm_) + ", " + std::to_string(bn_) + "], tl.float32)";
  const int64_t lane_blocks = blocks(extent_of(k_lane_), bk_), count = lane_blocks * extent_of(k_loop_);
  const int64_t together = products_.promote > 0 ? std::max<int64_t>(1, products_.promote / bk_) : count;
  const bool promotes = together < count;
  std::string step = out_.fresh("step");
  if (promotes) {
    const std::string outer = out_.fresh("first_step");
    out_.open("for " + outer + " in range(0, " + std::to_string(count) + ", " + std::to_string(together) + "):");
    out_.line("part = " + zeros);
    out_.open("for " + step + " in range(" + outer + ", " +
              (count % together == 0
                   ? outer + " + " + std::to_string(together)
                   : "min(" + outer + " + " + std::to_string(together) + ", " + std::to_string(count) + ")") +
              "):");
  } else {
    out_.open("for " + step + " in range(" + std::to_string(count) + "):");
  }
  std::string rest = step;
  if (!k_loop_.empty()) {
    std::string block = step;
    if (lane_blocks > 1) {
      block = out_.fresh("block"), rest = out_.fresh("tap");
      out_.line(block + " = " + step + " % " + std::to_string(lane_blocks));
      out_.line(rest + " = " + step + " // " + std::to_string(lane_blocks));
    }
    for (size_t i = k_loop_.size(); i-- > 0;) {
      const std::string name = out_.fresh("k" + std::to_string(i));
      const int64_t extent = extents_[k_loop_[i]];
      out_.line(name + " = " + rest + (i > 0 ? " % " + std::to_string(extent) : ""));
      if (i > 0) {
        const std::string next = out_.fresh("tap");
        out_.line(next + " = " + rest + " // " + std::to_string(extent));
        rest = next;
      }
      left_.scalars[k_loop_[i]] = right_.scalars[k_loop_[i]] = name;
    }
    step = lane_blocks > 1 ? block : "0";
  }
  k_start_ = step == "0" ? "0" : step + " * " + std::to_string(bk_);
  steps();
  out_.close();
  if (!promotes) return;
  out_.line("acc += part");
  out_.close();
}

void ContractionPrinter::steps() {
  Lane k;
  k.axes = k_lane_, k.block = bk_;
  open_lane(k, "k", k_start_, extent_of(k_lane_));
  left_.columns = right_.rows = k;
  std::map<std::string, std::string> names;  // a part that several pairs multiply is read once
  const auto once = [&](const ExprP& expr, bool left) {
    const ExprP here = canonical(first_, expr);
    const std::string key = (left ? "l" : "r") + to_string(here);
    if (!names.count(key)) names[key] = operand(here, left);
    return names[key];
  };
  const int64_t together = products_.promote > 0 ? std::max<int64_t>(1, products_.promote / bk_) : 0;
  const bool promotes = together > 0 && together < blocks(extent_of(k_lane_), bk_) * extent_of(k_loop_);
  const std::string sum = promotes ? "part" : "acc";
  for (const auto& [left, right] : products_.pairs) {
    std::string a = once(left, true), b = once(right, false);
    if (careful_ && products_.pairs.size() > 1 && &left != &products_.pairs[0].first) {
      const auto finite = [](const std::string& x) {
        return "tl.where(tl.abs(" + x + ") < float(\"inf\"), " + x + ", 0.0).to(tl.float16)";
      };
      a = finite(a), b = finite(b);
    }
    out_.line(sum + " = tl.dot(" + a + ", " + b + ", " + sum + (f32_ ? ", input_precision=\"ieee\")" : ")"));
  }
}

void ContractionPrinter::epilogue() {
  keep(first_, {"acc", kRows | kColumns}, DType::f32, result_);
  for (int s = first_ + 1; s <= last_; ++s) keep(s, value(body(s), result_), stage(s).body->dtype, result_);
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
                               const std::string& name, const Numbers& numbers) {
  return ContractionPrinter(group, frame, products, name, numbers).run();
}

std::vector<Numbers> contraction_candidates(const Group& group, const Frame& frame, const Products& products) {
  const Sizes sizes = sizes_of(group, frame);
  const bool f32 = is_f32(products), split = products.pairs.size() > 1;
  const Numbers base = default_numbers(sizes, f32, split, lane_extent(group, frame));
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
  } else if (split) {
    add(128, 128, 64, 4, 3);
    add(128, 128, 64, 8, 2);
    add(128, 64, 64, 4, 3);
    add(128, 256, 32, 8, 3);
    add(64, 64, 64, 4, 3);
  } else {
    add(128, 128, 64, 4, 4);
    add(128, 256, 64, 8, 4);
    add(256, 128, 64, 8, 3);
    add(128, 128, 128, 8, 2);
    add(128, 64, 64, 4, 4);
    add(64, 64, 64, 4, 4);
  }
  return all;
}

}  // namespace mtmc::triton
