// Traces the user's module: python -m mtmc.trace.trace in a process of its own, then import_trace.
#pragma once
#include <string>
#include <vector>

#include "frontend/import.h"

namespace mtmc {

// `task_json` is the text that python/mtmc/task/task.py reads. The interpreter is $MTMC_PYTHON (python3 when unset),
// which must find torch and mtmc. Errors: what cannot be loaded or traced, with the user's line and torch's reason; a
// tracer that takes longer than `timeout_seconds` or is ended by a signal.
Result<Traced> trace(const std::string& task_json, double timeout_seconds = 600);

// Traces one task after the other, each in a process of its own that has imported torch before it is needed.
class Tracer {
 public:
  Tracer();
  ~Tracer();
  // To be called before each trace(): starts its process, where none waits yet, and that of what is foreseen then. They
  // end with the thread that calls this.
  void begin_next();
  // Traces this task already, in a process that waits: trace() then finds it done. Empty: none, after all.
  void foresee(const std::string& task_json);
  Result<Traced> trace(const std::string& task_json, double timeout_seconds = 600);

 private:
  struct Waiting;
  std::vector<Waiting> waiting_;  // the oldest first
};

}  // namespace mtmc
