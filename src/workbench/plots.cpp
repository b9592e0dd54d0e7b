#include "workbench/plots.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

namespace mtmc {
namespace {

constexpr double kWidth = 760, kHeight = 380, kLeft = 56, kRight = 120, kTop = 20, kBottom = 48;
constexpr const char* kColours[] = {"#1f6fb4", "#d1622b", "#3a923a", "#8a5fb0", "#b8860b", "#777777"};
constexpr const char* kStyle =
    "<style>text{font:13px sans-serif;fill:#333}.grid{stroke:#ddd}.eager{stroke:#888;stroke-dasharray:4 3}</style>\n";

struct Point {
  double speedup = 1, seconds = 0;
};
using Groups = std::map<std::string, std::vector<Point>>;

Groups points_of(const TaskRows& rows) {
  Groups groups;
  for (const auto& [task, row] : rows) {
    const auto speedup = over_eager(row);
    if (!speedup) continue;
    const double seconds =
        row.contains("seconds") && row.at("seconds").is_number() ? row.at("seconds").get<double>() : 0;
    groups[group_of(task)].push_back({*speedup, seconds});
  }
  return groups;
}

// A picture with a logarithmic axis of speedups, in which x goes from 0 to `most_x`.
class Picture {
 public:
  Picture(const Groups& groups, double most_x, const std::string& x_name)
      : most_x_(4 * std::ceil(std::max(most_x, 1.0) / 4)) {
    for (const auto& [name, points] : groups)
      for (const Point& point : points) {
        low_ = std::min(low_, std::floor(std::log2(point.speedup)));
        high_ = std::max(high_, std::ceil(std::log2(point.speedup)));
      }
    svg_ = fmt::format("<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {} {}'>\n{}", kWidth, kHeight, kStyle);
    for (double power = low_; power <= high_; ++power)
      svg_ +=
          fmt::format("<path class='{}' d='M{} {:.1f}H{}'/><text x='{}' y='{:.1f}' text-anchor='end'>{:g}×</text>\n",
                      power == 0 ? "eager" : "grid", kLeft, y(std::exp2(power)), kWidth - kRight, kLeft - 8,
                      y(std::exp2(power)) + 4, std::exp2(power));
    for (int i = 0; i <= 4; ++i)
      svg_ += fmt::format("<text x='{:.1f}' y='{}' text-anchor='middle'>{:.0f}</text>\n", x(most_x_ * i / 4),
                          kHeight - kBottom + 20, most_x_ * i / 4);
    svg_ += fmt::format("<text x='{}' y='{}' text-anchor='middle'>{}</text>\n", (kLeft + kWidth - kRight) / 2,
                        kHeight - 8, x_name);
  }

  double x(double value) const { return kLeft + (kWidth - kLeft - kRight) * value / most_x_; }
  double y(double speedup) const {
    return kHeight - kBottom - (kHeight - kTop - kBottom) * (std::log2(speedup) - low_) / (high_ - low_);
  }
  // The name of the next group; its colour.
  std::string group(const std::string& name) {
    const std::string colour = kColours[static_cast<size_t>(groups_) % std::size(kColours)];
    svg_ += fmt::format("<text x='{}' y='{}' style='fill:{}'>{}</text>\n", kWidth - kRight + 12, kTop + 18 * ++groups_,
                        colour, name);
    return colour;
  }
  void add(const std::string& mark) { svg_ += mark; }
  // The points one step apart, the first of them at `first`.
  void line(const std::string& name, const std::vector<Point>& points, double first) {
    std::string path;
    for (size_t i = 0; i < points.size(); ++i)
      path +=
          fmt::format("{}{:.1f} {:.1f}", i == 0 ? "M" : "L", x(static_cast<double>(i) + first), y(points[i].speedup));
    add(fmt::format("<path d='{}' style='fill:none;stroke-width:2;stroke:{}'/>\n", path, group(name)));
  }
  std::string text() const { return svg_ + "</svg>\n"; }

 private:
  double most_x_, low_ = -1, high_ = 1;
  int groups_ = 0;
  std::string svg_;
};

}  // namespace

std::string speedups_svg(const TaskRows& rows) {
  Groups groups = points_of(rows);
  size_t most = 0;
  for (const auto& [name, points] : groups) most = std::max(most, points.size());
  Picture picture(groups, static_cast<double>(most), "certified tasks, by speedup over eager");
  for (auto& [name, points] : groups) {
    std::sort(points.begin(), points.end(), [](const Point& a, const Point& b) { return a.speedup < b.speedup; });
    picture.line(name, points, 0.5);
  }
  return picture.text();
}

std::string growth_svg(const std::map<std::string, std::vector<double>>& lines, const std::string& x_name) {
  Groups groups;
  size_t most = 0;
  for (const auto& [name, speedups] : lines) {
    for (const double speedup : speedups) groups[name].push_back({speedup, 0});
    most = std::max(most, speedups.size());
  }
  Picture picture(groups, static_cast<double>(most), x_name);
  for (const auto& [name, points] : groups) picture.line(name, points, 1);
  return picture.text();
}

std::string seconds_svg(const TaskRows& rows) {
  const Groups groups = points_of(rows);
  double most = 0;
  for (const auto& [name, points] : groups)
    for (const Point& point : points) most = std::max(most, point.seconds);
  Picture picture(groups, std::ceil(most), "seconds of search, certification included");
  for (const auto& [name, points] : groups) {
    const std::string colour = picture.group(name);
    for (const Point& point : points)
      picture.add(fmt::format("<circle cx='{:.1f}' cy='{:.1f}' r='4' style='fill:{}' opacity='.7'/>\n",
                              picture.x(point.seconds), picture.y(point.speedup), colour));
  }
  return picture.text();
}

}  // namespace mtmc
