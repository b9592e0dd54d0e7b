// Traces the user's module: python -m mtmc.trace.trace in a process of its own, then import_trace.
#pragma once
#include <optional>
#include <string>

#include "base/process.h"
#include "frontend/import.h"

namespace mtmc {

// `task_json` is the text that python/mtmc/task/task.py reads. The interpreter is $MTMC_PYTHON (python3 when unset),
// which must find torch and mtmc. Errors: what cannot be loaded or traced, with the user's line and torch's reason; a
// tracer that takes longer than `timeout_seconds` or is ended by a signal.
Result<Traced> trace(const std::string& task_json, double timeout_seconds = 600);

// Traces one task after the other, each in a process of its own that has imported torch before it is needed.
class Tracer {
 public:
  // Starts the process of the task after the next one. It ends with the thread that calls this.
  void begin_next();
  Result<Traced> trace(const std::string& task_json, double timeout_seconds = 600);

 private:
  std::optional<LineProcess> ready_, next_;
};

}  // namespace mtmc
