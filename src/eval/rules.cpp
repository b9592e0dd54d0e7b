#include "eval/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "eval/stats.h"

namespace mtmc {

namespace {

constexpr double kFloor = 0x1p-21;           // rule (a) and (b): what any fp32 kernel may err
constexpr double kFloorOfDoubles = 0x1p-42;  // the same in double: sums of millions of terms err by less
constexpr double kInDouble = 0x1p-40;        // a module that errs by less has no fp32 in it
constexpr double kMostWider = 16;            // sums in another order, over eager
constexpr double kPrecisionCause = 0x1p-5;   // below it a wrong result looks like a lower precision
constexpr double kShortestCallMs = 5e-4;     // no module of torch returns sooner: below it the clock stands still
constexpr double kClockMs = 2e-3;            // what a clock may be off in any case
constexpr double kWorkMs = 0.05;             // of processor time that may not be a call's
constexpr double kBesideMs = 5, kMoreBeside = 1.5;  // of processor time beside a call that nobody asks about
constexpr double kLie = 0.25, kMostLies = 0.3;      // of the time said; of the calls
// The ways to a process and back are not equally long for all, by what else it holds and by who else is there: medians
// of honest calls were seen 0.13 ms apart on a GPU, and 0.12 on two cores with a noise of 0.03.
constexpr double kLeastLieMs = 0.25;

const Budget& budget_of(const Budgets& budgets, const std::string& output) {
  static const Budget none;
  const auto found = budgets.find(output);
  return found == budgets.end() ? none : found->second;
}

// Eager may be exact in all runs.
double within_reason(double spread) { return std::isnan(spread) ? 1 : std::clamp(spread, 1.0, kMostSpread); }

}  // namespace

Budgets worst_of(const std::vector<std::vector<Measurement>>& runs) {
  Budgets worst;
  std::map<std::string, Budget> least;  // error, off and max_error of the best runs
  for (const auto& run : runs) {
    for (const Measurement& m : run) {
      Budgets one;
      Budget& budget = one[m.output];
      budget.error = budget.eager = m.error.value_or(0), budget.off = m.off, budget.max_error = m.max_error;
      budget.block_error = m.block_error;
      budget.gap = m.gap, budget.wrong = m.wrong, budget.distance = m.distance;
      budget.astray = m.astray;
      budget.finite = m.nonfinite == 0 && m.mismatched == 0;
      budget.elements = m.elements, budget.rows = m.rows;
      Budget& best = least.emplace(m.output, budget).first->second;
      for (const auto part : {&Budget::error, &Budget::off, &Budget::max_error})
        best.*part = std::min(best.*part, budget.*part);
      widen(worst, one);
    }
  }
  for (auto& [output, budget] : worst) {
    const Budget& best = least.at(output);
    const double spread = ill_conditioned(budget) ? budget.off / best.off : budget.error / best.error;
    budget.spread = within_reason(spread);
    budget.max_spread = within_reason(budget.max_error / best.max_error);
  }
  return worst;
}

void widen(Budgets& budgets, const Budgets& others) {
  for (const auto& [output, other] : others) {
    Budget& budget = budgets[output];
    if (other.error > budget.error) budget.moved = other.moved;
    budget.eager = std::max(budget.eager, other.eager);
    budget.error = std::max(budget.error, other.error), budget.off = std::max(budget.off, other.off);
    budget.max_error = std::max(budget.max_error, other.max_error);
    budget.block_error = std::max(budget.block_error, other.block_error);
    budget.astray = std::max(budget.astray, other.astray);
    budget.gap = std::max(budget.gap, other.gap), budget.wrong = std::max(budget.wrong, other.wrong);
    budget.distance = std::max(budget.distance, other.distance);
    budget.finite = budget.finite && other.finite;
    for (const auto part : {&Budget::elements, &Budget::rows}) {
      (budget.*part).of = std::max((budget.*part).of, (other.*part).of);
      for (size_t i = 0; i < Tail::kSteps; ++i)
        (budget.*part).beyond[i] = std::max((budget.*part).beyond[i], (other.*part).beyond[i]);
    }
  }
}

void widen_within_reason(Budgets& budgets, const Budgets& others) {
  Budgets held = others;
  for (auto& [output, other] : held) {
    const double own = budget_of(budgets, output).error;
    const double widest = own > 1 ? own * kMostWider : std::max(own, kIllConditioned);  // beyond 1 the truth is 0
    const double most = std::min(kMostWider * std::max(own, 0x1p-24), widest);
    if (other.error <= most) continue;
    const double share = most / other.error;
    other.error *= share, other.off *= share, other.max_error *= share;
    other.elements = {}, other.rows = {};
  }
  widen(budgets, held);
}

namespace {

// What is said of an output, and how much it matters. A batch-normed network has hundreds of entries of the state: of
// those the one that matters most is named, and how many others there are.
struct Remark {
  std::string output, text;
  double weight = 0;
};

std::vector<std::string> in_short(const std::vector<Remark>& remarks) {
  std::vector<std::string> notes;
  const Remark* worst = nullptr;
  int of_state = 0;
  for (const Remark& one : remarks) {
    if (!one.output.starts_with("state:")) {
      notes.push_back(one.text);
    } else if (++of_state; worst == nullptr || one.weight > worst->weight) {
      worst = &one;
    }
  }
  if (of_state == 1) notes.push_back(worst->text);
  if (of_state > 1) notes.push_back(fmt::format("{}; and {} more entries of the state", worst->text, of_state - 1));
  return notes;
}

}  // namespace

std::vector<std::string> dominated(const Budgets& eager, const Budgets& others, const std::string& by) {
  std::vector<Remark> found;
  for (const auto& [output, other] : others) {
    const double own = budget_of(eager, output).error;
    if (other.error > 2 * own + kFloor)
      found.push_back(
          {output,
           fmt::format("{}: output {} may err by {:.2g}, eager errs by {:.2g}", by, output, 2 * other.error, own),
           other.error});
  }
  return in_short(found);
}

double unit_of(std::string_view dtype) {
  if (dtype == "float16") return 0x1p-11;
  if (dtype == "bfloat16") return 0x1p-9;
  if (dtype == "float64" || dtype == "complex128") return 0x1p-53;
  return 0x1p-24;
}

double floor_of(const Budget& budget, std::string_view dtype) {
  return unit_of(dtype) == 0x1p-53 && budget.eager < kInDouble ? kFloorOfDoubles : kFloor;
}

double error_limit(const Budget& budget, std::string_view dtype) {
  return 2 * budget.spread * budget.error + floor_of(budget, dtype) + unit_of(dtype);
}

double max_limit(const Budget& budget, std::string_view dtype, double max_truth) {
  return 2 * std::max({2.0, budget.spread, budget.max_spread}) * budget.max_error +
         (floor_of(budget, dtype) + unit_of(dtype)) * max_truth;
}

constexpr int64_t kFewAstray = 2;  // indices, where eager has none: rows in which all is near zero are seldom
constexpr double kSeldom = 0.05;   // elements of one output: of more eager's own tell how many there are

int64_t by_chance(double mean) {
  if (mean > 100) return static_cast<int64_t>(mean + 4 * std::sqrt(mean));
  int64_t most = 0;
  for (double term = std::exp(-mean), rest = 1 - term; rest > 1e-4; rest -= term) {
    ++most;
    term *= mean / static_cast<double>(most);
  }
  return most;
}

double seldom(double eager_error, int64_t near_zero, size_t step) {
  return static_cast<double>(near_zero) * std::pow(4.0, step) * 4 * eager_error;
}

int64_t tail_limit(const Tail& budget, double eager_error, int64_t near_zero, size_t step) {
  const double reached = static_cast<double>(near_zero) * std::pow(4.0, step);
  return 4 * budget.beyond[step + 1] +
         by_chance(std::max(reached * 0x1p-20, std::min(seldom(eager_error, near_zero, step), kSeldom)));
}

int64_t rows_near_zero(const Measurement& m) { return m.elements.of >= 4 * m.rows.of ? 0 : m.rows.of; }

double error_beyond_rounding(const Measurement& m, const Budget& budget) {
  return std::max(0.0, budget.error - unit_of(m.dtype));
}

bool structured_counts(const Budgets& structured, const Budgets& task) {
  for (const auto& [output, budget] : structured) {
    if (budget.finite && ill_conditioned(budget_of(task, output))) continue;
    const double task_error = std::max(budget_of(task, output).error, 0x1p-24);
    if (!budget.finite || ill_conditioned(budget) || budget.error > 100 * task_error) return false;
  }
  return true;
}

namespace {

// Rules (a) and (b), or what takes their place where relative errors mean nothing.
void hold_to_norms(const Measurement& m, const Budget& budget, OutputError& result) {
  result.counts = !ill_conditioned(budget);
  result.error = m.error.value_or(0), result.limit = error_limit(budget, m.dtype);
  result.max_error = m.max_error, result.max_limit = max_limit(budget, m.dtype, m.max_truth);
  const bool absolute = m.norm_truth == 0 || !result.counts;
  if (absolute) {
    result.max_limit = max_limit(budget, m.dtype, 0);
    if (!(m.off <= 2 * budget.spread * budget.off)) result.broken = "a";
  } else if (!(result.error <= result.limit)) {
    result.broken = "a";
  }
  if (result.broken.empty() && !(result.max_error <= result.max_limit)) result.broken = "b";
  result.beyond = std::min(result.max_limit, result.max_error / 2);  // where many err a little: the worst of them
}

// Rule (f): which elements or rows err by too much of themselves; empty when none do.
std::string too_many(const Tail& tail, const Tail& budget, double eager_error, int64_t near_zero, const char* what,
                     size_t& step) {
  for (step = 0; step + 1 < Tail::kSteps; ++step) {
    const int64_t limit = tail_limit(budget, eager_error, near_zero, step);
    if (tail.beyond[step] > limit)
      return fmt::format("{} of {} {} err by 1/{} of themselves or more, limit {}", tail.beyond[step], tail.of, what,
                         int64_t{1} << (2 * step), limit);
  }
  return "";
}

void hold_to_tails(const Measurement& m, const Budget& budget, OutputError& result) {
  size_t step = 0;
  const double error = error_beyond_rounding(m, budget);
  result.detail = too_many(m.rows, budget.rows, error, rows_near_zero(m), "rows", step);
  if (result.detail.empty())
    result.detail = too_many(m.elements, budget.elements, error, m.elements.of, "elements", step);
  if (result.detail.empty()) return;
  result.broken = "f", result.beyond = std::pow(4.0, -static_cast<double>(step));
  result.gross = result.beyond >= kPrecisionCause;
}

// Rule (g): where no truth is known, c may be as far from eager's as both may be from the truth together.
void hold_to_eager(const Measurement& m, const Budget& budget, OutputError& result) {
  const Elsewhere& other = *m.elsewhere;
  const double all = max_limit(budget, m.dtype, result.counts ? other.max_eager : 0) + other.eager_max_error;
  const double blocks =
      2 * budget.spread * budget.block_error + floor_of(budget, m.dtype) + unit_of(m.dtype) + other.eager_error;
  result.compared = m.compared, result.elsewhere = other.numel;
  result.seen_from = other.scale > 0 ? all / other.scale : 0;
  if (!result.broken.empty()) return;
  if (!(other.max_error <= all))
    result.detail = fmt::format("where no truth is known an element differs from eager's by {:.3g}, limit {:.3g}",
                                other.max_error, all);
  else if (result.counts && !(other.error <= blocks))
    result.detail = fmt::format("where no truth is known a block differs from eager's by {:.3g}, limit {:.3g}",
                                other.error, blocks);
  else
    return;
  result.broken = "g", result.beyond = other.max_error / 2;
  result.gross = !(other.max_error < kPrecisionCause * other.max_eager);
}

}  // namespace

OutputError apply_rules(const std::string& draw, const Measurement& m, const Budget& budget) {
  OutputError result;
  result.draw = draw, result.output = m.output, result.budget = budget.error, result.moved = budget.moved;
  if (!m.mismatch.empty()) {
    result.broken = "e";
    return result;
  }
  const bool like_eager = m.exact && budget.exact_suffices;
  if (!m.floating) {
    result.error = m.gap, result.limit = 2 * budget.gap + kFloor + unit_of("float32");
    const bool far = m.wrong > 2 * budget.wrong || m.distance > 2 * budget.distance || m.gap > result.limit ||
                     m.astray > 4 * budget.astray + kFewAstray;
    if ((far || m.repeated > 0) && !like_eager) result.broken = "d";
    return result;
  }
  if (m.nonfinite > 0 || m.mismatched > 0) {
    result.broken = "c", result.beyond = std::numeric_limits<double>::infinity();
    return result;
  }
  Budget allowed = budget;  // and what eager errs on this very draw: some truths were asked for where it is far off
  if (m.elsewhere && budget.exact_suffices) {
    allowed.max_error = std::max(allowed.max_error, m.elsewhere->eager_max_error);
    allowed.block_error = std::max(allowed.block_error, m.elsewhere->eager_error);
  }
  hold_to_norms(m, allowed, result);
  if (result.broken.empty() && result.counts) hold_to_tails(m, allowed, result);
  if (m.elsewhere) hold_to_eager(m, allowed, result);
  if (like_eager) result.broken.clear(), result.detail.clear();
  return result;
}

std::string nothing_proven(const std::vector<OutputError>& errors) {
  const OutputError* worst = nullptr;
  for (const OutputError& error : errors) {
    if (!error.draw.starts_with("task-") || error.output.starts_with("state:")) continue;
    if (error.counts) return "";
    if (worst == nullptr || error.budget > worst->budget) worst = &error;
  }
  if (worst == nullptr) return "";
  return worst->moved ? fmt::format("half an ulp in the arguments changes output {} by {:.3g} of itself on draw {}",
                                    worst->output, worst->budget, worst->draw)
                      : fmt::format("eager's own relative error in output {} is {:.3g} on draw {}", worst->output,
                                    worst->budget, worst->draw);
}

std::vector<std::string> compared_in_slices(const std::vector<OutputError>& errors) {
  std::map<std::string, const OutputError*> found;  // the draw that tells least
  for (const OutputError& error : errors) {
    if (error.elsewhere == 0 || !error.counts || !error.draw.starts_with("task-")) continue;
    const OutputError*& kept = found[error.output];
    if (kept == nullptr || error.seen_from > kept->seen_from) kept = &error;
  }
  std::vector<std::string> notes;
  for (const auto& [output, e] : found)
    notes.push_back(
        fmt::format("truth-in-slices: output {}: {} elements against float64, {} against eager; whatever errs "
                    "by {:.2g} of the rms is seen in each, less than that in the former",
                    output, e->compared, e->elsewhere, e->seen_from));
  return notes;
}

std::vector<std::string> unproven(const std::vector<OutputError>& errors) {
  std::map<std::string, const OutputError*> found;  // the worst of each
  for (const OutputError& error : errors) {
    if (error.counts) continue;
    const OutputError*& worst = found[error.output];
    if (worst == nullptr || error.budget > worst->budget) worst = &error;
  }
  std::vector<Remark> remarks;
  for (const auto& [output, worst] : found)
    remarks.push_back(
        {output,
         fmt::format("held-to-absolute-errors: {} ({} {:.2g})", output,
                     worst->moved ? "half an ulp in the arguments changes it by" : "eager's relative error is",
                     worst->budget),
         worst->budget});
  return in_short(remarks);
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

bool merely_not_finite(const OutputError& error, const Measurement& m, const Budget& budget) {
  if (error.broken != "c") return false;
  Measurement finite = m;
  finite.nonfinite = finite.mismatched = 0;
  return apply_rules(error.draw, finite, budget).broken.empty();
}

std::string reason_of(const OutputError& error, const Measurement& m) {
  if (error.broken == "e") return m.mismatch;
  if (m.poison > 0) return "unwritten-output";
  if (error.output.starts_with("state:")) return "state-differs";
  if (error.broken == "c") return "non-finite";
  if (error.broken == "f" || error.broken == "g") return error.gross ? "wrong-result" : "precision";
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
    return fmt::format(
        "{}: {} integers are wrong, by up to {:.3g}, {} indices come twice or out of order, tied values differ by up "
        "to {:.2g} (limit {:.2g}), and of {} indices by a sixteenth of what is in their row",
        where, m.wrong, m.distance, m.repeated, m.gap, e.limit, m.astray);
  if (e.broken == "f" || e.broken == "g") return fmt::format("{}: {}", where, e.detail);
  if (e.broken == "b")
    return fmt::format("{}: the largest element error is {:.3g}, limit {:.3g}", where, e.max_error, e.max_limit);
  if (m.norm_truth == 0 || !e.counts)
    return fmt::format("{}: an absolute error of {:.3g}, more than eager's", where, m.off);
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

bool passes(const std::vector<Measurement>& outputs, const Budgets& budgets) {
  return std::all_of(outputs.begin(), outputs.end(), [&](const Measurement& m) {
    return apply_rules("", m, budget_of(budgets, m.output)).broken.empty();
  });
}

std::string accuracy_class(const std::vector<Measurement>& outputs, const Budgets& budgets) {
  bool exact = true;
  double worst = 0;  // beyond eager's budget
  for (const Measurement& m : outputs) {
    exact = exact && m.exact;
    if (!m.floating || !m.error || m.exact || ill_conditioned(budget_of(budgets, m.output))) continue;
    if (m.dtype == "float16" || m.dtype == "bfloat16") worst = std::max(worst, 1.0);
    if (*m.error > error_limit(budget_of(budgets, m.output), m.dtype)) worst = std::max(worst, *m.error);
  }
  if (exact) return "exact";
  return worst == 0 ? "fp32" : worst < 0x1p-9 ? "tf32" : "half";
}

namespace {

constexpr double kSure = 3.29, kChance = 1e-3;  // 99.9 %: in standard deviations, and what is left of 1

std::vector<double> gaps(const Clocks& clocks, const std::string& engine) {
  const std::vector<double>&inside = clocks.inside.at(engine), &outside = clocks.outside.at(engine);
  std::vector<double> found;
  for (size_t i = 0; i < outside.size(); ++i) found.push_back(outside[i] - inside[i]);
  return found;
}

}  // namespace

ClockCheck check_clocks(const Clocks& clocks) {
  const std::vector<double> own = gaps(clocks, "candidate"), eager = gaps(clocks, "eager"),
                            nothing = gaps(clocks, "nothing");
  // Of the two honest ones that which is more like it: its call is shorter than the one's and longer than the other's.
  Shift shift = shift_of(own, eager, kSure);
  if (const Shift other = shift_of(own, nothing, kSure); other.low < shift.low) shift = other;
  ClockCheck check;
  check.apart_ms = shift.middle, check.noise_ms = kClockMs + shift.middle - shift.low;
  const double hidden = std::max(0.0, check.apart_ms - check.noise_ms);

  std::vector<double> honest = eager;
  honest.insert(honest.end(), nothing.begin(), nothing.end());
  const double most = quantile(honest, 0.9) + kClockMs, idle = quantile(clocks.processor.at("nothing"), 0.9);
  const double least_lie = std::max(kLeastLieMs, quantile(honest, 0.9) - quantile(honest, 0.1));
  const auto late = [&](const std::vector<double>& found) {
    return static_cast<size_t>(std::count_if(found.begin(), found.end(), [&](double gap) { return gap > most; }));
  };
  const bool by_chance = chance_of_so_many(late(own), own.size(), late(honest), honest.size()) > kChance;
  size_t parted = 0, doubts = 0, lies = 0;
  for (size_t i = 0; i < own.size(); ++i) {
    const double said = clocks.inside.at("candidate")[i], seen = clocks.outside.at("candidate")[i] - most;
    const double worked = clocks.cores > 0 ? (clocks.processor.at("candidate")[i] - idle) / clocks.cores
                                           : 0.0;  // however busy the machine is
    const double least = kLie * std::max(said, 0.0);
    check.samples_ms.push_back(std::max({said + hidden, by_chance ? 0.0 : seen, worked, kShortestCallMs}));
    const bool works_more = worked - said > std::max(least, kWorkMs);
    const auto hides = [&](double believed, double more) {
      return believed - said > std::max(least, more) || works_more;
    };
    parted += hides(check.samples_ms.back(), 2 * kClockMs), lies += hides(check.samples_ms.back(), least_lie);
    doubts += hides(std::max(check.samples_ms.back(), seen), least_lie);
  }
  const auto too_often = [&](size_t calls) {
    return static_cast<double>(calls) > kMostLies * static_cast<double>(own.size());
  };
  check.doubted = too_often(doubts), check.parted = too_often(parted), check.lies = too_often(lies);
  if (check.parted && hidden > 0)  // then nothing of what is seen from outside is left to the noise
    for (size_t i = 0; i < own.size(); ++i)
      check.samples_ms[i] = std::max(check.samples_ms[i], clocks.inside.at("candidate")[i] + check.apart_ms);
  return check;
}

bool works_beside(const std::vector<double>& own_ms, std::vector<double> eager_ms) {
  for (double& sample : eager_ms) sample *= kMoreBeside;
  return shift_of(own_ms, eager_ms, kSure).low > kBesideMs;
}

bool faster_than_physics(double time_ms, double needed_bytes, double bytes_per_second, double cache_bytes) {
  if (needed_bytes < cache_bytes) return false;
  return time_ms * 1e-3 < 0.5 * needed_bytes / bytes_per_second;
}

}  // namespace mtmc
