// The tiles of a contraction that are worth measuring.
#pragma once
#include <vector>

#include "ir/hardware.h"
#include "targets/triton/launch.h"

namespace mtmc::triton {

struct ContractionSizes {
  int64_t m = 1, n = 1, lane = 1,
          matrices = 1;   // of one matrix, `lane` of its K in blocks; how many matrices there are
  bool f32 = false;       // multiplied as f32
  bool two_part = false;  // operands are sums of two f16 numbers
  bool splits = false;    // of which the right one's are found in the loop
  bool phases = false;    // one program may compute two matrices
  bool overlaps = false;  // several rows of an operand share elements within a block of K
};

// "m", "n" and "k" of a block, "warps", "stages", and "group", tiles of rows one after the other; where there are
// phases, "phases", how many a program computes, and "taps", how many elements of their window one step multiplies at
// most. Best guess first.
std::vector<Numbers> contraction_numbers(const ContractionSizes& sizes, const Hardware& hardware);

}  // namespace mtmc::triton
