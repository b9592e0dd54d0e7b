#include "eval/baselines.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/trace.h"
#include "base/turn.h"
#include "eval/sandbox_command.h"

namespace mtmc {

namespace {

constexpr double kCallSeconds = 600, kCompileSeconds = 1800;
constexpr double kForgetSeconds = 3;  // to come up again takes twice that
constexpr double kMuchMemory = 8e9;   // bytes that a process may hold of a task: nobody waits until less is given back

}  // namespace

Baselines::Baselines(const JudgeOptions& options, int draws) : options_(options) {
  engines_.insert(engines_.end(), options.baselines.begin(), options.baselines.end());
  for (const std::string& engine : engines_)
    if (home_of(engine) == engine)
      processes_.emplace(engine, JudgeProcess("baseline " + engine, rival_command(options, draws, engine)));
}

Status Baselines::start() {
  for (auto& [home, process] : processes_)
    if (apart() || needed(home)) MTMC_RETURN_IF_ERROR(process.start());
  return ok_status();
}

std::map<std::string, std::string> Baselines::made() const {
  std::map<std::string, std::string> asked_for = made_;
  std::erase_if(asked_for, [&](const auto& one) { return needed(one.first); });
  return asked_for;
}

void Baselines::forget() {
  if (facts_ == nullptr) return;  // they may still be coming up
  const bool much = facts_->most_bytes() + facts_->weight_bytes() > kMuchMemory;
  made_.clear(), lost_.clear(), begun_.clear();
  facts_ = nullptr;
  for (auto& [home, process] : processes_)  // all at a time: each collects its garbage
    if (process.running()) static_cast<void>(process.send({{"op", "forget"}}));
  if (much) have_forgotten();  // else nobody waits for the memory
}

void Baselines::have_forgotten() {
  for (auto& [home, process] : processes_) {
    if (process.waiting() == 0) continue;
    const Span span("baseline " + home + " forget");
    while (process.waiting() > 0) static_cast<void>(process.receive(kForgetSeconds));
    if (!process.running()) static_cast<void>(process.start());  // what it compiles, nobody needs
  }
}

void Baselines::open(TaskFacts& facts) {
  have_forgotten();
  facts_ = &facts;
  if (!apart()) return;                     // a CPU's cores are not ours while something else may be timed
  for (auto& [home, process] : processes_)  // all at a time: a context takes seconds
    if (const Status sent = process.send(opening()); !sent.ok()) lose(home, sent.error());
}

void Baselines::begin() {
  if (!apart()) return;
  for (const auto& [home, process] : processes_)
    if (const Status begun = begin(home); !begun.ok()) lose(home, begun.error());
}

Json Baselines::opening() const {
  return {{"op", "open"},
          {"folder", facts_->folder().string()},
          {"device", options_.device},
          {"threads", options_.threads},
          {"seed", options_.seed >> 2}};
}

// The process builds the module, gets the task's weights and arguments, and is told to make its engine of them.
Status Baselines::begin(const std::string& engine) {
  JudgeProcess& process = process_of(engine);
  const Span span("baseline " + engine);
  if (home_of(engine) == engine) {
    if (process.waiting() == 0) MTMC_RETURN_IF_ERROR(process.send(opening()));
    MTMC_TRY([[maybe_unused]] const Json opened, process.receive(kCallSeconds));
    if (facts_->has_weights()) MTMC_RETURN_IF_ERROR(set_state(engine, "first"));
  }
  const Json arm = {
      {"op", "arm"}, {"engine", engine}, {"same_addresses", false}, {"hold", 1}, {"state", Json::array()}};
  MTMC_TRY([[maybe_unused]] const Performance lent,
           lend(process, *facts_, home_of(engine), "task-0", arm, kCallSeconds));
  MTMC_TRY(const Given* given, facts_->given("task-0"));
  MTMC_RETURN_IF_ERROR(process.send({{"op", "engine"}, {"values", *given->values}}));
  begun_.insert(engine);
  return ok_status();
}

Result<std::string> Baselines::finish(const std::string& engine, bool last_try) {
  JudgeProcess& process = process_of(engine);
  if (!begun_.contains(engine) || !process.running()) MTMC_RETURN_IF_ERROR(begin(engine));
  const Span span("baseline " + engine);
  const double from = now_seconds();
  MTMC_TRY(const Json made, process.receive(kCompileSeconds));
  double waited = 0;
  for (const auto& [begin, end] : made.value("waits", std::vector<std::pair<double, double>>{}))
    waited += std::max(0.0, end - std::max(begin, from));  // before that we did something else
  waited_for(waited);
  if (engine == "compile" || engine == "max-autotune") compiling_seconds_ += now_seconds() - from - waited;
  if (!made.value("lacks_memory", false)) return made.value("failed", "");
  begun_.erase(engine);
  if (is_with_others(memory_file()))  // it may be had when the task is alone
    return Error{"timing the module beside " + engine, kNoMemory, made.at("failed"), ""};
  if (last_try) return made.value("failed", "");
  MTMC_TRY([[maybe_unused]] const double freed, facts_->spare_memory());
  return finish(engine, true);
}

Status Baselines::ready(bool all) {
  while (true) {
    const auto missing = std::find_if(engines_.begin(), engines_.end(), [&](const std::string& one) {
      return !made_.contains(one) && (needed(one) || all);
    });
    if (missing == engines_.end()) return ok_status();
    const std::string& engine = *missing;
    if (needed(engine) && lost_["eager"] > 1)
      return Error{"timing the module as it is", "its process was lost twice", "", ""};
    const auto failure = finish(engine);
    if (failure.ok() && needed(engine) && !failure->empty())
      return Error{"timing the module as it is", *failure, "", ""};
    if (failure.ok())
      made_[engine] = *failure;
    else if (process_of(engine).running())
      return failure.error();
    else
      lose(engine, failure.error());
  }
}

// Its process is gone, with all that lived there. Whoever gave no answer in time is not waited for again.
void Baselines::lose(const std::string& engine, const Error& error) {
  ++losses_;
  const std::string home = home_of(engine);
  for (const std::string& one : engines_)
    if (home_of(one) == home) made_.erase(one), begun_.erase(one);
  const bool twice = ++lost_[home] > 1;
  if (!needed(engine) && (twice || error.wrong == kUnanswered)) made_[engine] = "its process was lost: " + error.wrong;
}

Status Baselines::measure_bandwidth() {
  if (bandwidth_ > 0) return ok_status();
  MTMC_TRY(const Json measured, process_of("eager").compute({{"op", "bandwidth"}}, kCallSeconds));
  bandwidth_ = measured.at("bytes_per_second");
  return ok_status();
}

Result<double> Baselines::spare_memory() {
  double freed = 0;
  for (auto& [home, process] : processes_) {
    if (!process.running() || process.waiting() > 0) continue;
    MTMC_TRY(const Json told, process.compute({{"op", "spare"}}, kCallSeconds));
    freed += told.at("freed").get<double>();
  }
  return freed;
}

Status Baselines::set_state(const std::string& engine, const std::string& state) {
  JudgeProcess& process = process_of(engine);
  MTMC_TRY([[maybe_unused]] const Performance weights,
           lend(process, *facts_, home_of(engine), "state-" + state, {{"op", "lend"}}, kCallSeconds));
  MTMC_TRY([[maybe_unused]] const Json loaded, process.compute({{"op", "state"}}, kCallSeconds));
  return ok_status();
}

Status Baselines::begin_anew(const std::string& engine, const std::string& state) {
  const Status set = set_state(engine, state);
  if (!set.ok() && !process_of(engine).running()) lose(engine, set.error());
  return set;
}

Result<Performance> Baselines::call(const std::string& engine, CallPlan plan) {
  JudgeProcess& process = process_of(engine);
  plan.engine = engine;
  Result<Performance> went = perform(process, *facts_, home_of(engine), plan);
  if (!went.ok() && !process.running()) lose(engine, went.error());
  return went;
}

void Baselines::pause() const {
  for (const std::string& engine : engines_)
    if (!made_.contains(engine)) process_of(engine).pause();
}

void Baselines::resume() const {
  for (const auto& [home, process] : processes_) process.resume();
}

}  // namespace mtmc
