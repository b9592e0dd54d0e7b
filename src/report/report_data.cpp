#include "report/report_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace mtmc {

const NodeRecord& ReportData::node(NodeId id) const {
  const auto found = std::find_if(nodes.begin(), nodes.end(), [&](const NodeRecord& each) { return each.id == id; });
  MTMC_CHECK(found != nodes.end(), fmt::format("node {} is not in run {}", id, run.id));
  return *found;
}

std::string ReportData::answer() const { return run.conclusion ? run.conclusion->answer : ""; }

const NodeRecord* ReportData::best_node() const { return best == kNoNode ? nullptr : &node(best); }

const Verdict* ReportData::best_verdict() const { return best == kNoNode ? nullptr : node(best).verdict(); }

std::vector<const NodeRecord*> ReportData::path() const {
  return best == kNoNode ? std::vector<const NodeRecord*>{} : path_to(nodes, best);
}

int ReportData::evaluations() const {
  return static_cast<int>(std::count_if(nodes.begin(), nodes.end(), [](const NodeRecord& each) {
    return each.parent != kNoNode && each.verdict() != nullptr;
  }));
}

Result<ReportData> load_report(Store& store, RunId run) {
  ReportData data;
  MTMC_TRY(data.run, store.run(run));
  MTMC_TRY(data.nodes, store.nodes(run));
  if (const NodeRecord* best = result_node(data.run, data.nodes)) data.best = best->id;
  MTMC_TRY(const auto account, store.recall(kAccountKind, std::to_string(run)));
  data.account = account.value_or("");
  return data;
}

std::optional<double> roofline_share(const ReportData& data) {
  const Verdict* verdict = data.best_verdict();
  if (!verdict || !verdict->time_ms || *verdict->time_ms <= 0 || data.roofline_seconds <= 0) return std::nullopt;
  return data.roofline_seconds * 1e3 / *verdict->time_ms;
}

std::string format_speedup(std::optional<double> speedup) {
  if (!speedup) return "–";
  return *speedup < 9.995 ? fmt::format("{:.2f}×", *speedup) : fmt::format("{:.1f}×", *speedup);
}

std::string format_ms(std::optional<double> milliseconds) {
  if (!milliseconds) return "–";
  if (*milliseconds < 0.0995) return fmt::format("{:.1f} µs", *milliseconds * 1e3);
  return *milliseconds < 9.995 ? fmt::format("{:.3f} ms", *milliseconds) : fmt::format("{:.1f} ms", *milliseconds);
}

const Speedup* speedup_over(const Verdict* verdict, const std::string& baseline) {
  return verdict ? speedup_over(*verdict, baseline) : nullptr;
}

std::optional<double> headline_over(const Verdict* verdict, const std::string& baseline) {
  const Speedup* speedup = speedup_over(verdict, baseline);
  return speedup ? std::optional<double>(headline(*speedup)) : std::nullopt;
}

std::string format_claim(const Speedup* speedup) {
  if (!speedup) return "–";
  switch (claim(*speedup)) {
    case Claim::clear: return format_speedup(headline(*speedup));
    case Claim::at_least:
      if (speedup->high < 1) return format_speedup(speedup->low) + "–" + format_speedup(speedup->high);
      return "≥" + format_speedup(headline(*speedup));
    case Claim::faster: return ">1×";
    case Claim::unclear: return "?";
  }
  MTMC_CHECK(false, "a claim without a sign");
}

std::string format_interval(const Speedup& speedup) {
  return format_speedup(speedup.low) + " to " + (std::isfinite(speedup.high) ? format_speedup(speedup.high) : "any");
}

std::string verdict_word(const NodeRecord& node) {
  const Verdict* verdict = node.verdict();
  if (!verdict) return node.failure.empty() ? "not judged" : "no code";
  if (verdict->outcome == Outcome::refused) return verdict->reason;
  if (verdict->estimated()) return "estimated";
  return verdict->certified() && verdict->tier == Tier::screen ? "passed screen" : to_string(verdict->outcome);
}

std::string step_name(const NodeRecord& node) {
  if (node.parent == kNoNode) return "start";
  const std::string name = node.rendered.empty() ? node.action : node.rendered;
  return node.partner == kNoNode ? name : fmt::format("{}, from node {}", name, node.partner);
}

}  // namespace mtmc
