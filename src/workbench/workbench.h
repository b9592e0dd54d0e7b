// Everything that optimising tasks needs and that stays warm from one to the next: the target and the machine's facts,
// the judge's and the tuner's processes, the policy with its weights, the store. What is chosen by the user comes in as
// words; each is looked up in the table of its kind.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "coder/llm_options.h"
#include "coder/tuner.h"
#include "eval/process_judge.h"
#include "frontend/trace.h"
#include "search/optimize.h"
#include "search/policy.h"
#include "search/strategy.h"
#include "store/store.h"
#include "targets/target.h"
#include "workbench/chosen.h"
#include "workbench/way.h"

namespace mtmc {

struct WorkbenchOptions {
  std::string target = "auto", strategy = "tree";
  std::string policy = "greedy", coder = "builtin";  // NAME or NAME:ARGUMENT; coders may be several: "builtin,llm"
  LlmOptions llm;                                    // what an LlmAccess is made of
  std::string hardware;                              // a profile that kernels are priced for; empty: this machine
  bool paper_only = false;
  SearchLimits limits;
  StrategyOptions strategy_options;
  std::vector<std::string> baselines = {"compile"};  // of kBaselines: what winners are timed against beside eager
  Accuracy accuracy = Accuracy::eager;
  bool freeze_weights = false;
  uint64_t seed = 0;      // of the search and of the hidden draws
  bool explores = false;  // nothing is certified: see OptimizeRequest
  bool trusts = false;    // whoever explores trusts its candidates: see eval/trusting_judge.h
  bool many = false;      // tasks, one after the other: what takes long is begun for the next while one is traced
};

// The GPUs that members of a crew share out among themselves: none where the target uses none.
Result<std::vector<std::string>> gpus_of(const WorkbenchOptions& options);
// How many tasks are worked on beside each other where so many are asked for (0: one for each GPU, else one). Those on
// one GPU take turns there (base/turn.h). An Error: more than there are processors.
Result<size_t> jobs_beside(const WorkbenchOptions& options, int64_t asked);

// Does a task whose arguments, weights and results take so many bytes have a GPU's memory for itself? The judge's
// processes hold each of them several times, and each baseline does once more, in up to three tasks or four.
bool needs_all_memory(int64_t bytes, int64_t memory, size_t baselines);

// A user's module as a search begins with it.
struct TracedTask {
  Task task;
  std::string source;  // the text of the user's file; of a module only its name
  std::shared_ptr<const Program> program;
  ModuleShell shell;
};

class Workbench {
 public:
  // An Error: a word that names nothing, weights that cannot be read, a device that does not work. `store` and `llm`
  // must outlive the workbench; all workbenches of a process have one `llm`, which holds the keys and the limit of
  // cost.
  static Result<std::unique_ptr<Workbench>> open(WorkbenchOptions options, Store& store, LlmAccess& llm);

  const TargetDef& target() const { return *here_.target; }
  // Who measures: the version of a judge, and what of its options decides verdicts.
  const std::string& evaluator() const { return evaluator_; }
  const Hardware& hardware() const { return here_.machine.hardware; }
  // Whether candidates are run and timed here; if not, the cost model prices them.
  bool times() const { return judge_ != nullptr; }
  const WorkbenchOptions& options() const { return options_; }

  // From here on it searches in another way (parse_way's), and with another seed. An Error: the policy cannot be
  // opened.
  Status search_by(const Way& way, uint64_t seed);
  // What a coder of this workbench may use; `shell` must outlive it.
  CoderContext coder_context(const ModuleShell& shell, std::string argument = "");
  // After the next task that is worked on, this one most likely follows: on a GPU, which has the processors to spare,
  // it is traced while that one is searched for. Null: nobody knows.
  void expect(const Task* next);
  // Traces the task. Whoever will judge it and tune for it gets ready meanwhile.
  Result<TracedTask> trace(const Task& task);
  // Searches for a faster implementation; the run and all its attempts are in the store afterwards.
  Result<Optimized> optimize(const TracedTask& task, ProgressListener& listener);
  // Both, beside the tasks of others where they share a GPU; alone on it where the task needs more than its share of
  // the memory, or finds too little.
  Result<Optimized> work(const Task& task, ProgressListener& listener);

 private:
  Workbench(WorkbenchOptions options, Store& store, LlmAccess& llm, TargetHere here,
            std::vector<Chosen<CoderDef>> coders, const StrategyDef* strategy)
      : options_(std::move(options)),
        store_(store),
        llm_(llm),
        here_(std::move(here)),
        coders_(std::move(coders)),
        strategy_(strategy) {}
  Result<std::unique_ptr<Coder>> make_coder(const ModuleShell& shell);
  Status open_policy(const Chosen<PolicyDef>& policy);
  bool needs_all(const Result<TracedTask>& task) const;
  Result<TracedTask> traced_alone(const Task& task);  // nobody takes memory for it meanwhile
  Result<Traced> trace_and_foresee(const Task& task);
  Result<TracedTask> as_program(const Task& task, Traced traced);
  void make_judge();

  WorkbenchOptions options_;
  Store& store_;
  LlmAccess& llm_;
  Tracer tracer_;
  std::string expected_;  // the task of expect(), as JSON; empty: none
  TargetHere here_;
  std::vector<Chosen<CoderDef>> coders_;  // asked in this order
  const StrategyDef* strategy_;
  std::unique_ptr<PythonTuner> tuner_;  // null: nothing is timed here
  std::unique_ptr<Judge> judge_;        // null: the cost model judges, another for each task
  std::string evaluator_;
  std::unique_ptr<Policy> policy_;
};

}  // namespace mtmc
