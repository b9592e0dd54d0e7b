// The cuda target: CUDA C++ that a person or a language model writes. Nothing is printed for it but the torch calls
// that such code begins with.
#include "targets/cost.h"
#include "targets/module_printer.h"

namespace mtmc {
namespace {

Status supports(const Program&, const Kernel& kernel, const Hardware&) {
  return Error{"printing " + kernel.name, "kernels of the target cuda are written by hand", "",
               "a library kernel, or --target triton"};
}

Result<Code> emit(const Program& program, const Hardware& hardware, const ModuleShell& shell) {
  for (const Kernel& kernel : program.kernels)
    if (kernel.family != Family::library) return supports(program, kernel, hardware).error();
  ModuleParts parts;
  parts.device = Device::cuda;
  return print_module(program, shell, parts);
}

}  // namespace

extern const TargetDef cuda_def;
const TargetDef cuda_def{.name = "cuda",
                         .doc = "CUDA C++ for NVIDIA GPUs that a language model writes, compiled by NVRTC",
                         .device = Device::cuda,
                         .needs = "GPU",
                         .handwritten = true,
                         .words = {},
                         .machine = gpu_machine,
                         .cost = gpu_cost,
                         .emit = emit,
                         .supports = supports};

}  // namespace mtmc
