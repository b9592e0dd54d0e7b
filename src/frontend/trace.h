// Traces the user's module: python -m mtmc.trace.trace in a process of its own, then import_trace.
#pragma once
#include <string>

#include "frontend/import.h"

namespace mtmc {

// `task_json` is the text that python/mtmc/task/task.py reads. The interpreter is $MTMC_PYTHON (python3 when unset),
// which must find torch and mtmc. Errors: what cannot be loaded or traced, with the user's line and torch's reason; a
// tracer that takes longer than `timeout_seconds` or is ended by a signal.
Result<Traced> trace(const std::string& task_json, double timeout_seconds = 600);

}  // namespace mtmc
