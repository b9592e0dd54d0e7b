// Suite G of TritonBench: a language model writes a script from an instruction in words, and the task's tests say
// whether it does what the golden code does. Candidates and golden code run in the same locked room
// (python/mtmc/tritonbench/room.py).
#pragma once
#include <optional>

#include "workbench/function_server.h"
#include "workbench/task_worker.h"

namespace mtmc {

class ScriptWorker final : public TaskWorker {
 public:
  // `goldens`: nobody is asked, the golden code is held to itself. `performance`: what is right is timed beside it,
  // too.
  explicit ScriptWorker(const WorkerOptions& options) : goldens_(options.goldens), performance_(options.performance) {}
  Result<Json> row(const SuiteTask& task, const WorkPlace& place) override;

 private:
  bool goldens_;
  std::optional<PerformanceSizes> performance_;
  FunctionServer server_{3600};  // a request runs a script up to three times, or calls it at all its sizes
};

}  // namespace mtmc
