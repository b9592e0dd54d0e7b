// The triton target, first stage: pointwise and reduction kernels; everything else stays a library call. The frames are
// those of the cpu target, printed differently.
#include <algorithm>

#include "base/text.h"
#include "targets/frame.h"
#include "targets/module_printer.h"
#include "targets/triton/kernel_printer.h"

namespace mtmc {
namespace {

Result<Code> emit(const Program& program, const Hardware&, const ModuleShell& shell) {
  ModuleParts parts;
  parts.device = "cuda";
  parts.imports = "import os\n\nimport triton\nimport triton.language as tl\n\n";
  for (const Kernel& kernel : program.kernels) {
    if (kernel.family == Family::library) continue;
    MTMC_TRY(const TritonKernel printed, print_triton_kernel(program, kernel));
    Launch launch;
    launch.kernel = kernel.name;
    launch.reads = printed.reads;
    launch.writes = printed.writes;
    std::vector<std::string> statements = printed.scratch;
    statements.insert(statements.end(), printed.calls.begin(), printed.calls.end());
    launch.call = join(statements, "; ");
    launch.source_marker = printed.text.substr(0, printed.text.find("(", printed.text.find("def ")));
    launch.source_lines = static_cast<int>(std::count(printed.text.begin(), printed.text.end(), '\n')) - 2;
    parts.source += printed.text;
    parts.launches.push_back(std::move(launch));
  }
  Code code = print_module(program, shell, parts);
  // Triton's interpreter runs on the CPU.
  code.text = replace_all(std::move(code.text), "_DEVICE = \"cuda\"\n",
                          "_DEVICE = \"cpu\" if os.environ.get(\"TRITON_INTERPRET\") == \"1\" else \"cuda\"\n");
  code.build_unit = parts.source;
  return code;
}

Status supports(const Program& program, const Kernel& kernel) {
  MTMC_RETURN_IF_ERROR(can_generate(program, kernel.values));
  const auto printed = print_triton_kernel(program, kernel);
  if (!printed.ok()) return printed.error();
  return ok_status();
}

std::vector<std::map<std::string, int64_t>> candidates(const Program&, const Kernel&, const Hardware&) { return {}; }

}  // namespace

extern const TargetDef triton_def;
const TargetDef triton_def{"triton", "Triton kernels for NVIDIA GPUs: pointwise and reductions so far", emit, supports,
                           candidates};

}  // namespace mtmc
