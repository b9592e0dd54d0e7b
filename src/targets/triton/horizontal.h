// Horizontal fusion: a small launch joins an earlier one when it depends on nothing in between. The first programs of
// that launch do its work: weights are packed while the input is copied.
#pragma once
#include <vector>

#include "targets/triton/launch.h"

namespace mtmc::triton {

// For each frame its host, the earlier one whose launch does its work as well; -1: it is a launch by itself.
std::vector<int> find_hosts(const Group& group, const std::vector<Frame>& frames);
// All as one launch, with the warps of `host`, for which the guests were printed.
TritonLaunch fuse(const TritonLaunch& host, const std::vector<TritonLaunch>& guests);

}  // namespace mtmc::triton
