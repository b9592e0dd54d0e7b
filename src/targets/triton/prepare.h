// What a kernel's schedule does to its group before it is printed: reductions are split into chunks, operands of
// contractions are packed in half precision, windows are laid out channels-last. The results are stages like any
// others.
#pragma once
#include <map>
#include <string>

#include "ir/hardware.h"
#include "targets/triton/contraction_printer.h"

namespace mtmc::triton {

// An f32 tensor as a scaled copy in f16: the tensors of the source's largest magnitude, of the scale and of the copy.
struct ScaledCopy {
  int largest = -1, scale = -1, copy = -1;
};

struct Prepared {
  Group group;
  std::map<int, Products> products;  // by stage
  std::vector<ScaledCopy> copies;
};

constexpr int64_t kEnoughPrograms = 256;  // programs that are enough for any GPU we know
constexpr int64_t kLightWork = 8192;      // elements that one program may just as well walk alone

// How a contraction of f32 is multiplied in a kernel of this `precision`: "ieee" (operands as they are), "half"
// (rounded to f16, about as exact as TF32) or "two_part" (each a sum of two f16 numbers, three products; as exact as
// f32: Ootomo and Yokota, 2022). "as_eager" differs from one to the next: half where eager multiplies in TF32, else
// two_part, or, of no convolution, ieee along so few rows that reading the other operand takes longer than any
// multiplication.
std::string way_of(const GroupStage& stage, const std::string& precision);

// Whether a product of matrices is a sum like any other, which reads its operands as they are. Along so few elements
// matrix units, which take 16 at a time, have little to do: 3x3 times 3x1024, 16,384 times, takes 0.14 ms on an H100,
// and to pack the right one alone 0.26. Of so few rows and results of f32 a tile or two walk all of K: 8x1280 times
// 1280x256 in two parts takes 17.5 us on an H200, on 4 of its 132 multiprocessors. Of a group whose axes are collapsed.
bool is_plain_sum(const Group& group, const GroupStage& stage);
// Makes them so, but in attention.
void sum_small_products(Group& group);

// What the schedule of a kernel says. `parts`: into how many chunks reductions along too few rows, and contractions of
// too few tiles, are cut; 0: as many as keep a GPU busy. `im2win`: windows and channels of a convolution are one axis
// (windows.cpp). `in_tiles`: tiles of products give parts of the reductions behind them (tile_sums.cpp), or compute
// them (whole_rows.cpp). `in_loop`: whether right operands in two parts are split in the loop, where they may be (0, 1;
// -1: large ones). `attention_in_parts`: whether attention's own products are multiplied as the others are, or take
// their operands as they are.
struct Preparation {
  std::string precision = "ieee";
  bool split = false, im2win = false, in_tiles = true, attention_in_parts = true;
  int64_t in_loop = -1;
  int64_t parts = 0;
};
Prepared prepare(const Group& group, const Preparation& wanted, const Hardware& hardware);

// Sums of products in groups (convolutions) become contractions with the group as a batch: an axis that one operand
// knows only by its group is cut in two.
Group ungroup(const Group& group);

// What reads the norm of its group has the group as an axis, where a program can hold one: then both are one launch
// (norm_groups.cpp).
Group cut_groups(const Group& group);

// Concatenations become one stage a part where a part is computed here, and what turns a result round is stored from
// the other end (joins.cpp).
Group cut_joins(const Group& group);

// Whether some reduction of the group keeps too few programs busy.
bool needs_split(const Group& group, const Hardware& hardware);
// Whether one may be split, worth it or not.
bool can_split(const Group& group, const Hardware& hardware);

}  // namespace mtmc::triton
