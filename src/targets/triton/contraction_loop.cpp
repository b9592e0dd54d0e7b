// The loop of a contraction over blocks of K: how operands are read and what is multiplied.
#include <algorithm>

#include "base/text.h"
#include "targets/triton/contraction_printer.h"

namespace mtmc::triton {
namespace {

constexpr int64_t kTwoSums = 64;  // results of one thread, which has two sums of each

std::string text(int64_t n) { return std::to_string(n); }

}  // namespace

std::optional<Rectangle> ContractionPrinter::rectangle(const ExprP& expr, bool left) const {
  if (f32_) return std::nullopt;
  const std::vector<int>& lanes = left ? m_ : n_;
  const auto view = find_rectangle(group_, expr, extents_, lanes, k_lane_);
  if (!view) return std::nullopt;
  // A block that reaches over the end of K reads what lies behind it: only zeros may lie there. There are outside the
  // view, and in the room that a packed tensor has.
  const int64_t k = extent_of(k_lane_);
  const GroupTensor& tensor = group_.tensors[view->tensor];
  const ExprP part = narrow(canonical(first_, left ? products_.left : products_.right));
  int64_t room = k;
  for (size_t d = 0; tensor.zeros && d < part->args.size(); ++d)
    if (k_lane_.size() == 1 && to_string(part->args[d]) == to_string(axis(k_lane_[0]))) room = tensor.type.shape[d];
  const bool own = tensor.role == GroupTensor::Role::scratch;  // others are not measured
  const bool alone = tensor.zeros || (k_loop_.empty() && (batch_.empty() || own));
  const bool whole = view->inner_across ? room == view->width && alone : k == view->height;
  return room >= blocks(k, bk_) * bk_ || whole ? view : std::nullopt;
}

std::string ContractionPrinter::rectangle_text(const Rectangle& view, bool left) {
  const std::string text =
      rectangles_.load(group_, view, left_.scalars, left ? m_start_ : n_start_, k_start_, left ? bm_ : bn_, bk_);
  return text + (view.inner_across == left ? "" : ".T");
}

std::string ContractionPrinter::operand(const ExprP& whole, bool left) {
  const ExprP expr = f32_ ? whole : narrow(whole);
  const std::string key = "operand:" + std::string(left ? "left:" : "right:") + to_string(expr);
  if (const auto* known = out_.find(key)) return known->text;  // another phase multiplies it, too
  const std::string name = out_.fresh(left ? "left" : "right");
  out_.remember(key, {name, kRows | kColumns});
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
  const bool loaded = expr->kind == Expr::Kind::load && !expr->guard && one.dims == all;
  if (!mask.empty() && !loaded) one.text = "tl.where(" + mask + ", " + one.text + ", 0)";
  computes_left_ |= left && !loaded && !f32_;
  out_.line(name + " = " + one.text);
  return name;
}

// Where a block of K begins: the scalar axes of K vary slowest.
void ContractionPrinter::open_block(std::string step) {
  const int64_t lane_blocks = blocks(extent_of(k_lane_), bk_);
  if (!k_loop_.empty()) {
    std::string rest = step, block = step;
    if (lane_blocks > 1) {
      block = out_.fresh("block"), rest = out_.fresh("tap");
      out_.line(block + " = " + step + " % " + text(lane_blocks));
      out_.line(rest + " = " + step + " // " + text(lane_blocks));
    }
    for (size_t i = k_loop_.size(); i-- > 0;) {
      const std::string name = out_.fresh("k" + text(static_cast<int64_t>(i)));
      const auto limited = counts_.find(k_loop_[i]);
      const std::string extent = limited == counts_.end() ? text(extents_[k_loop_[i]]) : limited->second;
      out_.line(name + " = " + rest + (i > 0 ? " % " + extent : ""));
      if (i > 0) {
        const std::string next = out_.fresh("tap");
        out_.line(next + " = " + rest + " // " + extent);
        rest = next;
      }
      left_.scalars[k_loop_[i]] = right_.scalars[k_loop_[i]] = name;
    }
    step = lane_blocks > 1 ? block : "0";
  }
  k_start_ = step == "0" ? "0" : step + " * " + text(bk_);
  Lane k;
  k.axes = k_lane_, k.block = bk_;
  open_lane(k, "k", k_start_, extent_of(k_lane_));
  left_.columns = right_.rows = k;
}

// Does a block of K hold elements that three or more neighbouring rows of an operand share? So it is with the windows
// of a convolution of few channels, of which a block has several elements next to each other.
bool ContractionPrinter::overlaps() const {
  for (const bool left : {true, false}) {
    const std::vector<int>& lane = left ? m_ : n_;
    const ExprP operand = canonical(first_, left ? products_.left : products_.right);
    for (const Expr* one : loads_of(operand)) {
      const ExprP flat = simplify(flat_index(one->args, group_.tensors[one->tensor].strides), extents_);
      const Affine at = affine(flat, static_cast<int>(extents_.size()));
      const auto last = std::find_if(lane.rbegin(), lane.rend(), [&](int a) { return extents_[a] > 1; });
      if (!at.ok || last == lane.rend()) continue;
      int64_t run = 1;  // elements of a row that lie next to each other
      for (size_t i = k_lane_.size(); i-- > 0 && at.coefficients[k_lane_[i]] == run;) run *= extents_[k_lane_[i]];
      const int64_t step = at.coefficients[*last];
      if (step > 0 && 2 * step < std::min<int64_t>(64, run)) return true;
    }
  }
  return false;
}

// An operand over the axes of the launch; of a split one, this part of it (null: the one that the step multiplies).
ExprP ContractionPrinter::operand_expr(bool left, ExprP part) const {
  const ExprP expr = canonical(first_, left ? products_.left : products_.right);
  if (!products_.two_part || (splits_ && !left)) return expr;
  if (!part) part = axis(left ? left_part_ : right_part_);
  return transform_loads(expr, [&](const ExprP& e) -> ExprP {
    std::vector<ExprP> indices = e->args;  // the low part lies right behind the high one
    indices[0] = indices[0] + part * index_constant(group_.tensors[e->tensor].type.shape[0]);
    return load(e->tensor, e->dtype, indices, e->guard, e->other);
  });
}

// Adds up into `acc`. The three products of split operands are one loop, the small ones first: high times low, low
// times high, high times high. So the pipeline of loads never drains, a step multiplies two tiles as in any product of
// half precision, and only the last third adds to large partial sums.
void ContractionPrinter::accumulate() {
  if (splits_) return accumulate_split();
  const bool one_stage = products_.two_part && stages_ == 1 && phases_ == 1 && taps_ == 1;
  if (one_stage && bm_ * bn_ <= kTwoSums * 32 * warps_) return accumulate_at_once();
  const std::string zeros = "tl.zeros([" + text(bm_) + ", " + text(bn_) + "], tl.float32)";
  out_.line("acc = " + zeros);
  const int64_t count = blocks(extent_of(k_lane_), bk_) * extent_of(k_loop_);
  const int64_t together = std::max<int64_t>(1, products_.promote / bk_);
  const bool parts = products_.two_part, promotes = parts && together < count;
  const std::string step = out_.fresh("step");
  sums_ = {promotes ? "part" : "acc"};
  computes_left_ = false;
  for (int64_t p = 1; p < phases_; ++p) {
    sums_.push_back(out_.fresh("acc"));
    out_.line(sums_.back() + " = " + zeros);
  }
  if (promotes) out_.line("part = " + zeros);
  out_.open("for " + step + " in range(" + steps_if_any(parts ? text(3 * count) : steps_of_k()) + "):");
  std::string product;
  if (parts) {
    product = out_.fresh("product");
    const std::string left = out_.fresh("left_part"), right = out_.fresh("right_part");
    out_.line(product + " = " + step + " // " + text(count));
    out_.line(left + " = " + product + " % 2");
    out_.line(right + " = (2 - " + product + ") // 2");
    for (Tile* tile : {&left_, &right_}) tile->scalars[left_part_] = left, tile->scalars[right_part_] = right;
  }
  open_block(parts ? (count > 1 ? step + " % " + text(count) : "0") : step);
  for (int64_t tap = 0; tap < taps_; ++tap)
    for (int64_t p = 0; p < phases_; ++p) {
      turn_to(p, tap);
      if (is_dead()) continue;
      const std::string left = without_dead(operand(operand_expr(true), true));
      const std::string right = operand(operand_expr(false), false);
      out_.line(sums_[p] + " = tl.dot(" + left + ", " + right + ", " + sums_[p] +
                (f32_ ? ", input_precision=\"ieee\")" : ")"));
    }
  if (computes_left_) {
    need("_settled");
    for (const std::string& sum : sums_) out_.line(sum + " = _settled(" + sum + ")");
  }
  if (promotes) {
    const std::string every = text(together);
    out_.open("if (" + product + " == 2) & (" + step + " % " + every + " == " + text(together - 1) + "):");
    out_.line("acc += part");
    out_.line("part = " + zeros);
    out_.close();
  }
  out_.close();
  if (promotes) out_.line("acc += part");
  for (int64_t p = 0; p < phases_; ++p) {
    turn_to(p, 0);
    clear_dead(promotes ? "acc" : sums_[p]);
  }
}

// The same where no loads are under way ahead of a step: it multiplies all parts of one block, so that each is loaded
// once. The small products add up apart.
void ContractionPrinter::accumulate_at_once() {
  const std::string zeros = "tl.zeros([" + text(bm_) + ", " + text(bn_) + "], tl.float32)";
  const int64_t count = blocks(extent_of(k_lane_), bk_) * extent_of(k_loop_);
  const int64_t together = std::max<int64_t>(1, products_.promote / bk_);
  const bool promotes = together < count;
  const std::string sum = promotes ? "part" : "acc", small = out_.fresh("small"), step = out_.fresh("step");
  computes_left_ = false;
  out_.line("acc = " + zeros);
  out_.line(small + " = " + zeros);
  if (promotes) out_.line("part = " + zeros);
  out_.open("for " + step + " in range(" + steps_if_any(text(count)) + "):");
  open_block(count > 1 ? step : "0");
  std::string left[2], right[2];
  for (const int low : {0, 1}) {
    left[low] = without_dead(operand(operand_expr(true, index_constant(low)), true));
    right[low] = operand(operand_expr(false, index_constant(low)), false);
  }
  const auto add = [&](const std::string& to, const std::string& a, const std::string& b) {
    out_.line(to + " = tl.dot(" + a + ", " + b + ", " + to + ")");
  };
  add(small, left[0], right[1]);
  add(small, left[1], right[0]);
  add(sum, left[0], right[0]);
  if (computes_left_) {
    need("_settled");
    for (const std::string& one : {small, sum}) out_.line(one + " = _settled(" + one + ")");
  }
  if (promotes) {
    out_.open("if " + step + " % " + text(together) + " == " + text(together - 1) + ":");
    out_.line("acc += part");
    out_.line("part = " + zeros);
    out_.close();
  }
  out_.close();
  out_.line("acc += " + small + (promotes ? " + part" : ""));
  clear_dead("acc");
}

// The same where the right operand comes as it is: each block is split in two parts of scales of its own, multiplied,
// and brought back before it is added, which registers do (no sum of the matrix units is longer than a block).
void ContractionPrinter::accumulate_split() {
  const int64_t count = blocks(extent_of(k_lane_), bk_) * extent_of(k_loop_);
  const std::string step = out_.fresh("step");
  out_.line("acc = tl.zeros([" + text(bm_) + ", " + text(bn_) + "], tl.float32)");
  out_.open("for " + step + " in range(" + steps_if_any(text(count)) + "):");
  open_block(count > 1 ? step : "0");
  std::string left[2];
  for (const int low : {0, 1}) left[low] = without_dead(operand(operand_expr(true, index_constant(low)), true));
  const std::string right = operand(operand_expr(false), false);
  const std::string high = out_.fresh("high"), low = out_.fresh("low"), scale = out_.fresh("scale");
  need("_parts");
  out_.line(high + ", " + low + ", " + scale + " = _parts(" + right + ")");
  out_.line("part = tl.dot(" + left[1] + ", " + high + ")");
  out_.line("part = tl.dot(" + left[0] + ", " + low + ", part)");
  out_.line("part = tl.dot(" + left[0] + ", " + high + ", part)");
  out_.line("acc += part * (1.0 / " + scale + ")");
  out_.close();
  clear_dead("acc");
}

}  // namespace mtmc::triton
