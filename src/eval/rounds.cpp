#include "eval/rounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/trace.h"
#include "eval/stats.h"

namespace mtmc {

namespace {

// What the clock takes around a call, and on a GPU recording events and copying pieces of the result: at least.
constexpr double kClockMs = 0.05;

struct Series {
  std::map<std::string, std::vector<double>> ms;       // engine -> samples
  std::vector<double> outside_ms, ping_ms;             // the candidate's, by the zygote's clock; an empty round trip's
  std::vector<double> checked_ms, checked_outside_ms;  // of the calls whose results are measured
  std::vector<double> beside_ms;                       // what the clock itself takes around a call, seen on eager
};

// Which counted rounds are checked afterwards, drawn at random so that nobody can know. The first of them is called
// with new values at the addresses of the call before.
std::set<int> pick_checks(const RoundPlan& plan, Rng& rng) {
  std::set<int> picked;
  while (static_cast<int>(picked.size()) < std::min(plan.checks, plan.rounds)) {
    picked.insert(static_cast<int>(rng.below(static_cast<uint64_t>(plan.rounds))));
  }
  return picked;
}

// One call under the stopwatch; a refusal is in the answer.
Result<Answer> timed_call(Guest& guest, const Limits& limits, const Json& arm) {
  MTMC_TRY(const Answer armed, guest.call(arm, limits.call_seconds));
  if (!armed.ok()) return armed;
  // The caches are cold for the call's data; the code that receives the request and answers it is warmed again.
  MTMC_TRY(const Answer awake, guest.call({{"op", "hello"}}, limits.call_seconds));
  if (!awake.ok()) return awake;
  MTMC_TRY(const Answer went, guest.call({{"op", "go"}}, guest.warm ? limits.call_seconds : limits.first_seconds));
  guest.warm = true;
  return went;
}

// A timed call must be right for what timed calls seldom meet, too. Its time does not count.
Result<bool> probe(Guest& guest, TaskFacts& facts, Examination& examination, const std::string& draw,
                   bool same_addresses) {
  MTMC_TRY(const DrawFacts* known, facts.draw(draw));
  const Json arm = {{"op", "arm"},
                    {"draw", guest.show(facts.draw_folder(draw))},
                    {"seed", known->seed},
                    {"same_addresses", same_addresses}};
  MTMC_TRY(const Answer went, timed_call(guest, examination.limits(), arm));
  if (!went.ok()) return examination.refuse(went.reason, went.message);
  return examination.check_timed(guest, draw);
}

}  // namespace

Result<bool> time_rounds(Guest& guest, Baselines& baselines, TaskFacts& facts, Examination& examination,
                         const RoundPlan& plan, Rng& rng, Verdict& verdict) {
  verdict.stage = "timing";
  const std::set<int> checks = pick_checks(plan, rng);
  MTMC_CHECK(static_cast<int>(plan.draws.size()) == plan.warm_ups + plan.rounds, "every timed call has its draw");
  std::vector<std::string> engines = {"candidate", "eager"};
  engines.insert(engines.end(), plan.baselines.begin(), plan.baselines.end());
  Series series;
  for (int round = -plan.warm_ups; round < plan.rounds; ++round) {
    const std::string& draw = plan.draws[static_cast<size_t>(round + plan.warm_ups)];
    MTMC_TRY(const uint64_t seed, facts.prepare_timed(draw));
    const bool checked = checks.contains(round);
    const bool same_addresses = (checked && round == *checks.begin()) || rng.below(2) == 0;
    const Json arm = {
        {"op", "arm"}, {"draw", facts.draw_folder(draw).string()}, {"seed", seed}, {"same_addresses", same_addresses}};
    if (const auto at = plan.probes.find(round); at != plan.probes.end()) {
      MTMC_TRY(const bool right, probe(guest, facts, examination, at->second, rng.below(2) == 0));
      if (!right) return false;
    }
    std::rotate(engines.begin(), engines.begin() + static_cast<long>(rng.below(engines.size())), engines.end());
    for (const std::string& engine : engines) {
      if (engine != "candidate") {
        MTMC_TRY(const Baselines::Call went, baselines.call(engine, arm));
        if (round < 0) continue;
        series.ms[engine].push_back(went.ms);
        if (engine == "eager") series.beside_ms.push_back(went.beside_ms);
        continue;
      }
      Json own_arm = arm;
      own_arm["draw"] = guest.show(facts.draw_folder(draw));
      MTMC_TRY(const Answer went, timed_call(guest, examination.limits(), own_arm));
      if (!went.ok()) return examination.refuse(went.reason, went.message);
      if (round < 0) continue;
      const double inside_ms = went.reply->at("ns").get<double>() / 1e6;
      series.ms[engine].push_back(inside_ms);
      series.outside_ms.push_back(went.wall_ms), series.ping_ms.push_back(went.ping_ms);
      if (checked) {
        series.checked_ms.push_back(inside_ms), series.checked_outside_ms.push_back(went.wall_ms);
        MTMC_TRY(const bool right, examination.check_timed(guest, draw));
        if (!right) return false;
      }
    }
    std::error_code ignored;  // then it is only disk space until the end
    std::filesystem::remove_all(facts.draw_folder(draw), ignored);
  }
  for (auto& [engine, samples] : series.ms) verdict.times[engine] = summarize(std::move(samples));
  const Timing& own = verdict.times.at("candidate");
  verdict.time_ms = own.median_ms;
  for (const auto& [engine, timing] : verdict.times) {
    if (engine != "candidate") verdict.speedup[engine] = speedup_of(timing, own);
  }
  // The clock itself takes longer on a slow machine, and where it records events; `clocks_agree` allows 50 us anyway.
  const double clock_ms = median(series.beside_ms);
  const double slow_ms = guest.room().device == "cpu" ? std::clamp(clock_ms - kClockMs, 0.0, 2 * kClockMs)
                                                      : std::clamp(clock_ms, kClockMs, 2 * kClockMs);
  const double beside_ms = median(series.ping_ms) + slow_ms;
  trace_note(fmt::format("clock inside {:.4f} outside {:.4f} ping {:.4f} beside {:.4f} ms", own.median_ms,
                         median(series.outside_ms), median(series.ping_ms), median(series.beside_ms)));
  // Whoever lies about the calls that are right must not be believed for those that nobody measures.
  if (!clocks_agree(own.samples_ms, series.outside_ms, beside_ms) ||
      !clocks_agree(series.checked_ms, series.checked_outside_ms, beside_ms)) {
    return examination.refuse("clock-mismatch", fmt::format("{:.3f} ms by its own clock, {:.3f} ms seen from outside",
                                                            own.median_ms, median(series.outside_ms)));
  }
  return true;
}

}  // namespace mtmc
