// Index arithmetic with known ranges. Integer expressions are kept as linear forms over atoms; an atom is an axis or
// whatever is not linear (a floor division, a remainder, a load, a minimum).
#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <unordered_map>

#include "base/check.h"
#include "ir/expr.h"

namespace mtmc {
namespace {

constexpr int64_t kInfinity = int64_t(1) << 50;

struct Range {
  int64_t low = -kInfinity, high = kInfinity;  // inclusive
};

int64_t clamp_infinite(int64_t value) { return std::clamp(value, -kInfinity, kInfinity); }

struct Term {
  ExprP atom;
  int64_t coefficient = 0;
};

// base + sum coefficient * atom, each atom once.
struct Linear {
  int64_t base = 0;
  std::vector<Term> terms;

  Term* find(const ExprP& atom) {
    for (Term& term : terms)
      if (alike(term.atom, atom)) return &term;
    return nullptr;
  }
  void add(const ExprP& atom, int64_t coefficient) {
    if (coefficient == 0) return;
    Term* term = find(atom);
    if (term == nullptr) return terms.push_back({atom, coefficient});
    term->coefficient += coefficient;
    if (term->coefficient == 0) terms.erase(terms.begin() + (term - terms.data()));
  }
  void add(const Linear& other, int64_t factor) {
    base += other.base * factor;
    for (const Term& term : other.terms) add(term.atom, term.coefficient * factor);
  }
};

class Simplifier {
 public:
  explicit Simplifier(const std::vector<int64_t>& extents) : extents_(extents) {}

  ExprP run(const ExprP& expr) {
    if (expr->args.empty() && !expr->guard) return leaf(expr);
    if (expr.use_count() == 1) return simplified(expr);
    if (const auto known = done_.find(expr.get()); known != done_.end()) return known->second;
    ExprP made = simplified(expr);
    done_.emplace(expr.get(), made);
    return made;
  }

 private:
  ExprP leaf(const ExprP& expr) const {
    const bool single = expr->kind == Expr::Kind::axis && expr->axis < static_cast<int>(extents_.size()) &&
                        extents_[static_cast<size_t>(expr->axis)] == 1;
    return single ? index_constant(0) : expr;
  }

  static bool is_sum(const ExprP& expr) {
    return expr->kind == Expr::Kind::call && expr->dtype == DType::i64 &&
           (expr->fn == Fn::add || expr->fn == Fn::sub || expr->fn == Fn::mul || expr->fn == Fn::neg);
  }

  // A sum is put in order once, as a whole.
  ExprP simplified(const ExprP& expr) {
    if (is_sum(expr)) {
      Linear form;
      add_sum(expr, 1, form);
      ExprP built = build(std::move(form));
      return alike(built, expr) ? expr : built;
    }
    ExprP node = with_parts(expr, [&](const ExprP& part) { return run(part); });
    // A node that folds to one of its parts, `true and x`, has been visited as that part.
    return node == expr || node.use_count() == 1 ? visit(node) : node;
  }

  // Adds `factor` times a sum whose parts are not simplified yet.
  void add_sum(const ExprP& sum, int64_t factor, Linear& form) {
    const ExprP& a = sum->args[0];
    if (sum->fn == Fn::neg) return add_part(a, -factor, form);
    const ExprP& b = sum->args[1];
    if (sum->fn == Fn::add || sum->fn == Fn::sub) {
      add_part(a, factor, form);
      add_part(b, sum->fn == Fn::add ? factor : -factor, form);
    } else if (is_constant(a) || is_constant(b)) {
      add_part(is_constant(a) ? b : a, factor * (is_constant(a) ? a : b)->integer, form);
    } else {
      form.add(linear(call(Fn::mul, {run(a), run(b)})), factor);
    }
  }

  void add_part(const ExprP& part, int64_t factor, Linear& form) {
    if (is_sum(part) && part.use_count() == 1) return add_sum(part, factor, form);
    form.add(linear(run(part)), factor);
  }

  ExprP visit(const ExprP& node) {
    if (node->kind != Expr::Kind::call || node->args[0]->dtype != DType::i64) return node;
    switch (node->fn) {
      case Fn::div: return divide(node);
      case Fn::mod: return remainder(node);
      case Fn::min:
      case Fn::max: return minmax(node);
      case Fn::lt:
      case Fn::le:
      case Fn::gt:
      case Fn::ge:
      case Fn::eq:
      case Fn::ne: return compare(node);
      default: return node;
    }
  }

  Range range(const ExprP& atom) const {
    if (is_constant(atom)) return {atom->integer, atom->integer};
    if (atom->kind == Expr::Kind::axis && atom->axis < static_cast<int>(extents_.size()))
      return {0, std::max<int64_t>(extents_[atom->axis] - 1, 0)};
    if (atom->kind == Expr::Kind::call && atom->args.size() == 2 && is_constant(atom->args[1]) &&
        atom->args[1]->integer > 0) {
      const int64_t by = atom->args[1]->integer;
      if (atom->fn == Fn::mod) return {0, by - 1};
      if (atom->fn == Fn::div) {
        const Range inner = range(linear(atom->args[0]));
        return {inner.low <= -kInfinity ? -kInfinity : floor_div(inner.low, by),
                inner.high >= kInfinity ? kInfinity : floor_div(inner.high, by)};
      }
    }
    if (atom->kind == Expr::Kind::call && (atom->fn == Fn::min || atom->fn == Fn::max)) {
      const Range a = range(linear(atom->args[0])), b = range(linear(atom->args[1]));
      if (atom->fn == Fn::min) return {std::min(a.low, b.low), std::min(a.high, b.high)};
      return {std::max(a.low, b.low), std::max(a.high, b.high)};
    }
    return {};
  }

  Range range(const Linear& form) const {
    Range total{form.base, form.base};
    for (const Term& term : form.terms) {
      const Range one = range(term.atom);
      const int64_t low = term.coefficient > 0 ? one.low : one.high, high = term.coefficient > 0 ? one.high : one.low;
      const auto scaled = [&](int64_t bound) {
        if (std::abs(bound) >= kInfinity) return (bound > 0) == (term.coefficient > 0) ? kInfinity : -kInfinity;
        return clamp_infinite(bound * term.coefficient);
      };
      total.low = clamp_infinite(total.low + scaled(low));
      total.high = clamp_infinite(total.high + scaled(high));
    }
    return total;
  }

  Linear linear(const ExprP& expr) const {
    Linear form;
    if (is_constant(expr)) {
      form.base = expr->integer;
    } else if (expr->kind == Expr::Kind::call && (expr->fn == Fn::add || expr->fn == Fn::sub)) {
      form = linear(expr->args[0]);
      form.add(linear(expr->args[1]), expr->fn == Fn::add ? 1 : -1);
    } else if (expr->kind == Expr::Kind::call && expr->fn == Fn::neg) {
      form.add(linear(expr->args[0]), -1);
    } else if (expr->kind == Expr::Kind::call && expr->fn == Fn::mul &&
               (is_constant(expr->args[0]) || is_constant(expr->args[1]))) {
      const bool left = is_constant(expr->args[0]);
      form.add(linear(expr->args[left ? 1 : 0]), expr->args[left ? 0 : 1]->integer);
    } else {
      form.add(expr, 1);
    }
    return form;
  }

  // (x div a) div b is x div (a*b).
  static ExprP quotient(const ExprP& inner, int64_t by) {
    if (inner->kind == Expr::Kind::call && inner->fn == Fn::div && is_constant(inner->args[1]))
      return call(Fn::div, {inner->args[0], index_constant(inner->args[1]->integer * by)});
    return call(Fn::div, {inner, index_constant(by)});
  }

  // k*c*(x div c) + k*(x mod c) is k*x.
  static void rejoin(Linear& form) {
    for (bool changed = true; changed;) {
      changed = false;
      for (const Term& rest : form.terms) {
        if (rest.atom->kind != Expr::Kind::call || rest.atom->fn != Fn::mod || !is_constant(rest.atom->args[1]))
          continue;
        const int64_t by = rest.atom->args[1]->integer;
        const ExprP whole = quotient(rest.atom->args[0], by);
        const Term* found = form.find(whole);
        if (found == nullptr || found->coefficient != rest.coefficient * by) continue;
        const ExprP atom = rest.atom, inner = rest.atom->args[0];
        const int64_t k = rest.coefficient;
        form.add(whole, -k * by);
        form.add(atom, -k);
        Linear joined;
        joined.add(Simplifier({}).linear(inner), k);
        form.add(joined, 1);
        changed = true;
        break;
      }
    }
  }

  // Axes in rising order, other atoms after them by their text, the constant last.
  static ExprP build(Linear form) {
    rejoin(form);
    std::vector<Term>& terms = form.terms;
    const auto others = std::partition(terms.begin(), terms.end(),
                                       [](const Term& term) { return term.atom->kind == Expr::Kind::axis; });
    std::sort(terms.begin(), others, [](const Term& a, const Term& b) { return a.atom->axis < b.atom->axis; });
    if (terms.end() - others > 1) {
      std::vector<std::pair<std::string, Term>> named;
      for (auto term = others; term != terms.end(); ++term) named.emplace_back(to_string(term->atom), *term);
      std::sort(named.begin(), named.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
      std::transform(named.begin(), named.end(), others, [](const auto& one) { return one.second; });
    }
    ExprP sum = nullptr;
    for (const Term& term : terms) {
      if (!sum) {
        sum = term.coefficient == 1 ? term.atom : term.atom * index_constant(term.coefficient);
      } else if (term.coefficient < 0) {
        sum = sum - (term.coefficient == -1 ? term.atom : term.atom * index_constant(-term.coefficient));
      } else {
        sum = sum + (term.coefficient == 1 ? term.atom : term.atom * index_constant(term.coefficient));
      }
    }
    if (!sum) return index_constant(form.base);
    if (form.base == 0) return sum;
    return form.base > 0 ? sum + index_constant(form.base) : sum - index_constant(-form.base);
  }

  // Parts of `form` that `by` divides, and the rest.
  static std::pair<Linear, Linear> split(const Linear& form, int64_t by) {
    Linear whole, rest;
    whole.base = floor_div(form.base, by);
    rest.base = form.base - whole.base * by;
    for (const Term& term : form.terms) {
      if (term.coefficient % by == 0) {
        whole.add(term.atom, term.coefficient / by);
      } else {
        rest.add(term.atom, term.coefficient);
      }
    }
    return {whole, rest};
  }

  static int64_t common_divisor(const Linear& form, int64_t by) {
    int64_t g = by;
    for (const Term& term : form.terms) g = std::gcd(g, std::abs(term.coefficient));
    return g;
  }

  // The largest divisor g of `by` so that form = g * whole + rest with 0 <= rest < g: then form div by is whole div
  // (by / g), and form mod by is g * (whole mod (by / g)) + rest.
  int64_t coarse_divisor(const Linear& form, int64_t by) const {
    int64_t best = 1;
    for (const Term& term : form.terms) {
      const int64_t g = std::gcd(by, std::abs(term.coefficient));
      if (g <= best) continue;
      const Range rest = range(split(form, g).second);
      if (rest.low >= 0 && rest.high < g) best = g;
    }
    return best;
  }

  ExprP divide(const ExprP& node) {
    if (!is_constant(node->args[1]) || node->args[1]->integer <= 0) return node;
    const int64_t by = node->args[1]->integer;
    auto [whole, rest] = split(linear(node->args[0]), by);
    const Range bounds = range(rest);
    if (bounds.low > -kInfinity && bounds.high < kInfinity && floor_div(bounds.low, by) == floor_div(bounds.high, by)) {
      whole.base += floor_div(bounds.low, by);
      return build(whole);
    }
    const int64_t g = std::max(common_divisor(rest, by), coarse_divisor(rest, by));
    Linear result = whole;
    result.add(quotient(build(split(rest, g).first), by / g), 1);
    return build(result);
  }

  ExprP remainder(const ExprP& node) {
    if (!is_constant(node->args[1]) || node->args[1]->integer <= 0) return node;
    const int64_t by = node->args[1]->integer;
    auto [whole, rest] = split(linear(node->args[0]), by);
    const Range bounds = range(rest);
    if (bounds.low >= 0 && bounds.high < by) return build(rest);
    const int64_t g = std::max(common_divisor(rest, by), coarse_divisor(rest, by));
    if (g > 1) {
      auto [coarse, fine] = split(rest, g);
      fine.add(call(Fn::mod, {build(coarse), index_constant(by / g)}), g);
      return build(fine);
    }
    return call(Fn::mod, {build(rest), index_constant(by)});
  }

  ExprP minmax(const ExprP& node) {
    const Range a = range(linear(node->args[0])), b = range(linear(node->args[1]));
    if (a.high <= b.low) return node->args[node->fn == Fn::min ? 0 : 1];
    if (b.high <= a.low) return node->args[node->fn == Fn::min ? 1 : 0];
    return node;
  }

  ExprP compare(const ExprP& node) {
    Linear difference = linear(node->args[0]);
    difference.add(linear(node->args[1]), -1);
    const Range d = range(difference);
    const auto decided = [&](bool surely, bool never) -> ExprP {
      if (surely) return call(Fn::eq, {index_constant(0), index_constant(0)});
      if (never) return call(Fn::ne, {index_constant(0), index_constant(0)});
      return node;
    };
    switch (node->fn) {
      case Fn::lt: return decided(d.high < 0, d.low >= 0);
      case Fn::le: return decided(d.high <= 0, d.low > 0);
      case Fn::gt: return decided(d.low > 0, d.high <= 0);
      case Fn::ge: return decided(d.low >= 0, d.high < 0);
      case Fn::eq: return decided(d.low == 0 && d.high == 0, d.low > 0 || d.high < 0);
      default: return decided(d.low > 0 || d.high < 0, d.low == 0 && d.high == 0);
    }
  }

  const std::vector<int64_t>& extents_;
  std::unordered_map<const Expr*, ExprP> done_;  // what is shared
};

}  // namespace

ExprP simplify(const ExprP& expr, const std::vector<int64_t>& extents) { return Simplifier(extents).run(expr); }

Affine affine(const ExprP& index, int axes) {
  Affine form{true, 0, std::vector<int64_t>(axes, 0)};
  const std::function<void(const ExprP&, int64_t)> add = [&](const ExprP& expr, int64_t factor) {
    if (is_constant(expr)) {
      form.base += expr->integer * factor;
    } else if (expr->kind == Expr::Kind::axis && expr->axis < axes) {
      form.coefficients[expr->axis] += factor;
    } else if (expr->kind == Expr::Kind::call && (expr->fn == Fn::add || expr->fn == Fn::sub)) {
      add(expr->args[0], factor);
      add(expr->args[1], expr->fn == Fn::add ? factor : -factor);
    } else if (expr->kind == Expr::Kind::call && expr->fn == Fn::neg) {
      add(expr->args[0], -factor);
    } else if (expr->kind == Expr::Kind::call && expr->fn == Fn::mul && is_constant(expr->args[1])) {
      add(expr->args[0], factor * expr->args[1]->integer);
    } else if (expr->kind == Expr::Kind::call && expr->fn == Fn::mul && is_constant(expr->args[0])) {
      add(expr->args[1], factor * expr->args[0]->integer);
    } else {
      form.ok = false;
    }
  };
  add(index, 1);
  return form;
}

}  // namespace mtmc
