#include "eval/trial.h"

#include <fmt/format.h>

#include "base/text.h"
#include "base/turn.h"
#include "eval/own_kernels.h"
#include "eval/rounds.h"
#include "eval/rules.h"

namespace mtmc {

namespace {

constexpr const char* kComesBack = "task-5";  // no call had its values before
constexpr double kMostOfAnother = 256e6;      // bytes of weights: of larger ones there is no other instance
constexpr int kMoreThreads = 3;               // of another program
constexpr int kAllCalls = 100;                // in a row: as many as eager made

bool is_wrong(const Verdict& verdict) { return verdict.reason == "wrong-result" || verdict.reason == "precision"; }

}  // namespace

#define MTMC_PASS(expression)                \
  do {                                       \
    MTMC_TRY(const bool passes, expression); \
    if (!passes) return false;               \
  } while (false)

Result<bool> Trial::screen(bool profiled) {
  MTMC_TRY(Guest guest, guests_.enter(like_));
  return screen(guest, profiled);
}

Result<bool> Trial::screen(Guest& guest, bool profiled) {
  MTMC_PASS(examination_.load(guest));
  MTMC_PASS(examination_.run(guest, "task-0"));
  MTMC_TRY(std::vector<std::string> structured, draws_.structured(facts_, tier(), again_));
  for (size_t i = 0; i < structured.size(); ++i) {
    MTMC_PASS(examination_.run(guest, structured[i], "first"));
    if (i + 1 < structured.size()) continue;
    MTMC_TRY(const std::vector<std::string> more, draws_.structured_instead(facts_, tier()));
    structured.insert(structured.end(), more.begin(), more.end());
  }
  if (!options_.freeze_weights) MTMC_PASS(follows_weights(guest));
  if (structured.empty()) verdict_.notes.push_back("no-structured-draw");
  MTMC_PASS(time(guest));
  MTMC_RETURN_IF_ERROR(guests_.add_spares());  // while the guest's threads settle
  MTMC_PASS(examination_.stays_quiet(guest));
  if (profiled) MTMC_PASS(examination_.profile(guest, "task-0"));
  return mtmc::uses_kernels(guest, examination_, "task-0", nullptr, verdict_);
}

Result<bool> Trial::certify() {
  MTMC_PASS(certify_answers());
  MTMC_PASS(raised_without_it());
  MTMC_PASS(works_without_kernels());
  if (options_.freeze_weights) {
    MTMC_TRY(const bool others, has_other_weights());
    if (others) MTMC_PASS(takes_weights());
  }
  MTMC_TRY(Guest fresh, guests_.enter(like_));
  MTMC_PASS(examination_.load(fresh));
  MTMC_PASS(time(fresh));
  tells("whether results stay as they are");
  MTMC_PASS(examination_.stays_quiet(fresh));
  return leaves_results(fresh);
}

// Whoever keeps many results finds them as they were. In the first process fresh memory holds a pattern, which says
// that nobody takes the time; here it never did. What it holds by chance could say so, too: zeros every other time.
Result<bool> Trial::leaves_results(Guest& guest) {
  verdict_.stage = "correctness";
  for (int i = 0; i <= Examination::kManyResults && examination_.held() == Examination::kManyResults; ++i) {
    MTMC_TRY(const bool anew, examination_.begin_anew(guest));
    if (!anew) return false;
    Examination::Call call{fmt::format("task-{}", i % 5)};
    call.clean = i % 2 == 0;
    MTMC_TRY(const std::optional<Performance> went, examination_.perform(guest, call));
    if (!went) return false;
  }
  return true;
}

// All that a certification demands of one guest but its time.
Result<bool> Trial::certify_answers() {
  tells("drawing arguments");
  MTMC_TRY(const std::vector<std::string> structured, draws_.structured(facts_, tier(), again_));
  // Before a candidate is there: what it takes of the memory cannot make them too large.
  for (const std::string& kind : facts_.others()) {
    MTMC_TRY([[maybe_unused]] const DrawFacts* known, facts_.draw(kind + "-0"));
  }
  MTMC_TRY(Guest guest, guests_.enter(like_));
  MTMC_PASS(examination_.load(guest));
  std::vector<std::string> draws = {"task-0", "task-1", "task-2", "task-3", "task-4"};
  size_t run = 0;
  const auto next = [&] { tells(fmt::format("on draw {} of {}", ++run, draws.size() + structured.size())); };
  const std::string& often = draws[rng_.below(draws.size())];
  for (const std::string& draw : draws) {
    next();
    // Whoever counts calls, or calls on the same values, meets five in a row; of gigabytes once, nobody knows when.
    MTMC_PASS(examination_.run(guest, draw, "first", facts_.large() && draw != often ? 2 : 5));
  }
  std::vector<std::string> met;
  for (const std::string& draw : structured) {
    next();
    MTMC_TRY(const bool usable, draws_.meets(facts_, draw));
    if (!usable) continue;
    MTMC_PASS(run_structured(guest, draw));
    met.push_back(draw);
  }
  if (met.size() < 2) verdict_.notes.push_back("few-structured-draws");
  bool swapped = false;
  for (int i = 0; i < 2 && !swapped; ++i) {  // elements or, where eager raises on that, samples
    MTMC_TRY(const DrawFacts* known, facts_.draw(fmt::format("swapped-{}", i)));
    swapped = known->usable;
    if (swapped) MTMC_PASS(examination_.run_after(guest, fmt::format("task-{}", i), known->name));
  }
  if (!swapped) verdict_.notes.push_back("swapped-draw-unusable");
  if (facts_.moves()) {
    const std::string repeated = fmt::format("repeated-{}", draws_.met_index());
    const bool late = facts_.has_state("repeated");  // as after hundreds of calls
    MTMC_PASS(examination_.run(guest, repeated, late ? "repeated" : "first", kAllCalls));
    if (late) MTMC_PASS(examination_.set_state(guest, "first", "load"));
  }
  draws.insert(draws.end(), met.begin(), met.end());
  MTMC_TRY(verdict_.degenerate, facts_.degenerate(draws));
  MTMC_PASS(examination_.stays_quiet(guest));
  MTMC_PASS(examination_.profile(guest, "task-0"));
  tells("with other weights and arguments");
  if (!options_.freeze_weights) MTMC_PASS(follows_weights(guest));
  if (!options_.freeze_weights) MTMC_PASS(notices_few_weights(guest));
  for (const std::string& kind : facts_.others()) MTMC_PASS(examination_.other_arguments(guest, kind + "-0"));
  // What other sizes left behind, or an error about them, may not answer for the task's own when they come back.
  if (!facts_.others().empty() && !facts_.huge()) MTMC_PASS(examination_.run(guest, kComesBack, "first"));
  MTMC_PASS(bears_surroundings(guest));
  return uses_kernels(guest);
}

// A candidate may have taken what eager lacked on a draw that was left out: nobody is there now who could.
Result<bool> Trial::raised_without_it() {
  for (const std::string& draw : draws_.left_out()) {
    MTMC_TRY(const bool usable, facts_.raises_no_more(draw));
    if (!usable) continue;
    MTMC_TRY(Guest guest, guests_.enter(like_));
    MTMC_PASS(examination_.load(guest));
    MTMC_PASS(examination_.run(guest, draw, "first"));
  }
  return true;
}

// What the program around it may do, and what it may not do to that.
Result<bool> Trial::bears_surroundings(Guest& guest) {
  tells("in other surroundings");
  MTMC_PASS(examination_.spares_old_arguments(guest, "task-2", "task-3"));
  MTMC_PASS(examination_.gives_results_away(guest, "task-1"));
  MTMC_PASS(examination_.right_elsewhere(guest, "task-3", {.gradients = true}));
  if (!on_gpu()) MTMC_PASS(examination_.right_elsewhere(guest, "task-4", {.threads = options_.threads + kMoreThreads}));
  for (const char* how : {"copy", "new"}) MTMC_PASS(keeps_instances_apart(guest, how));
  MTMC_TRY(const GuestReply operators, examination_.call(guest, {{"op", "operators"}}));
  return operators.ok() || examination_.refuse(operators.reason, operators.message);
}

// Another instance has other weights, and the first one its own. What a copy answers is not judged: one of a module
// whose forward torch.compile has bound goes on with the first one's weights.
Result<bool> Trial::keeps_instances_apart(Guest& guest, const std::string& how) {
  // A generator that is copied, or seeded alike, draws what the first one draws.
  if (facts_.weight_bytes() > kMostOfAnother || facts_.huge() || examination_.draws_own_random()) return true;
  bool others = facts_.has_weights() && !options_.freeze_weights;
  if (others) {
    MTMC_TRY(const DrawFacts* known, facts_.draw("weights-0"));
    others = known->usable;
  }
  MTMC_TRY(const bool there, examination_.stands_in(guest, how, how == "copy" ? "first" : ""));
  if (!there) return verdict_.reason.empty();
  const auto right = [&](const std::string& draw, const std::string& state) -> Result<bool> {
    MTMC_TRY(const bool as_it_is, examination_.run(guest, draw, state, 1));
    if (as_it_is || !is_wrong(verdict_)) return as_it_is;
    return examination_.refuse("state-differs", fmt::format("beside another instance ({}), {}", how, verdict_.message));
  };
  if (how == "copy") {
    MTMC_RETURN_IF_ERROR(
        examination_.called_unread(guest, others ? "weights-0" : "task-1", others ? "second" : "first"));
  } else {
    MTMC_PASS(others ? right("weights-0", "second") : right("task-1", "first"));
  }
  MTMC_TRY(const bool back, examination_.stands_in(guest, "back", "first"));
  if (!back) return false;
  return right("task-2", "");
}

Result<bool> Trial::interpret() {
  MTMC_TRY(Guest guest, guests_.enter(like_));
  MTMC_PASS(examination_.load(guest));
  MTMC_PASS(examination_.run(guest, "task-0"));
  MTMC_TRY(const std::vector<std::string> structured, facts_.structured(structured_count(Tier::screen)));
  for (const std::string& draw : structured) MTMC_PASS(examination_.run(guest, draw));
  return true;
}

// Of what returns few numbers, a loss, each draw tells little, and so does one on which something was wrong that may be
// near zero by chance: it meets all draws of the kind.
Result<bool> Trial::run_structured(Guest& guest, const std::string& draw) {
  MTMC_PASS(examination_.run(guest, draw, "first"));
  const size_t end = draw.rfind('-') + 1;
  const bool all = facts_.returns_few() || examination_.leaned_on_chance(draw);
  for (int index = 0; all && !facts_.large() && index < kDrawsOfAKind; ++index) {
    const std::string other = draw.substr(0, end) + std::to_string(index);
    if (other == draw) continue;
    MTMC_TRY(const DrawFacts* known, facts_.draw(other));
    if (known->usable) MTMC_PASS(examination_.run(guest, other, "first"));
  }
  return true;
}

Result<bool> Trial::has_other_weights() {
  if (!facts_.has_weights()) return false;
  MTMC_TRY(const DrawFacts* known, facts_.draw("weights-0"));
  if (!known->usable) verdict_.notes.push_back("second-weights-unusable");
  return known->usable;
}

// A new process that is given other weights uses them. It takes the place of the guest before it.
Result<bool> Trial::takes_weights() {
  MTMC_TRY(Guest fresh, guests_.enter(like_));
  MTMC_PASS(examination_.load(fresh, "second"));
  MTMC_TRY(const bool right, examination_.run(fresh, "weights-0"));
  return right || examination_.refuse("insensitive-to-weights", "with other weights, " + verdict_.message);
}

// Weights are inputs: other values, copied in or put in place of the old tensors, must change the answer.
Result<bool> Trial::follows_weights(Guest& guest) {
  MTMC_TRY(const bool others, has_other_weights());
  if (!others) return true;
  MTMC_TRY(const bool followed, examination_.run(guest, "weights-0", "second"));
  if (followed) {
    if (facts_.has_state("lifted")) {
      MTMC_TRY(const DrawFacts* lifted, facts_.draw("lifted-0"));
      if (lifted->usable) MTMC_PASS(examination_.run(guest, "lifted-0", "lifted"));
    }
    MTMC_PASS(examination_.set_state(guest, "first", "assign"));
    return examination_.run(guest, "task-1");
  }
  if (!is_wrong(verdict_)) return false;
  const std::string message = verdict_.message;
  MTMC_PASS(takes_weights());
  return examination_.refuse("stale-weights", "after the weights had changed, " + message);
}

// Other values of a few elements, written where the old ones lie: who looks at some of the weights only misses them.
Result<bool> Trial::notices_few_weights(Guest& guest) {
  for (const std::string& state : facts_.nudged()) {
    const std::string draw = fmt::format("{}-{}", state, draws_.met_index());
    MTMC_TRY(const DrawFacts* known, facts_.draw(draw));
    if (!known->usable) continue;
    // What it holds by now is made of the first ones: it may know them by their sum.
    MTMC_RETURN_IF_ERROR(examination_.called_unread(guest, "task-2", "first"));
    MTMC_PASS(examination_.set_state(guest, state, "write"));
    MTMC_TRY(const bool right, examination_.run(guest, draw));
    if (!right && !is_wrong(verdict_)) return false;
    if (!right) {
      const std::string message = verdict_.message;
      // A new process that has them from the start is right, or errs like this: then that is the reason.
      MTMC_TRY(Guest fresh, guests_.enter(like_));
      MTMC_PASS(examination_.load(fresh, state));
      MTMC_PASS(examination_.run(fresh, draw));
      return examination_.refuse("stale-weights", "after a few elements of the weights had changed, " + message);
    }
    MTMC_PASS(examination_.set_state(guest, "first", "write"));
  }
  return true;
}

Result<std::optional<Guest>> Trial::another_guest() {
  MTMC_TRY(Guest fresh, guests_.enter(like_));
  MTMC_TRY(const bool loaded, examination_.load(fresh));
  if (!loaded) return std::optional<Guest>();
  MTMC_TRY(const bool right, examination_.run(fresh, "task-0"));
  return right ? std::optional(std::move(fresh)) : std::nullopt;
}

// What a process gave up after other sizes (torch.compile after eight of them) a new one has.
Result<bool> Trial::uses_kernels(Guest& guest) {
  const Verdict before = verdict_;
  AnotherGuest another;
  if (!on_gpu()) another = [this] { return another_guest(); };
  MTMC_TRY(const bool used, mtmc::uses_kernels(guest, examination_, "task-0", another, verdict_));
  if (used || verdict_.reason != "kernel-unused") return used;
  verdict_ = before;
  MTMC_TRY(std::optional<Guest> fresh, another_guest());
  if (!fresh) return false;
  return mtmc::uses_kernels(*fresh, examination_, "task-0", another, verdict_);
}

// On a GPU kernels may have been captured or bound by the time the first guest unplugged them: a new one never has
// them.
Result<bool> Trial::works_without_kernels() {
  if (!on_gpu()) return true;
  MTMC_TRY(Guest ghost, guests_.enter(like_));
  MTMC_PASS(examination_.load(ghost));
  return needs_kernels(ghost, examination_, "task-0");
}

Result<bool> Trial::time(Guest& guest) {
  const Result<bool> timed = time_beside_baselines(guest);
  for (const auto& [name, failure] : baselines_.made())
    if (!failure.empty()) verdict_.notes.push_back("no-" + name + ": " + failure);
  MTMC_PASS(timed);
  if (tier() == Tier::screen) return true;
  const auto too_fast = [&](double time_ms, double bytes) {
    return faster_than_physics(time_ms, bytes, baselines_.bandwidth(), options_.cache_bytes);
  };
  // What must be touched is no more than all there is, and takes long to find out.
  if (too_fast(*verdict_.time_ms, facts_.nominal_bytes())) {
    MTMC_TRY(const double needed, facts_.needed_bytes());
    if (too_fast(*verdict_.time_ms, needed))
      return examination_.refuse("faster-than-physics",
                                 fmt::format("{:.3f} ms for {:.0f} MB at {:.1f} GB/s", *verdict_.time_ms, needed / 1e6,
                                             baselines_.bandwidth() / 1e9));
  }
  if (too_fast(*verdict_.time_ms * 0.5, facts_.nominal_bytes())) verdict_.notes.push_back("above-roofline");
  return true;
}

// Begins anew for a candidate that is examined once more, and when the process of a baseline is lost.
Result<bool> Trial::time_beside_baselines(Guest& guest) {
  for (bool anew = again_;; anew = true) {
    // A screen takes half a second: unasked it does not wait for what takes up to minutes to compile.
    if (!options_.baselines.empty()) tells("preparing " + join(options_.baselines, ", ") + " beside eager");
    MTMC_RETURN_IF_ERROR(baselines_.ready(tier() == Tier::certify || options_.screens_wait));
    tells("timing calls");
    const int losses = baselines_.losses();
    MTMC_TRY(RoundPlan plan, draws_.rounds(facts_, tier(), anew));
    for (const auto& [name, failure] : baselines_.made())
      if (failure.empty()) plan.baselines.push_back(name);
    if (!plan.forgets) MTMC_RETURN_IF_ERROR(draw_ahead(plan));
    const Result<bool> timed = time_quietly(guest, plan);
    const bool lost = baselines_.losses() != losses;
    if (!timed.ok() && !lost) return timed;  // it may be the referee that is lost
    if (tier() == Tier::certify || anew) MTMC_RETURN_IF_ERROR(facts_.forget_timed(plan.draws));
    if (!lost) return timed;
  }
}

// What would keep those waiting who share the GPU.
Status Trial::draw_ahead(const RoundPlan& plan) {
  if (turn_file().empty()) return ok_status();
  for (size_t i = 0; i < static_cast<size_t>(plan.warm_ups + plan.rounds); ++i) {
    MTMC_TRY([[maybe_unused]] const Given* given, facts_.given(plan.draws[i]));
  }
  return ok_status();
}

// Nothing of ours, or of who asks, runs beside a timed call; nor of others who share the GPU.
Result<bool> Trial::time_quietly(Guest& guest, const RoundPlan& plan) {
  const Turn turn(turn_file(), Turn::With::nobody);
  MTMC_RETURN_IF_ERROR(guests_.pause());
  baselines_.pause();
  if (options_.bystander != nullptr) options_.bystander->pause();
  const Status measured = baselines_.measure_bandwidth();
  const Result<bool> timed = measured.ok() ? time_rounds(guest, baselines_, facts_, examination_, plan, rng_, verdict_)
                                           : Result<bool>(measured.error());
  if (options_.bystander != nullptr) options_.bystander->resume();
  baselines_.resume();
  if (guests_.running()) MTMC_RETURN_IF_ERROR(guests_.resume());
  return timed;
}

}  // namespace mtmc
