#include "actions/schedule.h"
#include "targets/frame.h"

namespace mtmc {
namespace {

Status legal(const Program& program, const Kernel& kernel, const ActionContext&) {
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

constexpr ScheduleChoice kPipelined{"pipeline", "pipelined", "", legal};

}  // namespace

namespace actions {
extern const ActionDef pipeline_def;
const ActionDef pipeline_def{
    .name = "pipeline",
    .doc = "Overlap data movement and arithmetic: independent accumulators, loads ahead of use.",
    .law = "acc += f(i)  becomes  acc[u] += f(i + u), loads of i + n in flight",
    .in_paper = true,
    .enumerate = enumerate_choice<kPipelined>,
    .apply = add_choice<kPipelined>};
}  // namespace actions

}  // namespace mtmc
