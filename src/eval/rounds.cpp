#include "eval/rounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/cores.h"
#include "base/process.h"
#include "base/trace.h"
#include "eval/one_in.h"
#include "eval/rules.h"
#include "eval/stats.h"

namespace mtmc {

namespace {

constexpr double kRehearsedMs = 10;  // as seen from outside

struct Series {
  Clocks clocks;
  SeriesMs around_ms;  // processor time beside the calls, and beside the one that a short call is rehearsed by
};

// Processor time of a call that nobody timed: on a GPU short ones are rehearsed (stopwatch.py: up to 5 ms by the
// guest's clock), and never for more than the timed call itself takes.
double rehearsed_ms(const Performance& went, bool on_gpu) {
  return on_gpu && went.wall_ms <= kRehearsedMs ? std::min(went.woken_ms, went.processor_ms) : 0;
}

void note(Series& series, const std::string& engine, const Performance& went, bool on_gpu) {
  series.clocks.inside[engine].push_back(went.inside_ms), series.clocks.outside[engine].push_back(went.wall_ms);
  series.clocks.processor[engine].push_back(went.processor_ms);
  series.around_ms[engine].push_back(went.busy_ms + went.kept_ms - rehearsed_ms(went, on_gpu));
}

constexpr double kMostSeen = 1e9;  // bytes: the state of larger modules is looked at once

// Which counted rounds are checked afterwards, drawn at random so that nobody can know. The first of them is called
// with new values at the addresses of the call before.
std::set<int> pick_checks(const RoundPlan& plan, Rng& rng) {
  std::set<int> picked;
  while (static_cast<int>(picked.size()) < std::min(plan.checks, plan.rounds)) {
    picked.insert(static_cast<int>(rng.below(static_cast<uint64_t>(plan.rounds))));
  }
  return picked;
}

// Weights are set by other tensors in place of the old ones before one call of so many, at random, or once where they
// are only set for probes: a graph of the call is made anew then, and what users do once in a while should not decide a
// median.
constexpr int kAssignedOneIn = 8;

// Whoever makes the calls, and what is known of them so far.
class Rounds {
 public:
  Rounds(Guest& guest, Baselines& baselines, TaskFacts& facts, Examination& examination, const RoundPlan& plan,
         Rng& rng, Verdict& verdict)
      : guest_(guest),
        baselines_(baselines),
        facts_(facts),
        examination_(examination),
        plan_(plan),
        rng_(rng),
        verdict_(verdict),
        until_(plan.rounds),
        checks_(pick_checks(plan, rng)) {
    engines_.insert(engines_.end(), plan.baselines.begin(), plan.baselines.end());
    const auto sets = std::count_if(plan.probes.begin(), plan.probes.end(),
                                    [&](const auto& probe) { return !state_of(probe.second).empty(); });
    if (sets > 0 && !screens()) setting_back_ = static_cast<int>(rng_.below(static_cast<uint64_t>(sets)));
    if (plan.one_thread) series_.clocks.cores = static_cast<int>(usable_cores().size());
  }

  Result<bool> run() {
    MTMC_TRY(const bool begun, begins_with(first_));
    if (!begun) return false;
    for (int round = -plan_.warm_ups; round < until_; ++round) {
      MTMC_TRY(const bool right, play(round));
      if (!right) return false;
      if (round + 1 == until_) extend();
    }
    MTMC_TRY(const bool ended, begins_with("first"));
    return ended ? conclude() : false;
  }

 private:
  const std::string& draw_of(int round) const { return plan_.draws[static_cast<size_t>(round + plan_.warm_ups)]; }

  // What calls move is another than the first one in timed calls.
  Result<bool> begins_with(const std::string& state) {
    return first_ == "first" ? Result<bool>(true) : examination_.set_state(guest_, state, "load");
  }

  // One call of each engine on the same arguments, in an order of its own.
  Result<bool> play(int round) {
    const bool same_addresses = (checks_.contains(round) && round == *checks_.begin()) || rng_.below(2) == 0;
    const auto [first, last] = plan_.probes.equal_range(round);
    for (auto at = first; at != last; ++at) {
      MTMC_TRY(const bool right, probe(at->second));
      if (!right) return false;
    }
    std::rotate(engines_.begin(), engines_.begin() + static_cast<long>(rng_.below(engines_.size())), engines_.end());
    for (const std::string& engine : engines_) {
      if (engine == "candidate") {
        MTMC_TRY(const bool right, call_candidate(round, same_addresses));
        if (!right) return false;
      } else if (engine != "nothing" || round % 2 == 0) {  // it scatters little
        MTMC_RETURN_IF_ERROR(call_rival(engine, round, same_addresses));
      }
    }
    if (plan_.forgets) MTMC_RETURN_IF_ERROR(facts_.forget_timed({draw_of(round)}));
    return true;
  }

  // A timed call must be right for what timed calls seldom meet, too: special values, and other weights. Its time does
  // not count. They are written in place first, which is noticed last.
  Result<bool> probe(const std::string& draw) {
    const std::string state = state_of(draw);
    for (const bool before : {true, false}) {
      if (!state.empty()) {
        if (!before && plan_.lends_anew) break;  // it is set before the next call, be it a probe of a state or not
        const bool anew = !before && setting_back_-- == 0;
        const char* way = before ? "write" : anew ? "assign" : gently();
        MTMC_TRY(const bool set, examination_.set_state(guest_, before ? state : first_, way));
        if (!set) return false;
      }
      if (!before) break;
      MTMC_TRY(const bool anew, examination_.begin_anew(guest_));
      if (!anew) return false;
      MTMC_TRY(const std::optional<Performance> went, examination_.perform(guest_, {draw, true, rng_.below(2) == 0}));
      if (!went) return false;
    }
    return true;
  }

  // What a probe's calls begin with; empty: with what is there.
  std::string state_of(const std::string& draw) const {
    const std::string kind = kind_of(draw);
    if (kind == "weights") return "second";
    return facts_.has_state(kind) ? kind : first_ == "first" ? "" : "first";
  }

  const char* gently() { return rng_.below(2) == 0 ? "load" : "write"; }

  // The candidate stands still meanwhile, else it could keep the cores busy that a rival is timed on. Screens, which
  // only rank, do without: it takes two requests a call.
  Status call_rival(const std::string& engine, int round, bool same_addresses) {
    MTMC_RETURN_IF_ERROR(stand_still(true));
    const Status called = call_alone(engine, round, same_addresses);
    MTMC_RETURN_IF_ERROR(stand_still(false));
    return called;
  }

  Status stand_still(bool still) {
    if (screens()) return ok_status();
    MTMC_TRY([[maybe_unused]] const Json told,
             guest_.conductor().ask({{"op", "halt"}, {"still", still}}, kZygoteSeconds));
    return ok_status();
  }

  Status call_alone(const std::string& engine, int round, bool same_addresses) {
    // As the candidate's is: work beside the calls is compared, and a state that went on could grow out of what its
    // type holds, or into numbers that take longer. Of `nothing` no call moves it.
    if (engine != "nothing" && (plan_.lends_anew || facts_.moves()))
      MTMC_RETURN_IF_ERROR(baselines_.begin_anew(engine, plan_.lends_anew ? first_ : "moved-" + first_));
    CallPlan call;
    call.draw = draw_of(round), call.same_addresses = same_addresses, call.state = facts_.moving();
    if (!facts_.large()) call.hold = examination_.held();
    if (facts_.giant()) call.hold = 0;
    MTMC_TRY(const Performance went, baselines_.call(engine, call));
    if (round >= 0) note(series_, engine, went, on_gpu());
    return ok_status();
  }

  // Of all calls alike: whoever finds the state that the last call left would know that nobody looks at this one.
  Result<bool> call_candidate(int round, bool same_addresses) {
    if (plan_.lends_anew) {  // so that it does not tell of a probe to come
      MTMC_TRY(const bool set, examination_.set_state(guest_, first_, assigned_.next(rng_) ? "assign" : gently()));
      if (!set) return false;
    } else {  // those hold what calls move, too
      MTMC_TRY(const bool anew, examination_.begin_anew(guest_));
      if (!anew) return false;
    }
    const bool checked = checks_.contains(round);
    MTMC_TRY(const std::optional<Performance> went,
             examination_.perform(guest_, {draw_of(round), checked, same_addresses}));
    if (!went) return false;
    if (round >= 0) note(series_, "candidate", *went, on_gpu());
    const bool often = verdict_.tier == Tier::certify && facts_.most_bytes() < kMostSeen;
    if (!checked || (round != *checks_.begin() && !often)) return true;
    MTMC_TRY(const DrawFacts* known, facts_.draw(draw_of(round)));
    return examination_.left_alone(guest_, *known, false);
  }

  // Goes on where what was measured so far says little, and checks as often as before: nobody can know which rounds. A
  // screen's rounds are so few that whoever else uses the machine can part the clocks; who lies does so in more rounds,
  // too.
  void extend() {
    int more = 0;
    if (plan_.measures_on)
      more =
          further_rounds(summarize(series_.clocks.inside.at("eager")), summarize(series_.clocks.inside.at("candidate")),
                         verdict_.tier, plan_.rounds, now_seconds() - began_);
    const ClockCheck clock = check_clocks(series_.clocks);
    if (clock.doubted || (screens() && clock.apart_ms > clock.noise_ms))
      more = most_rounds(verdict_.tier, plan_.rounds) - until_;
    for (int i = until_; i < until_ + more; ++i) {
      if (rng_.below(static_cast<uint64_t>(plan_.rounds)) < static_cast<uint64_t>(plan_.checks)) checks_.insert(i);
    }
    until_ += more;
  }

  bool conclude() {
    const ClockCheck clock = check_clocks(series_.clocks);
    const double said_ms = median(series_.clocks.inside.at("candidate"));
    trace_note(fmt::format("clock inside {:.4f} outside {:.4f} nothing {:.4f} apart {:.4f} noise {:.4f} ms", said_ms,
                           median(series_.clocks.outside.at("candidate")), median(series_.clocks.outside.at("nothing")),
                           clock.apart_ms, clock.noise_ms));
    const Timing said = summarize(series_.clocks.inside.at("candidate"));
    for (auto& [engine, samples] : series_.clocks.inside) {
      if (engine == "nothing") continue;
      if (engine == "candidate") samples = clock.samples_ms;
      verdict_.times[engine] = summarize(std::move(samples));
    }
    const Timing& own = verdict_.times.at("candidate");
    verdict_.time_ms = own.median_ms;
    verdict_.clock_apart_ms = clock.apart_ms, verdict_.clock_noise_ms = clock.noise_ms;
    for (const auto& [engine, timing] : verdict_.times) {
      if (engine == "candidate") continue;
      // What is charged may be chance, which parts the clocks of two processes, too.
      Speedup& speedup = verdict_.speedup[engine] = speedup_of(timing, own, level_of(verdict_.tier));
      speedup.high = std::max(speedup.high, speedup_of(timing, said, level_of(verdict_.tier)).high);
    }
    if (clock.lies)
      return examination_.refuse(
          "clock-mismatch",
          fmt::format("{:.3f} ms by its own clock, {:.3f} ms more seen from outside (noise {:.3f} ms)", said_ms,
                      clock.apart_ms, clock.noise_ms));
    if (clock.parted)
      verdict_.notes.push_back(fmt::format("{}: {:.3f} ms by its own clock, {:.3f} ms more were seen (noise {:.3f} ms)",
                                           kTimedFromOutside, said_ms, clock.apart_ms, clock.noise_ms));
    if (works_beside(series_.around_ms.at("candidate"), series_.around_ms.at("eager")))
      return examination_.refuse(
          "background-work",
          fmt::format("{:.1f} ms of processor time beside each call, eager {:.1f} ms",
                      median(series_.around_ms.at("candidate")), median(series_.around_ms.at("eager"))));
    return true;
  }

  bool on_gpu() const { return guest_.room().device != "cpu"; }
  bool screens() const { return verdict_.tier == Tier::screen; }

  Guest& guest_;
  Baselines& baselines_;
  TaskFacts& facts_;
  Examination& examination_;
  const RoundPlan& plan_;
  Rng& rng_;
  Verdict& verdict_;
  const double began_ = now_seconds();
  // The state that timed calls begin with, where there is one: referee/opening.py.
  const std::string first_ = facts_.has_state("timed") ? "timed" : "first";
  int until_;                       // rounds that count, so far
  OneIn assigned_{kAssignedOneIn};  // the times that weights are set by other tensors before a call that is no probe
  int setting_back_ = -1;           // so many probes' states are set back before the one that is by other tensors
  std::set<int> checks_;            // of them those whose results are measured
  std::vector<std::string> engines_ = {"candidate", "eager", "nothing"};
  Series series_;
};

}  // namespace

Result<bool> time_rounds(Guest& guest, Baselines& baselines, TaskFacts& facts, Examination& examination,
                         const RoundPlan& plan, Rng& rng, Verdict& verdict) {
  verdict.stage = "timing";
  MTMC_CHECK(static_cast<int>(plan.draws.size()) == plan.warm_ups + most_rounds(verdict.tier, plan.rounds),
             "every timed call has its draw");
  return Rounds(guest, baselines, facts, examination, plan, rng, verdict).run();
}

}  // namespace mtmc
