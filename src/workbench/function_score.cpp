#include "workbench/function_score.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "base/text.h"
#include "eval/stats.h"

namespace mtmc {
namespace {

using Rows = std::vector<const Json*>;
using Test = std::function<bool(const Json&)>;

// Rows come from files, which anybody may have written: what is of another kind counts as missing.
bool is(const Json& row, const char* field) { return row.contains(field) && row.at(field) == Json(true); }

std::string text(const Json& row, const char* field) {
  return row.contains(field) && row.at(field).is_string() ? row.at(field).get<std::string>() : "";
}

bool excluded(const Json& row) { return !text(row, "excluded").empty(); }

std::string share(const Rows& rows, const Test& wanted, const Test& among) {
  int all = 0, found = 0;
  for (const Json* row : rows)
    if (among(*row)) ++all, found += wanted(*row);
  return all == 0 ? "" : fmt::format("{} of {} ({:.1f} %)", found, all, 100.0 * found / all);
}

bool any(const Json&) { return true; }

// The mean counts 0 for a task without a speedup, as the paper does (arXiv 2511.20100).
std::string over_eager_of(const Rows& rows) {
  double sum = 0, logs = 0;
  int timed = 0;
  for (const Json* row : rows)
    if (const auto speedup = over_eager(*row)) sum += *speedup, logs += std::log(*speedup), ++timed;
  if (timed == 0) return "not timed";
  return fmt::format("{:.2f} (mean {:.2f}, over all tasks {:.2f}; {} tasks)", std::exp(logs / timed), sum / timed,
                     sum / static_cast<double>(rows.size()), timed);
}

// The benchmark's own figure (EVAL/eval_T/2_efficiency.py): what is ten times as fast, or as slow, counts as failed.
std::string official_mean_of(const Rows& rows) {
  double sum = 0;
  int timed = 0, counted = 0;
  for (const Json* row : rows)
    if (const auto speedup = over_eager(*row)) {
      ++timed;
      if (*speedup > 0.1 && *speedup < 10) sum += *speedup, ++counted;
    }
  return counted == 0 ? "" : fmt::format("{:.2f} ({} of {} tasks)", sum / counted, counted, timed);
}

// Of what was certified and timed: the least possible time over that of its kernels.
std::string roofline_of(const Rows& rows) {
  std::vector<double> shares;
  for (const Json* row : rows)
    if (is(*row, "certified") && row->contains("roofline_share") && row->at("roofline_share").is_number())
      shares.push_back(row->at("roofline_share").get<double>());
  return shares.empty() ? "" : fmt::format("{:.0f} % ({} tasks)", 100 * median(shares), shares.size());
}

// Of a task that is an instruction: over the golden code.
std::optional<double> over_golden(const Json& row) {
  if (!is(row, "strict_at_sizes") || !row.contains("speedup") || !row.at("speedup").is_object()) return std::nullopt;
  const Json found = row.at("speedup").value("golden", Json());
  return found.is_number() && found.get<double>() > 0 ? std::optional(found.get<double>()) : std::nullopt;
}

std::optional<double> efficiency(const Json& row, const char* field) {
  const bool known = over_golden(row) && row.contains(field) && row.at(field).is_number();
  return known ? std::optional(row.at(field).get<double>()) : std::nullopt;
}

std::string over_golden_of(const Rows& rows) {
  double sum = 0, logs = 0;
  int timed = 0;
  for (const Json* row : rows)
    if (const auto speedup = over_golden(*row)) sum += *speedup, logs += std::log(*speedup), ++timed;
  return timed == 0 ? "" : fmt::format("{:.2f} (mean {:.2f}; {} tasks)", std::exp(logs / timed), sum / timed, timed);
}

// The benchmark's own figures (EVAL/eval_G/2_efficiency.py): what is ten times as fast, or beyond the peaks, counts as
// failed.
std::string official_over_golden_of(const Rows& rows) {
  double speedups = 0, efficiencies = 0;
  int timed = 0, counted = 0;
  for (const Json* row : rows)
    if (const auto speedup = over_golden(*row)) {
      ++timed;
      const double reached = efficiency(*row, "efficiency").value_or(0);
      if (*speedup < 10 && reached < 1) speedups += *speedup, efficiencies += reached, ++counted;
    }
  if (counted == 0) return "";
  return fmt::format("{:.2f}, efficiency {:.1f} % ({} of {} tasks)", speedups / counted, 100 * efficiencies / counted,
                     counted, timed);
}

std::string efficiency_of(const Rows& rows, const char* field) {
  std::vector<double> shares;
  for (const Json* row : rows)
    if (const auto reached = efficiency(*row, field)) shares.push_back(*reached);
  return shares.empty() ? "" : fmt::format("{:.1f} % ({} tasks)", 100 * median(shares), shares.size());
}

// Empty: as the tests call the functions. All rows are of the same sizes, but those of tasks that failed name none.
std::string sizes_of(const Rows& rows) {
  const bool measured =
      std::any_of(rows.begin(), rows.end(), [](const Json* row) { return text(*row, "sizes") == "performance"; });
  return measured ? " at performance sizes" : "";
}

// Whatever of an instruction's performance sizes has no time, and why.
std::string untimed_of(const Json& row) {
  std::vector<std::string> whys;
  if (const std::string why = text(row, "untimed"); !why.empty()) whys.push_back(why);
  if (const std::string left = text(row, "left_out"); !left.empty()) whys.push_back("left out: " + left);
  if (row.contains("measured") && row.at("measured").is_array())
    for (const Json& one : row.at("measured"))
      if (one.is_object() && one.contains("place") && !text(one, "golden_fails").empty())
        whys.push_back(fmt::format("size {}: golden code: {}", one.at("place").dump(), text(one, "golden_fails")));
  return join(whys, "; ");
}

// "### Not called" and a line for each row that is meant, with what `why` says of it.
std::string list(const std::string& title, const TaskRows& rows, const Test& meant,
                 const std::function<std::string(const Json&)>& why) {
  std::string lines;
  for (const auto& [task, row] : rows)
    if (meant(row)) lines += fmt::format("- `{}`: {}\n", task, why(row));
  return lines.empty() ? "" : fmt::format("\n### {}\n\n{}", title, lines);
}

std::string reason(const Json& row) {
  const std::string said = text(row, "reason");
  return said.empty() ? text(row, "error") : said;
}

}  // namespace

std::string function_table(const TaskRows& rows) {
  Rows all;
  for (const auto& [task, row] : rows) all.push_back(&row);
  const Test called = [](const Json& row) { return is(row, "called"); };
  const Test executed = [](const Json& row) { return is(row, "executed"); };
  const Test strict = [](const Json& row) { return is(row, "strict"); };
  const Test golden = [](const Json& row) { return text(row, "golden_fails").empty(); };
  const Test compared = [](const Json& row) { return !excluded(row); };
  const Test searched = [](const Json& row) { return !row.contains("goldens"); };  // no instruction is
  const Test factored = [](const Json& row) {
    return row.contains("reconstructed") && !row.at("reconstructed").is_null();
  };
  const std::string sizes = sizes_of(all);
  Rows functions, instructions;
  for (const Json* row : all) (searched(*row) ? functions : instructions).push_back(row);
  const std::string tests = functions.empty() ? "" : sizes;  // an instruction's are always at its tests' sizes
  const bool any_timed = !sizes.empty() && !instructions.empty();
  const Test held = [](const Json& row) {
    return row.contains("strict_at_sizes") && row.at("strict_at_sizes").is_boolean();
  };
  const Test strict_at_sizes = [](const Json& row) { return is(row, "strict_at_sizes"); };
  const Test left_out = [](const Json& row) { return !text(row, "left_out").empty(); };
  const std::pair<std::string, std::string> lines[] = {
      {"golden code that runs here", share(all, golden, any)},
      {"call accuracy (official)", share(all, called, any)},
      {"the same, where the golden code runs", share(all, called, golden)},
      {"execution accuracy (official)", share(all, executed, any)},
      {"strict accuracy" + tests + ", without the excluded", share(all, strict, compared)},
      {"the same, where the golden code runs",
       share(all, strict, [&](const Json& row) { return compared(row) && golden(row); })},
      {"factors that are not unique, by reconstruction",
       share(
           all, [](const Json& row) { return is(row, "reconstructed"); }, factored)},
      {"sizes left out for the memory that they take", sizes.empty() ? "" : share(all, left_out, any)},
      {"all cases certified by the judge", share(
                                               all, [](const Json& row) { return is(row, "certified"); }, searched)},
      {"over eager" + sizes + ", geometric mean", functions.empty() ? "" : over_eager_of(functions)},
      {"efficiency" + sizes + ", median share of this device's own roofline", roofline_of(all)},
      {"the same by the benchmark's rule, mean of those between 0.1 and 10", official_mean_of(all)},
      {"strict at performance sizes, too", share(all, strict_at_sizes, held)},
      {"over the golden code" + sizes + ", geometric mean", over_golden_of(instructions)},
      {"efficiency" + sizes + ", median share of this device's own peaks", efficiency_of(instructions, "efficiency")},
      {"the golden code's, median", efficiency_of(instructions, "golden_efficiency")},
      {"over the golden code by the benchmark's rule, mean of those below 10 and below 100 % efficient",
       official_over_golden_of(instructions)},
  };
  std::string table = fmt::format("| | {} tasks |\n| --- | ---: |\n", rows.size());
  for (const auto& [name, value] : lines)
    if (!value.empty()) table += fmt::format("| {} | {} |\n", name, value);
  table += list(
      "Golden code that does not run here", rows, [&](const Json& row) { return !golden(row); },
      [](const Json& row) { return text(row, "golden_fails"); });
  table += list(
      "Not called", rows, [&](const Json& row) { return golden(row) && !called(row); }, reason);
  table += list(
      "Called, and not strictly right", rows,
      [&](const Json& row) { return called(row) && compared(row) && !strict(row); }, reason);
  table += list("Excluded from strict accuracy", rows, excluded, [](const Json& row) { return text(row, "excluded"); });
  if (any_timed)
    table += list(
        "Without a time", rows,
        [&](const Json& row) { return !searched(row) && row.contains("measured") && !untimed_of(row).empty(); },
        untimed_of);
  return table;
}

}  // namespace mtmc
