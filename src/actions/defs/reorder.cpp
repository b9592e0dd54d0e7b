#include "actions/schedule.h"
#include "targets/frame.h"

namespace mtmc {
namespace {

// The words of this action: which loop runs innermost ("axis0" .. of the last stage), or tiles walked the other way
// round.
Status allowed(const Program& program, const Kernel& kernel, const std::string& word) {
  if (kernel.family == Family::library)
    return refuse("reorder", "a library call has no loops of ours", kernel.name, "a generated kernel");
  if (kernel.has("order")) return refuse("reorder", "the kernel's loops are in a chosen order already", kernel.name);
  const auto group = build_group(program, kernel);
  if (!group.ok()) return group.error();
  const std::vector<Frame> frames = build_frames(collapse_axes(*group));
  if (word == "reversed") {
    for (const Frame& frame : frames)
      if (frame.shared.size() > 1) return ok_status();
    return refuse("reorder", "the kernel has fewer than two tile loops", kernel.name);
  }
  return refuse("reorder", "unknown order", word, "reversed");
}
bool wanted(const Program& program, const Kernel& kernel) { return allowed(program, kernel, "reversed").ok(); }

std::vector<Action> enumerate(const Program& program, const ActionContext&) {
  return one_per_class(program, "reorder", isomorphism_classes(program, wanted), "reversed");
}
Result<Program> apply(const Program& program, const Action& action, const ActionContext&) {
  return add_choice(program, action, "order", action.detail, allowed);
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
