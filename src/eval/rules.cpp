#include "eval/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace mtmc {

namespace {

constexpr double kFloor = 0x1p-21;          // rule (a) and (b): what any fp32 kernel may err
constexpr double kPrecisionCause = 0x1p-5;  // below it a wrong result looks like a lower precision
constexpr double kShortestCallMs = 5e-4;    // no module of torch returns sooner: below it the clock stands still

const Budget& budget_of(const Budgets& budgets, const std::string& output) {
  static const Budget none;
  const auto found = budgets.find(output);
  return found == budgets.end() ? none : found->second;
}

}  // namespace

Budgets worst_of(const std::vector<std::vector<Measurement>>& runs) {
  Budgets worst;
  for (const auto& run : runs) {
    for (const Measurement& m : run) {
      Budget& budget = worst[m.output];
      if (m.error) budget.error = std::max(budget.error, *m.error);
      budget.max_error = std::max(budget.max_error, m.max_error);
      budget.gap = std::max(budget.gap, m.gap);
      budget.wrong = std::max(budget.wrong, m.wrong);
      budget.finite = budget.finite && m.nonfinite == 0 && m.mismatched == 0;
    }
  }
  return worst;
}

double unit_of(std::string_view dtype) {
  if (dtype == "float16") return 0x1p-11;
  if (dtype == "bfloat16") return 0x1p-9;
  if (dtype == "float64" || dtype == "complex128") return 0x1p-53;
  return 0x1p-24;
}

double error_limit(const Budget& budget, std::string_view dtype) { return 2 * budget.error + kFloor + unit_of(dtype); }

double max_limit(const Budget& budget, std::string_view dtype, double max_truth) {
  return 4 * budget.max_error + (kFloor + unit_of(dtype)) * max_truth;
}

bool structured_counts(const Budgets& structured, const Budgets& task) {
  for (const auto& [output, budget] : structured) {
    const double task_error = std::max(budget_of(task, output).error, 0x1p-24);
    if (!budget.finite || ill_conditioned(budget) || budget.error > 100 * task_error) return false;
  }
  return true;
}

OutputError apply_rules(const std::string& draw, const Measurement& m, const Budget& budget) {
  OutputError result;
  result.draw = draw, result.output = m.output, result.budget = budget.error;
  if (!m.mismatch.empty()) {
    result.broken = "e";
    return result;
  }
  if (!m.floating) {
    result.error = m.gap, result.limit = 2 * budget.gap + kFloor + unit_of("float32");
    if (m.wrong > 2 * budget.wrong || m.gap > result.limit) result.broken = "d";
    return result;
  }
  result.error = m.error.value_or(0), result.limit = error_limit(budget, m.dtype);
  result.max_error = m.max_error, result.max_limit = max_limit(budget, m.dtype, m.max_truth);
  result.counts = !ill_conditioned(budget);
  if (m.nonfinite > 0 || m.mismatched > 0) {
    result.broken = "c";
  } else if (m.norm_truth == 0) {
    if (m.nonzero > 0) result.broken = "a";
  } else if (!(result.error <= result.limit)) {
    result.broken = "a";
  } else if (!(result.max_error <= result.max_limit)) {
    result.broken = "b";
  }
  return result;
}

std::string unlike_eager(const Fractions& own, const std::vector<Fractions>& eager) {
  for (const auto& [name, fraction] : own) {
    double sum = 0, squares = 0, runs = 0, hits = 0, of = 0;
    for (const Fractions& run : eager) {
      const auto found = run.find(name);
      if (found == run.end() || found->second.of == 0) continue;
      const double share = found->second.hits / found->second.of;
      sum += share, squares += share * share, runs += 1, hits += found->second.hits, of += found->second.of;
    }
    if (fraction.of == 0 || runs < 2) continue;
    const double share = fraction.hits / fraction.of, mean = hits / of;
    // A mask may be shared by many elements: then shares scatter more than draws of single elements would.
    const double seen = std::max(0.0, (squares - sum * sum / runs) / (runs - 1));
    const double chance = (hits + 1) / (of + 2);  // not 0 or 1 after few elements (Laplace's rule of succession)
    const double single = chance * (1 - chance) * (1 / fraction.of + 1 / of);
    if (std::abs(share - mean) > 6 * std::sqrt(std::max(seen * (1 + 1 / runs), single)) + 2 / fraction.of) {
      return fmt::format("{:.4f} of {} elements are {}, {:.4f} in eager", share, fraction.of, name, mean);
    }
  }
  return "";
}

std::string reason_of(const OutputError& error, const Measurement& m) {
  if (error.broken == "e") return m.mismatch;
  if (m.poison > 0) return "unwritten-output";
  if (error.output.starts_with("state:")) return "state-differs";
  if (error.broken == "c") return "non-finite";
  const bool small =
      m.floating && m.norm_truth > 0 && error.error < kPrecisionCause && m.max_error < kPrecisionCause * m.max_truth;
  return small ? "precision" : "wrong-result";
}

std::string sentence_of(const OutputError& e, const Measurement& m) {
  const std::string where = fmt::format("output {} on draw {}", e.output, e.draw);
  if (e.broken == "e") return fmt::format("{}: {}", where, m.detail);
  if (m.poison > 0) return fmt::format("{}: {} elements were never written", where, m.poison);
  if (e.broken == "c")
    return fmt::format("{}: {} elements are not finite where eager's are, {} are finite or other where it is not",
                       where, m.nonfinite, m.mismatched);
  if (e.broken == "d")
    return fmt::format("{}: {} integers are wrong, and tied values differ by up to {:.2g} (limit {:.2g})", where,
                       m.wrong, m.gap, e.limit);
  if (m.norm_truth == 0) return fmt::format("{}: the truth is 0, and {} elements are not", where, m.nonzero);
  if (e.broken == "b")
    return fmt::format("{}: the largest element error is {:.3g}, limit {:.3g}", where, e.max_error, e.max_limit);
  return fmt::format("{}: relative error {:.3g}, limit {:.3g} (budget {:.3g})", where, e.error, e.limit, e.budget);
}

bool official_passes(const std::vector<Measurement>& outputs) {
  return std::all_of(outputs.begin(), outputs.end(),
                     [](const Measurement& m) { return m.mismatch.empty() && m.official_bad == 0; });
}

bool legacy_passes(const std::vector<Measurement>& outputs) {
  return std::all_of(outputs.begin(), outputs.end(),
                     [](const Measurement& m) { return m.mismatch.empty() && m.legacy_bad == 0; });
}

bool passes_everywhere(const std::map<std::string, std::vector<Measurement>>& nulls,
                       const std::map<std::string, Budgets>& budgets) {
  for (const auto& [draw, outputs] : nulls) {
    for (const Measurement& m : outputs) {
      if (!apply_rules(draw, m, budget_of(budgets.at(draw), m.output)).broken.empty()) return false;
    }
  }
  return !nulls.empty();
}

std::string accuracy_class(const std::vector<Measurement>& outputs, const Budgets& budgets) {
  bool exact = true;
  double worst = 0;  // beyond eager's budget
  for (const Measurement& m : outputs) {
    exact = exact && m.exact;
    if (!m.floating || !m.error) continue;
    if (m.dtype == "float16" || m.dtype == "bfloat16") worst = std::max(worst, 1.0);
    if (*m.error > error_limit(budget_of(budgets, m.output), m.dtype)) worst = std::max(worst, *m.error);
  }
  if (exact) return "exact";
  return worst == 0 ? "fp32" : worst < 0x1p-9 ? "tf32" : "half";
}

bool clock_agrees(double inside_ms, double outside_ms, double ping_ms) {
  return inside_ms >= kShortestCallMs && outside_ms <= 1.5 * inside_ms + 0.05 + ping_ms;
}

bool clocks_agree(const std::vector<double>& inside_ms, const std::vector<double>& outside_ms, double ping_ms) {
  std::vector<size_t> order(inside_ms.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return inside_ms[a] < inside_ms[b]; });
  order.resize((order.size() + 1) / 2);
  const auto agreeing = std::count_if(order.begin(), order.end(),
                                      [&](size_t i) { return clock_agrees(inside_ms[i], outside_ms[i], ping_ms); });
  return 4 * static_cast<size_t>(agreeing) >= order.size();
}

bool faster_than_physics(double time_ms, double needed_bytes, double bytes_per_second, double cache_bytes) {
  if (needed_bytes < cache_bytes) return false;
  return time_ms * 1e-3 < 0.5 * needed_bytes / bytes_per_second;
}

}  // namespace mtmc
