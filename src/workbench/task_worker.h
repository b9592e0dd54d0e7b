// Who makes the rows of a suite whose tasks are more than one module each.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

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

// Which of the sizes that a benchmark measures its functions at.
struct PerformanceSizes {
  int64_t each = 3;     // so many of each task, spread evenly
  int64_t largest = 0;  // bytes of a call's arguments and results at most; 0: a share of the memory
};

struct WorkerOptions {
  bool untouched = false;  // programs as they are traced, without a search and a judge
  bool goldens = false;    // of tasks that are instructions: the golden code instead of a model's
  // At these sizes functions are called instead of at their tests' own; what is an instruction is timed at them as
  // well.
  std::optional<PerformanceSizes> performance;
};

// The device that candidates run on. An Error: the target runs none.
Result<std::string> device_of(const WorkPlace& place);
// What a row begins with: nothing is right yet. `failed`: why the task's own code does not run here; empty: it does.
Json begun_row(const SuiteTask& task, const WorkPlace& place, const std::optional<PerformanceSizes>& sizes,
               const Json& excluded, const Json& failed);

class TaskWorker {
 public:
  virtual ~TaskWorker() = default;
  // The task's row without its `suite`. An `error` in it, or an Error: the next run of the same command tries again.
  virtual Result<Json> row(const SuiteTask& task, const WorkPlace& place) = 0;
};

}  // namespace mtmc
