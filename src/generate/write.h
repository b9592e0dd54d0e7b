// Generated tasks as files in a folder, without those that are among other tasks.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "generate/kind.h"
#include "generate/scan.h"

namespace mtmc {

struct TaskRequest {
  const KindDef& kind;
  TaskSize size = TaskSize::large;
  uint64_t seed = 0;
  int count = 0;
  std::filesystem::path out;
  std::vector<std::filesystem::path> against;  // a drawn task that is among these is left out
};

struct WrittenTasks {
  std::vector<GeneratedTask> tasks;
  std::vector<Match> left_out;
};
// Writes OUT/NAME.py for each. The same request writes the same files.
Result<WrittenTasks> write_tasks(const TaskRequest& request);

}  // namespace mtmc
