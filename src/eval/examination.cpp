#include "eval/examination.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "eval/evidence.h"
#include "eval/rules.h"

namespace mtmc {

namespace {

constexpr double kBusyMs = 6;            // of CPU time in 20 ms of idleness
constexpr double kRoomForAnother = 1e9;  // bytes: of smaller modules two instances find memory
constexpr size_t kMostShares = 16, kMostNameBytes = 80;

bool same_kind(const std::string& a, const std::string& b) {
  return a.substr(0, a.rfind('-')) == b.substr(0, b.rfind('-'));
}

// A name that a candidate has chosen.
std::string readable(std::string name) {
  for (char& sign : name)
    if (sign < ' ' || sign > '~') sign = '?';
  return name.substr(0, kMostNameBytes);
}

}  // namespace

bool Examination::refuse(const std::string& reason, const std::string& message) {
  verdict_.outcome = Outcome::refused;
  verdict_.reason = reason, verdict_.message = message;
  return false;
}

Result<GuestReply> Examination::call(Guest& guest, const Json& request) {
  MTMC_TRY(GuestReply answer, guest.call(request, patience(guest)));
  guest.warm = guest.warm || answer.ok();
  return answer;
}

Result<bool> Examination::load(Guest& guest, const std::string& state) {
  verdict_.stage = "compile", verdict_.sandbox = guest.sandbox();
  while (!held_.empty()) drop(0);  // another guest's
  std::shared_ptr<const Json> reply = guest.loaded();
  if (reply == nullptr) {
    MTMC_TRY(const GuestReply answer, guest.call(load_request(guest), limits_.load_seconds));
    if (!answer.ok()) return refuse(answer.reason, answer.message);
    reply = answer.reply;
  }
  verdict_.weights = reply->at("weights"), claims_ = reply->at("claims");
  verdict_.stage = "run";
  return set_state(guest, state, "load");
}

Json Examination::load_request(Guest& guest) {
  return {{"op", "load"},
          {"file", candidate_.string()},
          {"task", guest.show(facts_.folder())},
          {"state", *facts_.state("first").form},
          {"mode", facts_.mode()},
          {"by_name", facts_.by_name()},
          {"seed", 20250131},
          {"threads", threads_},
          {"writable", guest.writable()},
          {"environment", guest.environment()},
          {"secret", facts_.files()},
          {"asked", facts_.asked()},
          {"whole", verdict_.tier == Tier::certify}};
}

Result<bool> Examination::set_state(Guest& guest, const std::string& state, const std::string& how) {
  if (!facts_.has_weights()) return true;
  MTMC_TRY(const Performance lent,
           lend(guest.conductor(), facts_, guest.name(), "state-" + state, {{"op", "lend"}}, limits_.load_seconds));
  if (!lent.ok()) return refuse(lent.reason, lent.message);
  MTMC_TRY(const GuestReply answer, guest.call({{"op", "state"}, {"how", how}}, limits_.load_seconds));
  if (!answer.ok()) return refuse(answer.reason, answer.message);
  if (!state.starts_with("moved")) state_ = state;
  for (Held& one : held_) one.loose = one.aliases;  // it may have been written where they lie
  return true;
}

Result<bool> Examination::begin_anew(Guest& guest) {
  return facts_.moves() ? set_state(guest, "moved-" + state_, "load") : Result<bool>(true);
}

Result<bool> Examination::run(Guest& guest, const std::string& draw, const std::string& state, int calls) {
  if (!state.empty() && state != state_) {
    MTMC_TRY(const bool set, set_state(guest, state, "load"));
    if (!set) return false;
  }
  return run_calls(guest, draw, calls, false);
}

Result<bool> Examination::run_after(Guest& guest, const std::string& previous, const std::string& draw) {
  MTMC_TRY(const bool before, run_calls(guest, previous, 1, false));
  if (!before) return false;
  return run_calls(guest, draw, 2, true);
}

Result<bool> Examination::run_calls(Guest& guest, const std::string& draw, int calls, bool same_addresses) {
  MTMC_TRY(const DrawFacts* facts, facts_.draw(draw));
  if (std::find(verdict_.draws.begin(), verdict_.draws.end(), draw) == verdict_.draws.end())
    verdict_.draws.push_back(draw);
  MTMC_TRY(const bool anew, begin_anew(guest));
  if (!anew) return false;
  for (int i = 0; i < (facts->repeats ? calls : std::min(calls, facts->calls)); ++i) {
    Call one = {draw, true, same_addresses || i > 0};
    one.poison = true, one.late = guest.room().device != "cpu" && (i == 0 || !facts_.huge());
    one.index = std::min(i, facts->calls - 1);
    MTMC_TRY(const std::optional<Performance> went, perform(guest, one));
    if (!went) return false;
  }
  return left_alone(guest, *facts, calls >= facts->calls);
}

Result<std::optional<Performance>> Examination::perform(Guest& guest, const Call& call) {
  const std::optional<Performance> refused;
  CallPlan plan;
  plan.draw = facts_.arguments_of(call.draw, call.index);
  plan.same_addresses = call.same_addresses, plan.seeded = call.index == 0;
  // A late call copies its results: no earlier ones beside those, nor beside giant ones.
  const bool alone = facts_.giant() || (call.late && facts_.huge());
  if (alone)
    while (!held_.empty()) drop(0);
  else
    plan.drop = make_room();
  plan.hold = alone ? 0 : held(), plan.late = call.late, plan.poison = call.poison, plan.clean = call.clean,
  plan.state = facts_.moving();
  plan.written = facts_.written();
  plan.keep = call.keeps, plan.gradients = call.elsewhere.gradients, plan.threads = call.elsewhere.threads;
  if (call.check) plan.out = next_out();
  if (call.glimpses > 0)
    plan.glimpses = call.glimpses, plan.glimpsed_ms = call.glimpsed_ms, plan.folders = guest.writable();
  plan.timeout_seconds = patience(guest) + kTimesEager * facts_.eager_seconds(call.draw);
  MTMC_TRY(Performance went, mtmc::perform(guest.conductor(), facts_, guest.name(), plan));
  if (!went.ok()) {
    refuse(went.reason, fmt::format("on draw {}: {}", call.draw, went.message));
    return refused;
  }
  guest.warm = true;
  if (!call.check) {
    hold({went.reply, {}, "", {}, {}});
    return std::optional(std::move(went));
  }
  MTMC_TRY(const DrawFacts* facts, facts_.draw(call.draw));
  if (verdict_.stage != "timing") verdict_.stage = "correctness";
  MTMC_TRY(const bool right, checked(guest, *facts, went, plan.out, call.index));
  MTMC_RETURN_IF_ERROR(proceed(guest.conductor()));
  hold({went.reply, plan.out, hash_, facts->loose,
        facts->aliases});  // a refused one, too: the guest does, and may be asked again
  if (!right) return refused;
  return std::optional(std::move(went));
}

// A candidate that does not draw torch's random numbers is measured again as one that draws its own.
Result<bool> Examination::checked(Guest& guest, const DrawFacts& facts, const Performance& call,
                                  const std::filesystem::path& out, int index) {
  const Verdict before = verdict_;
  MTMC_TRY(const bool right, checked_once(guest, facts, call, out, index));
  const std::set<std::string> others = {"wrong-result", "precision", "nondeterministic", "stale-output", "non-finite"};
  if (right || own_random_ || facts.chances.empty() || !others.contains(verdict_.reason)) return right;
  verdict_ = before, own_random_ = true;
  verdict_.notes.push_back("own-random-numbers");
  return checked_once(guest, facts, call, out, index);
}

Result<bool> Examination::checked_once(Guest& guest, const DrawFacts& facts, const Performance& call,
                                       const std::filesystem::path& out, int index) {
  Json earlier = Json::array();
  for (const Held& held : held_) earlier.push_back(held.reply->at("results"));
  Json request = {{"op", "measure"},
                  {"draw", facts.name},
                  {"call", index},
                  {"form", call.reply->at("results")},
                  {"file", out.string()},
                  {"guest", guest.name()},
                  {"places", *call.places},
                  {"earlier", std::move(earlier)},
                  {"modified", call.modified},
                  {"unreadable", call.unreadable},
                  {"most_bytes", facts_.most_bytes()},
                  {"own_random", own_random_}};
  MTMC_TRY(const Json told, facts_.ask(request));
  if (told.contains("mismatch"))
    return refuse(told.at("mismatch"), fmt::format("on draw {}: {}", facts.name, told.value("detail", "")));
  if (told.at("aliases").get<bool>())
    return refuse("output-aliases-input", "an output shares memory with an argument on draw " + facts.name);
  for (const int index_modified : told.at("modified").get<std::vector<int>>()) {
    if (std::find(facts.modified.begin(), facts.modified.end(), index_modified) == facts.modified.end())
      return refuse("input-modified",
                    fmt::format("argument {} was changed by the call on draw {}", index_modified, facts.name));
  }
  if (told.at("reused").get<bool>())
    return refuse("output-reused", "a call returned the memory of an earlier call's output on draw " + facts.name);
  if (told.at("together").get<bool>())
    return refuse("output-reused", "two outputs of one call share memory, and eager's do not, on draw " + facts.name);
  const auto overlapping = told.at("overlapping").get<std::vector<bool>>();
  for (size_t i = 0; i < overlapping.size() && i < facts.overlapping.size(); ++i) {
    if (overlapping[i] && !facts.overlapping[i])
      return refuse("wrong-shape", fmt::format("output {} is an expanded tensor on draw {}", i, facts.name));
  }
  hash_ = told.at("hash");
  MTMC_TRY(const bool right, judge_results(facts, measurements_from(told.at("outputs")), hash_, index));
  if (!right) MTMC_RETURN_IF_ERROR(name_wrong(facts, std::move(request)));
  return right;
}

// Says which elements come first of those that are wrong. Where masks are random they are no candidate's fault.
Status Examination::name_wrong(const DrawFacts& facts, Json request) {
  if (!facts.chances.empty() || verdict_.errors.empty()) return ok_status();
  const OutputError& error = verdict_.errors.back();
  if (error.broken.empty() || error.broken == "e" || error.output.starts_with("state:")) return ok_status();
  request["op"] = "wrong", request["output"] = error.output, request["relative"] = error.broken == "f";
  request["beyond"] = std::isfinite(error.beyond) ? Json(error.beyond) : Json();
  MTMC_TRY(const Json told, facts_.ask(std::move(request)));
  const auto first = told.at("first").get<std::vector<std::string>>();
  if (!first.empty()) verdict_.message += fmt::format("; first wrong elements: {}", fmt::join(first, ", "));
  return ok_status();
}

Result<bool> Examination::judge_results(const DrawFacts& facts, const std::vector<Measurement>& outputs,
                                        const std::string& hash, int call) {
  if (!facts.usable) return true;  // an earlier call on it was refused, and it turned out to prove nothing
  const Verdict before = verdict_;
  if (judge_call(facts, outputs, hash, call)) return true;
  for (const auto allow :
       {&TaskFacts::allow_whole_budget, &TaskFacts::allow_own_errors, &TaskFacts::allow_other_orders}) {
    MTMC_TRY(const bool wider, (facts_.*allow)(facts.name));
    if (!wider) continue;
    verdict_ = before;
    if (!facts.usable || judge_call(facts, outputs, hash, call)) return true;  // it may turn out to prove nothing
  }
  return false;
}

// Weights that eager leaves alone are as they were; the first result is still there; torch's generator stands where
// eager's stands after as many calls.
Result<bool> Examination::left_alone(Guest& guest, const DrawFacts& facts, bool all_calls) {
  MTMC_TRY(const GuestReply after, call(guest, {{"op", "after"}}));
  if (!after.ok()) return refuse(after.reason, after.message);
  const std::string random_state = after.reply->value("random_state", "");
  if (all_calls && !own_random_ && !facts.random_state.empty() && random_state != facts.random_state)
    return refuse("state-differs", "torch's random generator is not where eager leaves it, on draw " + facts.name);
  MTMC_TRY(const bool stays, first_results_stay(guest, facts));
  if (!stays) return false;
  if (!facts_.has_weights()) return true;
  const std::filesystem::path out = next_out();
  Json seen = {{"unreadable", ""}};
  if (facts_.by_file()) {
    MTMC_TRY(seen, guest.conductor().compute({{"op", "look"},
                                              {"form", after.reply->at("state")},
                                              {"out", out.string()},
                                              {"most_bytes", facts_.most_bytes()}},
                                             limits_.load_seconds));
  }
  MTMC_TRY(const Json told, facts_.ask({{"op", "unchanged"},
                                        {"draw", facts.name},
                                        {"state", state_},
                                        {"without", facts_.moving()},
                                        {"form", after.reply->at("state")},
                                        {"file", out.string()},
                                        {"guest", guest.name()},
                                        {"unreadable", seen.value("unreadable", "")},
                                        {"results", held_.back().reply->at("results")}}));
  std::error_code ignored;  // then it is only space in memory until the end
  std::filesystem::remove(out, ignored);
  if (told.contains("mismatch"))
    return refuse(told.at("mismatch"), fmt::format("on draw {}: {}", facts.name, told.value("detail", "")));
  for (const std::string& name : told.at("changed").get<std::vector<std::string>>())
    return refuse("state-differs", fmt::format("{} was changed by the call on draw {}", name, facts.name));
  if (told.at("aliases").get<bool>())
    return refuse("output-aliases-input", "an output shares memory with a weight on draw " + facts.name);
  return true;
}

bool Examination::judge_call(const DrawFacts& facts, const std::vector<Measurement>& outputs, const std::string& hash,
                             int call) {
  const bool own = same_kind(facts.name, "task-0");
  for (const Measurement& m : outputs) {
    const auto found = facts.budgets.find(m.output);
    const Budget budget = found == facts.budgets.end() ? Budget{} : found->second;
    OutputError error = apply_rules(facts.name, m, budget);
    if (call == 0) near_zero_.note(m, budget, error);
    verdict_.errors.push_back(error);
    if (own && !m.output.starts_with("state:")) task_outputs_.push_back(m);
    if (error.broken.empty() && own_random_ && facts.chances.contains(m.output)) {
      const std::string unlike = unlike_eager(m.fractions, facts.chances.at(m.output));
      if (unlike.empty()) continue;
      return refuse(unlike.find(" call") != unlike.npos ? "stale-output" : "wrong-result",
                    fmt::format("output {} on draw {}: {}", m.output, facts.name, unlike));
    }
    if (error.broken.empty()) continue;
    const bool plain =
        !facts.in_a_row && error.broken != "e" && m.poison == 0 && !own_random_ && !m.output.starts_with("state:");
    std::string reason = call > 0 && plain ? "nondeterministic" : reason_of(error, m);
    // Results of which only what is not finite is wrong, such as a loss that is NaN, are alike by chance.
    if (reason != "nondeterministic" && !merely_not_finite(error, m, budget)) reason = refine(reason, facts.name, hash);
    return refuse(reason, sentence_of(error, m));
  }
  if (own) eager_budgets_ = facts.eager;
  for (const std::string& note : facts.notes)
    if (own && std::find(verdict_.notes.begin(), verdict_.notes.end(), note) == verdict_.notes.end())
      verdict_.notes.push_back(note);
  seen_.emplace(hash, facts.name);
  return true;
}

// A wrong result that repeats, bit for bit, a right one of other arguments.
std::string Examination::refine(const std::string& reason, const std::string& draw, const std::string& hash) const {
  const auto seen = seen_.find(hash);
  const bool wrong = reason == "wrong-result" || reason == "precision" || reason == "non-finite";
  if (!wrong || seen == seen_.end() || seen->second == draw) return reason;
  return same_kind(seen->second, draw) || draw.starts_with("timed") || draw.starts_with("swapped")
             ? "stale-output"
             : "insensitive-to-input";
}

Result<bool> Examination::other_arguments(Guest& guest, const std::string& draw) {
  MTMC_TRY(const DrawFacts* facts, facts_.draw(draw));
  if (facts->no_room) verdict_.notes.push_back("not-tried: there is no room for draw " + draw);
  if (!facts->usable) return true;  // eager itself takes no other shape
  const Verdict before = verdict_;
  MTMC_TRY(const bool right, run(guest, draw, "first"));
  const std::string reason = verdict_.reason, message = verdict_.message;
  verdict_ = before;  // errors on other shapes are no evidence for the task's own
  if (right || reason == "raised" || reason == "compile-error") return true;
  return refuse("unsupported-shape-accepted",
                fmt::format("with other sizes or numbers than the task's, on draw {}: {}, {}", draw, reason, message));
}

Result<bool> Examination::right_elsewhere(Guest& guest, const std::string& draw, const Elsewhere& where) {
  MTMC_TRY(const bool anew, begin_anew(guest));
  if (!anew) return false;
  const Verdict before = verdict_;
  guest.warm = false;  // it may have to compile once more
  Call call{draw};
  call.elsewhere = where;
  MTMC_TRY(const std::optional<Performance> went, perform(guest, call));
  const std::string reason = verdict_.reason, message = verdict_.message;
  if (!went) verdict_ = before;
  // What gradients need of memory, and more threads of processes, the task's own program never asks for.
  const std::set<std::string> fine = {"raised", "compile-error", "out-of-memory", "too-many-processes"};
  if (went || fine.contains(reason)) return true;
  return refuse(reason,
                fmt::format("{}, {}", where.gradients ? "where gradients are recorded" : "with more threads", message));
}

Result<bool> Examination::spares_old_arguments(Guest& guest, const std::string& first, const std::string& second) {
  MTMC_TRY(const DrawFacts* facts, facts_.draw(first));
  if (facts_.large() || !facts->modified.empty() || !facts_.written().empty()) return true;
  MTMC_TRY(const bool anew, begin_anew(guest));
  if (!anew) return false;
  MTMC_TRY(const std::optional<Performance> before, perform(guest, {first}));
  if (!before) return false;
  MTMC_TRY(const bool once_more, begin_anew(guest));
  if (!once_more) return false;
  Call call{second};
  call.keeps = true;
  MTMC_TRY(const std::optional<Performance> after, perform(guest, call));
  if (!after) return false;
  MTMC_TRY(const Given* given, facts_.given(first));
  const Json where = {
      {"op", "unlike"}, {"places", *before->places}, {"draw", first}, {"guest", guest.name()}, {"fill", given->fill}};
  Result<Json> told = facts_.by_file() ? guest.conductor().compute(where, limits_.load_seconds) : facts_.ask(where);
  MTMC_RETURN_IF_ERROR(told);
  return told->at("modified").empty() ||
         refuse("input-modified", "an argument of the call before was changed by the call on draw " + second);
}

Result<bool> Examination::gives_results_away(Guest& guest, const std::string& draw) {
  MTMC_TRY(const DrawFacts* facts, facts_.draw(draw));
  const auto any = [](const std::vector<bool>& flags) {
    return std::find(flags.begin(), flags.end(), true) != flags.end();
  };
  if (facts_.large() || any(facts->aliases) || any(facts->overlapping) || !facts_.written().empty()) return true;
  for (const bool again : {false, true}) {
    MTMC_TRY(const bool anew, begin_anew(guest));
    if (!anew) return false;
    MTMC_TRY(const std::optional<Performance> went, perform(guest, {draw}));
    if (!went && again)
      return refuse(verdict_.reason, "where its caller has written to the last result, " + verdict_.message);
    if (!went) return false;
    MTMC_TRY(const GuestReply written, call(guest, {{"op", "overwrite"}}));
    if (!written.ok()) return refuse(written.reason, "where its caller writes to a result, " + written.message);
    held_.back().hash.clear();  // it need not stay
  }
  return true;
}

Status Examination::called_unread(Guest& guest, const std::string& draw, const std::string& state) {
  const Aside aside(*this);
  if (state != state_) {
    MTMC_TRY(const bool set, set_state(guest, state, "load"));
    if (!set) return ok_status();
  }
  MTMC_TRY(const bool anew, begin_anew(guest));
  Call call{draw};
  call.check = false;
  if (anew) MTMC_RETURN_IF_ERROR(perform(guest, call));
  return ok_status();
}

Result<bool> Examination::stands_in(Guest& guest, const std::string& how, const std::string& now) {
  Json request = {{"op", "other"}, {"how", how}};
  if (how == "new") request["task"] = guest.show(facts_.folder());
  MTMC_TRY(const GuestReply answer, guest.call(request, limits_.load_seconds));
  if (!answer.ok()) return refuse(answer.reason, "another instance: " + answer.message);
  guest.warm = false, state_ = now;
  if (const std::string why = answer.reply->value("why", ""); !why.empty()) {
    if (facts_.nominal_bytes() < kRoomForAnother) return refuse("out-of-memory", "another instance: " + why);
    verdict_.notes.push_back("not-tried: a second instance (" + why + ")");
  }
  return answer.reply->value("there", false);
}

Result<bool> Examination::stays_quiet(Guest& guest) {
  MTMC_TRY(const Guest::Idle idle, guest.idle());
  if (idle.processes > 1) {
    return refuse("background-work", fmt::format("{} more processes after the call returned", idle.processes - 1));
  }
  if (idle.busy_ms > kBusyMs) {
    return refuse("background-work", fmt::format("{:.1f} ms of work in 20 ms without a call", idle.busy_ms));
  }
  return true;
}

Result<bool> Examination::given_arguments(Guest& guest, const std::string& draw) {
  const Json step = {{"op", "arm"},     {"same_addresses", false}, {"hold", held()},
                     {"poison", false}, {"clean", false},          {"state", Json::array()}};
  MTMC_TRY(const Performance lent, lend(guest.conductor(), facts_, guest.name(), draw, step, limits_.call_seconds));
  return lent.ok() || refuse(lent.reason, lent.message);
}

Result<GuestReply> Examination::ahead(Guest& guest, const std::string& draw) {
  MTMC_TRY(const bool lent, given_arguments(guest, draw));
  if (!lent) return GuestReply{nullptr, verdict_.reason, verdict_.message};
  MTMC_TRY(const Given* given, facts_.given(draw));
  return guest.call({{"op", "ahead"}, {"values", *given->values}}, limits_.load_seconds);
}

Result<bool> Examination::profile(Guest& guest, const std::string& draw) {
  MTMC_TRY(const bool lent, given_arguments(guest, draw));
  if (!lent) return false;
  MTMC_TRY(const Given* given, facts_.given(draw));
  MTMC_TRY(const GuestReply answer, call(guest, {{"op", "profile"}, {"values", *given->values}}));
  if (!answer.ok()) return refuse(answer.reason, answer.message);
  if (const Json& share = answer.reply->at("own_kernel_share"); share.is_number())
    verdict_.own_kernel_share = share.get<double>();
  verdict_.library_use = answer.reply->at("library_use");
  if (const auto shares = answer.reply->find("kernel_shares"); shares != answer.reply->end())
    for (const auto& [name, share] : shares->items())
      if (verdict_.kernel_shares.size() < kMostShares)
        verdict_.kernel_shares[readable(name)] = std::clamp(share.get<double>(), 0.0, 1.0);
  if (answer.reply->contains("launches")) verdict_.launches = answer.reply->at("launches").get<int>();
  if (guest.room().device != "cpu" && answer.reply->value("claims", false) && verdict_.own_kernel_share == 0.0)
    return refuse("fallback-to-reference", "the file defines kernels, and none of them ran in a call");
  if (answer.reply->contains("note")) verdict_.notes.push_back(answer.reply->at("note"));
  return true;
}

void Examination::conclude(bool passed) {
  const std::string why = nothing_proven(verdict_.errors);
  for (std::string& note : unproven(verdict_.errors)) verdict_.notes.push_back(std::move(note));
  for (std::string& note : compared_in_slices(verdict_.errors)) verdict_.notes.push_back(std::move(note));
  for (const std::string& kind : facts_.proving_nothing()) verdict_.notes.push_back("proves-nothing: draws " + kind);
  if (passed && !why.empty()) {
    verdict_.outcome = Outcome::ill_conditioned;
    verdict_.reason = "ill-conditioned", verdict_.message = why;
  } else if (passed) {
    verdict_.outcome = Outcome::certified;
  }
  verdict_.official = !task_outputs_.empty() && official_passes(task_outputs_);
  verdict_.legacy = !task_outputs_.empty() && legacy_passes(task_outputs_);
  if (!task_outputs_.empty()) verdict_.accuracy_class = accuracy_class(task_outputs_, eager_budgets_);
  for (std::string* said : {&verdict_.reason, &verdict_.message, &verdict_.weights, &verdict_.library_use})
    *said = without_controls(std::move(*said));
  for (std::string& note : verdict_.notes) note = without_controls(std::move(note));
}

}  // namespace mtmc
