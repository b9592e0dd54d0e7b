#include "actions/schedule.h"
#include "targets/frame.h"

namespace mtmc {
namespace {

Status allowed(const Program& program, const Kernel& kernel, const std::string&) {
  if (kernel.family == Family::library)
    return refuse("split", "a library call has no reduction of ours", kernel.name, "a generated kernel");
  if (kernel.has("split")) return refuse("split", "the kernel is split already", kernel.name);
  const auto group = build_group(program, kernel);
  if (!group.ok()) return group.error();
  for (const Frame& frame : build_frames(*group)) {
    if (!frame.shared.empty()) continue;
    for (int s = frame.first; s <= frame.last; ++s) {
      const Combine combine = group->stages[s].stage.combine;
      if (is_reduction(combine) && combine != Combine::argmax && combine != Combine::argmin) return ok_status();
    }
  }
  return refuse("split", "every reduction of the kernel runs in parallel already", kernel.name,
                "a reduction without a parallel axis");
}
bool wanted(const Program& program, const Kernel& kernel) { return allowed(program, kernel, "").ok(); }

std::vector<Action> enumerate(const Program& program, const ActionContext&) {
  return one_per_class(program, "split", isomorphism_classes(program, wanted));
}
Result<Program> apply(const Program& program, const Action& action, const ActionContext&) {
  return add_choice(program, action, "split", "", allowed);
}

}  // namespace

namespace actions {
extern const ActionDef split_def;
const ActionDef split_def{"split",
                          "Parallelise a reduction: partial results for chunks, then their combination.",
                          "sum over i  becomes  sum over c of (sum over i in chunk c)",
                          false,
                          false,
                          enumerate,
                          apply};
}  // namespace actions

}  // namespace mtmc
