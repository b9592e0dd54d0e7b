#include "eval/own_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "base/process.h"
#include "base/trace.h"

namespace mtmc {

namespace {

constexpr double kForever = std::numeric_limits<double>::infinity();
constexpr int kKernelCalls = 9, kMostKernelCalls = 60;   // calls at least; while they take
constexpr double kKernelSeconds = 0.4;                   // no longer than this
constexpr double kLeastClaimMs = 0.5, kLongClaimMs = 1;  // below, what a call costs in Python is most of it
constexpr double kMostOverstated = 0.5, kMostOverstatedShort = 0.97;  // of the time, in own kernels
constexpr int kMoreTries = 3;                                         // to lose the time that is claimed
constexpr int kUnmetDraw = 999;  // of those that are timed: screens begin at 0, certifications at 1000
constexpr int kGlimpsedCalls = 60, kMostGlimpses = 100;          // calls at least; in a call
constexpr double kGlimpseSeconds = 4, kMostGlimpseSeconds = 15;  // for enough threads at work; for the fewest that tell
constexpr int kEnoughGlimpses = 40, kFewestGlimpses = 6;         // of threads at work
constexpr int kEnoughGlimpsesClose = 120;                        // of them, where a small share decides
constexpr double kLeastLibrary = 0.1;                            // of them: libraries are used
// Refusals after which there is no time to compare.
const std::set<std::string> kNoAnswer = {"raised", "crashed", "timed-out", "tampered", "lazy-output", "illegal-access"};

// Of several calls whose results nobody reads: whoever else uses the machine makes calls longer, never shorter.
struct LeastMs {
  double processor = kForever;                   // time of its tree, as seen from outside
  double inside = kForever, outside = kForever;  // by its own clock, and by ours

  void meet(const LeastMs& other) {
    processor = std::min(processor, other.processor), inside = std::min(inside, other.inside);
    outside = std::min(outside, other.outside);
  }
};

// Short calls are made more often, since they are disturbed most. Nothing when one failed.
Result<std::optional<LeastMs>> least_ms(Guest& guest, Examination& examination, const std::string& draw) {
  LeastMs least;
  const double begun = now_seconds();
  for (int i = 0; i < kKernelCalls || (i < kMostKernelCalls && now_seconds() - begun < kKernelSeconds); ++i) {
    MTMC_TRY(const std::optional<Performance> went, examination.perform(guest, {draw, false, true}));
    if (!went) return std::optional<LeastMs>();
    least.meet({went->processor_ms, went->inside_ms, went->wall_ms});
  }
  return std::optional(least);
}

// Threads that were stopped at work: in code of the file's own, in any.
struct AtWork {
  int own = 0, all = 0;

  bool tells() const { return all >= kFewestGlimpses; }
  double share() const { return static_cast<double>(own) / std::max(1, all); }
};

// It is stopped again and again in the middle of calls, from their beginning to their end: nothing that it says of
// itself decides where it is found.
// Nothing when a call failed.
Result<std::optional<AtWork>> seen_at_work(Guest& guest, Examination& examination, const std::string& draw,
                                           double call_ms, int enough) {
  AtWork seen;
  const double begun = now_seconds();
  const auto goes_on = [&](int calls) {
    const double seconds = now_seconds() - begun;
    if (seen.all >= enough) return false;
    return calls < kGlimpsedCalls || seconds < (seen.tells() ? kGlimpseSeconds : kMostGlimpseSeconds);
  };
  for (int i = 0; goes_on(i); ++i) {
    Examination::Call call = {draw, false, true};
    call.glimpses = kMostGlimpses, call.glimpsed_ms = call_ms;
    MTMC_TRY(const std::optional<Performance> went, examination.perform(guest, call));
    if (!went) return std::optional<AtWork>();
    seen.own += went->own, seen.all += went->own + went->library;
  }
  return std::optional(seen);
}

// What a candidate is without its kernels.
struct Unplugged {
  bool right = false;
  std::optional<LeastMs> least;  // absent where it does not answer
};

Result<Unplugged> without_kernels(Guest& guest, Examination& examination, const std::string& draw,
                                  const Verdict& verdict) {
  const Examination::Aside no_evidence(examination);
  Unplugged found;
  // On values that it has not met: freed memory may still hold the right answer to any others.
  const std::string unmet = fmt::format("timed-{}", kUnmetDraw);
  MTMC_TRY(const std::optional<Performance> went, examination.perform(guest, {unmet, true, true, true}));
  found.right = went.has_value();
  if (went || !kNoAnswer.contains(verdict.reason)) {
    MTMC_TRY(found.least, least_ms(guest, examination, draw));
  }
  return found;
}

void not_measured(Verdict& verdict) {
  verdict.notes.push_back("own-kernels-not-measured");
  verdict.own_kernel_share.reset();
}

// It does not answer without its kernels. An exception or a crash proves nothing: then what was seen decides.
bool seen_at_its_own(Examination& examination, const AtWork& seen, double said, Verdict& verdict) {
  if (seen.tells() && said - seen.share() > kMostOverstated)
    return examination.refuse("kernel-unused",
                              fmt::format("own kernels are said to take {:.0f} % of a call, {} of {} threads that were "
                                          "stopped at work were in them, and without them it does not answer",
                                          said * 100, seen.own, seen.all));
  if (!seen.tells()) not_measured(verdict);
  return true;
}

// Calls without own kernels beside calls with them.
struct Beside {
  LeastMs with, without;
  double said;  // the share of own kernels

  double claimed() const { return said * with.inside; }
  // Others who use the machine change the time that passes, threads that spin that of processors.
  double lost() const {
    return std::clamp(std::min(with.processor - without.processor, with.outside - without.outside), 0.0, with.inside);
  }
  bool overstated() const { return claimed() - lost() > kMostOverstated * with.inside; }
};

// Is the time claimed in vain? What is neither lost nor seen in libraries is threads that are waited for, or Python.
// Whoever works that long is seen. Of a short call the verdict says how much was seen; it is refused when that is next
// to nothing.
bool is_in_vain(const AtWork& seen, const Beside& times) {
  if (times.claimed() < kLeastClaimMs || !times.overstated() || !seen.tells()) return false;
  const double most_overstated = times.claimed() < kLongClaimMs ? kMostOverstatedShort : kMostOverstated;
  return seen.share() < 1 - most_overstated;
}

// The time that own kernels are said to take is lost without them.
bool loses_time(Examination& examination, const AtWork& seen, const Beside& times, Verdict& verdict) {
  trace_note(fmt::format("own kernels: {:.3f} of {:.3f} ms claimed, {:.3f} lost", times.claimed(), times.with.inside,
                         times.lost()));
  if (times.claimed() < kLeastClaimMs) return true;  // too short to be told from the noise of a call
  verdict.own_kernel_share = std::min(verdict.own_kernel_share.value_or(0), times.lost() / times.with.inside);
  if (times.overstated() && !seen.tells()) not_measured(verdict);
  if (is_in_vain(seen, times))
    return examination.refuse("kernel-unused",
                              fmt::format("{:.2f} of {:.2f} ms are said to be own kernels', and without them a "
                                          "call takes {:.2f} ms less",
                                          times.claimed(), times.with.inside, times.lost()));
  return true;
}

}  // namespace

Result<bool> uses_kernels(Guest& guest, Examination& examination, const std::string& draw, const AnotherGuest& another,
                          Verdict& verdict) {
  const auto unplug = [&](bool pulls) {
    return guest.conductor().ask({{"op", "unplug"}, {"folders", guest.writable()}, {"pull", pulls}}, kZygoteSeconds);
  };
  MTMC_TRY(const Json there, unplug(false));
  if (there.at("kernels") == 0) {
    if (!examination.claims()) return true;
    // CUDA C++ that a driver was given lies in no file: whether it runs, a profile tells.
    if (guest.room().device != "cpu" && !verdict.own_kernel_share) {
      MTMC_TRY(const bool told, examination.profile(guest, draw));
      if (!told) return false;
    }
    if (guest.room().device != "cpu" && verdict.own_kernel_share.value_or(0) > 0) return true;
    return examination.refuse("fallback-to-reference", "the file defines kernels, and none was loaded or launched");
  }
  if (!another) return true;
  MTMC_TRY(const auto with, least_ms(guest, examination, draw));
  if (!with) return false;
  const double said = verdict.own_kernel_share.value_or(0);
  const double claimed = said * with->inside;
  const bool is_close = kLeastClaimMs <= claimed && claimed < kLongClaimMs;
  MTMC_TRY(const auto seen,
           seen_at_work(guest, examination, draw, with->outside, is_close ? kEnoughGlimpsesClose : kEnoughGlimpses));
  if (!seen) return false;
  MTMC_TRY([[maybe_unused]] const Json pulled, unplug(true));
  MTMC_TRY(const Unplugged without, without_kernels(guest, examination, draw, verdict));
  if (without.right)
    return examination.refuse("kernel-unused", "the answer stays right when the file's own kernels do nothing");
  trace_note(fmt::format("at work: {} of {} threads in own code", seen->own, seen->all));
  if (seen->tells() && said > seen->share()) verdict.own_kernel_share = seen->share();
  if (seen->tells() && seen->share() < 1 - kLeastLibrary && verdict.library_use == "none") verdict.library_use = "any";
  if (!without.least) return seen_at_its_own(examination, *seen, said, verdict);
  Beside times = {*with, *without.least, said};
  // Time that is lost though the work was seen elsewhere: a machine that has become quieter since looks like that, too.
  if (claimed >= kLeastClaimMs && !times.overstated() && seen->tells() && said - seen->share() > kMostOverstated) {
    MTMC_TRY(std::optional<Guest> whole, another());
    if (!whole) return false;
    MTMC_TRY(const auto again, least_ms(*whole, examination, draw));
    if (!again) return false;
    times.with.meet(*again);
  }
  // Others may have made calls without kernels longer: in a quieter moment those take less, and what libraries compute
  // takes what it took.
  for (int i = 0; i < kMoreTries && is_in_vain(*seen, times); ++i) {
    const Examination::Aside no_evidence(examination);
    MTMC_TRY(const auto again, least_ms(guest, examination, draw));
    if (!again) break;
    times.without.meet(*again);
  }
  return loses_time(examination, *seen, times, verdict);
}

Result<bool> needs_kernels(Guest& guest, Examination& examination, const std::string& draw) {
  MTMC_TRY(const GuestReply answer, examination.call(guest, {{"op", "ghost"}}));
  if (!answer.ok() || answer.reply->at("kernels") == 0) return true;  // it has none of Triton's
  bool right = false;
  {
    const Examination::Aside no_evidence(examination);
    MTMC_TRY(const std::optional<Performance> went, examination.perform(guest, {draw, true, false, true}));
    right = went.has_value();
  }
  if (right) {  // launches that the file bound before they were unplugged still work
    MTMC_TRY(const GuestReply met, examination.call(guest, {{"op", "ghost"}}));
    if (met.ok() && met.reply->at("kernels") == 0) return true;
  }
  return !right || examination.refuse("kernel-unused", "the answer is right though the file's own kernels do nothing");
}

}  // namespace mtmc
