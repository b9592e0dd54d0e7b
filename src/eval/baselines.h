// What a candidate is timed against: eager, and what torch makes of it (torch.compile, a CUDA graph). On a GPU each has
// a process of its own, which gets ready while the search is at work.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "eval/judge_process.h"
#include "eval/process_judge.h"
#include "eval/task_facts.h"

namespace mtmc {

class Baselines {
 public:
  explicit Baselines(const JudgeOptions& options);

  // The processes come up.
  Status start();
  // Is eager's there? Those of the others may be missing for good.
  bool running() const { return eager_.running(); }
  // Begins to load a task whose draw task-0 is there, and where there is a GPU to compile it.
  Status open(const TaskFacts& facts);
  // Waits until eager can be timed; `all`: the others too. One whose process is lost is made once more.
  Status ready(bool all);
  // Those beside eager that were made by now: name -> why it cannot be had, empty when it can.
  const std::map<std::string, std::string>& made() const { return made_; }
  struct Call {
    double ms = 0;
    double beside_ms = 0;  // what starting and stopping the clock took around it
  };
  // One timed call. `arm`: the request that names its values. An Error when its process is lost: then there is one
  // less, or `ready` makes it again.
  Result<Call> call(const std::string& engine, Json arm);
  int losses() const { return losses_; }  // of processes, so far
  // Of a large copy, bytes per second: measured once, when nothing else runs.
  Status measure_bandwidth();
  double bandwidth() const { return bandwidth_; }

  // Those that are not ready yet stand still while something is timed.
  void pause() const;
  void resume() const;

 private:
  bool apart() const { return options_.device == "cuda"; }
  JudgeProcess& process_of(const std::string& engine);
  Json making(const std::string& engine) const;
  Status begin(const std::string& engine, JudgeProcess& process);
  Status open_eager();
  Result<std::string> made(const std::string& engine);  // why it cannot be had; empty when it can
  void lose(const std::string& engine, const Error& error);
  Result<Call> timed(const std::string& engine, Json arm);

  const JudgeOptions& options_;
  JudgeProcess eager_;
  std::map<std::string, JudgeProcess> others_;
  std::string folder_;   // of the task
  std::string draw_;     // the folder of task-0
  bool opened_ = false;  // eager has the task
  std::map<std::string, std::string> made_;
  std::map<std::string, int> lost_;  // how often on this task
  int losses_ = 0;
  double bandwidth_ = 0;
};

}  // namespace mtmc
