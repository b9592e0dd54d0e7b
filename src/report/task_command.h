// The task as a person names it on the command line.
#pragma once
#include <string>

#include "base/json.h"

namespace mtmc {

// The words of `mtmc verify` that mean this task: {"nets.py:Block", "--init 32 hidden=128 --input 'f32[64,32]'"}. Files
// lose their folders. `task` is what cli/task_options.h writes.
struct TaskCommand {
  std::string target, options;  // `options` begins with a blank where there are any
};
TaskCommand task_command(const Json& task, const std::string& name);

}  // namespace mtmc
