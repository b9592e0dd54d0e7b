// Who makes the rows of a suite whose tasks are more than one module each.
#pragma once
#include <filesystem>

#include "base/json.h"
#include "base/result.h"
#include "search/progress.h"
#include "store/store.h"

namespace mtmc {

struct SuiteTask;
class Workbench;

struct WorkPlace {
  Workbench& bench;
  Store& store;
  ProgressListener& listener;
  std::filesystem::path folder;  // of the task's files; it is there
};

struct WorkerOptions {
  bool untouched = false;  // programs as they are traced, without a search and a judge
  bool goldens = false;    // of tasks that are instructions: the golden code instead of a model's
};

class TaskWorker {
 public:
  virtual ~TaskWorker() = default;
  // The task's row without its `suite`. An `error` in it, or an Error: the next run of the same command tries again.
  virtual Result<Json> row(const SuiteTask& task, const WorkPlace& place) = 0;
};

}  // namespace mtmc
