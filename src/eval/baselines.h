// What a candidate is timed against: eager, and what torch makes of it (torch.compile, a CUDA graph). On a GPU each has
// a process of its own, which gets ready while the search is at work. `nothing` is a call without work in eager's
// process: what all of them cost besides.
#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "eval/judge_process.h"
#include "eval/performance.h"
#include "eval/process_judge.h"
#include "eval/task_facts.h"

namespace mtmc {

class Baselines {
 public:
  // `draws`: a descriptor of the folder of all tasks.
  Baselines(const JudgeOptions& options, int draws);

  // The processes come up.
  Status start();
  // Is eager's there? Those of the others may be missing for good.
  bool running() const { return process_of("eager").running(); }
  // The task is over: its engines are gone. If they held much of the GPU's memory, that is free.
  void forget();
  // A task, which must outlive its engines' use. Where there is a GPU their processes get ready for it.
  void open(TaskFacts& facts);
  // Its draw task-0 is there: where there is a GPU, engines begin to be made.
  void begin();
  // Waits until eager can be timed; `all`: the others too. One whose process is lost is made once more. An Error,
  // kNoMemory: one lacks the memory that other tasks on its GPU take.
  Status ready(bool all);
  // Those beside eager that were asked for and made by now: name -> why it cannot be had, empty when it can.
  std::map<std::string, std::string> made() const;
  // Before a timed call: its module's state is this one of the task's. An Error when its process is lost: then there is
  // one less, or `ready` makes it again.
  Status begin_anew(const std::string& engine, const std::string& state);
  // One timed call. Errors as above.
  Result<Performance> call(const std::string& engine, CallPlan plan);
  int losses() const { return losses_; }                           // of processes, so far
  double compiling_seconds() const { return compiling_seconds_; }  // waited for torch.compile, so far
  // Gives back GPU memory that nobody uses, where it is not busy. In bytes.
  Result<double> spare_memory();
  // Of a large copy, bytes per second: measured once, when nothing else runs.
  Status measure_bandwidth();
  double bandwidth() const { return bandwidth_; }

  // Those that are not ready yet stand still while something is timed.
  void pause() const;
  void resume() const;

 private:
  bool apart() const { return options_.device == "cuda"; }
  Json opening() const;
  // Waits for what `forget` has asked for.
  void have_forgotten();
  Status begin(const std::string& engine);
  Result<std::string> finish(const std::string& engine,
                             bool last_try = false);  // why it cannot be had; empty when it can
  Status set_state(const std::string& engine, const std::string& state);
  void lose(const std::string& engine, const Error& error);
  static bool needed(const std::string& engine) { return engine == "eager" || engine == "nothing"; }
  // In whose process it is.
  static std::string home_of(const std::string& engine) { return needed(engine) ? "eager" : engine; }
  JudgeProcess& process_of(const std::string& engine) { return processes_.at(home_of(engine)); }
  const JudgeProcess& process_of(const std::string& engine) const { return processes_.at(home_of(engine)); }

  const JudgeOptions& options_;
  std::vector<std::string> engines_ = {"eager",
                                       "nothing"};  // and those that were asked for, in the order they are made
  std::map<std::string, JudgeProcess> processes_;   // by home
  TaskFacts* facts_ = nullptr;
  std::set<std::string> begun_;              // engines that are made, or will be when their process has come so far
  std::map<std::string, std::string> made_;  // all of them
  std::map<std::string, int> lost_;          // by home: how often on this task
  int losses_ = 0;
  double bandwidth_ = 0, compiling_seconds_ = 0;
};

}  // namespace mtmc
