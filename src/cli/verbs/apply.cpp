// `mtmc apply`: optimisation actions by hand. Prints the Program, its costs and what may be done next; --write keeps
// the module.
#include <fmt/core.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "actions/action.h"
#include "base/file.h"
#include "cli/task_options.h"
#include "cli/verb.h"
#include "frontend/trace.h"
#include "search/prospect.h"
#include "targets/cost.h"

namespace mtmc {
namespace {

struct Request {
  TaskOptions task;
  std::string target = "cpu", write;
  std::vector<std::string> actions;
  bool brief = false;
};

Result<int> run_apply(const Request& request) {
  MTMC_TRY(const Task task, request.task.task());
  MTMC_TRY(Traced traced, trace(task.json));
  MTMC_TRY(const TargetHere here, choose_target(request.target));
  const TargetDef* target = here.target;
  const Hardware& hardware = here.machine.hardware;
  const ActionContext context{hardware, *target};
  for (const std::string& text : request.actions) {
    MTMC_TRY(const Action action, parse_action(text));
    MTMC_TRY(traced.program, apply_action(traced.program, action, context));
  }
  MTMC_TRY(const Code code, target->emit(traced.program, hardware, traced.shell));
  if (!request.write.empty()) MTMC_RETURN_IF_ERROR(write_file(request.write, code.text));
  fmt::print("{}\n", print(traced.program));
  if (request.brief) return kDone;
  for (const KernelCost& cost : cost_of(traced.program, *target, hardware))
    fmt::print("{:6}{:12.1f} us estimated{:12.1f} us at the roofline\n", cost.kernel, cost.seconds * 1e6,
               cost.roofline * 1e6);
  fmt::print("\nlegal actions:\n");
  Forecaster forecaster(context);  // knows the kernels that an action leaves as they are
  for (const Action& action : enumerate_actions(traced.program, context)) {
    const auto next = apply_action(traced.program, action, context);
    const double after = next.ok() ? forecaster.prospect(*next).now : 0;
    fmt::print("  {:47} {:59} {:10.1f} us\n", store_text(action), render(action, traced.program, code), after * 1e6);
  }
  return kDone;
}

VerbBody declare(Options& options) {
  auto request = std::make_shared<Request>();
  request->task.declare(options);
  std::vector<std::string> targets;
  for (const TargetDef* target : all_targets()) targets.emplace_back(target->name);
  options.choice(request->target, "--target", targets, "what kernels are written for");
  options.words(request->actions, "--do", "ACTION",
                "an action as this verb lists it, \"fuse %3 %4\"; several are done in turn");
  options.text(request->write, "--write", "FILE", "write the module that comes of it");
  options.flag(request->brief, "--brief", "print the Program only, not all legal actions with their forecasts");
  return [request] { return run_apply(*request); };
}

}  // namespace

extern const Verb apply_def;
const Verb apply_def{"apply", "Apply optimisation actions by hand and list what may be done next.", declare};

}  // namespace mtmc
