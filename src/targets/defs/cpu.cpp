// The cpu target: one C++ function a kernel, OpenMP over tiles, explicit vector code, compiled by the system compiler
// when kernel.py is imported.
#include <algorithm>

#include "base/kernel_headers.h"
#include "base/text.h"
#include "targets/cost.h"
#include "targets/cpu/kernel_printer.h"
#include "targets/cpu/prelude.h"
#include "targets/cpu/tile_plan.h"
#include "targets/module_printer.h"

namespace mtmc {
namespace {

constexpr std::string_view kSoftware = "a C++ compiler";

constexpr const char* kImports =
    "import ctypes\nimport glob\nimport hashlib\nimport os\nimport shutil\nimport subprocess\nimport tempfile\n";

constexpr const char* kLoader = R"PY(

def _build():
    """Compiles SOURCE for this machine, once per content; the library shares torch's OpenMP threads."""
    compiler = os.environ.get("CXX", "g++")
    torch_libraries = os.path.join(os.path.dirname(torch.__file__), "lib")
    openmp = sorted(glob.glob(os.path.join(torch_libraries, "libgomp*")) + glob.glob(torch_libraries + "/../../torch.libs/libgomp*"))
    flags = @FLAGS@
    link = ["-shared"] + ([openmp[0], "-Wl,-rpath," + os.path.dirname(openmp[0])] if openmp else ["-fopenmp"])
    with open("/proc/cpuinfo") as file:
        machine = sorted({line for line in file if line.startswith(("flags", "model name"))})
    key = hashlib.sha256("\0".join([SOURCE, compiler, *flags, *link, *machine]).encode()).hexdigest()[:24]
    folder = os.environ.get("MTMC_KERNEL_CACHE") or os.path.expanduser("~/.cache/mtmc/kernels")
    path = os.path.join(folder, key + ".so")
    if not os.path.exists(path):
        doing = f"compiling the kernels of {_DESCRIPTION}"
        if shutil.which(compiler) is None:
            raise RuntimeError(f"{doing} needs a C++ compiler: found no {compiler} (g++, or $CXX)")
        try:
            os.makedirs(folder, exist_ok=True)
            made_in = tempfile.TemporaryDirectory(dir=folder)
        except OSError as error:
            raise RuntimeError(f"{doing} needs a folder to keep them ($MTMC_KERNEL_CACHE): {error}") from None
        with made_in as scratch:
            source, unit, made = (os.path.join(scratch, name) for name in ("kernels.cpp", "kernels.o", "kernels.so"))
            with open(source, "w") as file:
                file.write(SOURCE)
            for command in ([compiler, *flags, "-c", source, "-o", unit], [compiler, unit, *link, "-o", made]):
                done = subprocess.run(command, capture_output=True, text=True)
                if done.returncode != 0:
                    raise RuntimeError(f"{doing} with {compiler}:\n{done.stderr[:4000]}")
            os.replace(made, path)
    return ctypes.CDLL(path)


_library = _build()
)PY";

std::string signature(const std::string& function, size_t pointers) {
  return "_library." + function + ".argtypes = [ctypes.c_void_p] * " + std::to_string(pointers) + "\n_library." +
         function + ".restype = None\n";
}

// The comment above a kernel: its operators and where they stand in the user's file.
std::string heading(const Program& program, const Kernel& kernel) {
  std::vector<std::string> ops;
  for (const Node& node : program.nodes) {
    if (std::find(kernel.values.begin(), kernel.values.end(), node.outputs[0]) == kernel.values.end()) continue;
    ops.push_back(node.op + (node.location.empty() ? "" : " (" + node.location + ")"));
  }
  return "// " + kernel.name + ": " + join(ops, ", ") + "\n";
}

// Captured kernels become one call: a function that runs them all.
std::vector<Launch> captured(const Program& program, std::vector<Launch> launches,
                             const std::map<std::string, std::string>& functions, std::string& source,
                             std::string& signatures) {
  for (const auto& capture : program.captures) {
    std::vector<std::string> parameters, arguments;
    std::string body;
    size_t next = 0;
    Launch* last = nullptr;
    for (const std::string& name : capture) {
      for (Launch& launch : launches) {
        if (launch.kernel != name) continue;
        std::vector<std::string> own;
        for (const auto* list : {&launch.reads, &launch.writes})
          for (ValueId id : *list) {
            own.push_back("p" + std::to_string(next++));
            arguments.push_back("{" + std::to_string(id) + "}.data_ptr()");
          }
        body += "  " + functions.at(name) + "(" + join(own, ", ") + ");\n";
        if (last) last->call.clear();
        last = &launch;
      }
    }
    if (!last) continue;
    for (size_t i = 0; i < next; ++i) parameters.push_back("p" + std::to_string(i));
    const std::string function = "run_" + join(capture, "_");
    std::vector<std::string> declared;
    for (const std::string& parameter : parameters) declared.push_back("Any " + parameter);
    source += "extern \"C\" void " + function + "(" + join(declared, ", ") + ") {\n" + body + "}\n\n";
    signatures += signature(function, next);
    last->call = "_library." + function + "(" + join(arguments, ", ") + ")";
  }
  return launches;
}

Result<Code> emit(const Program& program, const Hardware& hardware, const ModuleShell& shell) {
  ModuleParts parts;
  parts.software = kSoftware;
  std::string source, signatures;
  std::map<std::string, std::string> functions;
  for (const Kernel& kernel : program.kernels) {
    if (kernel.family == Family::library) continue;
    MTMC_TRY(const CpuKernel printed, print_cpu_kernel(program, kernel, hardware));
    Launch launch;
    launch.kernel = kernel.name;
    launch.reads = printed.reads;
    launch.writes = printed.writes;
    std::vector<std::string> arguments;
    for (ValueId id : printed.arguments) arguments.push_back("{" + std::to_string(id) + "}.data_ptr()");
    launch.call = "_library." + printed.name + "(" + join(arguments, ", ") + ")";
    const std::string text = heading(program, kernel) + printed.text;
    launch.source_marker = text.substr(0, text.find('\n'));
    launch.source_lines = static_cast<int>(std::count(text.begin(), text.end(), '\n'));
    source += text + "\n";
    signatures += signature(printed.name, printed.arguments.size());
    functions[kernel.name] = printed.name;
    parts.launches.push_back(std::move(launch));
  }
  if (!parts.launches.empty()) {
    if (!program.captures.empty())
      source +=
          "// A pointer of any type, so that captured kernels can be passed theirs.\nstruct Any { void* p; template "
          "<class T> operator T*() const { return (T*)p; } };\n\n";
    parts.launches = captured(program, std::move(parts.launches), functions, source, signatures);
    const std::string unit = "#include <algorithm>\n" + cpu_prelude(source) + "\n" + source;
    parts.imports = kImports;
    parts.source = "SOURCE = r'''\n" + unit + "'''\n" + replace_all(kLoader, "@FLAGS@", kKernelFlags) + signatures;
  }
  return print_module(program, shell, parts);
}

Status supports(const Program& program, const Kernel& kernel, const Hardware&) {
  MTMC_RETURN_IF_ERROR(refuse_recurrent(program, kernel));
  return can_generate(program, kernel.values);
}

// Neighbours of the default tiles, best guess first.
std::vector<Numbers> candidates(const Program& program, const Kernel& kernel, const Hardware& hardware) {
  const auto built = build_group(program, kernel);
  if (!built.ok()) return {};
  const Group group = collapse_axes(*built);
  const std::vector<Frame> frames = build_frames(group);
  const Frame& frame = frames[main_frame(group, frames)];
  const auto base = default_numbers(group, frame, kernel, hardware);
  std::vector<Numbers> all = {base};
  const auto add = [&](const std::string& key, int64_t value, int64_t most) {
    auto changed = base;
    value = std::clamp<int64_t>(value, 1, most);
    if (changed.count(key) && changed[key] == value) return;
    changed[key] = value;
    if (std::find(all.begin(), all.end(), changed) == all.end()) all.push_back(std::move(changed));
  };
  // What helps most often first: the coder tries only the first few.
  if (kernel.has("tiled")) {
    for (const double factor : {0.5, 2.0, 0.25})
      for (size_t p = 0; p < frame.shared.size(); ++p) {
        const std::string key = "tile" + std::to_string(p);
        const int64_t now = base.at(key);
        if (now > 1) add(key, static_cast<int64_t>(static_cast<double>(now) * factor), frame.shared[p].extent);
      }
    if (base.count("depth"))
      for (const int64_t other : {128, 512}) add("depth", other, 1 << 20);
  }
  if (kernel.has("pipelined"))
    for (const int64_t other : {2, 8}) add("unroll", other, 8);
  return all;
}

bool distinguishes(const Program& alone, const Choice& choice, const Hardware& hardware) {
  Kernel changed = alone.kernels[0];
  changed.choices[std::string(choice.key)] = choice.word;
  const auto before = print_cpu_kernel(alone, alone.kernels[0], hardware);
  const auto after = print_cpu_kernel(alone, changed, hardware);
  return before.ok() && after.ok() && before->text != after->text;
}

Result<Machine> machine() { return Machine{detect_cpu()}; }

}  // namespace

extern const TargetDef cpu_def;
const TargetDef cpu_def{.name = "cpu",
                        .doc = "C++ with OpenMP and explicit vector code, built by the system compiler",
                        .device = Device::cpu,
                        .software = kSoftware,
                        .rank = 1,
                        .words = {"tiled", "pipelined", "split", "order"},
                        .machine = machine,
                        .cost = cpu_cost,
                        .emit = emit,
                        .supports = supports,
                        .candidates = candidates,
                        .initial_choices = tiled_products,
                        .distinguishes = distinguishes};

}  // namespace mtmc
