#include <algorithm>

#include "actions/schedule.h"

namespace mtmc {
namespace {

bool is_generated(const Program&, const Kernel& kernel) { return kernel.family != Family::library; }

std::vector<Action> enumerate(const Program& program, const ActionContext&) {
  return one_per_class(program, "library", isomorphism_classes(program, is_generated));
}

Result<Program> apply(const Program& program, const Action& action, const ActionContext& context) {
  Program result = program;
  for (const auto& region : action.regions) {
    MTMC_TRY(const Kernel* const found, kernel_of("library", result, region));
    if (found->family == Family::library) return refuse("library", "the kernel is a library call already", found->name);
    const Kernel kernel = *found;
    const Program before = result;
    std::vector<Kernel> kernels;
    Program named = result;
    for (const Kernel& one : result.kernels) {
      if (one.name != kernel.name) {
        kernels.push_back(one);
        continue;
      }
      bool first = true;
      for (const Node* node : result.nodes_of(kernel)) {
        // A value that another kernel computes for everybody needs no call of its own.
        const auto others = result.kernels_of(node->outputs[0]);
        const bool elsewhere = std::any_of(others.begin(), others.end(), [&](const Kernel* o) {
          return o->name != kernel.name && o->family == Family::library;
        });
        if (elsewhere) continue;
        Kernel call;
        call.name = first ? kernel.name : named.next_kernel_name();
        call.values = node->outputs;
        first = false;
        named.kernels.push_back(call);
        kernels.push_back(std::move(call));
      }
    }
    result.kernels = std::move(kernels);
    if (!order_kernels(result)) return refuse("library", "its operators cannot be put in order");
    carry_captures(before, result, context);
  }
  return result;
}

}  // namespace

namespace actions {
extern const ActionDef library_def;
const ActionDef library_def{.name = "library",
                            .doc = "Give a generated kernel back to the library, one call an operator.",
                            .law = "generated kernel -> %t  becomes  library calls -> %t",
                            .enumerate = enumerate,
                            .apply = apply};
}  // namespace actions

}  // namespace mtmc
