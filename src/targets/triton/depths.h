// How many steps of a loop are loaded ahead of the one that computes: "stages".
#pragma once
#include <vector>

#include "targets/triton/launch.h"

namespace mtmc::triton {

constexpr int64_t kSharedBytes = 200 << 10;  // that a program has on Hopper, less some room

// `now` with other "stages" that fit shared memory; `otherwise` is what an absent one means.
std::vector<Numbers> other_depths(const Numbers& now, int64_t otherwise, int64_t bytes_of_stage);

}  // namespace mtmc::triton
