// One launch of a kernel: a Triton function and how it is called.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "ir/hardware.h"
#include "targets/frame.h"
#include "targets/triton/tile.h"

namespace mtmc::triton {

using Numbers = std::map<std::string, int64_t>;

struct TritonLaunch {
  std::string name;
  std::string functions;                // that the function calls
  std::string body;                     // the function's lines
  std::vector<std::string> parameters;  // names in the function
  std::vector<std::string> arguments;   // what is passed: a parameter's name stands for the tensor of that name
  int64_t programs = 1, warps = 4, stages = 1;
  std::vector<std::string> helpers;
  // "@triton.jit ..."; `waits`: it is scheduled before the launch ahead of it has finished.
  std::string source(bool waits) const;
};

// Frames of pointwise, movement, reduction, window and scan code; see rows_printer.cpp. `numbers`: "rows", "block",
// "warps", "stages" where it loops over columns; what is absent is chosen.
TritonLaunch print_rows(const Group& group, const Frame& frame, const std::string& name, const Numbers& numbers,
                        const Hardware& hardware);
// The numbers that `print_rows` would choose, and neighbours worth measuring, best guess first.
std::vector<Numbers> rows_candidates(const Group& group, const Frame& frame, const Hardware& hardware);
// The same with other "stages"; none where it does not loop.
std::vector<Numbers> rows_depths(const Group& group, const Frame& frame, const Numbers& now, const Hardware& hardware);
// Other tiles worth measuring for a launch that computes what it copies.
std::vector<Numbers> copy_candidates(const Group& group, const Frame& frame);

}  // namespace mtmc::triton
