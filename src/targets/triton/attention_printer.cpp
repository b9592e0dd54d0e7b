#include "targets/triton/attention_printer.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/text.h"
#include "targets/triton/rectangle.h"
#include "targets/triton/stage_printer.h"

namespace mtmc::triton {
namespace {

constexpr double kLog2e = 1.4426950408889634;
constexpr int64_t kSharedBytes = 200 << 10;  // that a block has on Hopper, less some room
constexpr const char* kInfinity = "float(\"-inf\")";

ExprP narrow(const ExprP& e) {
  const bool half = e->kind == Expr::Kind::cast && e->dtype == DType::f32 &&
                    (e->args[0]->dtype == DType::f16 || e->args[0]->dtype == DType::bf16);
  return half ? e->args[0] : e;
}

bool loads_only(const ExprP& e, const std::vector<int>& tensors) {
  const auto loads = loads_of(e);
  return !loads.empty() && std::all_of(loads.begin(), loads.end(), [&](const Expr* load) {
    return std::find(tensors.begin(), tensors.end(), load->tensor) != tensors.end();
  });
}

bool reads(const ExprP& e, int tensor) {
  const auto loads = loads_of(e);
  return std::any_of(loads.begin(), loads.end(), [&](const Expr* load) { return load->tensor == tensor; });
}

bool is_fn(const ExprP& e, Fn fn) { return e->kind == Expr::Kind::call && e->fn == fn; }

// The condition of a score that stands although others are masked: select(condition, score, -inf).
bool is_masked(const ExprP& f) {
  return is_fn(f, Fn::select) && is_constant(f->args[2]) && std::isinf(f->args[2]->number) && f->args[2]->number < 0;
}

// Axes of the launch: batch, M, T (keys), D (of queries and keys), E (of values).
struct Axes {
  std::vector<int64_t> extents;
  std::vector<int> batch;
  int m = 0, t = 0, d = 0, e = 0;
  std::map<int, std::vector<int>> of_stage;  // stage -> axis of the launch for each of its axes
};

Axes axes_of(const Group& group, const Attention& found) {
  const Stage& scores = group.stages[found.scores].stage;
  const Contraction& c = *group.stages[found.scores].contraction;
  const Stage& context = group.stages[found.context].stage;
  const Contraction& v = *group.stages[found.context].contraction;
  const int rank = scores.rank();
  Axes axes;
  axes.extents = scores.extents();  // batch.., m, t, d
  if (axes.extents.size() != static_cast<size_t>(rank) + 1) throw Unsupported{"attention over several axes"};
  axes.m = c.m[0], axes.t = c.n[0], axes.d = rank;
  axes.e = rank + 1;
  axes.extents.push_back(context.extents()[v.n[0]]);
  for (int a = 0; a < rank; ++a)
    if (a != axes.m && a != axes.t) axes.batch.push_back(a);
  const auto identity = [](int count) {
    std::vector<int> all;
    for (int a = 0; a < count; ++a) all.push_back(a);
    return all;
  };
  axes.of_stage[found.scores] = identity(rank + 1);
  axes.of_stage[found.weights] = identity(rank);
  for (int row : {found.largest, found.sum}) {
    const Stage& stage = group.stages[row].stage;
    if (stage.rank() != rank - 1 || stage.reduce.size() != 1) throw Unsupported{"attention whose rows are not rows"};
    std::vector<int> own;
    for (int a = 0; a < rank; ++a)
      if (a != axes.t) own.push_back(a);
    own.push_back(axes.t);
    axes.of_stage[row] = own;
  }
  for (int s = found.context; s <= found.last; ++s) {
    std::vector<int> own;
    for (int a = 0; a < context.rank(); ++a) own.push_back(a == v.n[0] ? axes.e : a == v.m[0] ? axes.m : -1);
    size_t next = 0;
    for (int& a : own)
      if (a < 0) a = next < axes.batch.size() ? axes.batch[next++] : throw Unsupported{"attention over other batches"};
    if (s == found.context) own.push_back(axes.t);
    for (int a = 0; a < context.rank(); ++a)
      if (axes.extents[own[a]] != context.type.shape[a]) throw Unsupported{"attention over other batches"};
    axes.of_stage[s] = own;
  }
  return axes;
}

ExprP canonical(const Axes& axes, int s, const ExprP& e) {
  std::vector<ExprP> to;
  for (int a : axes.of_stage.at(s)) to.push_back(axis(a));
  return simplify(substitute_axes(e, to), axes.extents);
}

class Finder {
 public:
  explicit Finder(const Group& group) : group_(group) {}

  std::optional<Attention> run(int first) {
    Attention found;
    found.scores = first, found.largest = first + 1, found.weights = first + 2, found.sum = first + 3;
    found.context = found.last = first + 4;
    if (found.context >= static_cast<int>(group_.stages.size()) || !shaped(found)) return std::nullopt;
    try {
      const Axes axes = axes_of(group_, found);
      if (!computes(found, axes)) return std::nullopt;
      extend(found);
      if (!reads_alike(found, axes_of(group_, found))) return std::nullopt;
    } catch (const Unsupported&) {
      return std::nullopt;
    }
    for (int i : {found.scores, found.weights, found.sum, found.largest})
      if (group_.tensors[group_.stages[i].dest].role == GroupTensor::Role::write || read_after(i, found.last))
        return std::nullopt;
    return found;
  }

 private:
  const Stage& stage(int s) const { return group_.stages[s].stage; }
  int dest(int s) const { return group_.stages[s].dest; }

  // The stages are of the right kinds, each over one axis of every role.
  bool shaped(const Attention& found) const {
    const auto& scores = group_.stages[found.scores].contraction;
    const auto& context = group_.stages[found.context].contraction;
    if (!scores || !context) return false;
    for (const auto* c : {&*scores, &*context})
      if (c->m.size() != 1 || c->n.size() != 1 || c->k.size() != 1) return false;
    return stage(found.largest).combine == Combine::max && stage(found.sum).combine == Combine::sum &&
           stage(found.weights).combine == Combine::none && scores->n[0] == stage(found.scores).rank() - 1 &&
           stage(found.scores).type.shape == stage(found.weights).type.shape;
  }

  // exp(f - g(largest)), f the very expression whose maximum was taken; its sum; and the products of the weights, or of
  // the weights divided by exactly that sum.
  bool computes(Attention& found, const Axes& axes) const {
    const ExprP weights = canonical(axes, found.weights, stage(found.weights).body);
    const ExprP f = canonical(axes, found.largest, stage(found.largest).body);
    if (!is_fn(weights, Fn::exp) || !is_fn(weights->args[0], Fn::sub)) return false;
    if (!reads(f, dest(found.scores)) || to_string(weights->args[0]->args[0]) != to_string(f)) return false;
    if (!loads_only(weights->args[0]->args[1], {dest(found.largest)})) return false;
    const ExprP sum = canonical(axes, found.sum, stage(found.sum).body);
    if (sum->kind != Expr::Kind::load || sum->tensor != dest(found.weights) || sum->guard) return false;
    const Contraction& v = *group_.stages[found.context].contraction;
    const ExprP left = canonical(axes, found.context, v.left);
    found.normalised = is_fn(left, Fn::div);
    const ExprP& weight = found.normalised ? left->args[0] : left;
    if (found.normalised && (left->args[1]->kind != Expr::Kind::load || left->args[1]->tensor != dest(found.sum)))
      return false;
    return weight->kind == Expr::Kind::load && weight->tensor == dest(found.weights) && !weight->guard &&
           !reads(v.right, dest(found.weights)) && !reads(v.right, dest(found.scores));
  }

  // Pointwise stages of the result's shape that look at the result, not at scores or weights.
  void extend(Attention& found) const {
    for (int next = found.context + 1; next < static_cast<int>(group_.stages.size()); ++next) {
      if (stage(next).combine != Combine::none || stage(next).type.shape != stage(found.context).type.shape) return;
      if (reads(stage(next).body, dest(found.scores)) || reads(stage(next).body, dest(found.weights))) return;
      found.last = next;
    }
  }

  // Whatever one of these stages makes, another reads at its own place.
  bool reads_alike(const Attention& found, const Axes& axes) const {
    for (int s = found.scores; s <= found.last; ++s) {
      const ExprP body = canonical(axes, s, stage(s).body);
      for (const Expr* e : loads_of(body))
        for (int p = found.scores; p < s; ++p) {
          if (dest(p) != e->tensor) continue;
          if (e->guard || static_cast<int>(e->args.size()) != stage(p).rank()) return false;
          for (int d = 0; d < stage(p).rank(); ++d)
            if (stage(p).type.shape[d] > 1 && to_string(e->args[d]) != to_string(axis(axes.of_stage.at(p)[d])))
              return false;
        }
    }
    return true;
  }

  bool read_after(int s, int last) const {
    for (size_t i = static_cast<size_t>(last) + 1; i < group_.stages.size(); ++i)
      if (reads(group_.stages[i].stage.body, dest(s))) return true;
    return false;
  }

  const Group& group_;
};

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
    for (const char* word : {"acc", "largest", "total", "query", "key", "weight", "start"}) out_.fresh(word);
    for (Tile* tile : {&query_, &key_, &score_, &value_, &result_}) tile->extents = extents_;
    query_.name = "query", key_.name = "key", score_.name = "score", value_.name = "value", result_.name = "result";
    f_ = body(found.largest);
  }

  TritonLaunch run() {
    header();
    const std::string m_shape = "[" + std::to_string(bm_) + "]";
    out_.line("acc = tl.zeros([" + std::to_string(bm_) + ", " + std::to_string(result_.columns.block) +
              "], tl.float32)");
    out_.line("largest = tl.full(" + m_shape + ", " + kInfinity + ", tl.float32)");
    out_.line("total = tl.zeros(" + m_shape + ", tl.float32)");
    const ExprP queries = operand(found_.scores, true);
    out_.line("query = " + fetch(queries, query_, {at_.m}, {at_.d}, m_start_, "0", bm_, query_.columns.block));
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
    if (!is_masked(f_) || !is_fn(f_->args[0], Fn::le)) return false;
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
    const ExprP keys = operand(found_.scores, false), values = operand(found_.context, false);
    if (keys->dtype != operand(found_.scores, true)->dtype) throw Unsupported{"attention of operands of two types"};
    const auto exact = [](const ExprP& e) { return e->dtype == DType::f32 ? ", input_precision=\"tf32x3\")" : ")"; };
    const bool f32 = values->dtype == DType::f32;
    out_.line("key = " + fetch(keys, key_, {at_.t}, {at_.d}, start, "0", bt_, key_.rows.block, true));
    const std::string score = out_.fresh("score");
    out_.line(score + " = tl.dot(query, key" + exact(keys));
    hold(found_.scores, {score, kRows | kColumns});
    // In powers of two: f * log2(e), folded into the scale where there is one.
    Value scaled = value(in_log2(f), score_);
    if (const std::string mask = score_.mask(kColumns); !mask.empty())
      scaled.text = "tl.where(" + mask + ", " + scaled.text + ", " + kInfinity + ")";
    const std::string x = out_.fresh("x"), now = out_.fresh("now"), shift = out_.fresh("shift"),
                      shrink = out_.fresh("shrink");
    out_.line(x + " = " + scaled.text);
    out_.line(now + " = tl.maximum(largest, tl.max(" + x + ", axis=1))");
    // A row may have seen only masked keys so far.
    out_.line(shift + " = " +
              (causal() && loads_only(f_->args[1], {dest(found_.scores)})
                   ? now
                   : "tl.where(" + now + " == " + kInfinity + ", 0.0, " + now + ")"));
    out_.line("weight = tl.exp2(" + x + " - " + shift + "[:, None])");
    out_.line(shrink + " = tl.exp2(largest - " + shift + ")");
    out_.line("total = total * " + shrink + " + tl.sum(weight, axis=1)");
    const std::string v = out_.fresh("v");
    out_.line(v + " = " + fetch(values, value_, {at_.t}, {at_.e}, start, "0", bt_, value_.columns.block));
    if (!value_.rows.mask.empty())
      out_.line(v + " = tl.where(" + value_.mask(kRows) + ", " + v + ", 0.0)" +
                (f32 ? "" : ".to(" + dtype_text(values->dtype) + ")"));
    out_.line("acc = tl.dot(weight" +
              std::string(values->dtype == DType::f32 ? "" : ".to(" + dtype_text(values->dtype) + ")") + ", " + v +
              ", acc * " + shrink + "[:, None]" + exact(values));
    out_.line("largest = " + now);
    out_.close();
  }

  static ExprP in_log2(const ExprP& f) {
    if (is_masked(f)) return select(f->args[0], in_log2(f->args[1]), f->args[2]);
    if (is_fn(f, Fn::mul) && is_constant(f->args[1]))
      return f->args[0] * constant(DType::f32, f->args[1]->number * kLog2e);
    if (is_fn(f, Fn::div) && is_constant(f->args[1]))
      return f->args[0] * constant(DType::f32, kLog2e / f->args[1]->number);
    return f * constant(DType::f32, kLog2e);
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
    out_.line("largest = largest * " + format_double(1 / kLog2e));
    const std::string total = out_.fresh("sum");
    out_.line(total + " = total[:, None]");
    hold(found_.sum, {total, kRows});
    hold(found_.largest, {"largest[:, None]", kRows});
    keep(found_.context, {found_.normalised ? "acc / " + total : "acc", all}, DType::f32, result_);
    for (int s = found_.context + 1; s <= found_.last; ++s)
      keep(s, value(body(s), result_), stage(s).body->dtype, result_);
  }

  const Attention& found_;
  const Axes at_;
  int64_t bm_, bt_, warps_, stages_, programs_ = 1;
  Tile query_, key_, score_, value_, result_;
  Rectangles rectangles_;
  ExprP f_;
  std::string m_start_;
};

}  // namespace

std::optional<Attention> find_attention(const Group& group, int first) { return Finder(group).run(first); }

bool has_attention(const Group& group) {
  for (size_t s = 0; s < group.stages.size(); ++s)
    if (find_attention(group, static_cast<int>(s))) return true;
  return false;
}

std::vector<Numbers> attention_candidates(const Group& group, const Attention& found) {
  const Axes axes = axes_of(group, found);
  const int64_t rows = std::max<int64_t>(16, power_of_two(axes.extents[axes.m])),
                keys = std::max<int64_t>(16, power_of_two(axes.extents[axes.t]));
  const bool f32 = narrow(group.stages[found.scores].contraction->left)->dtype == DType::f32;
  std::vector<Numbers> all;
  const int64_t wide = power_of_two(axes.extents[axes.d]), out = power_of_two(axes.extents[axes.e]);
  const int64_t element = f32 ? 4 : 2;
  const auto add = [&](int64_t m, int64_t n, int64_t warps, int64_t stages) {
    // Queries, and stages of keys and values, must fit shared memory.
    while ((stages * n * (wide + out) + m * wide) * element > kSharedBytes && (n > 16 || stages > 1 || m > 16))
      (stages > 2 ? stages : n > 16 ? n : stages > 1 ? stages : m) /= 2;
    Numbers one = {{"m", std::min(m, rows)}, {"n", std::min(n, keys)}, {"warps", warps}, {"stages", stages}};
    if (std::find(all.begin(), all.end(), one) == all.end()) all.push_back(std::move(one));
  };
  if (f32) {
    add(64, 32, 4, 2);
    add(128, 32, 8, 2);
    add(64, 64, 4, 2);
    add(32, 32, 4, 2);
  } else {
    add(128, 64, 8, 3);
    add(128, 128, 8, 2);
    add(128, 64, 4, 3);
    add(64, 64, 4, 3);
    add(128, 128, 8, 3);
  }
  return all;
}

TritonLaunch print_attention(const Group& group, const Attention& attention, const std::string& name,
                             const Numbers& numbers) {
  Numbers chosen = attention_candidates(group, attention).front();
  for (const auto& [key, value] : numbers)
    if (chosen.count(key)) chosen[key] = value;
  return AttentionPrinter(group, attention, name, chosen).run();
}

}  // namespace mtmc::triton
