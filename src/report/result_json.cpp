#include "report/result_json.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "eval/stats.h"

namespace mtmc {
namespace {

Json or_null(std::optional<double> value) { return value ? Json(*value) : Json(nullptr); }

Json step_json(const NodeRecord& node) {
  const Verdict* verdict = node.verdict();
  return {{"step", node.step},
          {"node", node.id},
          {"action", node.action},
          {"region", node.rendered},
          {"coder", node.coder},
          {"rewrites", node.rewrites},
          {"verdict", verdict_word(node)},
          {"tier", verdict ? Json(to_string(verdict->tier)) : Json(nullptr)},
          {"time_ms", verdict ? or_null(verdict->time_ms) : Json(nullptr)},
          {"speedup", or_null(headline_over(verdict, "eager"))}};
}

Json speedup_json(const Verdict* verdict) {
  Json speedups = {{"eager", nullptr}, {"compile", nullptr}};
  if (!verdict) return speedups;
  for (const auto& [baseline, speedup] : verdict->speedup) speedups[baseline] = headline(speedup);
  return speedups;
}

// What the headlines come from: for each baseline the claim, the median, the interval.
Json intervals_json(const Verdict* verdict) {
  Json intervals = Json::object();
  if (!verdict) return intervals;
  for (const auto& [baseline, s] : verdict->speedup)
    intervals[baseline] = {{"claim", to_string(claim(s))},
                           {"median", s.median},
                           {"low", s.low},
                           {"high", std::isfinite(s.high) ? Json(s.high) : Json(nullptr)},
                           {"level", level_of(verdict->tier)}};
  return intervals;
}

Json times_json(const Verdict* verdict) {
  Json times = Json::object();
  if (!verdict) return times;
  for (const auto& [name, timing] : verdict->times)
    times[name] = {
        {"median_ms", timing.median_ms}, {"spread_ms", timing.spread_ms}, {"samples", timing.samples_ms.size()}};
  return times;
}

// The part that a verdict decides; a run without a certified node says so with nulls.
Json verdict_json(const Verdict* verdict) {
  const Verdict none;
  const Verdict& v = verdict ? *verdict : none;
  const auto word = [](const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); };
  return {{"certified", v.certified() && v.tier == Tier::certify},
          {"estimated", v.estimated()},
          {"tier", verdict ? Json(to_string(v.tier)) : Json(nullptr)},
          {"degenerate", v.degenerate},
          {"official", v.official},
          {"legacy", v.legacy},
          {"accuracy_class", word(v.accuracy_class)},
          {"speedup", speedup_json(verdict)},
          {"speedup_interval", intervals_json(verdict)},
          {"time_ms", or_null(v.time_ms)},
          {"times", times_json(verdict)},
          {"own_kernel_share", or_null(v.own_kernel_share)},
          {"library_use", word(v.library_use)},
          {"weights", word(v.weights)},
          {"notes", v.notes},
          {"sandbox", word(v.sandbox)},
          {"judged_s", verdict ? Json(v.seconds) : Json(nullptr)}};
}

// Why nothing is certified: what the judge said of the untouched program.
Json refusal_json(const ReportData& data) {
  const Verdict* verdict = data.answer() == "refused" && !data.nodes.empty() ? data.nodes.front().verdict() : nullptr;
  return verdict ? Json{{"reason", verdict->reason}, {"message", verdict->message}} : Json(nullptr);
}

// Of the attempts that were judged and are not right: how many for each reason, and what the first of them was told.
Json refused_json(const ReportData& data) {
  Json found = Json::object();
  for (const NodeRecord& node : data.nodes) {
    const Verdict* verdict = node.parent == kNoNode ? nullptr : node.verdict();
    if (verdict == nullptr || verdict->reason.empty()) continue;
    Json& one = found[verdict->reason];
    if (one.is_null()) one = {{"count", 0}, {"message", verdict->message}};
    one["count"] = one["count"].get<int>() + 1;
  }
  return found;
}

// In the order of the attempts: a search may certify several, and its answer need not be the first that passed.
Json certifications_json(const ReportData& data) {
  Json found = Json::array();
  for (const NodeRecord& node : data.nodes) {
    if (!node.certify) continue;
    const Verdict& v = *node.certify;
    found.push_back({{"node", node.id},
                     {"outcome", to_string(v.outcome)},
                     {"reason", v.reason.empty() ? Json(nullptr) : Json(v.reason)},
                     {"time_ms", or_null(v.time_ms)},
                     {"speedup_interval", intervals_json(&v)},
                     {"notes", v.notes},
                     {"seconds", v.seconds}});
  }
  return found;
}

// Of the run's, waiting for torch.compile: what it is compared with is no part of the search.
double compiling_seconds(const ReportData& data) {
  double seconds = 0;
  for (const NodeRecord& node : data.nodes)
    for (const auto& verdict : {node.screen, node.certify})
      if (verdict) seconds += verdict->compiling_seconds;
  return std::min(seconds, data.run.seconds);
}

}  // namespace

Json result_json(const ReportData& data) {
  Json json = verdict_json(data.best_verdict());
  Json steps = Json::array();
  for (const NodeRecord* node : data.path())
    if (node->parent != kNoNode) steps.push_back(step_json(*node));
  json["task"] = data.run.task.name;
  json["target"] = data.run.target;
  json["hardware"] = data.run.hardware.name;
  json["answer"] = data.run.conclusion ? Json(data.run.conclusion->answer) : Json(nullptr);
  json["refusal"] = refusal_json(data);
  json["refused"] = refused_json(data);
  json["certifications"] = certifications_json(data);
  json["roofline_share"] = or_null(roofline_share(data));
  json["roofline_ms"] = data.roofline_seconds > 0 ? Json(data.roofline_seconds * 1e3) : Json(nullptr);
  json["steps"] = std::move(steps);
  json["rewrites"] = data.rewrites;
  json["evaluations"] = data.evaluations();
  json["attempts"] = data.nodes.empty() ? 0 : data.nodes.size() - 1;
  json["seconds"] = data.run.seconds, json["compiling_seconds"] = compiling_seconds(data);
  json["run"] = data.run.id;
  json["node"] = data.best == kNoNode ? Json(nullptr) : Json(data.best);
  json["options"] = Json::parse(data.run.options, nullptr, false);
  if (json["options"].is_discarded()) json["options"] = nullptr;
  if (!data.account.empty()) json["account"] = Json::parse(data.account);
  json["seed"] = data.run.seed;
  json["evaluator"] = data.run.evaluator;
  json["started"] = data.run.started;
  json["task_hash"] = data.run.task_hash;
  return json;
}

}  // namespace mtmc
