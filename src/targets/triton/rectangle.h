// Operands that the hardware may fetch by rectangles (Triton's tensor descriptors): plain views of memory as a matrix.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "targets/triton/launch.h"

namespace mtmc::triton {

// A tensor seen as `height` rows of `width` elements; where an axis moves in it.
struct Rectangle {
  int tensor = 0;
  int64_t height = 1, width = 1;
  bool inner_across = true;  // the inner axes (K) run along the width, the outer ones (M or N) down; else the reverse
  std::map<int, int64_t> down, right;
  int64_t base_down = 0, base_right = 0;
};

// Null unless the load is affine and unguarded, one of `outer` and `inner` walks it with stride 1, and the other with a
// single stride that is a multiple of 16 bytes.
std::optional<Rectangle> find_rectangle(const Group& group, const ExprP& expr, const std::vector<int64_t>& extents,
                                        const std::vector<int>& outer, const std::vector<int>& inner);

// The descriptors that a function is passed.
class Rectangles {
 public:
  // A block of the view, outer_block x inner_block elements (transposed when the inner axes run down), whose lanes
  // begin at these places.
  std::string load(const Group& group, const Rectangle& view, const std::map<int, std::string>& scalars,
                   const std::string& outer_start, const std::string& inner_start, int64_t outer_block,
                   int64_t inner_block);
  void pass(TritonLaunch& launch) const;

 private:
  std::vector<std::string> parameters_, arguments_;
};

}  // namespace mtmc::triton
