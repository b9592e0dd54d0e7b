#include "workbench/result_files.h"

#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/text.h"
#include "ir/program.h"
#include "report/html.h"
#include "report/result_json.h"
#include "targets/cost.h"

namespace mtmc {

namespace {

std::vector<KernelShare> shares_of(const Program& program, const TargetDef& target, const Hardware& hardware) {
  std::vector<KernelShare> shares;
  for (const KernelCost& cost : cost_of(program, target, hardware)) {
    const Kernel& kernel = *program.kernel(cost.kernel);
    std::vector<std::string> operators;
    for (const ValueId id : kernel.values)
      if (const Node* node = program.producer(id); node != nullptr && node->outputs.front() == id)
        operators.push_back(node->op);
    shares.push_back(
        {kernel.name, join(operators, ", "), cost.seconds, cost.roofline, cost.bytes, cost.flops, cost.own});
  }
  return shares;
}

}  // namespace

Result<ReportData> full_report(Store& store, RunId run) {
  MTMC_TRY(ReportData data, load_report(store, run));
  const TargetDef* target = find_target(data.run.target);
  if (target != nullptr) data.software = target->software, data.is_module = target->device != Device::none;
  const auto shares = [&](const Program& program) {
    return target == nullptr ? std::vector<KernelShare>() : shares_of(program, *target, data.run.hardware);
  };
  if (!data.nodes.empty() && !data.nodes.front().program.empty()) {
    MTMC_TRY(const Program start, parse_program(data.nodes.front().program));
    data.roofline_seconds = roofline_seconds(start, data.run.hardware);
    data.kernels_before = shares(start);
  }
  if (const NodeRecord* best = data.best_node(); best != nullptr && !best->program.empty()) {
    MTMC_TRY(const Program after, parse_program(best->program));
    data.kernels_after = shares(after);
    for (const Rewrite& rewrite : after.rewrites) data.rewrites.push_back(rewrite.action + ": " + rewrite.what);
  }
  return data;
}

Result<ResultFiles> result_files(Store& store, RunId run) {
  MTMC_TRY(const ReportData data, full_report(store, run));
  if (data.nodes.empty())
    return Error{"writing the result of run " + std::to_string(run), "it has no attempt yet", "", ""};
  const NodeRecord* best = data.best_node();
  std::string kernel = best != nullptr ? best->code : data.nodes.front().code;
  if (!data.is_module) {
    kernel = "# Nothing to run: the Program that was priced.\n# " +
             replace_all(std::string(trim(kernel)), "\n", "\n# ") + "\n";
  }
  return ResultFiles{kernel, result_json(data).dump(2) + "\n", html_report(data)};
}

}  // namespace mtmc
