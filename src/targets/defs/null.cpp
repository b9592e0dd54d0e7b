// The null target: no compiler and no clock. Its kernel.py is the Program's text in a comment; times come from the cost
// model.
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

Status supports(const Program& program, const Kernel& kernel) { return can_generate(program, kernel.values); }
std::vector<std::map<std::string, int64_t>> candidates(const Program&, const Kernel&, const Hardware&) { return {}; }

void begin(const Group&, Kernel& kernel) {
  if (kernel.family == Family::contraction) kernel.choices["tiled"] = "";
}

}  // namespace

extern const TargetDef null_def;
const TargetDef null_def{
    "null", "no compiler: times come from the cost model; for tests and training", emit, supports, candidates, begin};

}  // namespace mtmc
