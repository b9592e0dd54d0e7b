#include "actions/schedule.h"
#include "targets/frame.h"

namespace mtmc {
namespace {

bool can_lower(const Program& program, const Kernel& kernel) {
  return kernel.family == Family::library && !is_view_kernel(Links(program), kernel) &&
         can_generate(program, kernel.values).ok() && !program.writes(kernel).empty();
}

Result<Program> apply(const Program& program, const Action& action, const ActionContext& context) {
  Program result = program;
  for (const auto& region : action.regions) {
    MTMC_TRY(const Kernel* const kernel, kernel_of("lower", result, region));
    if (kernel->family != Family::library) return refuse("lower", "the kernel is generated already", kernel->name);
    MTMC_TRY(result, merge_kernels(result, {kernel->name}, context));
  }
  return result;
}

std::vector<Action> enumerate(const Program& program, const ActionContext& context) {
  const auto wanted = [&](const Program& p, const Kernel& kernel) {
    return can_lower(p, kernel) && merge_kernels(p, {kernel.name}, context).ok();  // a target may not print it
  };
  return one_per_class(program, "lower", isomorphism_classes(program, wanted));
}

}  // namespace

namespace actions {
extern const ActionDef lower_def;
const ActionDef lower_def{.name = "lower",
                          .doc = "Replace a library call by a generated kernel.",
                          .law = "library call -> %t  becomes  generated kernel -> %t",
                          .in_paper = true,
                          .enumerate = enumerate,
                          .apply = apply};
}  // namespace actions

}  // namespace mtmc
