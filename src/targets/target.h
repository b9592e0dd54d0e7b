// A target prints Programs as kernel.py: a standalone module with ModelNew. One file per target (src/targets/NAME.cpp),
// found by the generated table.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ir/hardware.h"
#include "ir/program.h"

namespace mtmc {

struct Group;

// What the emitted module needs to know of the user's module, beside the graph.
struct ModuleShell {
  std::string
      constructor_source;  // defines class ModelNew without forward; the line `# mtmc: forward` marks where it goes
  std::vector<std::string> arguments;  // forward's parameters as text, in order ("x", "scale=2.0", "*", "mask=None")
  std::vector<std::string> opening;    // statements that forward begins with: checks of fixed arguments, "x0 = xs[0]"
  std::map<std::string, std::string> sources;  // "mlp.py:15" -> the user's line of that place
  std::string
      outputs;  // how results are returned: a Python expression over {0}, {1}, ...; empty: the tensor or a tuple
  std::string description;  // one line for the docstring: "GELU MLP from gelu_mlp.py"
};

struct LineRange {
  int first = 0, last = 0;  // 1-based, inclusive
};

struct Code {
  std::string text;                          // kernel.py
  std::map<std::string, LineRange> kernels;  // kernel name -> its lines in text
  std::map<ValueId, LineRange> values;       // the lines that a value's computation spans
};

struct TargetDef {
  std::string_view name, doc;
  // The whole module. Deterministic. An Error names the kernel that cannot be printed on this target.
  Result<Code> (*emit)(const Program& program, const Hardware& hardware, const ModuleShell& shell);
  // Whether this target can print a kernel of these values (Error: why not).
  Status (*supports)(const Program& program, const Kernel& kernel);
  // The numbers micro coding may try for a kernel, best guess first (cost model); empty maps mean "no numbers to
  // choose".
  std::vector<std::map<std::string, int64_t>> (*candidates)(const Program& program, const Kernel& kernel,
                                                            const Hardware& hardware);
  // The choices that a new kernel of this group begins with; null: none.
  void (*begin)(const Group& group, Kernel& kernel) = nullptr;
  // How exactly it can multiply in this kernel, best first ("split", "ieee"); null or empty: there is no choice.
  std::vector<std::string> (*precisions)(const Program& program, const Kernel& kernel) = nullptr;
  // Whether it prints a kernel of this group differently with a choice of its schedule ("tiled", "split"); null:
  // always.
  bool (*heeds)(const Group& group, std::string_view choice) = nullptr;
  // Captures are graphs of whole calls, library calls included; else they are runs of generated kernels.
  bool graphs = false;
};

const TargetDef* find_target(std::string_view name);
std::vector<const TargetDef*> all_targets();

}  // namespace mtmc
