#include "eval/baselines.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/trace.h"
#include "eval/sandbox_command.h"

namespace mtmc {

namespace {

constexpr double kCallSeconds = 600, kCompileSeconds = 1800;

}  // namespace

Baselines::Baselines(const JudgeOptions& options)
    : options_(options), eager_("baseline", python_command(options, "mtmc.baseline")) {
  if (!apart()) return;
  for (const std::string& name : options.baselines)
    others_.emplace(name, JudgeProcess("baseline " + name, python_command(options, "mtmc.baseline")));
}

JudgeProcess& Baselines::process_of(const std::string& engine) {
  const auto own = others_.find(engine);
  return own == others_.end() ? eager_ : own->second;
}

Status Baselines::start() {
  MTMC_RETURN_IF_ERROR(eager_.start());
  for (auto& [name, process] : others_) MTMC_RETURN_IF_ERROR(process.start());
  return ok_status();
}

Status Baselines::open(const TaskFacts& facts) {
  made_.clear(), lost_.clear(), opened_ = false;
  folder_ = facts.folder().string(), draw_ = facts.draw_folder("task-0").string();
  if (!apart()) return ok_status();  // a CPU's cores are not ours while something else may be timed
  MTMC_RETURN_IF_ERROR(begin("eager", eager_));
  for (auto& [name, process] : others_)
    if (const Status begun = begin(name, process); !begun.ok()) lose(name, begun.error());
  return ok_status();
}

Json Baselines::making(const std::string& engine) const {
  return {{"op", "ready"}, {"engine", engine}, {"draw", draw_}};
}

Status Baselines::begin(const std::string& engine, JudgeProcess& process) {
  while (process.waiting() > 0) static_cast<void>(process.receive(kCompileSeconds));  // about the task before
  MTMC_RETURN_IF_ERROR(process.send({{"op", "open"},
                                     {"folder", folder_},
                                     {"device", options_.device},
                                     {"threads", options_.threads},
                                     {"seed", options_.seed >> 2}}));
  if (&process != &eager_) MTMC_RETURN_IF_ERROR(process.send(making(engine)));
  return ok_status();
}

Status Baselines::open_eager() {
  if (!eager_.running()) opened_ = false;
  if (opened_) return ok_status();
  if (lost_["eager"] > 1) return Error{"timing the module as it is", "its process was lost twice", "", ""};
  const Span span("baseline open");
  if (eager_.waiting() == 0) MTMC_RETURN_IF_ERROR(begin("eager", eager_));
  MTMC_TRY(const Json answer, eager_.receive(kCallSeconds));
  opened_ = true;
  return ok_status();
}

Status Baselines::ready(bool all) {
  while (true) {
    MTMC_RETURN_IF_ERROR(open_eager());
    const auto missing = std::find_if(options_.baselines.begin(), options_.baselines.end(),
                                      [&](const std::string& name) { return !made_.contains(name); });
    if (missing == options_.baselines.end() || (apart() && !all)) return ok_status();
    const auto failure = made(*missing);
    if (failure.ok())
      made_[*missing] = *failure;
    else if (process_of(*missing).running())
      return failure.error();
    else
      lose(*missing, failure.error());
  }
}

// Its process is gone, with all that lived there. Whoever gave no answer in time is not waited for again.
void Baselines::lose(const std::string& engine, const Error& error) {
  ++losses_;
  const JudgeProcess* process = &process_of(engine);
  std::erase_if(made_, [&](const auto& one) { return one.second.empty() && &process_of(one.first) == process; });
  const bool twice = ++lost_[engine] > 1;
  if (engine != "eager" && (twice || error.wrong == "no answer in time"))
    made_[engine] = "its process was lost: " + error.wrong;
}

Status Baselines::measure_bandwidth() {
  if (bandwidth_ > 0) return ok_status();
  MTMC_TRY(const Json measured, eager_.ask({{"op", "bandwidth"}}, kCallSeconds));
  bandwidth_ = measured.at("bytes_per_second");
  return ok_status();
}

Result<std::string> Baselines::made(const std::string& engine) {
  JudgeProcess& process = process_of(engine);
  const Span span("baseline " + engine);
  if (&process == &eager_) {
    MTMC_TRY(const Json made, process.ask(making(engine), kCompileSeconds));
    return made.value("failed", "");
  }
  if (!process.running() || process.waiting() < 2) MTMC_RETURN_IF_ERROR(begin(engine, process));
  MTMC_TRY(const Json opened, process.receive(kCallSeconds));
  MTMC_TRY(const Json made, process.receive(kCompileSeconds));
  return made.value("failed", "");
}

Result<Baselines::Call> Baselines::call(const std::string& engine, Json arm) {
  Result<Call> went = timed(engine, std::move(arm));
  if (!went.ok() && !process_of(engine).running()) lose(engine, went.error());
  return went;
}

Result<Baselines::Call> Baselines::timed(const std::string& engine, Json arm) {
  JudgeProcess& process = process_of(engine);
  arm["engine"] = engine;
  MTMC_TRY(const Json armed, process.ask(arm, kCallSeconds));
  MTMC_TRY(const Json awake, process.ask({{"op", "hello"}}, kCallSeconds));
  MTMC_TRY(const Json went, process.ask({{"op", "go"}, {"engine", engine}}, kCallSeconds));
  return Call{went.at("ns").get<double>() / 1e6, went.at("beside_ns").get<double>() / 1e6};
}

void Baselines::pause() const {
  for (const auto& [name, process] : others_)
    if (!made_.contains(name)) process.pause();
}

void Baselines::resume() const {
  for (const auto& [name, process] : others_) process.resume();
}

}  // namespace mtmc
