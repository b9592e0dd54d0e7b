#include "actions/schedule.h"
#include "targets/frame.h"

namespace mtmc {
namespace {

Status legal(const Program& program, const Kernel& kernel, const ActionContext& context) {
  if (kernel.family == Family::library)
    return refuse("split", "a library call has no reduction of ours", kernel.name, "a generated kernel");
  if (kernel.has("split")) return refuse("split", "the kernel is split already", kernel.name);
  const auto group = build_group(program, kernel);
  if (!group.ok()) return group.error();
  for (const Frame& frame : build_frames(*group)) {
    // A target that says what it heeds knows how much runs in parallel.
    if (!frame.shared.empty() && !context.target.heeds) continue;
    for (int s = frame.first; s <= frame.last; ++s) {
      const Combine combine = group->stages[s].stage.combine;
      if (is_reduction(combine) && combine != Combine::argmax && combine != Combine::argmin) return ok_status();
    }
  }
  return refuse("split", "every reduction of the kernel runs in parallel already", kernel.name,
                "a reduction without a parallel axis");
}

constexpr ScheduleChoice kSplit{"split", "split", "", legal};

std::vector<Action> enumerate(const Program& program, const ActionContext& context) {
  return enumerate_choice(program, kSplit, context);
}
Result<Program> apply(const Program& program, const Action& action, const ActionContext& context) {
  return add_choice(program, action, kSplit, context);
}

}  // namespace

namespace actions {
extern const ActionDef split_def;
const ActionDef split_def{
    "split",
    "Parallelise a reduction, or a product of few tiles: partial results for chunks, then their combination.",
    "sum over i  becomes  sum over c of (sum over i in chunk c)",
    false,
    false,
    enumerate,
    apply};
}  // namespace actions

}  // namespace mtmc
