#include <fmt/format.h>

#include "actions/schedule.h"
#include "targets/frame.h"

namespace mtmc {
namespace {

// Tiles are walked the other way round.
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

// A convolution walks its window's last axis and the channels as one run of memory.
Status may_join(const Program&, const Kernel& kernel, const ActionContext& context) {
  if (kernel.family != Family::contraction || !context.target.reads("window"))
    return refuse("reorder", "the target has no order of windows for it", kernel.name, "a generated convolution");
  const auto precision = kernel.choices.find("precision");
  if (precision == kernel.choices.end() || (precision->second != "half" && precision->second != "as_eager"))
    return refuse("reorder", "only operands in half precision are laid out anew", kernel.name, "precision:half");
  if (kernel.has("window")) return refuse("reorder", "the kernel's windows are joined already", kernel.name);
  return ok_status();
}

constexpr ScheduleChoice kWindows{"reorder", "window", "im2win", may_join};

std::vector<Action> enumerate(const Program& program, const ActionContext& context) {
  std::vector<Action> actions = enumerate_choice(program, kReversed, context);
  for (Action& action : enumerate_choice(program, kWindows, context)) actions.push_back(std::move(action));
  return actions;
}
Result<Program> apply(const Program& program, const Action& action, const ActionContext& context) {
  for (const ScheduleChoice& choice : {kReversed, kWindows})
    if (action.detail == choice.word) return add_choice(program, action, choice, context);
  return refuse("reorder", "unknown order", action.detail, fmt::format("{} or {}", kReversed.word, kWindows.word));
}

}  // namespace

namespace actions {
extern const ActionDef reorder_def;
const ActionDef reorder_def{.name = "reorder",
                            .doc = "Change the order of loops or the layout of data, for locality.",
                            .law = "for i, for j  becomes  for j, for i",
                            .in_paper = true,
                            .enumerate = enumerate,
                            .apply = apply};
}  // namespace actions

}  // namespace mtmc
