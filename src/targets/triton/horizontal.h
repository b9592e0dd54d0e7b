// Horizontal fusion: a small launch that depends on nothing since an earlier one is made by that one's first programs.
// Weights are packed while the input is copied.
#pragma once
#include <vector>

#include "targets/triton/launch.h"

namespace mtmc::triton {

// For each frame the earlier one whose launch makes it, too; -1: it is a launch by itself.
std::vector<int> find_hosts(const Group& group, const std::vector<Frame>& frames);
// Both as one launch, with the warps of `host`, for which `guest` was printed.
TritonLaunch fuse(const TritonLaunch& host, const TritonLaunch& guest);

}  // namespace mtmc::triton
