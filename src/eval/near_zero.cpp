#include "eval/near_zero.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "eval/task_facts.h"

namespace mtmc {

namespace {

// Elements of one output on one draw. Where more are to be expected eager has had some in its runs, and they count as
// its own.
constexpr double kMostExpected = 0.15;

}  // namespace

void NearZero::note(const Measurement& m, const Budget& budget, OutputError& error) {
  if (!m.floating || !error.counts || !error.broken.empty() || (m.exact && budget.exact_suffices)) return;
  Draws& draws = known_[error.output];
  Draw& now = draws[error.draw] = {};
  for (const bool rows : {false, true}) {
    const Tail &tail = rows ? m.rows : m.elements, &eager = rows ? budget.rows : budget.elements;
    const int64_t near_zero = rows ? rows_near_zero(m) : tail.of;
    for (size_t step = 0; step + 1 < Tail::kSteps; ++step) {
      const int64_t room = tail_limit(eager, 0, near_zero, step);
      now.found[step] = std::max(now.found[step], tail.beyond[step] - room);
      now.expected[step] = std::max(now.expected[step],
                                    std::min(seldom(error_beyond_rounding(m, budget), near_zero, step), kMostExpected));
    }
  }
  for (const std::string& kind : {kind_of(error.draw) + "-", std::string()}) hold(draws, kind, error);
}

void NearZero::hold(const Draws& draws, const std::string& kind, OutputError& error) {
  for (size_t step = 0; step + 1 < Tail::kSteps && error.broken.empty(); ++step) {
    int64_t found = 0, count = 0;
    double expected = 0;
    for (const auto& [draw, one] : draws)
      if (draw.starts_with(kind)) ++count, found += one.found[step], expected += one.expected[step];
    const int64_t limit = by_chance(expected);
    if (found <= limit) continue;
    error.broken = "f", error.beyond = std::pow(4.0, -static_cast<double>(step)), error.gross = true;
    error.detail = fmt::format("{} elements or rows on {} draws err by 1/{} of themselves or more, limit {}", found,
                               count, int64_t{1} << (2 * step), limit);
  }
}

bool NearZero::met(const std::string& draw) const {
  return std::any_of(known_.begin(), known_.end(), [&](const auto& output) {
    const auto found = output.second.find(draw);
    if (found == output.second.end()) return false;
    const auto& counts = found->second.found;
    return std::any_of(counts.begin(), counts.end(), [](int64_t count) { return count > 0; });
  });
}

}  // namespace mtmc
