// What this machine's CPU is and does: names and caches from the system, rates from a short measurement that is kept
// for the next start.
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/cores.h"
#include "base/hash.h"
#include "base/text.h"
#include "ir/hardware.h"
#include "ir/hardware_cache.h"

namespace mtmc {
namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

std::string cpu_field(const std::string& name) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.rfind(name, 0) == 0) return std::string(trim(line.substr(line.find(':') + 1)));
  return {};
}

int64_t cache_bytes(int level, int64_t otherwise) {
  for (int index = 0; index < 6; ++index) {
    const std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/";
    std::ifstream level_file(folder + "level"), size_file(folder + "size"), type_file(folder + "type");
    int found = 0;
    int64_t kib = 0;
    std::string type;
    if (level_file >> found && size_file >> kib && type_file >> type && found == level && type != "Instruction")
      return kib << 10;
  }
  return otherwise;
}

// Runs `work` on every core at once and returns how much of it a second gets done, each call counting `amount`.
template <typename Work>
double rate_once(int cores, double amount, const Work& work) {
  std::vector<std::thread> threads;
  std::vector<double> done(cores, 0);
  for (int t = 0; t < cores; ++t)
    threads.emplace_back([&, t] {
      work(t);  // touch and warm
      const auto start = Clock::now();
      double calls = 0;
      while (seconds_since(start) < 0.06) work(t), calls += 1;
      done[t] = calls * amount / seconds_since(start);
    });
  for (std::thread& thread : threads) thread.join();
  double total = 0;
  for (double one : done) total += one;
  return total;
}

// The best of several: a peak, whatever else the machine does meanwhile.
template <typename Work>
double rate(int cores, double amount, const Work& work) {
  double best = 0;
  for (int i = 0; i < 5; ++i) best = std::max(best, rate_once(cores, amount, work));
  return best;
}

// Twelve independent chains of multiply-adds; the sum keeps them alive.
#define MTMC_FMA_KERNEL(name, features, bytes)                                                                    \
  __attribute__((target(features))) float name() {                                                                \
    typedef float Lanes __attribute__((vector_size(bytes)));                                                      \
    Lanes acc[12] = {};                                                                                           \
    const Lanes x = Lanes{} + 0.999f, y = Lanes{} + 1e-3f;                                                        \
    for (int i = 0; i < 4096; ++i) _Pragma("GCC unroll 12") for (int a = 0; a < 12; ++a) acc[a] = acc[a] * x + y; \
    float sum = 0;                                                                                                \
    for (const Lanes& one : acc) sum += one[0];                                                                   \
    return sum;                                                                                                   \
  }
#if defined(__x86_64__)
MTMC_FMA_KERNEL(fma_512, "avx512f,fma", 64)
MTMC_FMA_KERNEL(fma_256, "avx2,fma", 32)
#endif
MTMC_FMA_KERNEL(fma_plain, "default", 16)
#undef MTMC_FMA_KERNEL

void measure(Hardware& hardware) {
  float (*kernel)() = fma_plain;
  hardware.vector_bytes = 16;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) kernel = fma_256, hardware.vector_bytes = 32;
  if (__builtin_cpu_supports("avx512f")) kernel = fma_512, hardware.vector_bytes = 64;
#endif
  std::vector<float> sink(hardware.cores);
  hardware.flops_f32 =
      rate(hardware.cores, 12.0 * 4096 * 2 * hardware.vector_bytes / 4, [&](int t) { sink[t] += kernel(); });
  hardware.flops_special = hardware.flops_f32 / 3;  // weighted operations: polynomials run as multiply-adds
  std::vector<std::vector<char>> from(hardware.cores, std::vector<char>(48 << 20, 1)), to = from;
  hardware.bandwidth =
      rate(hardware.cores, 2.0 * (48 << 20), [&](int t) { std::copy(from[t].begin(), from[t].end(), to[t].begin()); });
  const size_t small = static_cast<size_t>(hardware.l2_bytes / 4);
  hardware.cache_bandwidth = rate(hardware.cores, 2.0 * static_cast<double>(small), [&](int t) {
    std::copy(from[t].begin(), from[t].begin() + static_cast<std::ptrdiff_t>(small), to[t].begin());
  });
}

constexpr double kMeasuredFor = 1;  // hour
constexpr double kFaster = 1.03;    // what is less than so much faster than before is the same

// Rates are peaks, and others' work makes a machine seem slower than it is: the best of all that was measured counts.
Hardware better(Hardware known, const Hardware& now) {
  for (double Hardware::*rate :
       {&Hardware::flops_f32, &Hardware::flops_special, &Hardware::bandwidth, &Hardware::cache_bandwidth})
    if (now.*rate > kFaster * known.*rate) known.*rate = now.*rate;
  return known;
}

}  // namespace

Hardware detect_cpu() {
  Hardware hardware;
  hardware.target = "cpu";
  hardware.cores = static_cast<int>(usable_cores().size());
  std::string model = cpu_field("model name");
  if (model.empty()) model = "CPU";
  hardware.name = model + ", " + std::to_string(hardware.cores) + (hardware.cores == 1 ? " core" : " cores");
  const auto known = kept_hardware("cpu", hardware.name);
  const bool ours = known && known->name == hardware.name;
  if (ours && hours_kept("cpu", hardware.name) < kMeasuredFor) return *known;
  hardware.l1_bytes = cache_bytes(1, hardware.l1_bytes);
  hardware.l2_bytes = cache_bytes(2, hardware.l2_bytes);
  hardware.l3_bytes = cache_bytes(3, hardware.l3_bytes);
  measure(hardware);
  if (ours) hardware = better(*known, hardware);
  keep_hardware("cpu", hardware.name, hardware);
  return hardware;
}

}  // namespace mtmc
