#include "workbench/workbench.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <nlohmann/json.hpp>

#include "base/cores.h"
#include "base/json.h"
#include "base/source_text.h"
#include "base/text.h"
#include "base/turn.h"
#include "coder/chain.h"
#include "coder/full_f32.h"
#include "eval/own_thread.h"
#include "eval/trusting_judge.h"
#include "search/cost_judge.h"
#include "targets/shell_json.h"

namespace mtmc {
namespace {

// The text of the user's file, whose change makes another task of it; a module is only named.
Result<std::string> source_of(const Task& task) {
  const Json json = Json::parse(task.json);
  if (json.at("file").is_null()) return json.at("module").get<std::string>();
  return read_source(json.at("file").get<std::string>());
}

Result<std::vector<Chosen<CoderDef>>> chosen_coders(const std::string& words) {
  std::vector<Chosen<CoderDef>> coders;
  for (const std::string& word : split(words, ',')) {
    MTMC_TRY(Chosen<CoderDef> coder, chosen("a coder", word, all_coders()));
    coders.push_back(std::move(coder));
  }
  return coders;
}

constexpr int64_t kParts = 28, kPartsPerBaseline = 4;  // of a GPU's memory, that a task may take beside others

// Of the task's arguments, weights and results.
int64_t bytes_held(const Program& program) {
  int64_t bytes = 0;
  for (const Value& value : program.values)
    if (value.kind != ValueKind::result) bytes += value.type.size_bytes();
  for (const ValueId id : program.outputs) bytes += program.value(id).type.size_bytes();
  return bytes;
}

}  // namespace

Result<std::vector<std::string>> gpus_of(const WorkbenchOptions& options) {
  MTMC_TRY(const TargetHere here, choose_target(options.target, options.hardware));
  const bool on_gpu = here.target->device == Device::cuda && here.machine.runs;
  return on_gpu ? gpus() : std::vector<std::string>();
}

Result<size_t> jobs_beside(const WorkbenchOptions& options, int64_t asked) {
  const size_t most = usable_cores().size();
  const auto jobs = static_cast<size_t>(asked);
  if (jobs > most)
    return Error{"choosing how many tasks run beside each other", "too many", fmt::format("--jobs {}", jobs),
                 fmt::format("at most {}, the processors", most)};
  MTMC_TRY(const std::vector<std::string> there, gpus_of(options));
  return jobs > 0 ? jobs : std::max<size_t>(1, there.size());
}

bool needs_all_memory(int64_t bytes, int64_t memory, size_t baselines) {
  return memory > 0 && bytes > memory / (kParts + kPartsPerBaseline * static_cast<int64_t>(baselines));
}

Result<std::unique_ptr<Workbench>> Workbench::open(WorkbenchOptions options, Store& store, LlmAccess& llm) {
  // Words first: asking a GPU what it can do takes seconds.
  MTMC_TRY(std::vector<Chosen<CoderDef>> coders, chosen_coders(options.coder));
  MTMC_TRY(const Chosen<PolicyDef> policy, chosen("a policy", options.policy, all_policies()));
  const StrategyDef* strategy = find_strategy(options.strategy);
  MTMC_CHECK(strategy != nullptr, "no strategy is called " + options.strategy);
  MTMC_TRY(TargetHere here, choose_target(options.target, options.hardware));
  std::unique_ptr<Workbench> bench(
      new Workbench(std::move(options), store, llm, std::move(here), std::move(coders), strategy));
  MTMC_RETURN_IF_ERROR(bench->open_policy(policy));
  // What a coder lacks, such as a key, is told before anything that takes long.
  if (const auto coder = bench->make_coder(ModuleShell{}); !coder.ok()) return coder.error();
  if (bench->target().handwritten && !bench->here_.machine.runs)
    return Error{"choosing a target", "what is written for it can only be run, and nothing runs here",
                 std::string(bench->target().name), "a machine that has a " + std::string(bench->target().needs)};
  bench->make_judge();
  return bench;
}

Status Workbench::open_policy(const Chosen<PolicyDef>& policy) {
  MTMC_TRY(policy_, policy.def->make({.hardware = hardware(),
                                      .target = target(),
                                      .paper_only = options_.paper_only,
                                      .seed = options_.seed,
                                      .argument = policy.argument,
                                      .llm = &llm_,
                                      .store = &store_}));
  return ok_status();
}

Status Workbench::search_by(const Way& way, uint64_t seed) {
  MTMC_TRY(const Chosen<PolicyDef> wanted, chosen("a policy", way.policy, all_policies()));
  MTMC_TRY(coders_, chosen_coders(way.coder.empty() ? options_.coder : way.coder));
  options_.seed = seed, options_.paper_only = way.paper_only;
  MTMC_RETURN_IF_ERROR(open_policy(wanted));
  strategy_ = find_strategy(way.strategy);
  return ok_status();
}

void Workbench::make_judge() {
  evaluator_ = CostJudge::kVersion;
  if (target().device == Device::none || !here_.machine.runs) return;
  JudgeOptions judge;
  judge.seed = options_.seed;
  judge.device = to_string(target().device);
  judge.baselines = options_.baselines;
  judge.accuracy = options_.accuracy;
  judge.freeze_weights = options_.freeze_weights;
  judge.measures_on = !options_.explores;  // what is learned from bears more noise than an answer
  if (const std::string& key = llm_.options.key_file; !key.empty())
    judge.hidden.push_back(std::filesystem::absolute(key));
  judge.trusts = options_.trusts;
  tuner_ = std::make_unique<PythonTuner>(judge.device);
  judge.bystander = tuner_.get();
  judge_ = judge.trusts ? make_trusting_judge(judge) : make_process_judge(judge);
  // The search plans while it opens a task. Who shares a GPU counts its waits by threads, and opens a task in its turn.
  if (judge.device == "cuda" && turn_file().empty()) judge_ = in_own_thread(std::move(judge_));
  evaluator_ = evaluator_of(judge);
}

bool Workbench::needs_all(const Result<TracedTask>& task) const {
  if (!task.ok()) return task.error().wrong == kNoMemory;
  return needs_all_memory(bytes_held(*task->program), hardware().memory_bytes, options_.baselines.size());
}

Result<Optimized> Workbench::work(const Task& task, ProgressListener& listener) {
  for (const Turn::With with : {Turn::With::others, Turn::With::nobody}) {
    const Turn memory(memory_file(), with);
    if (with == Turn::With::nobody) expected_.clear();  // nothing is traced beside it
    const bool beside = !memory_file().empty() && with == Turn::With::others;
    // What a task needs is known when it is traced; only then does the judge draw its arguments on the shared GPU.
    const Result<TracedTask> traced = memory_file().empty() ? trace(task) : traced_alone(task);
    if (beside && needs_all(traced)) continue;
    if (!traced.ok()) return traced.error();
    // Open before the search plans: kernels are compiled for an open task.
    const Status ready = judge_ && !memory_file().empty() ? judge_->prepare(task) : ok_status();
    Result<Optimized> done = ready.ok() ? optimize(*traced, listener) : Result<Optimized>(ready.error());
    if (judge_ && !memory_file().empty()) judge_->rest();  // before others have their turn
    if (beside && !done.ok() && done.error().wrong == kNoMemory) continue;
    return done;
  }
  MTMC_CHECK(false, "whoever is alone is not sent away");
}

void Workbench::expect(const Task* next) {
  expected_ = next != nullptr && target().device == Device::cuda ? next->json : "";
  if (judge_) judge_->expect(next);
}

Result<Traced> Workbench::trace_and_foresee(const Task& task) {
  Result<Traced> traced = tracer_.trace(task.json);
  tracer_.foresee(expected_);
  return traced;
}

Result<TracedTask> Workbench::trace(const Task& task) {
  if (options_.many) tracer_.begin_next();
  if (tuner_ && tuner_->prepares()) MTMC_RETURN_IF_ERROR(tuner_->warm_up());
  auto tracing = std::async(std::launch::async, [&]() -> Result<TracedTask> {
    MTMC_TRY(Traced traced, trace_and_foresee(task));
    return as_program(task, std::move(traced));
  });
  const Status ready = judge_ ? judge_->prepare(task) : ok_status();
  const auto goes_on = [&] { return tracing.wait_for(std::chrono::seconds(0)) != std::future_status::ready; };
  while (ready.ok() && judge_ && goes_on() && judge_->get_ahead()) {
  }
  MTMC_TRY(TracedTask traced, tracing.get());  // the tracer explains the user's mistakes best
  MTMC_RETURN_IF_ERROR(ready);
  return traced;
}

Result<TracedTask> Workbench::traced_alone(const Task& task) {
  if (options_.many) tracer_.begin_next();
  if (tuner_ && tuner_->prepares()) MTMC_RETURN_IF_ERROR(tuner_->warm_up());
  if (judge_) MTMC_RETURN_IF_ERROR(judge_->start());
  MTMC_TRY(Traced traced, trace_and_foresee(task));
  return as_program(task, std::move(traced));
}

Result<TracedTask> Workbench::as_program(const Task& task, Traced traced) {
  MTMC_TRY(std::string source, source_of(task));
  Program program = std::move(traced.program);
  if (tuner_ && options_.accuracy == Accuracy::eager) {
    MTMC_RETURN_IF_ERROR(tuner_->make_room(bytes_held(program)));
    MTMC_TRY(program, with_full_f32(std::move(program), *tuner_));
  }
  return TracedTask{task, std::move(source), std::make_shared<const Program>(std::move(program)),
                    std::move(traced.shell)};
}

CoderContext Workbench::coder_context(const ModuleShell& shell, std::string argument) {
  return {.target = target(),
          .hardware = hardware(),
          .shell = shell,
          .store = store_,
          .tuner = tuner_.get(),
          .paper_only = options_.paper_only,
          .seed = options_.seed,
          .argument = std::move(argument),
          .llm = &llm_};
}

Result<std::unique_ptr<Coder>> Workbench::make_coder(const ModuleShell& shell) {
  std::vector<std::unique_ptr<Coder>> made;
  for (const Chosen<CoderDef>& chosen : coders_) {
    MTMC_TRY(std::unique_ptr<Coder> coder, chosen.def->make(coder_context(shell, chosen.argument)));
    made.push_back(std::move(coder));
  }
  if (made.size() == 1) return std::move(made.front());
  return std::make_unique<ChainCoder>(std::move(made));
}

Result<Optimized> Workbench::optimize(const TracedTask& task, ProgressListener& listener) {
  const OptimizeRequest request{.task = task.task,
                                .source = task.source,
                                .description = task.shell.description,
                                .program = task.program,
                                .shell = task.shell,
                                .shell_json = to_json_text(task.shell),
                                .target = target(),
                                .hardware = hardware(),
                                .evaluator = evaluator_,
                                .baselines = judge_ ? options_.baselines : std::vector<std::string>(),
                                .paper_only = options_.paper_only,
                                .limits = options_.limits,
                                .strategy_options = options_.strategy_options,
                                .seed = options_.seed,
                                .explores = options_.explores,
                                .ledger = &llm_.ledger};
  MTMC_TRY(const auto coder, make_coder(request.shell));
  if (tuner_) MTMC_RETURN_IF_ERROR(tuner_->make_room(bytes_held(*task.program)));
  if (judge_) return mtmc::optimize(request, *judge_, store_, *coder, *policy_, *strategy_, listener);
  CostJudge priced(*task.program, target(), hardware());
  return mtmc::optimize(request, priced, store_, *coder, *policy_, *strategy_, listener);
}

}  // namespace mtmc
