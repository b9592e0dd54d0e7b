// `mtmc optimize FILE`: the whole loop, from the user's module to a folder with kernel.py, result.json, report.html.
#include "search/optimize.h"

#include <fmt/core.h>

#include <filesystem>
#include <future>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "cli/report_files.h"
#include "cli/result_folder.h"
#include "cli/shell_json.h"
#include "cli/summary.h"
#include "cli/task_options.h"
#include "cli/verb.h"
#include "cli/watcher.h"
#include "coder/builtin.h"
#include "coder/fault.h"
#include "coder/tuner.h"
#include "eval/evidence.h"
#include "eval/process_judge.h"
#include "frontend/trace.h"
#include "search/cost_judge.h"

namespace mtmc {
namespace {

namespace fs = std::filesystem;

struct OptimizeOptions {
  TaskOptions task;
  std::string target = "auto", policy = "greedy", coder = "builtin", strategy = "tree", actions = "all",
              accuracy = "eager";
  std::string out, store;
  std::vector<std::string> baselines = {"compile"};
  int64_t steps = 8, evaluations = 0, seed = 0;
  double seconds = 30;
  bool freeze_weights = false, json = false;
};

constexpr int kInterpreterSeconds = 60;

// What judges and tunes on a target, and what the machine is.
struct Bench {
  const TargetDef* target = nullptr;
  Hardware hardware;
  std::unique_ptr<PythonTuner> tuner;
  std::unique_ptr<Judge> judge;  // null: the cost model will do
  std::string evaluator;
  bool without_device = false;  // kernels can be emitted and priced, not timed
  std::string device = "cpu";   // where the module runs
};

// auto: the GPU's target where there is a GPU. Without one, kernels for it are emitted, and ranked by the facts of an
// H200.
Result<const TargetDef*> choose_target(const std::string& name, bool gpu) {
  const std::string chosen = name == "auto" ? gpu && find_target("triton") != nullptr ? "triton" : "cpu" : name;
  const TargetDef* target = find_target(chosen);
  MTMC_CHECK(target != nullptr, "the option offers the targets there are");
  return target;
}

Result<Bench> make_bench(const OptimizeOptions& options, const TargetDef& target, bool gpu) {
  Bench bench;
  bench.target = &target;
  MTMC_TRY(bench.hardware, hardware_for(target.name));
  bench.without_device = target.name == "triton" && !gpu;
  if (target.name == "null" || bench.without_device) {
    bench.evaluator = CostJudge::kVersion;
    return bench;
  }
  JudgeOptions judge;
  judge.seed = static_cast<uint64_t>(options.seed);
  judge.device = bench.device = target.name == "cpu" ? "cpu" : "cuda";
  MTMC_TRY(judge.baselines, baselines_named(options.baselines));
  judge.accuracy = accuracy_named(options.accuracy);
  judge.freeze_weights = options.freeze_weights;
  bench.tuner = std::make_unique<PythonTuner>(judge.device);
  judge.bystander = bench.tuner.get();
  bench.judge = make_process_judge(judge);
  bench.evaluator = evaluator_of(judge);
  return bench;
}

// Traces the task. Whoever will judge it and tune for it gets ready meanwhile.
Result<Traced> trace_beside(const Task& task, const Bench& bench) {
  std::future<Result<Traced>> tracing = std::async(std::launch::async, [&] { return trace(task.json); });
  if (bench.tuner && bench.tuner->works_ahead()) MTMC_RETURN_IF_ERROR(bench.tuner->warm_up());
  const Status ready = bench.judge ? bench.judge->expect(task) : ok_status();
  MTMC_TRY(Traced traced, tracing.get());  // the tracer explains the user's mistakes best
  MTMC_RETURN_IF_ERROR(ready);
  return traced;
}

// The text of the user's file, whose change makes another task of it; a module's is only named.
Result<std::string> source_of(const Task& task) {
  const Json json = Json::parse(task.json);
  if (json.at("file").is_null()) return json.at("module").get<std::string>();
  return read_file(json.at("file").get<std::string>());
}

std::unique_ptr<Coder> make_coder(const OptimizeOptions& options, const Bench& bench, const ModuleShell& shell,
                                  Store& store, std::unique_ptr<Coder>& inner) {
  BuiltinOptions builtin;
  builtin.paper_only = options.actions == "paper";
  inner = std::make_unique<BuiltinCoder>(*bench.target, bench.hardware, shell, store, bench.tuner.get(), builtin);
  if (options.coder == "builtin") return std::move(inner);
  return std::make_unique<FaultCoder>(*inner, FaultRates{0.1, 0.1, 0.05, 0.02}, static_cast<uint64_t>(options.seed));
}

void print_conclusion(Progress& progress, const Optimized& done, const fs::path& folder) {
  const Verdict& verdict = done.verdict;
  switch (done.answer) {
    case Answer::faster:
      progress.line(fmt::format("done: {}, certified ({})", gains_text(verdict), verdict.accuracy_class));
      break;
    case Answer::at_roofline:
      progress.line(
          fmt::format("done: already at the roofline ({:.0f} % of it): nothing to gain", done.roofline_share * 100));
      break;
    case Answer::not_faster:
      progress.line(done.unclear
                        ? "done: nothing certified is surely faster than eager: this machine was too busy to say"
                        : "done: nothing certified is faster than eager");
      break;
    case Answer::refused:
      progress.line("done: nothing is certified: " + verdict.reason + ": " + verdict.message);
      break;
  }
  progress.line(fmt::format("{} candidates judged in {:.0f} s; wrote {}/ with kernel.py, result.json, report.html",
                            done.evaluations, done.seconds, folder.string()));
}

// Without a GPU: what the interpreter and the compiler say of the kernels, and that nothing was timed.
Result<int> print_offline(Progress& progress, const OptimizeOptions& options, const Task& task,
                          const fs::path& folder) {
  MTMC_TRY(const std::string code, read_file(folder / "kernel.py"));
  JudgeOptions judge;
  judge.seed = static_cast<uint64_t>(options.seed);
  judge.call_seconds = kInterpreterSeconds;
  judge.accuracy = accuracy_named(options.accuracy);
  progress.live(0, -1, "", "checking through Triton's interpreter");
  MTMC_TRY(const Offline found, check_offline(judge, task, {code, nullptr}));
  const Verdict& v = found.interpreted;
  const bool installed = v.message.find("No module named 'triton'") == v.message.npos;
  if (!installed)
    progress.line("neither checked nor compiled: this Python has no triton (pip install triton)");
  else if (v.certified())
    progress.line("checked by Triton's interpreter on " + join(v.draws, ", ") + ": " + exactness(v));
  else if (v.reason == "timed-out")
    progress.line(
        fmt::format("not checked: Triton's interpreter needs more than {} s for this task", kInterpreterSeconds));
  else
    progress.line("wrong by Triton's interpreter: " + v.reason + ": " + v.message);
  if (found.failure.empty() && installed)
    progress.line(fmt::format("{} kernels, compiled for {}", found.kernels, found.compiled_for));
  else if (installed)
    progress.line("does not compile: " + found.failure);
  progress.line("nothing was timed: this machine has no GPU, and the actions were chosen by what they cost on " +
                h200_hardware().name);
  progress.line(fmt::format("wrote {}/ with kernel.py, result.json, report.html", folder.string()));
  return kNotBetter;
}

Result<int> optimize_task(const OptimizeOptions& options) {
  MTMC_TRY(const Task task, options.task.task());
  // Only who may use a GPU asks for it: measuring one takes seconds the first time.
  const bool may_use_gpu = options.target == "auto" || options.target == "triton";
  MTMC_TRY(const std::optional<Hardware> gpu, may_use_gpu ? detect_gpu() : Result(std::optional<Hardware>()));
  MTMC_TRY(const TargetDef* target, choose_target(options.target, gpu.has_value()));
  const fs::path folder =
      options.out.empty() ? fs::path("mtmc-out") / replace_all(task.name, ":", "_") : fs::path(options.out);
  MTMC_RETURN_IF_ERROR(ready_result_folder(folder));
  const fs::path store_file = store_path(options.store);
  MTMC_TRY(const auto store, open_store(store_file));
  Progress progress(options.json ? stderr : stdout);
  Watcher watcher(progress, store_file.string());

  MTMC_TRY(Bench bench, make_bench(options, *target, gpu.has_value()));
  progress.live(0, -1, "", "tracing " + task.name);
  MTMC_TRY(Traced traced, trace_beside(task, bench));
  MTMC_TRY(const std::string source, source_of(task));
  const auto program = std::make_shared<const Program>(std::move(traced.program));
  if (bench.judge == nullptr) bench.judge = std::make_unique<CostJudge>(*program, bench.hardware);
  const bool paper_only = options.actions == "paper";
  OptimizeRequest request{
      .task = task,
      .source = source,
      .description = traced.shell.description,
      .program = program,
      .shell = traced.shell,
      .shell_json = to_json_text(traced.shell),
      .target = *target,
      .hardware = bench.hardware,
      .evaluator = bench.evaluator,
      .paper_only = paper_only,
      .limits = {static_cast<int>(options.steps), options.seconds, static_cast<int>(options.evaluations)},
      .strategy_options = {},
      .seed = static_cast<uint64_t>(options.seed)};
  std::unique_ptr<Coder> inner;
  const std::unique_ptr<Coder> coder = make_coder(options, bench, request.shell, *store, inner);
  const std::unique_ptr<Policy> policy =
      find_policy(options.policy)->make({request.hardware, *target, paper_only, request.seed});
  progress.line(
      fmt::format("{}: {} operators, on {} ({})", task.name, program->nodes.size(), bench.hardware.name, target->name));
  MTMC_TRY(const Optimized done,
           optimize(request, *bench.judge, *store, *coder, *policy, *find_strategy(options.strategy), watcher));
  MTMC_TRY(const ResultFiles files, result_files(*store, done.run));
  MTMC_RETURN_IF_ERROR(write_result(folder, files));
  if (options.json) fmt::print("{}\n", files.result);
  if (bench.without_device) return print_offline(progress, options, task, folder);
  print_conclusion(progress, done, folder);
  return done.answer == Answer::faster ? kDone : kNotBetter;
}

template <typename Definitions>
std::vector<std::string> names_of(const Definitions& definitions) {
  std::vector<std::string> names;
  for (const auto* definition : definitions) names.emplace_back(definition->name);
  return names;
}

VerbBody declare(Options& options) {
  const auto given = std::make_shared<OptimizeOptions>();
  given->task.declare(options);
  std::vector<std::string> targets = {"auto"};
  for (const std::string& name : names_of(all_targets())) targets.push_back(name);
  options.choice(given->target, "--target", targets, "what kernels are printed for; auto: triton where there is a GPU");
  options.choice(given->policy, "--policy", names_of(all_policies()), "who chooses the next action");
  options.choice(given->coder, "--coder", {"builtin", "faulty"},
                 "who implements it; faulty makes mistakes on purpose, to try the judge");
  options.choice(given->strategy, "--strategy", names_of(all_strategies()), "which attempt is continued next");
  options.integer(given->steps, "--steps", 1, "the most actions in a row (8)");
  options.seconds(given->seconds, "--time",
                  "seconds to search once eager is measured; certifying the winner may end later (30)");
  options.integer(given->evaluations, "--evaluations", 0, "the most candidates to judge (0: no limit)");
  options.integer(given->seed, "--seed", 0, "of the search and of the hidden draws (0)");
  options.choice(given->actions, "--actions", {"all", "paper"}, "the action types to use: all, or the paper's");
  options.words(given->baselines, "--baselines", "NAME...",
                "what winners are timed against beside eager: compile (the default), max-autotune, graph");
  declare_accuracy(options, given->accuracy);
  options.flag(given->freeze_weights, "--freeze-weights", "kernels may pack the weights once; the result is labelled");
  options.text(given->out, "--out", "DIR", "where the results go (mtmc-out/NAME)");
  options.text(given->store, "--store", "FILE", "where attempts are kept (MTMC_STORE, ~/.local/share/mtmc/store.db)");
  options.flag(given->json, "--json", "print result.json; progress goes to standard error");
  return [given] { return optimize_task(*given); };
}

}  // namespace

extern const Verb optimize_def;
const Verb optimize_def{"optimize", "Search for a faster, verified kernel implementation of a PyTorch module.",
                        declare};

}  // namespace mtmc
