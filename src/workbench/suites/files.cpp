// Task files of one's own, such as `examples/`.
#include "workbench/suite.h"

namespace mtmc {
namespace {

Result<std::vector<SuiteTask>> tasks(const std::filesystem::path& root) {
  MTMC_TRY(std::vector<SuiteTask> found, tasks_of_folder(root, ""));
  if (found.empty())
    return Error{"opening the suite files", "no task file in this folder", "'" + root.string() + "'",
                 "Python files that define Model and get_inputs"};
  return found;
}

}  // namespace

extern const SuiteDef files_def;
const SuiteDef files_def{"files", "every task file in the folder --root", tasks};

}  // namespace mtmc
