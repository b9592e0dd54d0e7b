#include "train/curves.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

namespace mtmc::train {
namespace {

constexpr int kColumns = 3;
constexpr double kWidth = 240, kHeight = 150, kLeft = 56, kTop = 26, kBottom = 22, kRight = 10;

using Curve = std::vector<std::pair<double, double>>;

std::string panel(const std::string& name, const Curve& curve, double most_x, double left, double top) {
  double low = curve[0].second, high = low;
  for (const auto& [x, y] : curve) low = std::min(low, y), high = std::max(high, y);
  if (high - low < 1e-12) low -= 0.5, high += 0.5;
  const double width = kWidth - kLeft - kRight, height = kHeight - kTop - kBottom;
  std::string path;
  for (const auto& [x, y] : curve)
    path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", left + kLeft + width * x / most_x,
                        top + kTop + height * (high - y) / (high - low));
  const auto label = [&](double x, double y, const char* anchor, const std::string& text) {
    return fmt::format("<text x='{:.1f}' y='{:.1f}' text-anchor='{}'>{}</text>\n", left + x, top + y, anchor, text);
  };
  return fmt::format("<rect x='{:.1f}' y='{:.1f}' width='{:.1f}' height='{:.1f}'/>\n", left + kLeft, top + kTop, width,
                     height) +
         label(kLeft, kTop - 8, "start", name) + label(kLeft - 6, kTop + 10, "end", fmt::format("{:.3g}", high)) +
         label(kLeft - 6, kHeight - kBottom, "end", fmt::format("{:.3g}", low)) +
         label(kWidth - kRight, kHeight - 6, "end", fmt::format("{:g}", most_x)) +
         fmt::format("<path d='{}'/>\n", path);
}

}  // namespace

std::string curves_svg(const std::vector<Json>& lines) {
  std::map<std::string, Curve> curves;
  double most = 1;
  for (const Json& line : lines) {
    const double x = line.at("update").get<double>();
    most = std::max(most, x);
    for (const auto& [name, value] : line.items())
      if (name != "update" && value.is_number()) curves[name].emplace_back(x, value.get<double>());
  }
  const int rows = (static_cast<int>(curves.size()) + kColumns - 1) / kColumns;
  std::string svg = fmt::format(
      "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {} {}'>\n<style>text{{font:11px sans-serif;fill:#333}}"
      "rect{{fill:none;stroke:#ddd}}path{{fill:none;stroke:#1f6fb4;stroke-width:1.5}}</style>\n",
      kColumns * kWidth, std::max(rows, 1) * kHeight);
  int at = 0;
  for (const auto& [name, curve] : curves) {
    svg += panel(name, curve, most, at % kColumns * kWidth, at / kColumns * kHeight);
    ++at;
  }
  return svg + "</svg>\n";
}

}  // namespace mtmc::train
