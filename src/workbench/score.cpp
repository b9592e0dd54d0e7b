#include "workbench/score.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/text.h"
#include "eval/stats.h"

namespace mtmc {
namespace {

constexpr double kFast[] = {0, 0.5, 0.8, 1, 1.5, 2};
constexpr double kOwn = 0.95;        // of the time in kernels of its own
constexpr double kAtRoofline = 1.1;  // times the roofline, from which there is hardly anything to gain

using Rows = std::vector<const Json*>;

bool failed(const Json& row) { return !row.at("error").is_null(); }
// Rows come from files, which anybody may have written: what is of another kind counts as missing.
Json field_of(const Json& row, const char* field) {
  return row.is_object() && row.contains(field) ? row.at(field) : Json();
}
bool is(const Json& row, const char* field) { return !failed(row) && field_of(row, field) == Json(true); }
bool certified(const Json& row) { return is(row, "certified"); }
bool degenerate(const Json& row) { return is(row, "degenerate"); }
std::string refusal(const Json& row) {
  const Json reason = field_of(field_of(row, "refusal"), "reason");
  return reason.is_string() ? reason.get<std::string>() : "";
}
// Eager's own result is mostly rounding: there is no telling right from wrong.
bool ill_conditioned(const Json& row) { return refusal(row) == "ill-conditioned"; }

bool tells(const Json& row) { return !degenerate(row) && !ill_conditioned(row); }

std::optional<double> number(const Json& row, const char* field) {
  if (failed(row) || !row.contains(field) || !row.at(field).is_number()) return std::nullopt;
  return row.at(field).get<double>();
}

std::optional<double> speedup(const Json& row, const char* baseline) {
  if (!certified(row)) return std::nullopt;
  const Json found = field_of(field_of(row, "speedup"), baseline);
  return found.is_number() && found.get<double>() > 0 ? std::optional(found.get<double>()) : std::nullopt;
}

struct Interval {
  double low = 0, high = std::numeric_limits<double>::infinity();
};

Interval interval(const Json& row) {
  Interval found;
  if (!certified(row)) return found;
  const Json eager = field_of(field_of(row, "speedup_interval"), "eager");
  if (const Json low = field_of(eager, "low"); low.is_number()) found.low = low.get<double>();
  if (const Json high = field_of(eager, "high"); high.is_number()) found.high = high.get<double>();
  return found;
}

std::vector<double> speedups(const Rows& rows, const char* baseline) {
  std::vector<double> found;
  for (const Json* row : rows)
    if (const auto one = speedup(*row, baseline)) found.push_back(*one);
  return found;
}

Rows only(const Rows& rows, const std::function<bool(const Json&)>& wanted) {
  Rows found;
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(found), [&](const Json* row) { return wanted(*row); });
  return found;
}

std::string count(const Rows& rows, const std::function<bool(const Json&)>& wanted) {
  return std::to_string(only(rows, wanted).size());
}

// "2.13 (mean 2.60, median 1.98; 87 tasks)", or "" where nothing was timed.
std::string means(const std::vector<double>& values) {
  if (values.empty()) return "";
  double sum = 0;
  for (const double value : values) sum += value;
  return fmt::format("{:.2f} (mean {:.2f}, median {:.2f}; {} tasks)", geometric_mean(values),
                     sum / static_cast<double>(values.size()), median(values), values.size());
}

std::string share(const Rows& rows, const std::function<bool(const Json&)>& wanted) {
  if (rows.empty()) return "";
  return fmt::format("{:.0f} %",
                     100.0 * static_cast<double>(only(rows, wanted).size()) / static_cast<double>(rows.size()));
}

std::string median_of(const Rows& rows, const char* field) {
  std::vector<double> values;
  for (const Json* row : rows)
    if (const auto value = number(*row, field); value && certified(*row)) values.push_back(*value);
  return values.empty() ? "" : fmt::format("{:.0f} %", 100 * median(values));
}

double sum_of(const Rows& rows, const char* field) {
  double sum = 0;
  for (const Json* row : rows) sum += number(*row, field).value_or(0);
  return sum;
}

bool rewritten(const Json& row) { return !failed(row) && row.contains("rewrites") && !row.at("rewrites").empty(); }

// Whether eager's own time is well above the roofline; tasks that say nothing of either count.
bool room_for_gain(const Json& row) {
  const Json eager = field_of(field_of(field_of(row, "times"), "eager"), "median_ms");
  const auto roofline = number(row, "roofline_ms");
  return !eager.is_number() || !roofline || eager.get<double>() > kAtRoofline * *roofline;
}

struct Line {
  std::string name;
  std::function<std::string(const Rows& all, const Rows& headline)> text;
};

std::vector<Line> score_lines() {
  std::vector<Line> lines = {
      {"tasks", [](const Rows& all, const Rows&) { return std::to_string(all.size()); }},
      {"failed", [](const Rows& all, const Rows&) { return count(all, failed); }},
      {"degenerate, ill-conditioned (left out below)",
       [](const Rows& all, const Rows&) { return count(all, degenerate) + ", " + count(all, ill_conditioned); }},
      {"certified", [](const Rows&, const Rows& rows) { return count(rows, certified); }},
      {"official, legacy",
       [](const Rows&, const Rows& rows) {
         return count(rows, [](const Json& row) { return is(row, "official"); }) + ", " +
                count(rows, [](const Json& row) { return is(row, "legacy"); });
       }},
  };
  for (const double p : kFast) {
    lines.push_back({fmt::format("fast_{:g}", p), [p](const Rows&, const Rows& rows) {
                       return share(rows, [p](const Json& row) {
                         return p == 0 ? certified(row) : speedup(row, "eager").value_or(0) > p;
                       });
                     }});
  }
  const std::vector<Line> others = {
      {"fast_1 beyond noise",
       [](const Rows&, const Rows& rows) {
         return share(rows, [](const Json& row) { return interval(row).low > 1; });
       }},
      {"the same, where eager is not within 1.1 of the roofline",
       [](const Rows&, const Rows& rows) {
         return share(only(rows, room_for_gain), [](const Json& row) { return interval(row).low > 1; });
       }},
      {"over eager, geometric mean", [](const Rows&, const Rows& rows) { return means(speedups(rows, "eager")); }},
      {"over torch.compile", [](const Rows&, const Rows& rows) { return means(speedups(rows, "compile")); }},
      {"over eager, graph not rewritten",
       [](const Rows&, const Rows& rows) {
         return means(speedups(only(rows, [](const Json& row) { return !rewritten(row); }), "eager"));
       }},
      {"over eager, degenerate tasks too", [](const Rows& all, const Rows&) { return means(speedups(all, "eager")); }},
      {"roofline share, median", [](const Rows&, const Rows& rows) { return median_of(rows, "roofline_share"); }},
      {"own kernels for 95 % of the time",
       [](const Rows&, const Rows& rows) {
         return share(rows, [](const Json& row) { return number(row, "own_kernel_share").value_or(0) >= kOwn; });
       }},
      {"candidates judged",
       [](const Rows& all, const Rows&) { return fmt::format("{:.0f}", sum_of(all, "evaluations")); }},
      {"seconds (of these torch.compile's own)",
       [](const Rows& all, const Rows&) {
         return fmt::format("{:.0f} ({:.0f})", sum_of(all, "seconds"), sum_of(all, "compiling_seconds"));
       }},
  };
  lines.insert(lines.end(), others.begin(), others.end());
  return lines;
}

// What a row says, in few words.
std::string in_words(const Json& row) {
  if (failed(row)) return "failed";
  const auto found = speedup(row, "eager");
  if (!certified(row)) return "not certified";
  return found ? fmt::format("{:.2f}x", *found) : "certified";
}

std::optional<Change> change_of(const Json& before, const Json& after) {
  if (failed(before) != failed(after)) return failed(after) ? Change::fails : Change::works;
  if (certified(before) != certified(after)) return certified(after) ? Change::certified : Change::lost;
  const Interval then = interval(before), now = interval(after);
  if (now.low > then.high) return Change::faster;
  if (now.high < then.low) return Change::slower;
  return std::nullopt;
}

}  // namespace

std::optional<double> over_eager(const Json& row) { return speedup(row, "eager"); }

std::string group_of(const std::string& task) { return task.substr(0, task.find('/')); }

std::string score_table(const TaskRows& rows) {
  std::vector<std::pair<std::string, Rows>> groups;
  Rows every;
  for (const auto& [task, row] : rows) {
    const std::string group = group_of(task);
    if (task.find('/') != task.npos) {
      if (groups.empty() || groups.back().first != group) groups.push_back({group, {}});
      groups.back().second.push_back(&row);
    }
    every.push_back(&row);
  }
  if (groups.size() != 1) groups.push_back({"all", every});
  std::string table = "| |", rule = "| --- |";
  for (const auto& [name, members] : groups) table += " " + name + " |", rule += " ---: |";
  table += "\n" + rule + "\n";
  for (const Line& line : score_lines()) {
    table += "| " + line.name + " |";
    for (const auto& [name, members] : groups) table += " " + line.text(members, only(members, tells)) + " |";
    table += "\n";
  }
  return table;
}

std::string to_string(Change change) {
  switch (change) {
    case Change::faster: return "faster";
    case Change::slower: return "slower";
    case Change::certified: return "certified now";
    case Change::lost: return "certified no more";
    case Change::fails: return "fails now";
    case Change::works: return "works now";
    case Change::added: return "new";
    case Change::gone: return "gone";
  }
  return "";
}

Comparison compare(const TaskRows& before, const TaskRows& after) {
  Comparison found;
  double logs = 0;
  for (const auto& [task, row] : before)
    if (!after.contains(task)) found.differences.push_back({task, Change::gone, in_words(row), "", 1});
  for (const auto& [task, row] : after) {
    const auto then = before.find(task);
    if (then == before.end()) {
      found.differences.push_back({task, Change::added, "", in_words(row), 1});
      continue;
    }
    const auto a = speedup(then->second, "eager"), b = speedup(row, "eager");
    const double ratio = a && b ? *b / *a : 1;
    if (a && b) logs += std::log(ratio), ++found.in_both;
    if (const auto change = change_of(then->second, row))
      found.differences.push_back({task, *change, in_words(then->second), in_words(row), ratio});
    else
      ++found.alike;
  }
  if (found.in_both > 0) found.ratio = std::exp(logs / found.in_both);
  std::stable_sort(found.differences.begin(), found.differences.end(), [](const Difference& a, const Difference& b) {
    return std::abs(std::log(a.ratio)) > std::abs(std::log(b.ratio));
  });
  return found;
}

}  // namespace mtmc
