#include "report/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/text.h"
#include "report/tree_layout.h"

namespace mtmc {
namespace {

size_t characters(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

std::string paint(const char* code, const std::string& text, bool colour) {
  return colour && !text.empty() ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : text;
}

constexpr const char *kGreen = "32", *kRed = "31", *kFaint = "2", *kBold = "1";

std::string mark(const NodeRecord& node, bool colour) {
  const Verdict* verdict = node.verdict();
  if (!verdict) return paint(kFaint, "·", colour);
  if (!verdict->certified()) return paint(kRed, "✗", colour);
  return paint(kGreen, verdict->tier == Tier::certify ? "●" : "○", colour);
}

std::string tree_line(const ReportData& data, const TreeRow& row, bool colour) {
  const NodeRecord& node = *row.node;
  const Verdict* verdict = node.verdict();
  const auto lane = [&](int which, const char* shape) { return paint(which == 0 ? kGreen : kFaint, shape, colour); };
  std::string graph;
  for (int i = 0; i < row.lane; ++i) graph += lane(i, row.branches && i == row.lane - 1 ? "├─" : "│ ");
  std::string name = step_name(node), word;
  if (!verdict || !verdict->certified()) word = paint(verdict ? kRed : kFaint, verdict_word(node), colour);
  if (node.id == data.best) word = paint(kGreen, verdict_word(node) + ", the result", colour);
  std::string line = fmt::format("{:>6} {:>7}  {}{} {}", node.id, "", graph, mark(node, colour),
                                 row.on_path ? paint(kBold, name, colour) : name);
  // The speedup is put in afterwards: its sign is one character and two bytes.
  const std::string speedup = speedup_over(verdict, "eager") ? format_claim(speedup_over(verdict, "eager")) : "";
  line.replace(7, 7, std::string(7 - std::min<size_t>(7, characters(speedup)), ' ') + speedup);
  return word.empty() ? line : line + "  " + word;
}

using Rows = std::vector<std::vector<std::string>>;

void compare(Rows& rows, const std::string& what, const std::string& a, const std::string& b) {
  rows.push_back({what, a, b, a == b ? "" : "≠"});
}

std::string percent_or_dash(std::optional<double> share) { return share ? fmt::format("{:.0f} %", 100 * *share) : "–"; }

std::string with_interval(const Verdict* verdict, const std::string& baseline) {
  const Speedup* speedup = speedup_over(verdict, baseline);
  return format_claim(speedup) + (speedup ? " (" + format_interval(*speedup) + ")" : "");
}

void compare_results(Rows& rows, const ReportData& a, const ReportData& b) {
  const Verdict *x = a.best_verdict(), *y = b.best_verdict();
  const auto word = [](const ReportData& data) {
    return data.best_node() ? verdict_word(*data.best_node()) : "nothing";
  };
  compare(rows, "task", a.run.task.name, b.run.task.name);
  compare(rows, "task hash", a.run.task_hash.substr(0, 12), b.run.task_hash.substr(0, 12));
  compare(rows, "hardware", a.run.hardware.name, b.run.hardware.name);
  compare(rows, "evaluator", a.run.evaluator, b.run.evaluator);
  compare(rows, "result", word(a), word(b));
  compare(rows, "speedup, eager", with_interval(x, "eager"), with_interval(y, "eager"));
  compare(rows, "speedup, torch.compile", with_interval(x, "compile"), with_interval(y, "compile"));
  compare(rows, "time", format_ms(x ? x->time_ms : std::nullopt), format_ms(y ? y->time_ms : std::nullopt));
  compare(rows, "accuracy class", x ? x->accuracy_class : "–", y ? y->accuracy_class : "–");
  compare(rows, "of the roofline", percent_or_dash(roofline_share(a)), percent_or_dash(roofline_share(b)));
  compare(rows, "candidates judged", std::to_string(a.evaluations()), std::to_string(b.evaluations()));
  compare(rows, "seconds", fmt::format("{:.1f}", a.run.seconds), fmt::format("{:.1f}", b.run.seconds));
}

// Every option that one of the runs has.
void compare_options(Rows& rows, const ReportData& a, const ReportData& b) {
  std::map<std::string, std::pair<std::string, std::string>> options;
  const auto read = [&](const ReportData& data, std::string std::pair<std::string, std::string>::*side) {
    const Json json = Json::parse(data.run.options, nullptr, false);
    if (!json.is_object()) return;
    for (const auto& [name, value] : json.items())
      options[name].*side = value.is_string() ? value.get<std::string>() : value.dump();
  };
  read(a, &std::pair<std::string, std::string>::first), read(b, &std::pair<std::string, std::string>::second);
  for (const auto& [name, values] : options)
    if (values.first != values.second) compare(rows, "option " + name, values.first, values.second);
}

void compare_steps(Rows& rows, const ReportData& a, const ReportData& b) {
  const auto x = a.path(), y = b.path();
  const auto told = [](const std::vector<const NodeRecord*>& path, size_t step) {
    return step < path.size() ? path[step]->action : std::string("–");
  };
  for (size_t step = 1; step < std::max(x.size(), y.size()); ++step)
    compare(rows, fmt::format("step {}", step), told(x, step), told(y, step));
  if (!x.empty() && !y.empty())
    compare(rows, "kernel.py", x.back()->code_hash.substr(0, 12), y.back()->code_hash.substr(0, 12));
}

// How the attempts overlap, and what the judge said differently about the same code.
std::string compare_attempts(const ReportData& a, const ReportData& b) {
  std::map<std::string, const NodeRecord*> seen;
  for (const NodeRecord& node : a.nodes)
    if (!node.code_hash.empty()) seen.try_emplace(node.code_hash, &node);
  std::set<std::string> both, only_b;
  std::string text;
  for (const NodeRecord& node : b.nodes) {
    if (node.code_hash.empty()) continue;
    const auto found = seen.find(node.code_hash);
    (found == seen.end() ? only_b : both).insert(node.code_hash);
    if (found == seen.end() || !node.screen || !found->second->screen) continue;
    const Verdict &x = *found->second->screen, &y = *node.screen;
    if (x.outcome == y.outcome && x.reason == y.reason) continue;
    text += fmt::format("\nthe same code, two verdicts: node {} {}, node {} {}", found->second->id,
                        verdict_word(*found->second), node.id, verdict_word(node));
  }
  return fmt::format("codes in both runs: {}, only in run {}: {}, only in run {}: {}", both.size(), a.run.id,
                     seen.size() - both.size(), b.run.id, only_b.size()) +
         text;
}

}  // namespace

std::string table(const Rows& rows) {
  std::vector<size_t> widths;
  for (const auto& row : rows)
    for (size_t i = 0; i < row.size(); ++i) {
      if (i == widths.size()) widths.push_back(0);
      widths[i] = std::max(widths[i], characters(row[i]));
    }
  std::vector<std::string> lines;
  for (const auto& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) line += row[i] + std::string(widths[i] - characters(row[i]) + 2, ' ');
    while (!line.empty() && line.back() == ' ') line.pop_back();
    lines.push_back(std::move(line));
  }
  return join(lines, "\n");
}

std::string tree_table(const ReportData& data, bool colour) {
  std::vector<std::string> lines = {"  node   eager"};
  for (const TreeRow& row : tree_rows(data)) lines.push_back(tree_line(data, row, colour));
  return join(lines, "\n");
}

std::string difference_table(const ReportData& a, const ReportData& b) {
  Rows rows = {{"", fmt::format("run {}", a.run.id), fmt::format("run {}", b.run.id), ""}};
  compare_results(rows, a, b);
  compare_options(rows, a, b);
  compare_steps(rows, a, b);
  return table(rows) + "\n" + compare_attempts(a, b);
}

}  // namespace mtmc
