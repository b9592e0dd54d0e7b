#include "cli/summary.h"

#include <fmt/core.h>

namespace mtmc {

namespace {
constexpr size_t kActionColumns = 58;
}

std::string speedup_text(const Verdict* verdict) {
  if (verdict == nullptr || !verdict->speedup.count("eager")) return "-";
  return fmt::format("{:.2f}x", verdict->speedup.at("eager"));
}

std::string outcome_text(const NodeRecord& node) {
  if (node.code.empty()) return "not applied: " + node.failure;
  const Verdict* verdict = node.verdict();
  if (verdict == nullptr) return "not judged";
  if (verdict->outcome != Outcome::certified) return to_string(verdict->outcome) + ": " + verdict->reason;
  return (verdict->tier == Tier::certify ? "certified, " : "") + speedup_text(verdict) + " eager";
}

std::string step_line(const NodeRecord& node) {
  std::string action = node.step == 0 ? "start: what eager does" : node.rendered.empty() ? node.action : node.rendered;
  if (action.size() > kActionColumns) action = action.substr(0, kActionColumns - 3) + "...";
  return fmt::format("{:3}  {:<{}}  {}", node.step, action, kActionColumns, outcome_text(node));
}

}  // namespace mtmc
