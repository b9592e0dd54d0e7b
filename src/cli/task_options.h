// The options that say what the task is, shared by the verbs that take one: FILE[:NAME], --init, --input, ...
#pragma once
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/options.h"
#include "eval/judge.h"

namespace mtmc {

struct TaskOptions {
  std::string target;  // "FILE.py", "FILE.py:NAME" or "package.module:NAME"
  std::vector<std::string> init = {}, inputs = {};
  std::string weights = {};
  bool train = false, eval = false;

  void declare(Options& options, bool required = true);
  // The task as python/mtmc/task/task.py reads it. Errors: a file that does not exist, options that contradict each
  // other.
  Result<Task> task() const;
};

// The names that --baselines was given, each once. An Error for one that is not in kBaselines.
Result<std::vector<std::string>> baselines_named(const std::vector<std::string>& names);

// --accuracy: what a kernel may err, as process_judge.h has it.
void declare_accuracy(Options& options, std::string& accuracy);

}  // namespace mtmc
