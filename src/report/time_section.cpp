// Where the time goes, kernel by kernel, against the roofline.
#include <fmt/format.h>

#include <algorithm>

#include "report/html.h"

namespace mtmc {
namespace {

constexpr size_t kMostBars = 24;

double total(const std::vector<KernelShare>& kernels) {
  double sum = 0;
  for (const KernelShare& kernel : kernels) sum += kernel.seconds;
  return sum;
}

std::string bar(const KernelShare& kernel, double longest) {
  const double share = kernel.seconds > 0 ? kernel.roofline / kernel.seconds : 0;
  const std::string what = kernel.what.empty() ? kernel.name : kernel.what;
  const std::string detail = fmt::format("{} ({}): {:.3g} MB moved, {:.3g} MFLOP, estimated {}, roofline {}",
                                         kernel.name, what, kernel.bytes / 1e6, kernel.flops / 1e6,
                                         format_ms(kernel.seconds * 1e3), format_ms(kernel.roofline * 1e3));
  return fmt::format(
      "<div class='item'><div class='name' title='{0}'>{1}{2}</div><div class='track {3}' title='{0}'><i class='est' "
      "style='width:{4:.1f}%'></i><i class='roof' style='width:{5:.1f}%'></i></div><div class='num'>{6} · {7:.0f} "
      "%</div></div>\n",
      escape_html(detail), escape_html(what), kernel.own ? "" : " <span class='badge'>library</span>",
      kernel.own ? "own" : "lib", 100 * kernel.seconds / longest,
      100 * std::min(kernel.roofline, kernel.seconds) / longest, format_ms(kernel.seconds * 1e3),
      100 * std::min(1.0, share));
}

std::string bars(const std::string& title, const std::vector<KernelShare>& kernels, double longest,
                 std::optional<double> measured_ms) {
  std::vector<KernelShare> sorted = kernels;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const KernelShare& a, const KernelShare& b) { return a.seconds > b.seconds; });
  std::string html = fmt::format("<h3>{}: {} kernel{}, estimated {}{}</h3>\n<div class='bars'>\n", title,
                                 kernels.size(), kernels.size() == 1 ? "" : "s", format_ms(total(kernels) * 1e3),
                                 measured_ms ? ", measured " + format_ms(measured_ms) : "");
  for (size_t i = 0; i < std::min(sorted.size(), kMostBars); ++i) html += bar(sorted[i], longest);
  html += "</div>\n";
  if (sorted.size() > kMostBars)
    html += fmt::format("<p class='note'>and {} shorter ones</p>\n", sorted.size() - kMostBars);
  return html;
}

std::optional<double> time_of(const NodeRecord* node) {
  // The null target's times are estimates themselves.
  return node && node->verdict() && !node->verdict()->errors.empty() ? node->verdict()->time_ms : std::nullopt;
}

}  // namespace

std::string time_section(const ReportData& data) {
  if (data.kernels_after.empty()) return "";
  double longest = 1e-12;
  for (const auto* kernels : {&data.kernels_before, &data.kernels_after})
    for (const KernelShare& kernel : *kernels) longest = std::max(longest, kernel.seconds);
  std::string html =
      "<section id='time'>\n<h2>Where the time goes</h2>\n<p class='note'>Each bar is one kernel's time by the cost "
      "model; "
      "its dark part is the roofline, the least time that the kernel's bytes and operations allow here. The percentage "
      "says how near it comes. Measurement has the last word: the totals show both.</p>\n<div class='card'>\n";
  if (!data.kernels_before.empty() && data.best != data.nodes[0].id)
    html += bars("Start", data.kernels_before, longest, time_of(&data.nodes[0]));
  html += bars("Result", data.kernels_after, longest, time_of(data.best_node()));
  if (data.roofline_seconds > 0)
    html += fmt::format(
        "<p class='note' style='margin-top:16px'>The whole task, every input and parameter read once and every output "
        "written once: {} at least.</p>\n",
        format_ms(data.roofline_seconds * 1e3));
  return html + "</div>\n</section>\n";
}

}  // namespace mtmc
