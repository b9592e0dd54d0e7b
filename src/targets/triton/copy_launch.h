// Copies in half precision that compute what they copy. Where nothing else needs it in memory, its stages join the
// copy's launch: a depthwise filter before a 1x1 convolution, say, never writes its results as f32.
#pragma once
#include "targets/triton/prepare.h"

namespace mtmc::triton {

// The stages of a launch that makes a copy: its producers, then the copy.
struct CopyLaunch {
  int first = -1, copy = -1;
};
// The launch that stage s belongs to; nothing when it makes no copy.
std::optional<CopyLaunch> copy_launch_of(const Group& group, int s);

// `numbers`: those of these launches.
Prepared compute_in_copies(const Prepared& prepared, const Numbers& numbers, const Hardware& hardware);

}  // namespace mtmc::triton
