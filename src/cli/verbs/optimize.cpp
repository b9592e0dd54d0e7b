// `mtmc optimize FILE`: the whole loop, from the user's module to a folder with kernel.py, result.json, report.html.
#include <fmt/core.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/progress.h"
#include "base/text.h"
#include "cli/search_options.h"
#include "cli/summary.h"
#include "cli/task_options.h"
#include "cli/verb.h"
#include "cli/watcher.h"
#include "eval/evidence.h"
#include "llm/ledger.h"
#include "workbench/result_files.h"
#include "workbench/result_folder.h"

namespace mtmc {
namespace {

namespace fs = std::filesystem;

struct OptimizeOptions {
  TaskOptions task;
  SearchOptions search;
  std::string out;
  bool json = false;
};

constexpr int kInterpreterSeconds = 60;

void print_conclusion(Progress& progress, const Optimized& done, const std::string& wrote) {
  const Verdict& verdict = done.verdict;
  switch (done.answer) {
    case Answer::faster:
      progress.line(verdict.estimated()
                        ? fmt::format("done: {}, estimated: nothing was run", gains_text(verdict))
                        : fmt::format("done: {}, certified ({})", gains_text(verdict), verdict.accuracy_class));
      break;
    case Answer::at_roofline:
      progress.line(
          fmt::format("done: already at the roofline ({:.0f} % of it): nothing to gain", done.roofline_share * 100));
      break;
    case Answer::unclear:
      progress.line("done: nothing certified is surely faster than eager: this machine was too busy to say");
      break;
    case Answer::not_faster:
      if (done.refusal && !done.given_up) {
        progress.line("done: the model gave nothing to judge: " + done.refusal->message());
        break;
      }
      if (done.seconds_for_one > 0) {
        progress.line(
            fmt::format("done: time was up before any candidate was judged: a first one takes about --time {:.0f} here",
                        done.seconds_for_one));
        break;
      }
      progress.line("done: nothing certified is faster than eager");
      break;
    case Answer::explored:  // `mtmc collect` asks for that
    case Answer::refused:
      progress.line("done: nothing is certified: " + verdict.reason + ": " + verdict.message);
      break;
  }
  const std::string certifying =
      done.certify_seconds < 0.5 ? "" : fmt::format(", {:.0f} s of it for certification", done.certify_seconds);
  progress.line(fmt::format("{} candidate{} judged in {:.0f} s{}; {}", done.evaluations,
                            done.evaluations == 1 ? "" : "s", done.seconds, certifying, wrote));
}

// What the language model has cost, and why coder or policy stopped, where one is asked.
void print_account(Progress& progress, const Optimized& done) {
  if (!done.account.empty())
    progress.line("asked the language model: " + describe(spent_from_json(Json::parse(done.account))));
  if (done.given_up) progress.line("the model gave up: " + done.given_up->message());
}

// Where the kernels cannot run: what the target's interpreter and the compiler say of them, and that nothing was timed.
Status print_offline(Progress& progress, const Workbench& bench, const Task& task, const Optimized& done,
                     const std::string& code) {
  const TargetDef& target = bench.target();
  if (!target.interpreter.empty()) {
    JudgeOptions judge;
    judge.seed = bench.options().seed;
    judge.call_seconds = kInterpreterSeconds;
    judge.accuracy = bench.options().accuracy;
    progress.live(-1, -1, "", fmt::format("checking through {}", target.interpreter));
    MTMC_TRY(const Offline found, check_offline(judge, task, {code, nullptr}));
    const Verdict& v = found.interpreted;
    const bool installed = v.message.find("No module named 'triton'") == v.message.npos;
    if (!installed)
      progress.line("neither checked nor compiled: this Python has no triton (pip install triton)");
    else if (v.certified())
      progress.line(fmt::format("checked by {} on {}: {}", target.interpreter, join(v.draws, ", "), exactness(v)));
    else if (v.reason == "timed-out")
      progress.line(
          fmt::format("not checked: {} needs more than {} s for this task", target.interpreter, kInterpreterSeconds));
    else if (v.reason == "precision")  // not eager's of a GPU, which convolves in TF32 and adds up in another order
      progress.line(
          fmt::format("less exact than eager on this CPU, by {}: {}; a GPU's eager rounds otherwise, and only the "
                      "judge there can tell",
                      target.interpreter, v.message));
    else
      progress.line(fmt::format("wrong by {}: {}: {}", target.interpreter, v.reason, v.message));
    if (found.failure.empty() && installed)
      progress.line(fmt::format("{} kernels, compiled for {}", found.kernels, found.compiled_for));
    else if (installed)
      progress.line("does not compile: " + found.failure);
  }
  progress.line(done.answer == Answer::faster ? "done: " + gains_text(done.verdict) + ", estimated"
                                              : "done: the cost model expects nothing to be faster than eager");
  progress.line(
      fmt::format("nothing was timed: this machine has no {}, and the actions were chosen by what they cost on {}",
                  target.needs, bench.hardware().name));
  return ok_status();
}

Result<int> optimize_task(const OptimizeOptions& options) {
  MTMC_RETURN_IF_ERROR(options.search.check_model());
  MTMC_TRY(const Task task, options.task.task());
  MTMC_TRY(const WorkbenchOptions wanted, options.search.read());
  const fs::path folder =
      options.out.empty() ? fs::path("mtmc-out") / replace_all(task.name, ":", "_") : fs::path(options.out);
  MTMC_RETURN_IF_ERROR(ready_result_folder(folder));
  const fs::path store_file = store_path(options.search.store);
  MTMC_TRY(const auto store, open_store(store_file));
  Progress progress(options.json ? stderr : stdout);
  Watcher watcher(progress, store_file.string());

  LlmAccess llm(wanted.llm);
  progress.live(-1, -1, "", "starting");
  MTMC_TRY(const auto bench, Workbench::open(wanted, *store, llm));
  progress.live(-1, -1, "", "tracing " + task.name);
  MTMC_TRY(const TracedTask traced, bench->trace(task));
  const size_t operators = traced.program->nodes.size();
  progress.line(fmt::format("{}: {} operator{}, on {} ({})", task.name, operators, operators == 1 ? "" : "s",
                            bench->hardware().name, bench->target().name));
  MTMC_TRY(const Optimized done, bench->optimize(traced, watcher));
  print_account(progress, done);
  MTMC_TRY(const ResultFiles files, result_files(*store, done.run));
  if (const std::string other = other_result(folder, files); !other.empty())
    progress.line(
        fmt::format("{}/ held the result of {}, which is replaced; --out DIR keeps both", folder.string(), other));
  MTMC_RETURN_IF_ERROR(write_result(folder, files));
  if (options.json) fmt::print("{}\n", files.result);
  const bool offline = !bench->times() && bench->target().device != Device::none;
  const std::string wrote = fmt::format("wrote {}/ with kernel.py, result.json, report.html", folder.string());
  if (!offline) {
    print_conclusion(progress, done, wrote);
    return done.answer == Answer::faster ? kDone : kNotBetter;
  }
  MTMC_RETURN_IF_ERROR(print_offline(progress, *bench, task, done, files.kernel));
  progress.line(wrote);
  return kNotBetter;
}

VerbBody declare(Options& options) {
  const auto given = std::make_shared<OptimizeOptions>();
  given->task.declare(options);
  given->search.declare(options);
  options.text(given->out, "--out", "DIR", "where kernel.py, result.json and report.html go (mtmc-out/NAME)");
  options.flag(given->json, "--json", "print result.json; progress goes to standard error");
  return [given] { return optimize_task(*given); };
}

}  // namespace

extern const Verb optimize_def;
const Verb optimize_def{"optimize", "Search for a faster, verified kernel implementation of a PyTorch module.",
                        declare};

}  // namespace mtmc
