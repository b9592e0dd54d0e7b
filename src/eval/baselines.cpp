#include "eval/baselines.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/trace.h"
#include "eval/sandbox_command.h"

namespace mtmc {

namespace {

constexpr double kCallSeconds = 600, kCompileSeconds = 1800;

}  // namespace

Baselines::Baselines(const JudgeOptions& options, int draws) : options_(options) {
  std::vector<std::string> engines = {"eager", "nothing"};
  engines.insert(engines.end(), options.baselines.begin(), options.baselines.end());
  for (const std::string& name : engines)
    rivals_.emplace(name, Rival{JudgeProcess("baseline " + name, rival_command(options, draws, name))});
}

Status Baselines::start() {
  for (auto& [name, rival] : rivals_)
    if (apart() || needed(name)) MTMC_RETURN_IF_ERROR(rival.process.start());
  return ok_status();
}

std::map<std::string, std::string> Baselines::made() const {
  std::map<std::string, std::string> asked_for = made_;
  std::erase_if(asked_for, [&](const auto& one) { return needed(one.first); });
  return asked_for;
}

Status Baselines::open(TaskFacts& facts) {
  made_.clear(), lost_.clear();
  facts_ = &facts;
  for (auto& [name, rival] : rivals_) {
    rival.begun = false;
    while (rival.process.waiting() > 0)
      static_cast<void>(rival.process.receive(kCompileSeconds));  // of the task before
  }
  if (!apart()) return ok_status();    // a CPU's cores are not ours while something else may be timed
  for (auto& [name, rival] : rivals_)  // all at a time: a context takes seconds
    if (const Status sent = rival.process.send(opening()); !sent.ok()) lose(name, sent.error());
  for (auto& [name, rival] : rivals_)
    if (const Status begun = begin(name); !begun.ok()) lose(name, begun.error());
  return ok_status();
}

Json Baselines::opening() const {
  return {{"op", "open"},
          {"folder", facts_->folder().string()},
          {"device", options_.device},
          {"threads", options_.threads},
          {"seed", options_.seed >> 2}};
}

// It builds the module, gets the task's weights and arguments, and is told to make its engine of them.
Status Baselines::begin(const std::string& engine) {
  Rival& rival = rivals_.at(engine);
  const Span span("baseline " + engine);
  if (rival.process.waiting() == 0) MTMC_RETURN_IF_ERROR(rival.process.send(opening()));
  MTMC_TRY([[maybe_unused]] const Json opened, rival.process.receive(kCallSeconds));
  if (facts_->has_weights()) {
    MTMC_TRY([[maybe_unused]] const Performance weights,
             lend(rival.process, *facts_, engine, "state-first", {{"op", "lend"}}, kCallSeconds));
    MTMC_TRY([[maybe_unused]] const Json loaded, rival.process.ask({{"op", "state"}}, kCallSeconds));
  }
  const Json arm = {{"op", "arm"}, {"same_addresses", false}, {"hold", 1}};
  MTMC_TRY([[maybe_unused]] const Performance lent, lend(rival.process, *facts_, engine, "task-0", arm, kCallSeconds));
  MTMC_TRY(const Given* given, facts_->given("task-0"));
  MTMC_RETURN_IF_ERROR(rival.process.send({{"op", "engine"}, {"name", engine}, {"values", *given->values}}));
  rival.begun = true;
  return ok_status();
}

Result<std::string> Baselines::finish(const std::string& engine) {
  Rival& rival = rivals_.at(engine);
  if (!rival.begun || !rival.process.running()) MTMC_RETURN_IF_ERROR(begin(engine));
  const Span span("baseline " + engine);
  MTMC_TRY(const Json made, rival.process.receive(kCompileSeconds));
  return made.value("failed", "");
}

Status Baselines::ready(bool all) {
  while (true) {
    const auto missing = std::find_if(rivals_.begin(), rivals_.end(), [&](const auto& one) {
      return !made_.contains(one.first) && (needed(one.first) || all || !apart());
    });
    if (missing == rivals_.end()) return ok_status();
    const std::string& engine = missing->first;
    if (needed(engine) && lost_[engine] > 1)
      return Error{"timing the module as it is", "its process was lost twice", "", ""};
    const auto failure = finish(engine);
    if (failure.ok() && needed(engine) && !failure->empty())
      return Error{"timing the module as it is", *failure, "", ""};
    if (failure.ok())
      made_[engine] = *failure;
    else if (missing->second.process.running())
      return failure.error();
    else
      lose(engine, failure.error());
  }
}

// Its process is gone, with all that lived there. Whoever gave no answer in time is not waited for again.
void Baselines::lose(const std::string& engine, const Error& error) {
  ++losses_;
  made_.erase(engine);
  rivals_.at(engine).begun = false;
  const bool twice = ++lost_[engine] > 1;
  if (!needed(engine) && (twice || error.wrong == "no answer in time"))
    made_[engine] = "its process was lost: " + error.wrong;
}

Status Baselines::measure_bandwidth() {
  if (bandwidth_ > 0) return ok_status();
  MTMC_TRY(const Json measured, rivals_.at("eager").process.ask({{"op", "bandwidth"}}, kCallSeconds));
  bandwidth_ = measured.at("bytes_per_second");
  return ok_status();
}

Result<Performance> Baselines::call(const std::string& engine, const CallPlan& plan) {
  JudgeProcess& process = rivals_.at(engine).process;
  Result<Performance> went = perform(process, *facts_, engine, plan);
  if (!went.ok() && !process.running()) lose(engine, went.error());
  return went;
}

void Baselines::pause() const {
  for (const auto& [name, rival] : rivals_)
    if (!made_.contains(name)) rival.process.pause();
}

void Baselines::resume() const {
  for (const auto& [name, rival] : rivals_) rival.process.resume();
}

}  // namespace mtmc
