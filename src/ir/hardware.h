// Hardware facts: what the cost model and the policy know about the machine.
#pragma once
#include <string>

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
  bool operator==(const Hardware&) const = default;
};

Json to_json(const Hardware& hardware);
Result<Hardware> hardware_from_json(const Json& json);
// This machine's CPU: name and caches from the system, rates from a 0.2 s measurement cached under the user's cache
// folder.
Hardware detect_cpu();
// Fixed facts, equal everywhere: for the null target, tests and training.
Hardware null_hardware();

}  // namespace mtmc
