#include "actions/schedule.h"
#include "targets/frame.h"

namespace mtmc {
namespace {

// The one word of this action: tiles are walked the other way round.
Status legal(const Program& program, const Kernel& kernel, const ActionContext&) {
  if (kernel.family == Family::library)
    return refuse("reorder", "a library call has no loops of ours", kernel.name, "a generated kernel");
  if (kernel.has("order")) return refuse("reorder", "the kernel's loops are in a chosen order already", kernel.name);
  const auto group = build_group(program, kernel);
  if (!group.ok()) return group.error();
  const std::vector<Frame> frames = build_frames(collapse_axes(*group));
  for (const Frame& frame : frames)
    if (frame.shared.size() > 1) return ok_status();
  return refuse("reorder", "the kernel has fewer than two tile loops", kernel.name);
}

constexpr ScheduleChoice kReversed{"reorder", "order", "reversed", legal};

std::vector<Action> enumerate(const Program& program, const ActionContext& context) {
  return enumerate_choice(program, kReversed, context);
}
Result<Program> apply(const Program& program, const Action& action, const ActionContext& context) {
  if (action.detail != kReversed.word)
    return refuse("reorder", "unknown order", action.detail, std::string(kReversed.word));
  return add_choice(program, action, kReversed, context);
}

}  // namespace

namespace actions {
extern const ActionDef reorder_def;
const ActionDef reorder_def{"reorder",
                            "Change the order of loops or the layout of data, for locality.",
                            "for i, for j  becomes  for j, for i",
                            true,
                            false,
                            enumerate,
                            apply};
}  // namespace actions

}  // namespace mtmc
