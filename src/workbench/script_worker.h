// Suite G of TritonBench: a language model writes a script from an instruction in words, and the task's tests say
// whether it does what the golden code does. Candidates and golden code run in the same locked room
// (python/mtmc/tritonbench/room.py).
#pragma once
#include "workbench/function_server.h"
#include "workbench/task_worker.h"

namespace mtmc {

class ScriptWorker final : public TaskWorker {
 public:
  // `goldens`: nobody is asked, the golden code is held to itself.
  explicit ScriptWorker(bool goldens) : goldens_(goldens) {}
  Result<Json> row(const SuiteTask& task, const WorkPlace& place) override;

 private:
  bool goldens_;
  FunctionServer server_{3600};  // a request runs a script up to three times
};

}  // namespace mtmc
