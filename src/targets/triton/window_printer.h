// Windows that overlap, walked by lanes that keep several neighbours along one axis: what two neighbours' windows share
// is read, and where it can be combined, once. A 5x5 maximum for eight rows reads 60 elements a lane instead of 200.
#pragma once
#include <vector>

#include "targets/triton/launch.h"

namespace mtmc::triton {

// `numbers`: "share", how many neighbours a lane keeps (a divisor of the axis's extent), "rows" lanes and "warps" of a
// program. Throws Unsupported for what `window_candidates` has nothing for.
TritonLaunch print_windows(const Group& group, const Frame& frame, const std::string& name, const Numbers& numbers);

// What is worth measuring, best guess first; empty where the frame is no reduction over overlapping windows.
std::vector<Numbers> window_candidates(const Group& group, const Frame& frame);
// Prints these or `print_rows`: as the numbers say, or else what is expected to be faster. The second copy of
// layout_pass.h, which rarely runs, is always printed by `print_rows`.
TritonLaunch print_lanes(const Group& group, const Frame& frame, const std::string& name, const Numbers& numbers,
                         const Hardware& hardware);
// Whether the first of them is expected to be faster than a lane for every window.
bool shares_much(const Group& group, const Frame& frame, const Hardware& hardware);

}  // namespace mtmc::triton
