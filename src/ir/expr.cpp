#include "ir/expr.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/check.h"
#include "base/text.h"

namespace mtmc {
namespace {

struct FnRow {
  std::string_view name;
  int arity;
  double cost;
};

constexpr std::array<FnRow, 51> kFns = {{
    {"neg", 1, 1},     {"abs", 1, 1},    {"exp", 1, 8},         {"exp2", 1, 8},        {"expm1", 1, 10},
    {"log", 1, 8},     {"log2", 1, 8},   {"log1p", 1, 10},      {"sqrt", 1, 4},        {"rsqrt", 1, 4},
    {"tanh", 1, 10},   {"sin", 1, 10},   {"cos", 1, 10},        {"tan", 1, 12},        {"asin", 1, 12},
    {"acos", 1, 12},   {"atan", 1, 12},  {"sinh", 1, 12},       {"cosh", 1, 12},       {"erfc", 1, 16},
    {"erf", 1, 10},    {"floor", 1, 1},  {"ceil", 1, 1},        {"round", 1, 1},       {"trunc", 1, 1},
    {"isnan", 1, 1},   {"isinf", 1, 1},  {"logical_not", 1, 1}, {"add", 2, 1},         {"sub", 2, 1},
    {"mul", 2, 1},     {"div", 2, 4},    {"mod", 2, 6},         {"pow", 2, 16},        {"atan2", 2, 16},
    {"min", 2, 1},     {"max", 2, 1},    {"lt", 2, 1},          {"le", 2, 1},          {"eq", 2, 1},
    {"ne", 2, 1},      {"gt", 2, 1},     {"ge", 2, 1},          {"logical_and", 2, 1}, {"logical_or", 2, 1},
    {"bit_and", 2, 1}, {"bit_or", 2, 1}, {"bit_xor", 2, 1},     {"shl", 2, 1},         {"shr", 2, 1},
    {"select", 3, 1},
}};

const FnRow& row(Fn fn) { return kFns[static_cast<size_t>(fn)]; }

bool is_compare(Fn fn) { return fn >= Fn::lt && fn <= Fn::ge; }
bool is_predicate(Fn fn) {
  return is_compare(fn) || fn == Fn::isnan || fn == Fn::isinf || fn == Fn::logical_not || fn == Fn::logical_and ||
         fn == Fn::logical_or;
}

DType result_dtype(Fn fn, const std::vector<ExprP>& args) {
  if (is_predicate(fn)) return DType::b1;
  return fn == Fn::select ? args[1]->dtype : args[0]->dtype;
}

ExprP make(Expr expr) {
  expr.axes = expr.kind == Expr::Kind::axis ? uint64_t{1} << std::min(expr.axis, kLastAxis) : 0;
  expr.loads = expr.kind == Expr::Kind::load;
  const auto add = [&](const ExprP& part) {
    if (part) expr.axes |= part->axes, expr.loads |= part->loads;
  };
  for (const ExprP& arg : expr.args) add(arg);
  add(expr.guard), add(expr.other);
  return std::make_shared<const Expr>(std::move(expr));
}

ExprP bool_constant(bool value) {
  Expr expr;
  expr.dtype = DType::b1;
  expr.integer = value;
  return make(std::move(expr));
}

// Folds integer arithmetic on constants and the identities of index expressions; null when nothing applies.
ExprP fold_integer(Fn fn, const std::vector<ExprP>& args) {
  const ExprP& a = args[0];
  const bool ca = is_constant(a);
  if (args.size() == 1) {
    if (fn == Fn::neg && ca) return index_constant(-a->integer);
    return nullptr;
  }
  const ExprP& b = args[1];
  const bool cb = is_constant(b);
  if (ca && cb) {
    const int64_t x = a->integer, y = b->integer;
    switch (fn) {
      case Fn::add: return index_constant(x + y);
      case Fn::sub: return index_constant(x - y);
      case Fn::mul: return index_constant(x * y);
      case Fn::div: return y != 0 ? index_constant(floor_div(x, y)) : nullptr;
      case Fn::mod: return y != 0 ? index_constant(x - y * floor_div(x, y)) : nullptr;
      case Fn::min: return index_constant(std::min(x, y));
      case Fn::max: return index_constant(std::max(x, y));
      case Fn::lt: return bool_constant(x < y);
      case Fn::le: return bool_constant(x <= y);
      case Fn::eq: return bool_constant(x == y);
      case Fn::ne: return bool_constant(x != y);
      case Fn::gt: return bool_constant(x > y);
      case Fn::ge: return bool_constant(x >= y);
      default: return nullptr;
    }
  }
  if (fn == Fn::add && is_index_constant(a, 0)) return b;
  if ((fn == Fn::add || fn == Fn::sub) && is_index_constant(b, 0)) return a;
  if (fn == Fn::mul && (is_index_constant(a, 0) || is_index_constant(b, 0))) return index_constant(0);
  if (fn == Fn::mul && is_index_constant(a, 1)) return b;
  if ((fn == Fn::mul || fn == Fn::div) && is_index_constant(b, 1)) return a;
  if (fn == Fn::mod && is_index_constant(b, 1)) return index_constant(0);
  return nullptr;
}

ExprP fold_logic(Fn fn, const std::vector<ExprP>& args) {
  const auto known = [&](size_t i, bool value) {
    return is_constant(args[i]) && args[i]->dtype == DType::b1 && (args[i]->integer != 0) == value;
  };
  if (fn == Fn::logical_and && (known(0, true) || known(1, false))) return args[1];
  if (fn == Fn::logical_and && (known(1, true) || known(0, false))) return args[0];
  if (fn == Fn::logical_or && (known(0, false) || known(1, true))) return args[1];
  if (fn == Fn::logical_or && (known(1, false) || known(0, true))) return args[0];
  if (fn == Fn::select && known(0, true)) return args[1];
  if (fn == Fn::select && known(0, false)) return args[2];
  return nullptr;
}

}  // namespace

int64_t floor_div(int64_t a, int64_t b) {
  const int64_t q = a / b;
  return q * b == a || (a < 0) == (b < 0) ? q : q - 1;
}

std::string_view name(Fn fn) { return row(fn).name; }
int arity(Fn fn) { return row(fn).arity; }

ExprP constant(DType dtype, double number) {
  Expr expr;
  expr.dtype = dtype;
  if (is_float(dtype)) {
    expr.number = number;
  } else {
    expr.integer = static_cast<int64_t>(number);
  }
  return make(std::move(expr));
}

namespace {

ExprP new_index_constant(int64_t value) {
  Expr expr;
  expr.dtype = DType::i64;
  expr.integer = value;
  return make(std::move(expr));
}

ExprP new_axis(int which) {
  Expr expr;
  expr.kind = Expr::Kind::axis;
  expr.dtype = DType::i64;
  expr.axis = which;
  return make(std::move(expr));
}

// Most leaves are a few axes and small numbers: each thread has one of each, whose count of owners no other core
// changes.
constexpr int kAxes = 32, kNumbers = 256;

template <size_t kCount, class Make>
std::array<ExprP, kCount> leaves(Make make_one) {
  std::array<ExprP, kCount> all;
  for (size_t i = 0; i < kCount; ++i) all[i] = make_one(static_cast<int>(i));
  return all;
}

}  // namespace

ExprP index_constant(int64_t value) {
  if (value < 0 || value >= kNumbers) return new_index_constant(value);
  thread_local const auto known = leaves<kNumbers>(new_index_constant);
  return known[static_cast<size_t>(value)];
}

ExprP axis(int which) {
  if (which < 0 || which >= kAxes) return new_axis(which);
  thread_local const auto known = leaves<kAxes>(new_axis);
  return known[static_cast<size_t>(which)];
}

ExprP load(TensorRef tensor, DType dtype, std::vector<ExprP> indices, ExprP guard, ExprP other) {
  if (guard && is_constant(guard)) {
    if (guard->integer == 0) return other;
    guard = nullptr;
    other = nullptr;
  }
  MTMC_CHECK((guard == nullptr) == (other == nullptr), "a guarded load needs the value of its other case");
  Expr expr;
  expr.kind = Expr::Kind::load;
  expr.dtype = dtype;
  expr.tensor = tensor;
  expr.args = std::move(indices);
  expr.guard = std::move(guard);
  expr.other = std::move(other);
  return make(std::move(expr));
}

ExprP call(Fn fn, std::vector<ExprP> args) {
  MTMC_CHECK(static_cast<int>(args.size()) == arity(fn),
             std::string(name(fn)) + " takes " + std::to_string(arity(fn)) + " arguments");
  const size_t first = fn == Fn::select ? 1 : 0;
  if (args.size() == first + 2)
    MTMC_CHECK(args[first]->dtype == args[first + 1]->dtype,
               std::string(name(fn)) + " of " + std::string(name(args[first]->dtype)) + " and " +
                   std::string(name(args[first + 1]->dtype)) + ": " + to_string(args[first]) + ", " +
                   to_string(args[first + 1]));
  if (args[0]->dtype == DType::i64)
    if (ExprP folded = fold_integer(fn, args)) return folded;
  if (args[0]->dtype == DType::b1)
    if (ExprP folded = fold_logic(fn, args)) return folded;
  Expr expr;
  expr.kind = Expr::Kind::call;
  expr.dtype = result_dtype(fn, args);
  expr.fn = fn;
  expr.args = std::move(args);
  return make(std::move(expr));
}

ExprP cast(DType dtype, ExprP value) {
  if (value->dtype == dtype) return value;
  if (is_constant(value) && dtype != DType::f16 && dtype != DType::bf16) {
    const double number = is_float(value->dtype) ? value->number : static_cast<double>(value->integer);
    if (dtype == DType::b1) return bool_constant(number != 0);
    if (std::isfinite(number) || is_float(dtype)) return constant(dtype, number);
  }
  Expr expr;
  expr.kind = Expr::Kind::cast;
  expr.dtype = dtype;
  expr.args = {std::move(value)};
  return make(std::move(expr));
}

bool is_constant(const ExprP& expr) { return expr->kind == Expr::Kind::constant; }
bool is_index_constant(const ExprP& expr, int64_t value) {
  return is_constant(expr) && !is_float(expr->dtype) && expr->dtype != DType::b1 && expr->integer == value;
}

std::string to_string(const ExprP& expr) {
  const auto list = [](const std::vector<ExprP>& args) {
    std::string text;
    for (size_t i = 0; i < args.size(); ++i) text += (i > 0 ? ", " : "") + to_string(args[i]);
    return text;
  };
  switch (expr->kind) {
    case Expr::Kind::constant:
      if (is_float(expr->dtype)) return format_double(expr->number);
      if (expr->dtype == DType::b1) return expr->integer ? "true" : "false";
      return std::to_string(expr->integer);
    case Expr::Kind::axis: return "a" + std::to_string(expr->axis);
    case Expr::Kind::load: {
      std::string text = "%" + std::to_string(expr->tensor) + "[" + list(expr->args) + "]";
      if (expr->guard) text += " if " + to_string(expr->guard) + " else " + to_string(expr->other);
      return expr->guard ? "(" + text + ")" : text;
    }
    case Expr::Kind::call: return std::string(name(expr->fn)) + "(" + list(expr->args) + ")";
    case Expr::Kind::cast: return std::string(name(expr->dtype)) + "(" + to_string(expr->args[0]) + ")";
  }
  return {};
}

bool alike(const ExprP& a, const ExprP& b) {
  if (a == b) return true;
  if (a == nullptr || b == nullptr || a->kind != b->kind || a->dtype != b->dtype) return false;
  if (a->axes != b->axes || a->loads != b->loads) return false;
  const bool same_node = a->number == b->number && a->integer == b->integer && a->axis == b->axis && a->fn == b->fn &&
                         a->tensor == b->tensor && a->args.size() == b->args.size();
  return same_node && std::equal(a->args.begin(), a->args.end(), b->args.begin(), alike) && alike(a->guard, b->guard) &&
         alike(a->other, b->other);
}

int ExprNumbers::of(const ExprP& expr) {
  if (const auto met = met_.find(expr.get()); met != met_.end()) return met->second;
  std::string node;
  const auto add = [&](const auto& value) { node.append(reinterpret_cast<const char*>(&value), sizeof value); };
  add(expr->kind), add(expr->dtype), add(expr->number), add(expr->integer), add(expr->axis), add(expr->fn);
  add(expr->tensor);
  for (const ExprP& arg : expr->args) add(of(arg));
  if (expr->guard) add(of(expr->guard)), add(of(expr->other));
  const int number = known_.emplace(std::move(node), static_cast<int>(known_.size())).first->second;
  met_.emplace(expr.get(), number);
  kept_.push_back(expr);
  return number;
}

ExprP with_parts(const ExprP& expr, const std::function<ExprP(const ExprP&)>& made) {
  bool changed = false;
  std::vector<ExprP> args;  // once one of them is another
  for (size_t i = 0; i < expr->args.size(); ++i) {
    ExprP part = made(expr->args[i]);
    if (!changed && part == expr->args[i]) continue;
    if (!changed) {
      args.reserve(expr->args.size());
      args.assign(expr->args.begin(), expr->args.begin() + static_cast<long>(i));
    }
    changed = true;
    args.push_back(std::move(part));
  }
  ExprP guard = expr->guard ? made(expr->guard) : nullptr;
  ExprP other = expr->other ? made(expr->other) : nullptr;
  if (!changed && guard == expr->guard && other == expr->other) return expr;
  if (!changed) args = expr->args;
  switch (expr->kind) {
    case Expr::Kind::load: return load(expr->tensor, expr->dtype, std::move(args), guard, guard ? other : nullptr);
    case Expr::Kind::call: return call(expr->fn, std::move(args));
    case Expr::Kind::cast: return cast(expr->dtype, args[0]);
    default: MTMC_CHECK(false, "a leaf with parts");
  }
}

namespace {

// Expressions share parts: an index that many loads have is rebuilt once.
template <class Visit, class Stays>
class Transformer {
 public:
  // `stays`: is nothing in that node changed?
  Transformer(const Visit& visit, const Stays& stays) : visit_(visit), stays_(stays) {}

  ExprP run(const ExprP& expr) {
    if (stays_(*expr)) return expr;
    if (expr->args.empty() && !expr->guard) return visit_(expr);
    if (expr.use_count() == 1) return rebuild(expr);
    if (const auto known = done_.find(expr.get()); known != done_.end()) return known->second;
    ExprP made = rebuild(expr);
    done_.emplace(expr.get(), made);
    return made;
  }

 private:
  ExprP rebuild(const ExprP& expr) {
    ExprP made = with_parts(expr, [this](const ExprP& part) { return run(part); });
    // A node that folds to one of its parts, x + 0, has been visited as that part: not a second time.
    return made == expr || made.use_count() == 1 ? visit_(made) : made;
  }

  const Visit& visit_;
  const Stays& stays_;
  std::unordered_map<const Expr*, ExprP> done_;
};

}  // namespace

ExprP transform(const ExprP& expr, const std::function<ExprP(const ExprP&)>& visit) {
  const auto stays = [](const Expr&) { return false; };
  return Transformer(visit, stays).run(expr);
}

ExprP transform_loads(const ExprP& expr, const std::function<ExprP(const ExprP&)>& visit) {
  const auto of_loads = [&](const ExprP& node) { return node->kind == Expr::Kind::load ? visit(node) : node; };
  const auto stays = [](const Expr& node) { return !node.loads; };
  return Transformer(of_loads, stays).run(expr);
}

ExprP substitute_axes(const ExprP& expr, const std::vector<ExprP>& axes) {
  uint64_t replaced = 0;
  for (size_t a = 0; a < axes.size(); ++a)
    if (axes[a]) replaced |= uint64_t{1} << std::min<size_t>(a, kLastAxis);
  const auto other = [&](const ExprP& node) {
    if (node->kind != Expr::Kind::axis || node->axis >= static_cast<int>(axes.size()) || !axes[node->axis]) return node;
    return axes[node->axis];
  };
  const auto stays = [&](const Expr& node) { return (node.axes & replaced) == 0; };
  return Transformer(other, stays).run(expr);
}

void walk(const ExprP& expr, const std::function<void(const Expr&)>& visit) {
  visit(*expr);
  for (const ExprP& arg : expr->args) walk(arg, visit);
  if (expr->guard) walk(expr->guard, visit);
  if (expr->other) walk(expr->other, visit);
}

bool uses_axis(const ExprP& expr, int which) {
  if (which < 0) return false;
  if (which < kLastAxis) return (expr->axes >> which & 1) != 0;
  bool found = false;
  walk(expr, [&](const Expr& node) { found |= node.kind == Expr::Kind::axis && node.axis == which; });
  return found;
}

namespace {

void add_loads(const Expr& expr, std::vector<const Expr*>& loads) {
  if (!expr.loads) return;
  if (expr.kind == Expr::Kind::load) loads.push_back(&expr);
  for (const ExprP& arg : expr.args) add_loads(*arg, loads);
  if (expr.guard) add_loads(*expr.guard, loads);
  if (expr.other) add_loads(*expr.other, loads);
}

}  // namespace

std::vector<const Expr*> loads_of(const ExprP& expr) {
  std::vector<const Expr*> loads;
  add_loads(*expr, loads);
  return loads;
}

double operation_count(const ExprP& expr) {
  double count = 0;
  // Index arithmetic is free here: targets turn it into pointer increments.
  if (expr->kind == Expr::Kind::load) return expr->guard ? 1 : 0;
  if (expr->kind == Expr::Kind::call) count += row(expr->fn).cost;
  for (const ExprP& arg : expr->args) count += operation_count(arg);
  return count;
}

}  // namespace mtmc
