// Speedup per step: the path to the result as a line, every other measured attempt as a dot.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "report/html.h"

namespace mtmc {
namespace {

constexpr double kWidth = 960, kChartHeight = 320, kLeft = 52, kRight = 158, kTop = 22, kBottom = 40;

struct Scale {
  int steps = 1;
  double most = 1, tick = 1;
  double x(double step) const { return kLeft + (kWidth - kLeft - kRight) * (step + 0.35) / (steps + 0.7); }
  double y(double speedup) const {
    return kChartHeight - kBottom - (kChartHeight - kTop - kBottom) * std::min(speedup, most) / most;
  }
};

// 1, 2 or 5 times a power of ten, so that about five lines cross the chart.
double nice_tick(double most) {
  const double rough = most / 5, power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= rough) return factor * power;
  return 10 * power;
}

Scale scale_for(const ReportData& data, double reference) {
  Scale scale;
  double most = std::max(1.2, reference);
  for (const NodeRecord& node : data.nodes) {
    scale.steps = std::max(scale.steps, node.step);
    most = std::max(most, headline_over(node.verdict(), "eager").value_or(0));
  }
  scale.tick = nice_tick(most * 1.08);
  scale.most = std::ceil(most * 1.08 / scale.tick) * scale.tick;
  return scale;
}

std::string axes(const Scale& scale) {
  std::string svg;
  for (double value = 0; value <= scale.most + scale.tick / 2; value += scale.tick) {
    svg += fmt::format("<path class='{}' d='M{} {:.1f}H{}'/><text x='{}' y='{:.1f}' text-anchor='end'>{:g}×</text>\n",
                       value == 0 ? "axis" : "grid", kLeft, scale.y(value), kWidth - kRight, kLeft - 8,
                       scale.y(value) + 4, std::round(value * 1e6) / 1e6);
  }
  const int every = scale.steps > 20 ? 5 : 1;
  for (int step = 0; step <= scale.steps; step += every)
    svg += fmt::format("<text x='{:.1f}' y='{}' text-anchor='middle'>{}</text>\n", scale.x(step), kChartHeight - 18,
                       step == 0 ? "start" : std::to_string(step));
  return svg;
}

struct Reference {
  double speedup;
  const char* name;
};

std::vector<Reference> references(const ReportData& data) {
  std::vector<Reference> all = {{1, "eager"}};
  const Verdict* best = data.best_verdict();
  const auto eager = headline_over(best, "eager"), compile = headline_over(best, "compile");
  if (eager && compile && *compile > 0) all.push_back({*eager / *compile, "torch.compile"});
  const auto share = roofline_share(data);
  if (eager && share && *share > 0.4 && *share < 1) all.push_back({*eager / *share, "roofline"});
  return all;
}

std::string reference_lines(const Scale& scale, std::vector<Reference> all) {
  std::sort(all.begin(), all.end(), [](const Reference& a, const Reference& b) { return a.speedup < b.speedup; });
  std::string svg;
  double text_y = kChartHeight;  // names keep a line's distance from the one below
  for (const Reference& reference : all) {
    const double y = scale.y(reference.speedup);
    text_y = std::min(text_y - 15, y + 4);
    svg +=
        fmt::format("<path class='ref' d='M{} {:.1f}H{}'/><text class='refname' x='{}' y='{:.1f}'>{} {:.2f}×</text>\n",
                    kLeft, y, kWidth - kRight, kWidth - kRight + 8, text_y, reference.name, reference.speedup);
  }
  return svg;
}

// Attempts of one step stand side by side in the order they were made.
std::string dots(const ReportData& data, const Scale& scale) {
  std::vector<int> seen(static_cast<size_t>(scale.steps) + 1, 0), total = seen;
  std::set<NodeId> drawn;  // by best_path
  for (const NodeRecord* node : data.path()) drawn.insert(node->id);
  for (const NodeRecord& node : data.nodes) total[static_cast<size_t>(node.step)] += !drawn.count(node.id);
  std::string svg;
  for (const NodeRecord& node : data.nodes) {
    if (drawn.count(node.id)) continue;
    const size_t step = static_cast<size_t>(node.step);
    const double spread = total[step] > 1 ? 0.6 * seen[step] / (total[step] - 1) - 0.3 : 0.2;
    ++seen[step];
    const Speedup* speedup = speedup_over(node.verdict(), "eager");
    const bool passed = speedup && node.verdict()->certified();
    const std::string title =
        escape_html(step_name(node) + ": " + verdict_word(node) + (speedup ? ", " + format_claim(speedup) : ""));
    svg += fmt::format(
        "<a href='#n{}'><circle class='dot {}' cx='{:.1f}' cy='{:.1f}' r='{}' "
        "opacity='{}'><title>{}</title></circle></a>\n",
        node.id, tone(data, node), scale.x(node.step + spread),
        passed ? scale.y(headline(*speedup)) : kChartHeight - kBottom, passed ? 5 : 4, passed ? ".9" : ".55", title);
  }
  return svg;
}

std::string best_path(const ReportData& data, const Scale& scale) {
  std::string line, marks;
  for (const NodeRecord* node : data.path()) {
    const Speedup* speedup = speedup_over(node->verdict(), "eager");
    if (!speedup || !node->verdict()->certified()) continue;
    const double x = scale.x(node->step), y = scale.y(headline(*speedup));
    line += fmt::format("{}{:.1f} {:.1f}", line.empty() ? "M" : "L", x, y);
    marks += fmt::format(
        "<a href='#n{}'><circle class='dot best' cx='{:.1f}' cy='{:.1f}' r='7'><title>{}</title></circle></a><text "
        "class='value' x='{:.1f}' y='{:.1f}' text-anchor='middle'>{}</text>\n",
        node->id, x, y, escape_html(step_name(*node)), x, y - 13, format_claim(speedup));
  }
  return line.empty() ? "" : fmt::format("<path class='path' d='{}'/>\n{}", line, marks);
}

// Whether a speedup could not be told.
bool too_busy(const ReportData& data) {
  return std::any_of(data.nodes.begin(), data.nodes.end(), [](const NodeRecord& node) {
    const Speedup* speedup = speedup_over(node.verdict(), "eager");
    return speedup && format_claim(speedup) == "?";
  });
}

}  // namespace

std::string chart_section(const ReportData& data) {
  if (data.nodes.size() < 2) return "";
  const auto lines = references(data);
  double highest = 0;
  for (const Reference& reference : lines) highest = std::max(highest, reference.speedup);
  const Scale scale = scale_for(data, highest);
  const Verdict* best = data.best_verdict();
  return fmt::format(
      "<section id='chart'>\n<h2>Speedup per step</h2>\n<p class='note'>Times as fast as eager PyTorch, {}. The line "
      "is the path to the result; other attempts stand "
      "beside their step, refused ones on the "
      "axis.{}</p>\n<div class='card chart scroll'>\n<svg viewBox='0 0 {} {}' role='img' aria-label='Speedup over "
      "eager "
      "after each step'>\n{}{}{}{}</svg>\n</div>\n</section>\n",
      best != nullptr && best->estimated() ? "by the cost model"
                                           : "measured in the same rounds; of a wide interval, its lower end",
      too_busy(data) ? " A ? means that the machine was too busy to say." : "", kWidth, kChartHeight, axes(scale),
      reference_lines(scale, lines), dots(data, scale), best_path(data, scale));
}

}  // namespace mtmc
