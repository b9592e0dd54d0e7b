#include "eval/examination.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

namespace mtmc {

namespace {

constexpr double kBusyMs = 6;  // of CPU time in 20 ms of idleness

bool same_kind(const std::string& a, const std::string& b) {
  return a.substr(0, a.rfind('-')) == b.substr(0, b.rfind('-'));
}

}  // namespace

bool Examination::refuse(const std::string& reason, const std::string& message) {
  verdict_.outcome = Outcome::refused;
  verdict_.reason = reason, verdict_.message = message;
  return false;
}

std::filesystem::path Examination::next_out(const Guest& guest) {
  return guest.room().folder / fmt::format("out-{}", outs_++);
}

Result<Answer> Examination::call(Guest& guest, const Json& request) {
  MTMC_TRY(Answer answer, guest.call(request, guest.warm ? limits_.call_seconds : limits_.first_seconds));
  guest.warm = guest.warm || answer.ok();
  return answer;
}

Result<bool> Examination::load(Guest& guest, const std::string& state) {
  verdict_.stage = "compile", verdict_.sandbox = guest.sandbox();
  std::shared_ptr<const Json> reply = guest.loaded();
  if (reply == nullptr) {
    MTMC_TRY(const Answer answer, guest.call(load_request(guest, state), limits_.load_seconds));
    if (!answer.ok()) return refuse(answer.reason, answer.message);
    reply = answer.reply;
  }
  verdict_.weights = reply->at("weights");
  verdict_.stage = "run";
  return true;
}

Json Examination::load_request(Guest& guest, const std::string& state) {
  return {{"op", "load"},
          {"file", candidate_.string()},
          {"task", guest.show(facts_.folder())},
          {"state", shown_state(guest, state)},
          {"mode", facts_.mode()},
          {"seed", 20250131},
          {"threads", threads_},
          {"writable", guest.writable()},
          {"environment", guest.environment()},
          {"secret", facts_.files()}};
}

Result<bool> Examination::set_state(Guest& guest, const std::string& state, const std::string& how) {
  MTMC_TRY(const Answer answer, call(guest, {{"op", "state"}, {"state", shown_state(guest, state)}, {"how", how}}));
  if (!answer.ok()) return refuse(answer.reason, answer.message);
  return true;
}

Result<bool> Examination::run(Guest& guest, const std::string& draw, const std::string& state, int calls) {
  Json request = {{"calls", calls}};
  if (!state.empty()) request["state"] = state;
  return run_request(guest, draw, std::move(request));
}

Result<bool> Examination::run_after(Guest& guest, const std::string& previous, const std::string& draw) {
  return run_request(guest, draw, {{"calls", 2}, {"state", "first"}, {"previous", previous}});
}

Result<bool> Examination::run_request(Guest& guest, const std::string& draw, Json request) {
  MTMC_TRY(const DrawFacts* facts, facts_.draw(draw));
  const std::filesystem::path out = next_out(guest);
  request["op"] = "run", request["out"] = out.string(), request["seed"] = facts->seed, request["how"] = "load";
  request["draw"] = guest.show(facts_.draw_folder(draw));
  if (request.contains("previous")) request["previous"] = guest.show(facts_.draw_folder(request["previous"]));
  if (request.contains("state")) request["state"] = shown_state(guest, request["state"]);
  MTMC_TRY(const Answer answer, call(guest, request));
  if (!answer.ok()) return refuse(answer.reason, fmt::format("on draw {}: {}", draw, answer.message));
  verdict_.stage = "correctness";
  if (std::find(verdict_.draws.begin(), verdict_.draws.end(), draw) == verdict_.draws.end()) {
    verdict_.draws.push_back(draw);
  }
  if (!behaves(*facts, *answer.reply)) return false;
  return measured(*facts, out, *answer.reply, false);
}

// What the call did to its surroundings, as far as eager does not do the same.
bool Examination::behaves(const DrawFacts& facts, const Json& reply) {
  if (reply.value("aliases", false) && !facts.aliases) {
    return refuse("output-aliases-input", "an output shares memory with an argument or a weight on draw " + facts.name);
  }
  for (const int index : reply.value("modified", std::vector<int>{})) {
    if (std::find(facts.modified.begin(), facts.modified.end(), index) == facts.modified.end()) {
      return refuse("input-modified", fmt::format("argument {} was changed by the call on draw {}", index, facts.name));
    }
  }
  if (reply.value("written_later", false)) {
    return refuse("background-work", "an output changed after the call had returned, on draw " + facts.name);
  }
  if (reply.value("reused", false) && !facts.aliases) {
    return refuse("output-reused",
                  "the second call returned the memory of the first call's output on draw " + facts.name);
  }
  for (const std::string& name : reply.value("changed_state", std::vector<std::string>{})) {
    if (std::find(facts.changed_state.begin(), facts.changed_state.end(), name) == facts.changed_state.end()) {
      return refuse("state-differs", fmt::format("{} was changed by the call on draw {}", name, facts.name));
    }
  }
  return true;
}

// A candidate that does not draw torch's random numbers is measured again as one that draws its own.
Result<bool> Examination::measured(const DrawFacts& facts, const std::filesystem::path& out, const Json& reply,
                                   bool timed) {
  const Verdict before = verdict_;
  MTMC_TRY(const bool right, measured_once(facts, out, reply, timed));
  const std::set<std::string> others = {"wrong-result", "precision", "nondeterministic", "stale-output", "non-finite"};
  if (right || own_random_ || facts.chances.empty() || !others.contains(verdict_.reason)) return right;
  verdict_ = before, own_random_ = true;
  verdict_.notes.push_back("own-random-numbers");
  return measured_once(facts, out, reply, timed);
}

Result<bool> Examination::measured_once(const DrawFacts& facts, const std::filesystem::path& out, const Json& reply,
                                        bool timed) {
  Json saved = Json::object();  // what it says of all that must be there to be measured
  const Json& said = reply.contains("digests") ? reply.at("digests") : saved;
  for (const char* name : {"0", "1", "state"}) {
    if (timed && name != std::string("0")) continue;
    if (!said.contains(name)) return refuse("tampered", "the guest does not say what it saved, on draw " + facts.name);
    saved[name] = said.at(name);
  }
  MTMC_TRY(const Json measured, facts_.measure(facts.name, out, saved, own_random_));
  if (measured.contains("mismatch")) {
    return refuse(measured.at("mismatch"), fmt::format("on draw {}: {}", facts.name, measured.value("detail", "")));
  }
  const std::vector<bool> overlapping = reply.value("overlapping", std::vector<bool>{});
  for (size_t i = 0; i < overlapping.size() && i < facts.overlapping.size(); ++i) {
    if (overlapping[i] && !facts.overlapping[i]) {
      return refuse("wrong-shape", fmt::format("output {} is an expanded tensor on draw {}", i, facts.name));
    }
  }
  const Json& calls = measured.at("calls");
  for (size_t call = 0; call < calls.size(); ++call) {
    const std::string hash = measured.at("hashes").at(call);
    if (!judge_call(facts, measurements_from(calls[call]), hash, static_cast<int>(call))) return false;
  }
  if (!timed && !own_random_ && reply.value("random_state", facts.random_state) != facts.random_state) {
    return refuse("state-differs", "torch's random generator is not where eager leaves it, on draw " + facts.name);
  }
  return true;
}

bool Examination::judge_call(const DrawFacts& facts, const std::vector<Measurement>& outputs, const std::string& hash,
                             int call) {
  const bool own = same_kind(facts.name, "task-0");
  for (const Measurement& m : outputs) {
    const auto found = facts.budgets.find(m.output);
    const Budget budget = found == facts.budgets.end() ? Budget{} : found->second;
    const OutputError error = apply_rules(facts.name, m, budget);
    verdict_.errors.push_back(error);
    if (!error.counts && ill_conditioned_.empty()) {
      ill_conditioned_ = fmt::format("eager's own relative error in output {} is {:.3g} on draw {}", m.output,
                                     budget.error, facts.name);
    }
    if (own && !m.output.starts_with("state:")) task_outputs_.push_back(m);
    if (error.broken.empty() && own_random_ && facts.chances.contains(m.output)) {
      const std::string unlike = unlike_eager(m.fractions, facts.chances.at(m.output));
      if (unlike.empty()) continue;
      return refuse(unlike.find("first call") != unlike.npos ? "stale-output" : "wrong-result",
                    fmt::format("output {} on draw {}: {}", m.output, facts.name, unlike));
    }
    if (error.broken.empty()) continue;
    const std::string reason = call > 0 && error.broken != "e" && !own_random_
                                   ? "nondeterministic"
                                   : refine(reason_of(error, m), facts.name, hash);
    return refuse(reason, sentence_of(error, m));
  }
  if (own) eager_budgets_ = facts.eager;
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

Result<bool> Examination::other_shape(Guest& guest, const std::string& draw) {
  MTMC_TRY(const DrawFacts* facts, facts_.draw(draw));
  if (!facts->usable) return true;  // eager itself takes no other shape
  const std::filesystem::path out = next_out(guest);
  MTMC_TRY(const Answer answer, call(guest, {{"op", "run"},
                                             {"draw", guest.show(facts_.draw_folder(draw))},
                                             {"seed", facts->seed},
                                             {"calls", 2},
                                             {"state", shown_state(guest, "first")},
                                             {"how", "load"},
                                             {"out", out.string()}}));
  if (answer.reason == "raised" || answer.reason == "compile-error") return true;
  const std::string what = "with one size of the arguments larger by one";
  if (!answer.ok()) return refuse("unsupported-shape-accepted", what + ": " + answer.reason + " " + answer.message);
  const Verdict before = verdict_;
  MTMC_TRY(const bool right, measured(*facts, out, *answer.reply, false));
  const std::string message = verdict_.message;
  verdict_ = before;  // errors on other shapes are no evidence for the task's own
  if (!right) return refuse("unsupported-shape-accepted", what + " the answer is wrong: " + message);
  return true;
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

Result<bool> Examination::profile(Guest& guest, const std::string& draw) {
  MTMC_TRY(const Answer answer, call(guest, {{"op", "profile"}, {"draw", guest.show(facts_.draw_folder(draw))}}));
  if (!answer.ok()) return refuse(answer.reason, answer.message);
  if (const Json& share = answer.reply->at("own_kernel_share"); share.is_number())
    verdict_.own_kernel_share = share.get<double>();
  verdict_.library_use = answer.reply->at("library_use");
  if (answer.reply->contains("launches")) verdict_.launches = answer.reply->at("launches").get<int>();
  if (answer.reply->value("claims", false) && verdict_.own_kernel_share == 0.0)
    return refuse("fallback-to-reference", "the file defines kernels, and none of them ran in a call");
  if (answer.reply->contains("note")) verdict_.notes.push_back(answer.reply->at("note"));
  return true;
}

Result<bool> Examination::uses_kernels(Guest& guest, const std::string& draw, bool pull) {
  MTMC_TRY(const DrawFacts* facts, facts_.draw(draw));
  MTMC_TRY(const Answer answer, call(guest, {{"op", "unplug"},
                                             {"pull", pull},
                                             {"draw", guest.show(facts_.draw_folder(draw))},
                                             {"seed", facts->seed},
                                             {"writable", guest.writable()}}));
  if (!answer.ok()) return true;  // without its kernels it does not even return: they are used
  const int kernels = answer.reply->at("kernels");
  if (kernels > 0 && !answer.reply->at("changed").get<bool>()) {
    return refuse("kernel-unused", "the answer stays the same when the file's own kernels do nothing");
  }
  if (kernels == 0 && answer.reply->at("claims").get<bool>()) {
    return refuse("fallback-to-reference", "the file defines kernels, and none was loaded or launched");
  }
  return true;
}

Result<bool> Examination::needs_kernels(Guest& guest, const std::string& draw) {
  MTMC_TRY(const DrawFacts* facts, facts_.draw(draw));
  const std::filesystem::path out = next_out(guest);
  MTMC_TRY(const Answer answer, call(guest, {{"op", "ghost"},
                                             {"draw", guest.show(facts_.draw_folder(draw))},
                                             {"seed", facts->seed},
                                             {"out", out.string()}}));
  if (!answer.ok() || answer.reply->at("kernels") == 0)
    return true;  // it does not even return, or has none of Triton's
  const Verdict before = verdict_;
  const auto seen = seen_;
  const auto outputs = task_outputs_;
  MTMC_TRY(const bool right, measured(*facts, out, *answer.reply, true));
  verdict_ = before, seen_ = seen, task_outputs_ = outputs;
  return !right || refuse("kernel-unused", "the answer is right though the file's own kernels do nothing");
}

Result<bool> Examination::check_timed(Guest& guest, const std::string& draw) {
  const std::filesystem::path out = next_out(guest);
  MTMC_TRY(const Answer answer,
           call(guest, {{"op", "keep"}, {"draw", guest.show(facts_.draw_folder(draw))}, {"out", out.string()}}));
  if (!answer.ok()) return refuse(answer.reason, answer.message);
  MTMC_TRY(const DrawFacts* facts, facts_.draw(draw));
  if (!behaves(*facts, *answer.reply)) return false;
  return measured(*facts, out, *answer.reply, true);
}

void Examination::conclude(bool passed) {
  if (passed && !ill_conditioned_.empty()) {
    verdict_.outcome = Outcome::ill_conditioned;
    verdict_.reason = "ill-conditioned", verdict_.message = ill_conditioned_;
  } else if (passed) {
    verdict_.outcome = Outcome::certified;
  }
  verdict_.official = !task_outputs_.empty() && official_passes(task_outputs_);
  verdict_.legacy = !task_outputs_.empty() && legacy_passes(task_outputs_);
  if (!task_outputs_.empty()) verdict_.accuracy_class = accuracy_class(task_outputs_, eager_budgets_);
}

}  // namespace mtmc
