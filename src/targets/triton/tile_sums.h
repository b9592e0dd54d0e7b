// Reductions along the rows of a product, or of what is made of it element by element: the means of a convolution's
// images, the moments of a norm behind it. Each tile gives its part while it is in registers, and the parts are
// combined: the product is not read again for them, and where nothing else reads it, it never is in memory.
#pragma once
#include "targets/triton/prepare.h"

namespace mtmc::triton {

// The reductions right behind a product become the parts of its tiles (GroupStage::tile_rows) and their combination.
// Moments are found about each tile's own mean (Chan, Golub and LeVeque, 1979).
Group sum_in_tiles(const Group& group);
// Does a stage combine parts of tiles, few enough for a program to hold? To cut those again is not worth its launches.
bool combines_few_parts(const Group& group, size_t stage);
// Products whose tiles give parts walk rows of one part only: their other rows' axes number matrices.
void part_rows(Group& group);

}  // namespace mtmc::triton
