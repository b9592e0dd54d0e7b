// A target prints Programs as kernel.py: a standalone module with ModelNew. Each says all about itself in one file,
// src/targets/defs/NAME.cpp, found by the generated table.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/lines.h"
#include "base/result.h"
#include "ir/hardware.h"
#include "ir/program.h"

namespace mtmc {

struct Group;
struct KernelCost;

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

struct Code {
  std::string text;                               // kernel.py
  std::map<std::string, LineRange> kernels = {};  // kernel name -> its lines in text
  std::map<ValueId, LineRange> values = {};       // the lines that a value's computation spans
};

// Where a target's kernels run, in the judge's words. `none`: nowhere, candidates are priced by the cost model.
enum class Device { none, cpu, cuda };
std::string_view to_string(Device device);

// This machine as a target finds it.
struct Machine {
  Hardware hardware;  // what the kernels run on; where it is missing here, what they are priced for
  bool runs = true;   // whether kernels can be run and timed here; if not, the cost model prices them
};

// A word of a kernel's schedule.
struct Choice {
  std::string_view key, word;  // "order", "reversed"
};

using Numbers = std::map<std::string, int64_t>;

// What a target without a choice says.
void no_choices(const Group& group, const Hardware& hardware, Kernel& kernel);
std::vector<Numbers> no_candidates(const Program& program, const Kernel& kernel, const Hardware& hardware);
std::vector<std::string> no_precisions(const Program& program, const Kernel& kernel);
bool always_distinguishes(const Program& alone, const Choice& choice, const Hardware& hardware);

// What several say. An unblocked product is of no use to anybody.
void tiled_products(const Group& group, const Hardware& hardware, Kernel& kernel);
// Without a GPU here, kernels are still printed, and priced as on an H200.
Result<Machine> gpu_machine();

struct TargetDef {
  std::string_view name, doc;
  Device device = Device::none;
  // What a machine must have to run its kernels ("GPU"), and what kernel.py needs beside torch ("a C++ compiler"), as
  // people read it; empty: nothing.
  std::string_view needs = "", software = "";
  // What can still check its kernels on a machine that cannot run them ("Triton's interpreter"); empty: nothing.
  std::string_view interpreter = "";
  // `auto` means the target with the highest rank whose kernels this machine runs; never one of rank 0.
  int rank = 0;
  // Nothing prints its kernels: they are free code from the first step on, and no state is shown with a Program.
  bool handwritten = false;
  // Captures are graphs of whole calls, library calls included; else they are runs of generated kernels.
  bool graphs = false;
  // The words of a schedule that its printer reads (ir/schedule_words.h).
  std::vector<std::string_view> words;
  // Those of them that only say which of a kernel's numbers are measured: without them it is printed with the best
  // guess. They end with the numbers, when the kernel becomes another.
  std::vector<std::string_view> measured = {};

  // What this machine has for it. An Error: what it needs is here, but does not work.
  Result<Machine> (*machine)();
  // Its cost model: the time of a kernel, which may be a library call.
  KernelCost (*cost)(const Program& program, const Kernel& kernel, const Hardware& hardware);
  // The whole module. Deterministic. An Error names the kernel that cannot be printed on this target.
  Result<Code> (*emit)(const Program& program, const Hardware& hardware, const ModuleShell& shell);
  // Whether this target can print a kernel of these values (Error: why not).
  Status (*supports)(const Program& program, const Kernel& kernel, const Hardware& hardware);

  // The numbers micro coding may try for a kernel, those that it has or else the best guess first. Those of a part of
  // the kernel that can be tuned by itself are called PART_name.
  std::vector<Numbers> (*candidates)(const Program& program, const Kernel& kernel,
                                     const Hardware& hardware) = no_candidates;
  // Gives a new kernel of this group the choices that it begins with.
  void (*initial_choices)(const Group& group, const Hardware& hardware, Kernel& kernel) = no_choices;
  // How exactly it can multiply in this kernel, best first; empty: there is no choice.
  std::vector<std::string> (*precisions)(const Program& program, const Kernel& kernel) = no_precisions;
  // Whether it prints a kernel differently with one more choice, of a word that it reads. The kernel is all that
  // `alone` has.
  bool (*distinguishes)(const Program& alone, const Choice& choice, const Hardware& hardware) = always_distinguishes;

  bool reads(std::string_view word) const;
  bool measures(std::string_view word) const;
};

const TargetDef* find_target(std::string_view name);
std::vector<const TargetDef*> all_targets();

// A target on this machine.
struct TargetHere {
  const TargetDef* target;
  Machine machine;
};
// By name, or what `auto` means here. With `hardware`, a profile (see ir/hardware.h), nothing runs here: kernels are
// priced for that machine. An Error: no target or profile has this name, the two do not go together, or what the target
// needs does not work.
Result<TargetHere> choose_target(std::string_view name, const std::string& hardware = "");

}  // namespace mtmc
