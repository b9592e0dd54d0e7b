// The tree of attempts, drawn as a log graph: one row an attempt, the best path straight down the first lane,
// everything else in lanes to its right. Rows stay readable at any width and for hundreds of attempts.
#include <fmt/format.h>

#include <algorithm>

#include "report/html.h"
#include "report/tree_layout.h"

namespace mtmc {
namespace {

constexpr int kLane = 18, kHeight = 32, kMiddle = kHeight / 2;

std::string line(bool on, int lane, int from, int to) {
  const int x = lane * kLane + kLane / 2;
  return fmt::format("<path class='edge{}' d='M{} {}V{}'/>", on ? " on" : "", x, from, to);
}

// The part of the graph left of one row's text. `above`, `below`: whether the best path passes the row's top and
// bottom.
std::string gutter(const ReportData& data, const TreeRow& row, int lanes, bool above, bool below) {
  const bool on = row.on_path;
  std::string svg = fmt::format("<svg width='{}' height='{}' aria-hidden='true'>", lanes * kLane, kHeight);
  for (int lane = 0; lane < row.lane; ++lane) svg += line(lane == 0 && above, lane, 0, kHeight);
  const int x = row.lane * kLane + kLane / 2;
  if (row.branches) {
    svg += fmt::format("<path class='edge' d='M{} 0C{} {} {} {} {} {}'/>", x - kLane, x - kLane, kMiddle, x - kLane / 2,
                       kMiddle, x, kMiddle);
  } else if (row.node->parent != kNoNode) {
    svg += line(on, row.lane, 0, kMiddle);
  }
  if (row.goes_on) svg += line(on && below, row.lane, kMiddle, kHeight);
  const std::string look = tone(data, *row.node);
  svg += fmt::format("<circle class='dot {}' cx='{}' cy='{}' r='{}'/>", look, x, kMiddle, on ? 6 : 5);
  if (look == "best") svg += fmt::format("<circle class='ring' cx='{}' cy='{}' r='8'/>", x, kMiddle);
  return svg + "</svg>";
}

std::string tooltip(const NodeRecord& node) {
  const Verdict* verdict = node.verdict();
  std::string text = step_name(node) + "\n" + verdict_word(node);
  if (verdict && verdict->time_ms) text += ", " + format_ms(verdict->time_ms);
  const std::string& why = verdict ? verdict->message : node.failure;
  return why.empty() ? text : text + "\n" + why;
}

std::string text_of(const ReportData& data, const TreeRow& row, double fastest) {
  const NodeRecord& node = *row.node;
  const Verdict* verdict = node.verdict();
  const Speedup* speedup = speedup_over(verdict, "eager");
  std::string html = fmt::format("<span class='what'>{}</span>", escape_html(step_name(node)));
  if (!verdict || !verdict->certified() || node.id == data.best) html += verdict_badge(node);
  const double width = verdict && verdict->certified() && speedup ? 100 * headline(*speedup) / fastest : 0;
  return html + fmt::format("<span class='gain'>{}</span><span class='track'><i style='width:{:.1f}%'></i></span>",
                            speedup ? format_claim(speedup) : "", width);
}

std::string legend_dot(const char* look, const char* meaning) {
  return fmt::format(
      "<span><svg width='12' height='12' aria-hidden='true'><circle class='dot {}' cx='6' cy='6' "
      "r='6'/></svg>{}</span>",
      look, meaning);
}

}  // namespace

std::string tree_section(const ReportData& data) {
  if (data.nodes.empty()) return "";
  const std::vector<TreeRow> rows = tree_rows(data);
  int lanes = 1;
  double fastest = 1;
  for (const TreeRow& row : rows) {
    lanes = std::max(lanes, row.lane + 1);
    const Verdict* verdict = row.node->verdict();
    if (verdict && verdict->certified()) fastest = std::max(fastest, headline_over(verdict, "eager").value_or(0));
  }
  std::string html = fmt::format(
      "<section id='tree'>\n<h2>Every attempt</h2>\n<p class='note'>{} attempt{} from the untouched start. The green "
      "line "
      "is the path to the result; figures are speedups over eager. Each row leads to its code and verdict.</p>\n<div "
      "class='card tree'>\n",
      data.nodes.size() - 1, data.nodes.size() == 2 ? "" : "s");
  bool above = false;  // the best path comes down into this row
  for (const TreeRow& row : rows) {
    const bool below = row.on_path ? row.node->id != data.best : above;
    html += fmt::format("<a class='row {}' href='#n{}' title='{}'>{}{}</a>\n", row.on_path ? "on" : "off", row.node->id,
                        escape_html(tooltip(*row.node)), gutter(data, row, lanes, above, below),
                        text_of(data, row, fastest));
    above = below;
  }
  const Verdict* best = data.best_verdict();
  const bool estimated = best != nullptr && best->estimated();
  html += "</div>\n<div class='legend'>" + legend_dot("best", estimated ? "the result, estimated" : "certified") +
          legend_dot("passed", estimated ? "estimated" : "passed the screen") +
          legend_dot("refused", "refused by the judge") + legend_dot("none", "no code, or not judged") + "</div>\n";
  return html + "</section>\n";
}

}  // namespace mtmc
