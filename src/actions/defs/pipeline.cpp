#include "actions/schedule.h"
#include "targets/frame.h"

namespace mtmc {
namespace {

Status allowed(const Program& program, const Kernel& kernel, const std::string&) {
  if (kernel.family == Family::library)
    return refuse("pipeline", "a library call has no loops to overlap", kernel.name, "a generated kernel");
  if (kernel.has("pipelined")) return refuse("pipeline", "the kernel is pipelined already", kernel.name);
  const auto group = build_group(program, kernel);
  if (!group.ok()) return group.error();
  for (const GroupStage& stage : group->stages)
    if (is_reduction(stage.stage.combine)) return ok_status();
  return refuse("pipeline", "no loop of the kernel waits for its own result", kernel.name,
                "a reduction or a contraction");
}
bool wanted(const Program& program, const Kernel& kernel) { return allowed(program, kernel, "").ok(); }

std::vector<Action> enumerate(const Program& program, const ActionContext&) {
  return one_per_class(program, "pipeline", isomorphism_classes(program, wanted));
}
Result<Program> apply(const Program& program, const Action& action, const ActionContext&) {
  return add_choice(program, action, "pipelined", "", allowed);
}

}  // namespace

namespace actions {
extern const ActionDef pipeline_def;
const ActionDef pipeline_def{"pipeline",
                             "Overlap data movement and arithmetic: independent accumulators, loads ahead of use.",
                             "acc += f(i)  becomes  acc[u] += f(i + u), loads of i + n in flight",
                             true,
                             false,
                             enumerate,
                             apply};
}  // namespace actions

}  // namespace mtmc
