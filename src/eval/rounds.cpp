#include "eval/rounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "base/trace.h"
#include "eval/rules.h"
#include "eval/stats.h"

namespace mtmc {

namespace {

struct Series {
  Clocks clocks;
  SeriesMs around_ms;  // processor time beside the calls
};

void note(Series& series, const std::string& engine, const Performance& went) {
  series.clocks.inside[engine].push_back(went.inside_ms), series.clocks.outside[engine].push_back(went.wall_ms);
  series.clocks.processor[engine].push_back(went.processor_ms);
  series.around_ms[engine].push_back(went.busy_ms + went.kept_ms);
}

constexpr double kMostSeen = 1e9;  // bytes: the state of larger modules is looked at once
constexpr double kBesideMs = 5;    // of processor time beside a call that nobody asks about

// Which counted rounds are checked afterwards, drawn at random so that nobody can know. The first of them is called
// with new values at the addresses of the call before.
std::set<int> pick_checks(const RoundPlan& plan, Rng& rng) {
  std::set<int> picked;
  while (static_cast<int>(picked.size()) < std::min(plan.checks, plan.rounds)) {
    picked.insert(static_cast<int>(rng.below(static_cast<uint64_t>(plan.rounds))));
  }
  return picked;
}

const std::vector<std::string> ways = {"load", "assign", "write"};  // to set weights

// A timed call must be right for what timed calls seldom meet, too: special values, and other weights. Its time does
// not count. They are written in place first, which is noticed last.
Result<bool> probe(Guest& guest, const TaskFacts& facts, Examination& examination, const std::string& draw, Rng& rng) {
  const std::string kind = draw.substr(0, draw.rfind('-'));
  const std::string state = kind == "weights" ? "second" : facts.has_state(kind) ? kind : "";
  for (const bool before : {true, false}) {
    if (!state.empty()) {
      MTMC_TRY(const bool set,
               examination.set_state(guest, before ? state : "first", before ? "write" : ways[rng.below(ways.size())]));
      if (!set) return false;
    }
    if (!before) break;
    MTMC_TRY(const bool anew, examination.begin_anew(guest));
    if (!anew) return false;
    MTMC_TRY(const std::optional<Performance> went, examination.perform(guest, {draw, true, rng.below(2) == 0}));
    if (!went) return false;
  }
  return true;
}

// Work beside the calls: processor time for getting ready and for keeping results, against eager's.
bool works_beside(const Series& series) {
  const double own = median(series.around_ms.at("candidate")), eager = median(series.around_ms.at("eager"));
  return own > eager * 1.5 + kBesideMs;
}

}  // namespace

Result<bool> time_rounds(Guest& guest, Baselines& baselines, TaskFacts& facts, Examination& examination,
                         const RoundPlan& plan, Rng& rng, Verdict& verdict) {
  verdict.stage = "timing";
  std::set<int> checks = pick_checks(plan, rng);
  MTMC_CHECK(static_cast<int>(plan.draws.size()) == plan.warm_ups + most_rounds(verdict.tier, plan.rounds),
             "every timed call has its draw");
  std::vector<std::string> engines = {"candidate", "eager", "nothing"};
  engines.insert(engines.end(), plan.baselines.begin(), plan.baselines.end());
  Series series;
  if (plan.one_thread) series.clocks.cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  int until = plan.rounds;
  for (int round = -plan.warm_ups; round < until; ++round) {
    const std::string& draw = plan.draws[static_cast<size_t>(round + plan.warm_ups)];
    const bool checked = checks.contains(round);
    const bool same_addresses = (checked && round == *checks.begin()) || rng.below(2) == 0;
    if (const auto at = plan.probes.find(round); at != plan.probes.end()) {
      MTMC_TRY(const bool right, probe(guest, facts, examination, at->second, rng));
      if (!right) return false;
    }
    std::rotate(engines.begin(), engines.begin() + static_cast<long>(rng.below(engines.size())), engines.end());
    for (const std::string& engine : engines) {
      if (engine == "nothing" && verdict.tier == Tier::screen && round % 2 != 0) continue;  // it scatters little
      if (engine != "candidate") {
        CallPlan call;
        call.draw = draw, call.same_addresses = same_addresses, call.state = facts.moving();
        if (!facts.large()) call.hold = examination.held();
        MTMC_TRY(const Performance went, baselines.call(engine, call));
        if (round >= 0) note(series, engine, went);
        continue;
      }
      if (plan.lends_anew) {  // so that it does not tell of a probe to come
        MTMC_TRY(const bool set, examination.set_state(guest, "first", ways[rng.below(ways.size())]));
        if (!set) return false;
      }
      MTMC_TRY(const bool anew, examination.begin_anew(guest));
      if (!anew) return false;
      MTMC_TRY(const std::optional<Performance> went, examination.perform(guest, {draw, checked, same_addresses}));
      if (!went) return false;
      if (round >= 0) note(series, engine, *went);
      const bool often = verdict.tier == Tier::certify && facts.most_bytes() < kMostSeen;
      if (checked && (round == *checks.begin() || often)) {
        MTMC_TRY(const DrawFacts* known, facts.draw(draw));
        MTMC_TRY(const bool alone, examination.left_alone(guest, *known, false));
        if (!alone) return false;
      }
    }
    if (plan.forgets) MTMC_RETURN_IF_ERROR(facts.forget_timed({draw}));
    if (round + 1 < until) continue;
    const int more = further_rounds(summarize(series.clocks.inside.at("eager")),
                                    summarize(series.clocks.inside.at("candidate")), verdict.tier, plan.rounds);
    for (int i = until; i < until + more; ++i) {  // as often as before, nobody can know which
      if (rng.below(static_cast<uint64_t>(plan.rounds)) < static_cast<uint64_t>(plan.checks)) checks.insert(i);
    }
    until += more;
  }
  const ClockCheck clock = check_clocks(series.clocks);
  trace_note(fmt::format("clock inside {:.4f} outside {:.4f} nothing {:.4f} apart {:.4f} noise {:.4f} ms",
                         median(series.clocks.inside.at("candidate")), median(series.clocks.outside.at("candidate")),
                         median(series.clocks.outside.at("nothing")), clock.apart_ms, clock.noise_ms));
  const double said_ms = median(series.clocks.inside.at("candidate"));
  for (auto& [engine, samples] : series.clocks.inside) {
    if (engine == "nothing") continue;
    if (engine == "candidate") samples = clock.samples_ms;
    verdict.times[engine] = summarize(std::move(samples));
  }
  const Timing& own = verdict.times.at("candidate");
  verdict.time_ms = own.median_ms;
  verdict.clock_apart_ms = clock.apart_ms, verdict.clock_noise_ms = clock.noise_ms;
  for (const auto& [engine, timing] : verdict.times) {
    if (engine != "candidate") verdict.speedup[engine] = speedup_of(timing, own, level_of(verdict.tier));
  }
  if (clock.lies)
    return examination.refuse(
        "clock-mismatch", fmt::format("{:.3f} ms by its own clock, {:.3f} ms more seen from outside (noise {:.3f} ms)",
                                      said_ms, clock.apart_ms, clock.noise_ms));
  if (works_beside(series))
    return examination.refuse(
        "background-work", fmt::format("{:.1f} ms of processor time beside each call, eager {:.1f} ms",
                                       median(series.around_ms.at("candidate")), median(series.around_ms.at("eager"))));
  return true;
}

}  // namespace mtmc
