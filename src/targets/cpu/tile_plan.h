// How a frame is cut into tiles on the CPU.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "targets/cpu/stage_printer.h"

namespace mtmc {

// Where a contraction's axes go in a tile's blocked product: the result's rows and columns, what is looped outside, and
// what is packed.
struct BlockedProduct {
  int row = -1;               // the axis that is the result's rows
  std::vector<int> cols;      // axes that together are its columns (unit stride in the result), outermost first
  std::vector<int> outer;     // other axes, looped around the product
  bool cols_on_right = true;  // the columns' operand is `right`
};

// nullopt: the tile's result has no unit-stride axis on either operand's side, so plain loops are used.
std::optional<BlockedProduct> plan_product(const StagePlan& plan);

// Tile extents of a frame's shared axes, from the kernel's numbers or by default.
std::vector<int64_t> tile_extents(const Group& group, const Frame& frame, const Kernel& kernel,
                                  const std::map<std::string, int64_t>& numbers);

// The frame that does most of the work: the one the kernel's numbers speak of.
int main_frame(const Group& group, const std::vector<Frame>& frames);
double frame_work(const Group& group, const Frame& frame);

// The stage plan before tiling: every axis a whole loop; for asking which axis to vectorise.
StagePlan whole_plan(const Group& group, int stage);

}  // namespace mtmc
