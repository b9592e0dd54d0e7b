// The null target: no compiler and no clock. Its code is the Program's text; times come from the cost model.
#include "targets/cost.h"
#include "targets/frame.h"
#include "targets/module_printer.h"

namespace mtmc {
namespace {

Result<Code> emit(const Program& program, const Hardware&, const ModuleShell&) {
  Code code;
  code.text = print(program);
  int line = 1;
  size_t start = 0;
  while (start < code.text.size()) {
    const size_t end = code.text.find('\n', start);
    const std::string one = code.text.substr(start, end - start);
    for (const Kernel& kernel : program.kernels)
      if (one.rfind("kernel " + kernel.name + " ", 0) == 0) code.kernels[kernel.name] = {line, line};
    for (const Node& node : program.nodes)
      for (ValueId id : node.outputs)
        if (one.rfind("  %" + std::to_string(node.outputs[0]), 0) == 0 &&
            one.find(" = " + node.op + "(") != std::string::npos)
          code.values[id] = {line, line};
    if (end == std::string::npos) break;
    start = end + 1;
    ++line;
  }
  return code;
}

Status supports(const Program& program, const Kernel& kernel, const Hardware&) {
  return can_generate(program, kernel.values);
}

// A reduction that no loop over tiles runs in parallel.
bool has_serial_reduction(const Group& group) {
  for (const Frame& frame : build_frames(group)) {
    if (!frame.shared.empty()) continue;
    for (int s = frame.first; s <= frame.last; ++s)
      if (is_reduction(group.stages[s].stage.combine)) return true;
  }
  return false;
}

// The cost model sees a split only where nothing else runs in parallel.
bool distinguishes(const Program& alone, const Choice& choice, const Hardware&) {
  if (choice.key != "split") return true;
  const auto group = build_group(alone, alone.kernels[0]);
  return group.ok() && has_serial_reduction(*group);
}

// Of a GPU's profile as triton's kernels are priced.
KernelCost cost(const Program& program, const Kernel& kernel, const Hardware& hardware) {
  return hardware.capability > 0 ? gpu_cost(program, kernel, hardware) : cpu_cost(program, kernel, hardware);
}

Result<Machine> machine() { return Machine{null_hardware(), false}; }

}  // namespace

extern const TargetDef null_def;
const TargetDef null_def{.name = "null",
                         .doc = "no compiler: times come from the cost model; for tests and training",
                         .words = {"tiled", "pipelined", "split", "order"},
                         .machine = machine,
                         .cost = cost,
                         .emit = emit,
                         .supports = supports,
                         .initial_choices = tiled_products,
                         .distinguishes = distinguishes};

}  // namespace mtmc
