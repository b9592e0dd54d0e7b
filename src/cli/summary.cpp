#include "cli/summary.h"

#include <fmt/core.h>

#include "base/text.h"

namespace mtmc {

namespace {
constexpr size_t kActionColumns = 58;
}

std::string speedup_text(const Verdict* verdict) {
  const Speedup* eager = verdict == nullptr ? nullptr : speedup_over(*verdict, "eager");
  return eager == nullptr ? "-" : say(*eager, "eager");
}

std::string gains_text(const Verdict& verdict) {
  std::vector<std::string> gains;
  for (const std::string baseline : {"eager", "compile", "max-autotune", "graph"}) {
    const Speedup* speedup = speedup_over(verdict, baseline);
    if (speedup == nullptr) continue;
    if (!has_figure(*speedup) && baseline == "eager") return say(*speedup, baseline);
    if (has_figure(*speedup)) gains.push_back(say(*speedup, baseline == "compile" ? "torch.compile" : baseline));
  }
  return join(gains, ", ");
}

std::string outcome_text(const NodeRecord& node) {
  if (node.code.empty()) return "not applied: " + node.failure;
  const Verdict* verdict = node.verdict();
  if (verdict == nullptr) return "not judged";
  if (verdict->outcome != Outcome::certified) return to_string(verdict->outcome) + ": " + verdict->reason;
  if (verdict->estimated()) return speedup_text(verdict) + ", estimated";
  return (verdict->tier == Tier::certify ? "certified, " : "") + speedup_text(verdict);
}

std::string step_line(const NodeRecord& node) {
  std::string action = node.step == 0 ? "start: what eager does" : node.rendered.empty() ? node.action : node.rendered;
  if (action.size() > kActionColumns) action = action.substr(0, kActionColumns - 3) + "...";
  return fmt::format("{:3}  {:<{}}  {}", node.step, action, kActionColumns, outcome_text(node));
}

}  // namespace mtmc
