// Hardware facts: what the cost model and the policy know about the machine.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace mtmc {

struct Hardware {
  std::string name = "null";       // "AMD EPYC 9554, 2 cores", "NVIDIA H200"
  std::string target = "null";     // cpu | triton | cuda | null
  int cores = 2;                   // cores, or streaming multiprocessors
  int vector_bytes = 64;           // SIMD register width
  double bandwidth = 20e9;         // bytes per second, main memory, all cores
  double cache_bandwidth = 200e9;  // bytes per second from the last private cache, all cores
  int64_t l1_bytes = 32 << 10, l2_bytes = 1 << 20, l3_bytes = 32 << 20;  // l1, l2 a core; l3 shared
  double flops_f32 = 150e9;                                              // fused multiply-adds count two, all cores
  double flops_special = 20e9;    // exp and its like, weighted operations a second
  double launch_seconds = 3e-6;   // one kernel call from Python
  double library_seconds = 5e-6;  // one torch operator call
  // Of GPUs; zero where there is no such thing.
  double flops_tf32 = 0, flops_f16 = 0;     // of the matrix units, as a library reaches them
  int64_t shared_bytes = 0, registers = 0;  // shared memory that one block may have; 32-bit registers, a multiprocessor
  int capability = 0;                       // 90 for sm_90
  int64_t memory_bytes = 0;                 // of the device
  bool operator==(const Hardware&) const = default;
};

Json to_json(const Hardware& hardware);
Result<Hardware> hardware_from_json(const Json& json);
// This machine's CPU: name and caches from the system, rates from a 0.2 s measurement kept under the user's cache
// folder. An hour later it is measured again, and the better rates are kept: something else may have used the machine.
Hardware detect_cpu();
// This machine's NVIDIA GPUs as CUDA_VISIBLE_DEVICES names them, without starting the driver: those that it names where
// it is set.
std::vector<std::string> gpus();
// The first of them, as python/mtmc/device/hardware.py finds and measures it, kept like the CPU's. Empty
// where there is none; an Error where there is one that does not work.
Result<std::optional<Hardware>> detect_gpu();
// A machine that is not here: one of src/ir/profiles by its name ("h100"), or a JSON file with these fields. An Error
// names the profiles there are.
Result<Hardware> hardware_profile(const std::string& name_or_file);
std::vector<std::string> hardware_profiles();  // their names
// The features that kernels are chosen by, in one line, as the paper's Table 2 has them: "NVIDIA H100: Hopper, 132 SMs,
// 80 GB memory, 227 KB shared memory per SM, 50 MB L2, 2900 GB/s, 51 TFLOP/s FP32". What is not known is left out.
std::string hardware_line(const Hardware& hardware);
// An H200 as it was measured: emits and ranks for the target triton on machines without a GPU.
Hardware h200_hardware();
// Fixed facts, equal everywhere: for the null target, tests and training.
Hardware null_hardware();

}  // namespace mtmc
