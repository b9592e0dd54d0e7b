#include "targets/triton/attention_printer.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/text.h"
#include "targets/triton/contraction_printer.h"
#include "targets/triton/depths.h"
#include "targets/triton/rectangle.h"
#include "targets/triton/stage_printer.h"

namespace mtmc::triton {
namespace {

constexpr double kLog2e = 1.4426950408889634;
// Weights in two f16 parts are multiplied by 2^12, so that what small ones lose is below 2^-36 of the largest. Without
// a softmax the largest of a row and block is brought there, from no less than 2^-100.
constexpr int kWeightScale = 12, kSmallestPeak = -100;
constexpr const char* kInfinity = "float(\"-inf\")";

// Whether an operand is the high one of two parts (pack.cpp).
bool in_parts(const Group& group, const ExprP& e) {
  return e->kind == Expr::Kind::load && has_low_part(group, e->tensor);
}

class AttentionPrinter : public StagePrinter {
 public:
  AttentionPrinter(const Group& group, const Attention& found, std::string name, const Numbers& numbers)
      : StagePrinter(group, found.scores, found.last, std::move(name)),
        found_(found),
        at_(axes_of(group, found)),
        bm_(numbers.at("m")),
        bt_(numbers.at("n")),
        warps_(numbers.at("warps")),
        stages_(numbers.at("stages")) {
    axes_ = at_.of_stage;
    extents_ = at_.extents;
    if (wide_) throw Unsupported{"attention over more than 2^31 elements"};
    for (const char* word : {"acc", "largest", "total", "query", "query_low", "key", "weight", "start"})
      out_.fresh(word);
    for (Tile* tile : {&query_, &key_, &score_, &value_, &result_}) tile->extents = extents_;
    query_.name = "query", key_.name = "key", score_.name = "score", value_.name = "value", result_.name = "result";
    f_ = found.softmax ? body(found.largest) : canonical(found.context, group.stages[found.context].contraction->left);
    parts_ = in_parts(group, operand(found.scores, true));
  }

  TritonLaunch run() {
    header();
    const std::string m_shape = "[" + std::to_string(bm_) + "]";
    out_.line("acc = tl.zeros([" + std::to_string(bm_) + ", " + std::to_string(result_.columns.block) +
              "], tl.float32)");
    if (found_.softmax) {
      out_.line("largest = tl.full(" + m_shape + ", " + kInfinity + ", tl.float32)");
      out_.line("total = tl.zeros(" + m_shape + ", tl.float32)");
    }
    const ExprP queries = operand(found_.scores, true);
    const auto query = [&](const ExprP& e) {
      return fetch(e, query_, {at_.m}, {at_.d}, m_start_, "0", bm_, query_.columns.block);
    };
    out_.line("query = " + query(queries));
    if (parts_) out_.line("query_low = " + query(low(queries)));
    read_rows();
    loops();
    finish();
    TritonLaunch launch = finished(programs_, warps_, stages_);
    rectangles_.pass(launch);
    return launch;
  }

 private:
  ExprP operand(int s, bool left) const {
    const Contraction& c = *group_.stages[s].contraction;
    return narrow(canonical(s, left ? c.left : c.right));
  }

  // The low part of an operand in two parts: it lies right behind the high one.
  ExprP low(const ExprP& high) const {
    std::vector<ExprP> indices = high->args;
    indices[0] = simplify(indices[0] + index_constant(group_.tensors[high->tensor].type.shape[0]), extents_);
    return load(high->tensor, high->dtype, indices);
  }

  // What the scores of a row need of other tensors, and is the same for all keys, is read before the loops.
  void read_rows() {
    score_.columns.block = bt_;
    transform_loads(f_, [&](const ExprP& e) {
      if (!e->guard && e->tensor != dest(found_.scores) && !uses_axis(e, at_.t)) value(e, score_);
      return e;
    });
  }

  void lane(Lane& lane, int axis, const std::string& name, const std::string& start, int64_t block) {
    lane.axes = {axis};
    lane.block = block;
    open_lane(lane, name, start, extents_[axis]);
  }

  void header() {
    const int64_t tiles = blocks(extents_[at_.m], bm_);
    programs_ = tiles;
    const std::string pid = out_.fresh("pid"), tile = out_.fresh("tile");
    out_.line(pid + " = tl.program_id(0)");
    // Late rows of a causal mask see the most keys: they come first.
    const std::string which = pid + " % " + std::to_string(tiles);
    out_.line(tile + " = " + (causal() ? std::to_string(tiles - 1) + " - " + which : which));
    std::string rest = out_.fresh("head");
    out_.line(rest + " = " + pid + " // " + std::to_string(tiles));
    for (size_t i = at_.batch.size(); i-- > 0;) {
      const int a = at_.batch[i];
      programs_ *= extents_[a];
      std::string name = rest;
      if (i > 0) {
        name = out_.fresh("b");
        out_.line(name + " = " + rest + " % " + std::to_string(extents_[a]));
        const std::string next = out_.fresh("head");
        out_.line(next + " = " + rest + " // " + std::to_string(extents_[a]));
        rest = next;
      }
      for (Tile* t : {&query_, &key_, &score_, &value_, &result_}) t->scalars[a] = name;
    }
    m_start_ = tiles == 1 ? "0" : out_.fresh("first");
    if (tiles > 1) out_.line(m_start_ + " = " + tile + " * " + std::to_string(bm_));
    Lane m, d, e;
    lane(m, at_.m, "m", m_start_, bm_);
    lane(d, at_.d, "d", "0", std::max<int64_t>(16, power_of_two(extents_[at_.d])));
    lane(e, at_.e, "e", "0", std::max<int64_t>(16, power_of_two(extents_[at_.e])));
    query_.rows = score_.rows = result_.rows = m;
    query_.columns = key_.rows = d;
    value_.columns = result_.columns = e;
  }

  // select(t <= m, score, -inf): keys after the tile's last row need not be looked at.
  bool causal() const {
    if (!found_.softmax || !is_masked(f_) || !is_fn(f_->args[0], Fn::le)) return false;
    const ExprP& condition = f_->args[0];
    return condition->args[0]->kind == Expr::Kind::axis && condition->args[0]->axis == at_.t &&
           condition->args[1]->kind == Expr::Kind::axis && condition->args[1]->axis == at_.m;
  }

  void loops() {
    const int64_t keys = extents_[at_.t];
    if (!causal()) {
      block("0", std::to_string(keys), f_);
      return;
    }
    // Blocks below the diagonal are not masked at all.
    const int64_t whole = std::min(bm_, bt_) == bt_ ? bt_ : bm_;
    const std::string diagonal =
        m_start_ == "0" ? "0" : "(" + m_start_ + " // " + std::to_string(whole) + " * " + std::to_string(whole) + ")";
    const std::string end = "min(" + m_start_ + " + " + std::to_string(bm_) + ", " + std::to_string(keys) + ")";
    if (m_start_ != "0" && whole % bt_ == 0 && keys % bt_ == 0) {
      block("0", "min(" + diagonal + ", " + std::to_string(keys) + ")", f_->args[1]);
      block("min(" + diagonal + ", " + std::to_string(keys) + ")", end, f_);
    } else {
      block("0", end, f_);
    }
  }

  void block(const std::string& from, const std::string& to, const ExprP& f) {
    const std::string start = out_.fresh("start");
    out_.open("for " + start + " in range(" + from + ", " + to + ", " + std::to_string(bt_) + "):");
    Lane t;
    lane(t, at_.t, "t", start, bt_);
    key_.columns = score_.columns = value_.rows = t;
    const std::string score = out_.fresh("score");
    multiply_keys(score, start);
    hold(found_.scores, {score, kRows | kColumns});
    if (found_.softmax)
      normalise(f, start);
    else
      weigh(start);
    out_.close();
  }

  // Keys behind the last have no weight.
  void weigh(const std::string& start) {
    const Value weight = value(f_, score_);
    const std::string mask = score_.mask(kColumns);
    out_.line("weight = " + (mask.empty() ? weight.text : "tl.where(" + mask + ", " + weight.text + ", 0.0)"));
    if (!parts_) return add_values("", start);
    const std::string size = out_.fresh("size"), peak = out_.fresh("peak"), up = out_.fresh("up");
    out_.line(size + " = tl.abs(weight)");
    out_.line(peak + " = tl.max(tl.where(" + size + " < float(\"inf\"), " + size + ", 0.0), axis=1)");
    out_.line(up + " = tl.exp2(" + std::to_string(kWeightScale) + " - tl.maximum(tl.floor(tl.log2(" + peak + ")), " +
              std::to_string(kSmallestPeak) + "))");
    out_.line("weight = weight * " + up + "[:, None]");
    add_values("(1.0 / " + up + ")", start);
  }

  void normalise(const ExprP& f, const std::string& start) {
    // In powers of two: f * log2(e), folded into the scale where there is one.
    Value scaled = value(in_log2(f), score_);
    if (const std::string mask = score_.mask(kColumns); !mask.empty())
      scaled.text = "tl.where(" + mask + ", " + scaled.text + ", " + kInfinity + ")";
    const std::string x = out_.fresh("x"), now = out_.fresh("now"), shift = out_.fresh("shift"),
                      shrink = out_.fresh("shrink");
    out_.line(x + " = " + scaled.text);
    out_.line(now + " = tl.maximum(largest, tl.max(" + x + ", axis=1))");
    // A row may have seen only masked keys so far, or only products that are -inf.
    out_.line(shift + " = tl.where(" + now + " == " + kInfinity + ", 0.0, " + now + ")");
    const std::string up = parts_ ? " - " + std::to_string(kWeightScale) : "";
    out_.line("weight = tl.exp2(" + x + " - (" + shift + up + ")[:, None])");
    out_.line(shrink + " = tl.exp2(largest - " + shift + ")");
    out_.line("total = total * " + shrink + " + tl.sum(weight, axis=1)");
    add_values(shrink, start);
    out_.line("largest = " + now);
  }

  // Small products first, so that what they add to is small as well.
  void multiply_keys(const std::string& score, const std::string& start) {
    const ExprP keys = operand(found_.scores, false);
    if (keys->dtype != operand(found_.scores, true)->dtype) throw Unsupported{"attention of operands of two types"};
    // On an H100 such a kernel (33 keys of 16 features side by side, tiles of 64 x 64, Triton 3.6) ended with an
    // illegal memory access; why was not found.
    if (parts_ && !found_.softmax && !find_rectangle(group_, keys, extents_, {at_.t}, {at_.d}))
      throw Unsupported{"keys in two parts that no descriptor reads"};
    const auto key = [&](const ExprP& e) {
      return fetch(e, key_, {at_.t}, {at_.d}, start, "0", bt_, key_.rows.block, true);
    };
    out_.line("key = " + key(keys));
    if (!parts_) {
      out_.line(score + " = tl.dot(query, key" + exactly(keys) + ")");
      return;
    }
    const std::string key_low = out_.fresh("key_low");
    out_.line(key_low + " = " + key(low(keys)));
    out_.line(score + " = tl.dot(query_low, key)");
    out_.line(score + " = tl.dot(query, " + key_low + ", " + score + ")");
    out_.line(score + " = tl.dot(query, key, " + score + ")");
  }

  // `factor`: what a larger maximum makes of each row so far; without a softmax, what undoes the scale of weights in
  // parts.
  void add_values(const std::string& factor, const std::string& start) {
    const ExprP values = operand(found_.context, false);
    const std::string half = dtype_text(values->dtype);
    const auto fetched = [&](const std::string& hint, const ExprP& e) {
      const std::string v = out_.fresh(hint);
      out_.line(v + " = " + fetch(e, value_, {at_.t}, {at_.e}, start, "0", bt_, value_.columns.block));
      if (!value_.rows.mask.empty())
        out_.line(v + " = tl.where(" + value_.mask(kRows) + ", " + v + ", 0.0)" +
                  (values->dtype == DType::f32 ? "" : ".to(" + half + ")"));
      return v;
    };
    const std::string v = fetched("v", values);
    if (!parts_) {
      const std::string weight = values->dtype == DType::f32 ? "weight" : "weight.to(" + half + ")";
      const std::string acc = found_.softmax ? "acc * " + factor + "[:, None]" : "acc";
      out_.line("acc = tl.dot(" + weight + ", " + v + ", " + acc + exactly(values) + ")");
      return;
    }
    const std::string v_low = fetched("v_low", low(values)), high = out_.fresh("weight_high"),
                      rest = out_.fresh("weight_low"), added = out_.fresh("added");
    // What is not finite is the low part, beside a high one that has its sign (as in packed operands).
    const std::string finite = "tl.abs(weight) < float(\"inf\")", lost = "weight - " + high + ".to(tl.float32)";
    const auto where_finite = [&](const std::string& then, const std::string& other) {
      return found_.softmax ? then : "tl.where(" + finite + ", " + then + ", " + other + ")";
    };
    out_.line(high + " = " + where_finite("weight", "tl.where(weight < 0, -1.0, 1.0)") + ".to(tl.float16)");
    out_.line(rest + " = (" + where_finite(lost, "weight") + ").to(tl.float16)");
    out_.line(added + " = tl.dot(" + rest + ", " + v + ")");
    out_.line(added + " = tl.dot(" + high + ", " + v_low + ", " + added + ")");
    out_.line(added + " = tl.dot(" + high + ", " + v + ", " + added + ")");
    // Matrix units cut partial sums off: long sums are added up here.
    out_.line("acc = " + (found_.softmax ? "acc * " + factor + "[:, None] + " + added
                                         : "acc + " + added + " * " + factor + "[:, None]"));
  }

  static std::string exactly(const ExprP& e) { return e->dtype == DType::f32 ? ", input_precision=\"tf32x3\"" : ""; }

  ExprP in_log2(const ExprP& f) const {
    if (is_masked(f)) return select(f->args[0], in_log2(f->args[1]), f->args[2]);
    if (is_fn(f, Fn::mul) && is_constant(f->args[1])) return times(f->args[0], f->args[1]->number * kLog2e);
    if (is_fn(f, Fn::div) && is_constant(f->args[1])) return times(f->args[0], kLog2e / f->args[1]->number);
    return times(f, kLog2e);
  }

  // A factor that a row has anyway takes the constant.
  ExprP times(const ExprP& e, double factor) const {
    const ExprP c = constant(DType::f32, factor);
    const bool by_row = is_fn(e, Fn::mul) && !uses_axis(e->args[1], at_.t) && !reads(e->args[1], dest(found_.scores));
    return by_row ? e->args[0] * (e->args[1] * c) : e * c;
  }

  // An operand's block: rows x columns of its tile. `turned`: the tile's rows are the inner axis.
  std::string fetch(const ExprP& e, const Tile& tile, const std::vector<int>& outer, const std::vector<int>& inner,
                    const std::string& outer_start, const std::string& inner_start, int64_t outer_block,
                    int64_t inner_block, bool turned = false) {
    const auto view = find_rectangle(group_, e, extents_, outer, inner);
    if (view && extents_[inner[0]] == inner_block) {
      const std::string text =
          rectangles_.load(group_, *view, tile.scalars, outer_start, inner_start, outer_block, inner_block);
      return text + (view->inner_across == turned ? ".T" : "");
    }
    Value one = value(e, tile);
    if (one.dims != (kRows | kColumns)) throw Unsupported{"attention with an operand that is not a matrix"};
    const std::string mask = tile.mask(turned ? kRows : kColumns);  // dead lanes of the inner axis add nothing
    if (!mask.empty() && (e->kind != Expr::Kind::load || e->guard))
      one.text = "tl.where(" + mask + ", " + one.text + ", 0.0)";
    return one.text;
  }

  void finish() {
    const unsigned all = kRows | kColumns;
    const std::string total = found_.softmax ? finish_rows() : "";
    keep(found_.context, {found_.normalised ? "acc / " + total : "acc", all}, DType::f32, result_);
    for (int s = found_.context + 1; s <= found_.last; ++s)
      keep(s, value(body(s), result_), stage(s).body->dtype, result_);
  }

  // The name of the sums of the weights.
  std::string finish_rows() {
    out_.line("largest = largest * " + format_double(1 / kLog2e));
    if (parts_)
      for (const char* scaled : {"total", "acc"})
        out_.line(std::string(scaled) + " *= " + format_double(std::ldexp(1.0, -kWeightScale)));
    const std::string total = out_.fresh("sum");
    out_.line(total + " = total[:, None]");
    hold(found_.sum, {total, kRows});
    hold(found_.largest, {"largest[:, None]", kRows});
    return total;
  }

  const Attention& found_;
  const AttentionAxes at_;
  int64_t bm_, bt_, warps_, stages_, programs_ = 1;
  Tile query_, key_, score_, value_, result_;
  Rectangles rectangles_;
  ExprP f_;
  bool parts_ = false;  // operands are sums of two f16 numbers
  std::string m_start_;
};

}  // namespace

std::vector<Numbers> attention_candidates(const Group& group, const Attention& found, const Hardware& hardware) {
  const AttentionAxes axes = axes_of(group, found);
  const int64_t rows = std::max<int64_t>(16, power_of_two(axes.extents[axes.m])),
                keys = std::max<int64_t>(16, power_of_two(axes.extents[axes.t]));
  const ExprP query = narrow(group.stages[found.scores].contraction->left);
  const bool f32 = query->dtype == DType::f32, parts = in_parts(group, query);
  std::vector<Numbers> all;
  const int64_t wide = power_of_two(axes.extents[axes.d]), out = power_of_two(axes.extents[axes.e]);
  const int64_t element = f32 || parts ? 4 : 2;
  const auto add = [&](int64_t m, int64_t n, int64_t warps, int64_t stages) {
    // Queries, and stages of keys and values, must fit shared memory.
    while ((stages * n * (wide + out) + m * wide) * element > room_ahead(hardware) && (n > 16 || stages > 1 || m > 16))
      (stages > 2 ? stages : n > 16 ? n : stages > 1 ? stages : m) /= 2;
    Numbers one = {{"m", std::min(m, rows)}, {"n", std::min(n, keys)}, {"warps", warps}, {"stages", stages}};
    if (std::find(all.begin(), all.end(), one) == all.end()) all.push_back(std::move(one));
  };
  if (f32) {
    add(64, 32, 4, 2);
    add(128, 32, 8, 2);
    add(64, 64, 4, 2);
    add(32, 32, 4, 2);
  } else if (parts) {
    add(128, 64, 8, 2);
    add(128, 64, 4, 2);
    add(64, 64, 4, 2);
    add(64, 32, 4, 3);
    add(128, 128, 8, 2);
  } else {
    add(64, 64, 4, 3);
    add(128, 64, 8, 3);
    add(128, 128, 8, 2);
    add(128, 64, 4, 3);
    add(128, 128, 8, 3);
  }
  return all;
}

std::vector<Numbers> attention_depths(const Group& group, const Attention& found, const Numbers& now,
                                      const Hardware& hardware) {
  const AttentionAxes axes = axes_of(group, found);
  const ExprP query = narrow(group.stages[found.scores].contraction->left);
  const int64_t element = query->dtype == DType::f32 || in_parts(group, query) ? 4 : 2;
  const int64_t wide = power_of_two(axes.extents[axes.d]), out = power_of_two(axes.extents[axes.e]);
  if (axes.extents[axes.t] <= now.at("n")) return {};  // one step
  return other_depths(now, 1, now.at("n") * (wide + out) * element, hardware);
}

TritonLaunch print_attention(const Group& group, const Attention& attention, const std::string& name,
                             const Numbers& numbers, const Hardware& hardware) {
  Numbers chosen = attention_candidates(group, attention, hardware).front();
  for (const auto& [key, value] : numbers)
    if (chosen.count(key)) chosen[key] = value;
  return AttentionPrinter(group, attention, name, chosen).run();
}

}  // namespace mtmc::triton
