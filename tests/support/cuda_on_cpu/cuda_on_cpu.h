// CUDA C++ on a CPU, for tests of small kernels: the threads of a block are fibers that take turns until each of them
// waits or has ended. A block whose threads do not all come to the same __syncthreads, or a warp to the same shuffle,
// ends the process.
#pragma once
#include <ucontext.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

using std::isnan, std::isinf, std::min, std::max;

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __shared__ static
#define warpSize 32

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
};
struct alignas(8) float2 {
  float x, y;
};
struct alignas(16) float4 {
  float x, y, z, w;
};
inline float2 make_float2(float x, float y) { return {x, y}; }
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }

inline dim3 threadIdx, blockIdx, blockDim, gridDim;

namespace fibers {

enum class State { ready, at_block, at_warp, done };
struct Fiber {
  ucontext_t context;
  std::vector<char> stack = std::vector<char>(64 << 10);
  State state = State::ready;
  unsigned shuffles = 0;
};
inline std::vector<Fiber> all;
inline ucontext_t scheduler;
inline size_t now = 0;
inline std::vector<uint64_t> passed[2];  // what each thread passes on in this shuffle and in the next one
inline char* dynamic_shared = nullptr;

inline void wait(State state) {
  all[now].state = state;
  swapcontext(&all[now].context, &scheduler);
}

// Whether those of one group wait for each other, and none of them for something else; then they go on.
inline bool release(size_t first, size_t last, State state) {
  bool any = false;
  for (size_t i = first; i < last; ++i) {
    if (all[i].state != state && all[i].state != State::done) return false;
    any = any || all[i].state == state;
  }
  for (size_t i = first; i < last; ++i)
    if (all[i].state == state) all[i].state = State::ready;
  return any;
}

inline void run_block(void (*body)()) {
  const size_t threads = blockDim.x * blockDim.y * blockDim.z;
  all.resize(threads);
  for (auto& slots : passed) slots.assign(threads, 0);
  for (Fiber& fiber : all) {
    fiber.state = State::ready, fiber.shuffles = 0;
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack.data(), fiber.context.uc_stack.ss_size = fiber.stack.size();
    fiber.context.uc_link = &scheduler;
    makecontext(&fiber.context, body, 0);
  }
  for (size_t left = threads; left > 0;) {
    for (now = 0; now < threads; ++now) {
      if (all[now].state != State::ready) continue;
      threadIdx = {unsigned(now) % blockDim.x, unsigned(now) / blockDim.x % blockDim.y,
                   unsigned(now) / (blockDim.x * blockDim.y)};
      all[now].state = State::done;  // unless it comes to wait
      swapcontext(&scheduler, &all[now].context);
      left -= all[now].state == State::done;
    }
    bool moves = release(0, threads, State::at_block);
    for (size_t warp = 0; warp < threads; warp += 32)
      moves |= release(warp, std::min(threads, warp + 32), State::at_warp);
    if (left > 0 && !moves) std::fprintf(stderr, "threads wait for others that do not come\n"), std::abort();
  }
}

template <typename T>
T shuffle(T value, size_t from) {
  auto& slots = passed[all[now].shuffles++ % 2];
  std::memcpy(&slots[now], &value, sizeof value);
  wait(State::at_warp);
  std::memcpy(&value, &slots[std::min(from, slots.size() - 1)], sizeof value);
  return value;
}

// What the kernel of this launch is called with: an array of places, as cuLaunchKernel takes it.
inline void** arguments = nullptr;
template <auto kernel>
struct Body;
template <typename... Types, void (*kernel)(Types...)>
struct Body<kernel> {
  static void run() { call(std::index_sequence_for<Types...>()); }
  template <size_t... i>
  static void call(std::index_sequence<i...>) {
    kernel(*static_cast<std::remove_const_t<Types>*>(arguments[i])...);
  }
};

inline void launch(void (*body)(), const unsigned* sizes, void** given) {
  gridDim = {sizes[0], sizes[1], sizes[2]}, blockDim = {sizes[3], sizes[4], sizes[5]}, arguments = given;
  std::vector<float> memory(sizes[6] / sizeof(float) + 4, NAN);
  dynamic_shared = reinterpret_cast<char*>(memory.data());
  for (blockIdx.z = 0; blockIdx.z < gridDim.z; ++blockIdx.z)
    for (blockIdx.y = 0; blockIdx.y < gridDim.y; ++blockIdx.y)
      for (blockIdx.x = 0; blockIdx.x < gridDim.x; ++blockIdx.x) run_block(body);
}

}  // namespace fibers

inline void __syncthreads() { fibers::wait(fibers::State::at_block); }
inline void __syncwarp(unsigned = ~0u) { fibers::wait(fibers::State::at_warp); }
template <typename T>
T __shfl_xor_sync(unsigned, T value, int mask) {
  return fibers::shuffle(value, fibers::now ^ static_cast<size_t>(mask));
}
template <typename T>
T __shfl_down_sync(unsigned, T value, unsigned down) {
  return fibers::shuffle(value, fibers::now % 32 + down < 32 ? fibers::now + down : fibers::now);
}
template <typename T>
T __shfl_sync(unsigned, T value, int from) {
  return fibers::shuffle(value, fibers::now / 32 * 32 + static_cast<size_t>(from));
}
template <typename T>
T atomicAdd(T* place, T value) {
  return std::exchange(*place, *place + value);
}
template <typename T>
T __ldg(const T* place) {
  return *place;
}
inline float rsqrtf(float x) { return 1.0f / std::sqrt(x); }
inline float __int_as_float(unsigned bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
