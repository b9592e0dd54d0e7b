#include "actions/schedule.h"
#include "targets/frame.h"

namespace mtmc {
namespace {

bool can_split(Combine combine) {
  return is_reduction(combine) && combine != Combine::argmax && combine != Combine::argmin;
}

// Whether enough runs in parallel already is the target's to say.
Status legal(const Program& program, const Kernel& kernel, const ActionContext&) {
  if (kernel.family == Family::library)
    return refuse("split", "a library call has no reduction of ours", kernel.name, "a generated kernel");
  if (kernel.has("split")) return refuse("split", "the kernel is split already", kernel.name);
  const auto group = build_group(program, kernel);
  if (!group.ok()) return group.error();
  for (const GroupStage& stage : group->stages)
    if (can_split(stage.stage.combine)) return ok_status();
  return refuse("split", "the kernel has no reduction that can be cut", kernel.name, "a sum or its like");
}

constexpr ScheduleChoice kSplit{"split", "split", "", legal};

}  // namespace

namespace actions {
extern const ActionDef split_def;
const ActionDef split_def{
    .name = "split",
    .doc = "Parallelise a reduction, or a product of few tiles: partial results for chunks, then their combination.",
    .law = "sum over i  becomes  sum over c of (sum over i in chunk c)",
    .enumerate = enumerate_choice<kSplit>,
    .apply = add_choice<kSplit>};
}  // namespace actions

}  // namespace mtmc
