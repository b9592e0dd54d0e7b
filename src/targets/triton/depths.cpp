#include "targets/triton/depths.h"

namespace mtmc::triton {
namespace {

constexpr int64_t kDeepest = 6;

}  // namespace

std::vector<Numbers> other_depths(const Numbers& now, int64_t otherwise, int64_t bytes_of_stage) {
  const auto stages = now.find("stages");
  const int64_t present = stages == now.end() ? otherwise : stages->second;
  std::vector<Numbers> all;
  for (int64_t depth = 2; depth <= kDeepest && depth * bytes_of_stage <= kSharedBytes; ++depth) {
    if (depth == present) continue;
    all.push_back(now);
    all.back()["stages"] = depth;
  }
  return all;
}

}  // namespace mtmc::triton
