#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "base/text.h"
#include "targets/infix.h"
#include "targets/triton/tile.h"

namespace mtmc::triton {
namespace {

constexpr size_t kLongest = 96;  // characters of an expression that is not given a name

// Functions of Triton's own; the rest are helpers, printed from these.
const char* builtin(Fn fn) {
  switch (fn) {
    case Fn::exp2: return "tl.exp2";
    case Fn::log: return "tl.log";
    case Fn::log2: return "tl.log2";
    case Fn::sqrt: return "tl.sqrt";
    case Fn::rsqrt: return "tl.rsqrt";
    case Fn::sin: return "tl.sin";
    case Fn::cos: return "tl.cos";
    case Fn::erf: return "tl.erf";
    case Fn::abs: return "tl.abs";
    case Fn::floor: return "tl.floor";
    case Fn::ceil: return "tl.ceil";
    default: return nullptr;
  }
}

std::set<int> tensors_of(const ExprP& e) {
  std::set<int> tensors;
  for (const Expr* one : loads_of(e)) tensors.insert(one->tensor);
  return tensors;
}

// f less the maximum of what f reads: at most 0.
bool less_its_maximum(const ExprP& e, const Group& group) {
  if (e->kind != Expr::Kind::call || e->fn != Fn::sub) return false;
  const std::set<int> read = tensors_of(e->args[0]), largest = tensors_of(e->args[1]);
  const auto is_maximum = [&](int tensor) {
    return std::any_of(group.stages.begin(), group.stages.end(), [&](const GroupStage& s) {
      return s.dest == tensor && s.stage.combine == Combine::max && tensors_of(s.stage.body) == read;
    });
  };
  return !largest.empty() && std::all_of(largest.begin(), largest.end(), is_maximum);
}

}  // namespace

std::string number_text(const Expr& e) {
  if (!is_float(e.dtype)) return e.dtype == DType::b1 ? (e.integer ? "True" : "False") : std::to_string(e.integer);
  if (std::isnan(e.number)) return "float(\"nan\")";
  if (std::isinf(e.number)) return e.number > 0 ? "float(\"inf\")" : "float(\"-inf\")";
  return format_double(e.number);
}

ExprP neutral(Combine combine, DType dtype) {
  const double infinity = std::numeric_limits<double>::infinity();
  const bool low = combine == Combine::max || combine == Combine::argmax;
  const bool extreme = low || combine == Combine::min || combine == Combine::argmin;
  if (!extreme) return constant(dtype, combine == Combine::prod || combine == Combine::scan_prod ? 1 : 0);
  if (is_float(dtype)) return constant(dtype, low ? -infinity : infinity);
  if (dtype == DType::b1 || dtype == DType::u8) return constant(dtype, low ? 0 : dtype == DType::b1 ? 1 : 255);
  const int bits = 8 * bytes(dtype) - 1;
  if (low) return constant(dtype, -std::ldexp(1.0, bits));
  Expr largest = *constant(dtype, 0);
  largest.integer = static_cast<int64_t>((uint64_t(1) << bits) - 1);
  return std::make_shared<const Expr>(largest);
}

namespace {

// True for a block: Triton's interpreter takes no scalar as its mask.
std::string all_lanes(const Tile& tile, unsigned dims) {
  if (dims == 0) return "";
  const unsigned one = dims & kColumns ? kColumns : kRows;
  return "(" + tile.along((one == kColumns ? tile.columns : tile.rows).flat, one) + " >= 0)";
}

// An integer expression as base + sum coefficient * axis + sum coefficient * other.
struct Terms {
  int64_t base = 0;
  std::map<int, int64_t> axes;
  std::vector<std::pair<ExprP, int64_t>> others;
};

void collect(const ExprP& e, int64_t factor, Terms& terms) {
  if (is_constant(e)) {
    terms.base += factor * e->integer;
  } else if (e->kind == Expr::Kind::axis) {
    terms.axes[e->axis] += factor;
  } else if (e->kind == Expr::Kind::call && (e->fn == Fn::add || e->fn == Fn::sub)) {
    collect(e->args[0], factor, terms);
    collect(e->args[1], e->fn == Fn::add ? factor : -factor, terms);
  } else if (e->kind == Expr::Kind::call && e->fn == Fn::neg) {
    collect(e->args[0], -factor, terms);
  } else if (e->kind == Expr::Kind::call && e->fn == Fn::mul && is_constant(e->args[1])) {
    collect(e->args[0], factor * e->args[1]->integer, terms);
  } else if (e->kind == Expr::Kind::call && e->fn == Fn::mul && is_constant(e->args[0])) {
    collect(e->args[1], factor * e->args[0]->integer, terms);
  } else {
    terms.others.emplace_back(e, factor);
  }
}

// A sum, a difference or a multiple: what `collect` takes apart.
bool is_linear(const ExprP& e) {
  if (e->kind != Expr::Kind::call || e->dtype != DType::i64) return false;
  return e->fn == Fn::add || e->fn == Fn::sub ||
         (e->fn == Fn::mul && (is_constant(e->args[0]) || is_constant(e->args[1])));
}

// An index as what does not depend on some axes, and the rest with the constant.
std::pair<ExprP, ExprP> apart(const ExprP& flat, const std::set<int>& axes) {
  Terms sum;
  collect(flat, 1, sum);
  ExprP fixed = index_constant(0), moving = index_constant(sum.base);
  const auto add = [&](const ExprP& e, int64_t factor, bool moves) {
    ExprP& to = moves ? moving : fixed;
    to = to + e * index_constant(factor);
  };
  for (const auto& [a, factor] : sum.axes) add(axis(a), factor, axes.count(a) > 0);
  for (const auto& [e, factor] : sum.others)
    add(e, factor, std::any_of(axes.begin(), axes.end(), [&, &one = e](int a) { return uses_axis(one, a); }));
  return {fixed, moving};
}

std::string start_key(int tensor, const ExprP& fixed) {
  return "start:" + std::to_string(tensor) + ":" + to_string(fixed);
}

std::string product_text(const std::string& text, int64_t factor) {
  return factor == 1 ? text : text + " * " + std::to_string(factor);
}

}  // namespace

std::optional<Bounds> bounds_of(const ExprP& e, const std::vector<int64_t>& extents) {
  if (is_constant(e)) return Bounds{e->integer, e->integer};
  if (e->kind == Expr::Kind::axis && e->axis < static_cast<int>(extents.size())) return Bounds{0, extents[e->axis] - 1};
  if (e->kind != Expr::Kind::call || e->args.size() != 2) return std::nullopt;
  const auto a = bounds_of(e->args[0], extents), b = bounds_of(e->args[1], extents);
  if (!a || !b) return std::nullopt;
  const auto floor_div = [](int64_t x, int64_t y) { return x >= 0 ? x / y : -((-x + y - 1) / y); };
  const bool by_constant = b->least == b->most;
  switch (e->fn) {
    case Fn::add: return Bounds{a->least + b->least, a->most + b->most};
    case Fn::sub: return Bounds{a->least - b->most, a->most - b->least};
    case Fn::mul: {
      if (!by_constant && a->least != a->most) return std::nullopt;
      const int64_t p = a->least * b->least, q = a->most * b->most, r = a->least * b->most, t = a->most * b->least;
      return Bounds{std::min({p, q, r, t}), std::max({p, q, r, t})};
    }
    case Fn::div:
      if (!by_constant || b->least <= 0) return std::nullopt;
      return Bounds{floor_div(a->least, b->least), floor_div(a->most, b->least)};
    case Fn::mod: return by_constant && b->least > 0 ? std::optional(Bounds{0, b->least - 1}) : std::nullopt;
    case Fn::min: return Bounds{std::min(a->least, b->least), std::min(a->most, b->most)};
    case Fn::max: return Bounds{std::max(a->least, b->least), std::max(a->most, b->most)};
    default: return std::nullopt;
  }
}

void ExprPrinter::use(int tensor) {
  if (std::find(used_.begin(), used_.end(), tensor) == used_.end()) used_.push_back(tensor);
}

void ExprPrinter::need(const std::string& helper) {
  if (std::find(helpers_.begin(), helpers_.end(), helper) == helpers_.end()) helpers_.push_back(helper);
}

void ExprPrinter::count(const ExprP& expr) {
  if (expr->kind == Expr::Kind::constant || expr->kind == Expr::Kind::axis) return;
  if (++seen_[out_.number_of(expr)] > 1) return;
  for (const ExprP& arg : expr->args) count(arg);
  if (expr->guard) count(expr->guard);
  if (expr->other) count(expr->other);
}

Value ExprPrinter::value(const ExprP& expr, const Tile& tile) {
  std::unordered_map<int, int> outer = std::exchange(seen_, {});
  count(expr);
  Value result = print(expr, tile);
  seen_ = std::move(outer);
  return result;
}

Value ExprPrinter::named(const std::string& key, const std::string& hint, Value value) {
  const std::string name = out_.fresh(hint);
  out_.line(name + " = " + value.text);
  out_.remember(key, {name, value.dims});
  return {name, value.dims};
}

Value ExprPrinter::print(const ExprP& expr, const Tile& tile) {
  if (expr->kind == Expr::Kind::constant) return {number_text(*expr), 0};
  if (expr->kind == Expr::Kind::axis) return index(expr, tile);
  const std::string key = tile.name + ":" + std::to_string(out_.number_of(expr));
  if (const auto* known = out_.find(key)) return {known->text, known->dims};
  if (expr->kind == Expr::Kind::load) return load_value(expr, tile);
  if (is_linear(expr)) {
    Value sum = index(expr, tile);
    // What fits i64 but not the i32 of indices is computed in i64.
    if (const auto bounds = bounds_of(expr, tile.extents);
        bounds && (bounds->most > INT32_MAX || bounds->least < INT32_MIN)) {
      const bool first = is_constant(expr->args[0]);
      sum.text = "((" + print(expr->args[first ? 1 : 0], tile).text + ").to(tl.int64) " + infix(expr->fn) + " " +
                 print(expr->args[first ? 0 : 1], tile).text + ")";
      if (first && expr->fn == Fn::sub) throw Unsupported{"a large constant less an index"};
    }
    return seen_[out_.number_of(expr)] > 1 ? named(key, "at", sum) : sum;
  }
  Value value;
  if (expr->kind == Expr::Kind::cast) {
    if (is_constant(expr->args[0]))
      return {"tl.full([], " + number_text(*expr->args[0]) + ", " + dtype_text(expr->dtype) + ")", 0};
    value = print(expr->args[0], tile);
    // Python's numbers, a scalar axis of extent 1, have no type of their own.
    if (value.dims == 0 && !value.text.empty() &&
        std::all_of(value.text.begin(), value.text.end(), [](unsigned char c) { return std::isdigit(c); }))
      return {"tl.full([], " + value.text + ", " + dtype_text(expr->dtype) + ")", 0};
    value.text = (expr->dtype == DType::b1 ? "(" + value.text + " != 0)"
                                           : "(" + value.text + ").to(" + dtype_text(expr->dtype) + ")");
  } else {
    value = call_value(expr, tile);
  }
  if (seen_[out_.number_of(expr)] > 1 || value.text.size() > kLongest) return named(key, "t", value);
  return value;
}

Value ExprPrinter::call_value(const ExprP& expr, const Tile& tile) {
  std::vector<std::string> args;
  Value value;
  for (const ExprP& arg : expr->args) {
    const Value one = print(arg, tile);
    args.push_back(one.text);
    value.dims |= one.dims;
  }
  // Triton's interpreter makes integers of a block and a scalar condition: the mask is compared with 0.
  if (expr->fn == Fn::logical_and || expr->fn == Fn::logical_or)
    for (const ExprP& arg : expr->args) mixed_ |= value.dims != 0 && print(arg, tile).dims == 0;
  const bool floating = is_float(expr->args.back()->dtype);
  const auto helper = [&](const std::string& name) {
    need(name);
    return name + "(" + join(args, ", ") + ")";
  };
  switch (expr->fn) {
    // tl.exp is faster and loses digits the larger its argument is: a softmax does not miss those of small results.
    case Fn::exp:
      value.text = less_its_maximum(expr->args[0], group_) ? "tl.exp(" + args[0] + ")" : helper("_exp");
      return value;
    case Fn::neg: value.text = "(-" + args[0] + ")"; return value;
    case Fn::isnan: value.text = "(" + args[0] + " != " + args[0] + ")"; return value;
    case Fn::isinf: value.text = "(tl.abs(" + args[0] + ") == float(\"inf\"))"; return value;
    case Fn::logical_not: value.text = "(" + args[0] + " == 0)"; return value;
    case Fn::select: value.text = "tl.where(" + join(args, ", ") + ")"; return value;
    case Fn::max:
    case Fn::min:
      value.text = std::string(expr->fn == Fn::max ? "tl.maximum(" : "tl.minimum(") + join(args, ", ") +
                   (floating ? ", propagate_nan=tl.PropagateNan.ALL)" : ")");
      return value;
    case Fn::div:
    case Fn::mod: {
      if (floating) {
        value.text = expr->fn == Fn::div ? "(" + args[0] + " / " + args[1] + ")" : helper("_remainder");
        return value;
      }
      // Triton's integer division rounds towards zero.
      const auto bounds = bounds_of(expr->args[0], tile.extents);
      const bool plain = bounds && bounds->least >= 0 && is_constant(expr->args[1]) && expr->args[1]->integer > 0;
      if (plain) {
        value.text = "(" + args[0] + (expr->fn == Fn::div ? " // " : " % ") + args[1] + ")";
      } else {
        value.text = helper(expr->fn == Fn::div ? "_floor_div" : "_floor_mod");
      }
      return value;
    }
    default: break;
  }
  if (const char* sign = infix(expr->fn)) {
    value.text = "(" + args[0] + " " + sign + " " + args[1] + ")";
  } else if (const char* function = builtin(expr->fn)) {
    value.text = std::string(function) + "(" + join(args, ", ") + ")";
  } else {
    value.text = helper("_" + std::string(name(expr->fn)));
  }
  return value;
}

Value ExprPrinter::run_of(const Lane& lane, unsigned dim, size_t from, size_t to, const Tile& tile) {
  const unsigned dims = lane.block > 1 ? dim : 0;
  if (from == 0 && to + 1 == lane.axes.size()) return {tile.along(lane.flat, dims), dims};
  const std::string key = "run:" + lane.flat + ":" + std::to_string(from) + ":" + std::to_string(to);
  const auto* known = out_.find(key);
  std::string name = known ? known->text : "";
  if (!known) {
    int64_t after = 1, within = 1;
    for (size_t i = from; i <= to; ++i) within *= tile.extents[lane.axes[i]];
    for (size_t i = to + 1; i < lane.axes.size(); ++i) after *= tile.extents[lane.axes[i]];
    std::string text = lane.flat;
    if (after > 1) text += " // " + std::to_string(after);
    if (from > 0) text = (after > 1 ? "(" + text + ")" : text) + " % " + std::to_string(within);
    name = out_.fresh("i" + std::to_string(lane.axes[from]) + (from == to ? "" : "to" + std::to_string(lane.axes[to])));
    out_.line(name + " = " + text);
    out_.remember(key, {name, dims});
  }
  return {tile.along(name, dims), dims};
}

void ExprPrinter::lane_terms(const Lane& lane, unsigned dim, const std::map<int, int64_t>& coefficients,
                             const Tile& tile, std::vector<Value>& terms) {
  const auto coefficient = [&](size_t i) {
    const auto at = coefficients.find(lane.axes[i]);
    return at == coefficients.end() ? 0 : at->second;
  };
  for (size_t to = lane.axes.size(); to-- > 0;) {
    if (coefficient(to) == 0) continue;
    size_t from = to;
    while (from > 0 && coefficient(from - 1) == coefficient(from) * tile.extents[lane.axes[from]]) --from;
    Value run = run_of(lane, dim, from, to, tile);
    run.text = product_text(run.text, coefficient(to));
    terms.push_back(run);
    to = from;
  }
}

Value ExprPrinter::index(const ExprP& expr, const Tile& tile) {
  Terms sum;
  collect(expr, 1, sum);
  std::vector<Value> terms;
  for (const auto& [axis, coefficient] : sum.axes) {
    const auto at = tile.scalars.find(axis);
    if (at == tile.scalars.end() || coefficient == 0 || at->second == "0") continue;
    const std::string number = tile.widens ? "tl.full([], " + at->second + ", tl.int64)" : at->second;
    terms.push_back({product_text(number, coefficient), 0});
  }
  for (const auto& [other, coefficient] : sum.others) {
    Value one = print(other, tile);
    one.text = product_text(one.text, coefficient);
    terms.push_back(one);
  }
  lane_terms(tile.rows, kRows, sum.axes, tile, terms);
  lane_terms(tile.columns, kColumns, sum.axes, tile, terms);
  if (sum.base != 0 || terms.empty()) terms.push_back({std::to_string(sum.base), 0});
  Value value;
  std::vector<std::string> texts;
  for (const Value& term : terms) {
    texts.push_back(term.text);
    value.dims |= term.dims;
  }
  value.text =
      texts.size() == 1 && terms[0].text.find(' ') == std::string::npos ? texts[0] : "(" + join(texts, " + ") + ")";
  return value;
}

Value ExprPrinter::address(int tensor, const std::vector<ExprP>& indices, const Tile& tile) {
  use(tensor);
  ExprP flat = flat_index(indices, group_.tensors[tensor].strides);
  flat = simplify(flat, tile.extents);
  if (!walked_.empty()) {
    const auto [fixed, moving] = apart(flat, walked_);
    if (const auto* start = out_.find(start_key(tensor, fixed))) {
      const Value step = index(moving, tile);
      return {start->text + (step.text == "0" ? "" : " + " + step.text), start->dims | step.dims};
    }
  }
  // A constant is added to the pointer, last: loads have room for it in the instruction.
  Terms sum;
  collect(flat, 1, sum);
  Value at = index(simplify(flat - index_constant(sum.base), tile.extents), tile);
  at.text = group_.tensors[tensor].name + (at.text == "0" ? "" : " + " + at.text) +
            (sum.base == 0 ? "" : " + " + std::to_string(sum.base));
  return at;
}

void ExprPrinter::walk(const std::vector<const Expr*>& loads, const std::set<int>& axes, const Tile& tile) {
  for (const Expr* e : loads) {
    ExprP flat = flat_index(e->args, group_.tensors[e->tensor].strides);
    const auto [fixed, moving] = apart(simplify(flat, tile.extents), axes);
    const std::string key = start_key(e->tensor, fixed);
    if (is_constant(fixed) || is_constant(moving) || out_.find(key)) continue;
    use(e->tensor);
    const Value start = index(fixed, tile);
    const std::string& name = group_.tensors[e->tensor].name;
    named(key, name + "_at", {name + " + " + start.text, start.dims});
  }
  walked_ = axes;
}

Value ExprPrinter::load_value(const ExprP& expr, const Tile& tile) {
  const std::string key = tile.name + ":" + std::to_string(out_.number_of(expr));
  Value kept;
  if (held(*expr, tile, kept)) {
    if (!expr->guard) return kept;
    const Value guard = print(expr->guard, tile), instead = print(expr->other, tile);
    return named(key, "t",
                 {"tl.where(" + guard.text + ", " + kept.text + ", " + instead.text + ")",
                  kept.dims | guard.dims | instead.dims});
  }
  Value at = address(expr->tensor, expr->args, tile);
  std::string mask = tile.mask(at.dims), other = "0";
  if (expr->guard) {
    mixed_ = false;
    const Value guard = print(expr->guard, tile);
    if ((guard.dims & ~at.dims) != 0) {  // the guard varies where the address does not: the address follows it
      at.text += " + 0 * " + guard.text;
      at.dims |= guard.dims;
      mask = tile.mask(at.dims);
    }
    if (guard.dims == 0 && mask.empty()) mask = all_lanes(tile, at.dims);
    mixed_ |= !mask.empty() && guard.dims == 0;
    mask = mask.empty() ? guard.text : mask + " & " + guard.text;
    if (mixed_) mask = "(" + mask + ") != 0";
    const Value instead = print(expr->other, tile);
    if ((instead.dims & ~at.dims) != 0) throw Unsupported{"a load whose other case varies more than itself"};
    other = instead.text;
  }
  at.text = "tl.load(" + at.text + (mask.empty() ? "" : ", mask=" + mask + ", other=" + other) + ")";
  return named(key, group_.tensors[expr->tensor].name + "_", at);
}

void ExprPrinter::store(int tensor, const std::vector<ExprP>& indices, const Value& value, const Tile& tile,
                        const ExprP& guard) {
  const Value at = address(tensor, indices, tile);
  if ((value.dims & ~at.dims) != 0) throw Unsupported{"a result that varies where it is stored once"};
  std::string mask = tile.mask(at.dims);
  if (guard) {
    mixed_ = false;
    const Value where = print(guard, tile);
    if ((where.dims & ~at.dims) != 0) throw Unsupported{"a condition that varies where the result is stored once"};
    if (where.dims == 0 && mask.empty()) mask = all_lanes(tile, at.dims);
    mixed_ |= !mask.empty() && where.dims == 0;
    mask = mask.empty() ? where.text : mask + " & " + where.text;
    if (mixed_) mask = "(" + mask + ") != 0";
  }
  out_.line("tl.store(" + at.text + ", " + value.text + (mask.empty() ? "" : ", mask=" + mask) + ")");
}

}  // namespace mtmc::triton
