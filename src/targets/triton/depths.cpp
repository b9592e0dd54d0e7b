#include "targets/triton/depths.h"

#include <algorithm>

namespace mtmc::triton {
namespace {

constexpr int64_t kDeepest = 6;
constexpr int64_t kOnEvery = 48 << 10;  // bytes of shared memory that a program has on every GPU
constexpr int64_t kRoom = 27 << 10;     // bytes of it that are for other things

}  // namespace

int64_t room_ahead(const Hardware& hardware) { return std::max(hardware.shared_bytes, kOnEvery) - kRoom; }

std::vector<Numbers> other_depths(const Numbers& now, int64_t otherwise, int64_t bytes_of_stage,
                                  const Hardware& hardware) {
  const auto stages = now.find("stages");
  const int64_t present = stages == now.end() ? otherwise : stages->second;
  std::vector<Numbers> all;
  for (int64_t depth = 2; depth <= kDeepest && depth * bytes_of_stage <= room_ahead(hardware); ++depth) {
    if (depth == present) continue;
    all.push_back(now);
    all.back()["stages"] = depth;
  }
  return all;
}

}  // namespace mtmc::triton
