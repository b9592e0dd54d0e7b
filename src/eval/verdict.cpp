#include "eval/verdict.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "eval/stats.h"

namespace mtmc {

std::string to_string(Tier tier) { return tier == Tier::screen ? "screen" : "certify"; }

std::string to_string(Outcome outcome) {
  switch (outcome) {
    case Outcome::certified: return "certified";
    case Outcome::refused: return "refused";
    case Outcome::ill_conditioned: return "ill-conditioned";
  }
  MTMC_CHECK(false, "an outcome without a name");
}

namespace {

// JSON has no infinity: errors of non-finite outputs are written as null and read back as infinity.
Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }
double number_from(const Json& json) {
  return json.is_null() ? std::numeric_limits<double>::infinity() : json.get<double>();
}

Json to_json(const OutputError& e) {
  return {{"draw", e.draw},
          {"output", e.output},
          {"error", number(e.error)},
          {"limit", number(e.limit)},
          {"max_error", number(e.max_error)},
          {"max_limit", number(e.max_limit)},
          {"budget", number(e.budget)},
          {"counts", e.counts},
          {"broken", e.broken},
          {"compared", e.compared},
          {"elsewhere", e.elsewhere},
          {"seen_from", number(e.seen_from)}};
}

OutputError output_error_from(const Json& json) {
  OutputError e;
  e.draw = json.at("draw"), e.output = json.at("output");
  e.error = number_from(json.at("error")), e.limit = number_from(json.at("limit"));
  e.max_error = number_from(json.at("max_error")), e.max_limit = number_from(json.at("max_limit"));
  e.budget = number_from(json.at("budget"));
  e.counts = json.at("counts"), e.broken = json.at("broken");
  e.compared = json.value("compared", int64_t{0}), e.elsewhere = json.value("elsewhere", int64_t{0});
  if (json.contains("seen_from")) e.seen_from = number_from(json["seen_from"]);
  return e;
}

// A verdict from before there were intervals has the samples that they come from, or an estimate.
std::map<std::string, Speedup> speedups_from(const Json& json, const Verdict& v) {
  std::map<std::string, Speedup> speedups;
  for (const auto& [baseline, median] : json.at("speedup").items()) {
    if (json.contains("speedup_low")) {
      speedups[baseline] = {median, json.at("speedup_low").at(baseline),
                            number_from(json.at("speedup_high").at(baseline))};
      continue;
    }
    const auto theirs = v.times.find(baseline), ours = v.times.find("candidate");
    const bool measured = theirs != v.times.end() && ours != v.times.end() && ours->second.samples_ms.size() > 1 &&
                          ours->second.samples_ms.size() == theirs->second.samples_ms.size();
    speedups[baseline] = measured ? speedup_of(theirs->second, ours->second, level_of(v.tier)) : exactly(median);
  }
  return speedups;
}

Verdict read(const Json& json) {
  Verdict v;
  v.tier = json.at("tier") == "screen" ? Tier::screen : Tier::certify;
  const std::string outcome = json.at("outcome");
  v.outcome = outcome == "certified" ? Outcome::certified
              : outcome == "refused" ? Outcome::refused
                                     : Outcome::ill_conditioned;
  v.stage = json.at("stage"), v.reason = json.at("reason"), v.message = json.at("message");
  v.official = json.at("official"), v.legacy = json.at("legacy"), v.degenerate = json.at("degenerate");
  v.accuracy_class = json.at("accuracy_class");
  for (const Json& error : json.at("errors")) v.errors.push_back(output_error_from(error));
  v.draws = json.at("draws").get<std::vector<std::string>>();
  if (json.contains("time_ms")) v.time_ms = json.at("time_ms").get<double>();
  for (const auto& [name, timing] : json.at("times").items()) {
    v.times[name] = {timing.at("samples_ms").get<std::vector<double>>(), timing.at("median_ms"),
                     timing.at("spread_ms")};
  }
  v.speedup = speedups_from(json, v);
  if (json.contains("clock_apart_ms")) v.clock_apart_ms = json.at("clock_apart_ms").get<double>();
  if (json.contains("clock_noise_ms")) v.clock_noise_ms = json.at("clock_noise_ms").get<double>();
  if (json.contains("own_kernel_share")) v.own_kernel_share = json.at("own_kernel_share").get<double>();
  if (json.contains("kernel_shares")) v.kernel_shares = json.at("kernel_shares").get<std::map<std::string, double>>();
  if (json.contains("launches")) v.launches = json.at("launches").get<int>();
  v.compiling_seconds = json.value("compiling_seconds", 0.0);
  v.library_use = json.at("library_use"), v.weights = json.at("weights");
  v.notes = json.at("notes").get<std::vector<std::string>>();
  v.sandbox = json.at("sandbox"), v.seconds = json.at("seconds"), v.evaluator = json.at("evaluator");
  return v;
}

}  // namespace

const Speedup* speedup_over(const Verdict& verdict, const std::string& baseline) {
  const auto found = verdict.speedup.find(baseline);
  return found == verdict.speedup.end() ? nullptr : &found->second;
}

Json to_json(const Verdict& v) {
  Json errors = Json::array(), times = Json::object();
  Json medians = Json::object(), lows = medians, highs = medians, headlines = medians;
  for (const OutputError& error : v.errors) errors.push_back(to_json(error));
  for (const auto& [name, timing] : v.times) {
    times[name] = {{"samples_ms", timing.samples_ms}, {"median_ms", timing.median_ms}, {"spread_ms", timing.spread_ms}};
  }
  for (const auto& [baseline, speedup] : v.speedup) {
    medians[baseline] = speedup.median, headlines[baseline] = headline(speedup);
    lows[baseline] = speedup.low, highs[baseline] = number(speedup.high);
  }
  Json json = {{"tier", to_string(v.tier)},
               {"outcome", to_string(v.outcome)},
               {"stage", v.stage},
               {"reason", v.reason},
               {"message", v.message},
               {"certified", v.certified()},
               {"official", v.official},
               {"legacy", v.legacy},
               {"degenerate", v.degenerate},
               {"accuracy_class", v.accuracy_class},
               {"errors", errors},
               {"draws", v.draws},
               {"times", times},
               {"speedup", medians},
               {"speedup_low", lows},
               {"speedup_high", highs},
               {"headline", headlines},
               {"library_use", v.library_use},
               {"weights", v.weights},
               {"notes", v.notes},
               {"sandbox", v.sandbox},
               {"seconds", v.seconds},
               {"evaluator", v.evaluator}};
  if (v.time_ms) json["time_ms"] = *v.time_ms;
  if (v.clock_apart_ms) json["clock_apart_ms"] = *v.clock_apart_ms;
  if (v.clock_noise_ms) json["clock_noise_ms"] = *v.clock_noise_ms;
  if (v.own_kernel_share) json["own_kernel_share"] = *v.own_kernel_share;
  if (!v.kernel_shares.empty()) json["kernel_shares"] = v.kernel_shares;
  if (v.launches) json["launches"] = *v.launches;
  if (v.compiling_seconds > 0) json["compiling_seconds"] = v.compiling_seconds;
  return json;
}

Result<Verdict> verdict_from_json(const Json& json) {
  try {
    return read(json);
  } catch (const Json::exception& error) {
    return Error{"reading a verdict", error.what(), "", ""};
  }
}

}  // namespace mtmc
