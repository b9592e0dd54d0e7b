#include "workbench/task_worker.h"

#include <nlohmann/json.hpp>

#include "workbench/suite.h"
#include "workbench/workbench.h"

namespace mtmc {

Result<std::string> device_of(const WorkPlace& place) {
  const Device device = place.bench.target().device;
  if (device == Device::none)
    return Error{"choosing a target", "tritonbench runs its candidates", "null", "a target whose kernels run here"};
  return std::string(to_string(device));
}

Json begun_row(const SuiteTask& task, const WorkPlace& place, const std::optional<PerformanceSizes>& sizes,
               const Json& excluded, const Json& failed) {
  Json row = {{"task", task.name},
              {"error", nullptr},
              {"target", place.bench.target().name},
              {"hardware", place.bench.hardware().name},
              {"excluded", excluded},
              {"golden_fails", failed},
              {"called", false},
              {"executed", false},
              {"strict", false},
              {"reconstructed", nullptr},
              {"reason", failed},
              {"sizes", sizes ? "performance" : "tests"}};
  if (sizes) row["sizes_each"] = sizes->each, row["sizes_largest"] = sizes->largest;
  return row;
}

}  // namespace mtmc
