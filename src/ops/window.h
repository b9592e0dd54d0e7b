// Sliding windows over the last axes: what pools and convolutions share.
#pragma once
#include "ops/build.h"

namespace mtmc {

// Axis by axis; every list has one entry per window axis.
struct Window {
  std::vector<int64_t> in, kernel, stride, padding, dilation, out;
  int axes() const { return static_cast<int>(in.size()); }
};

// Of a pool, as its name says: "max_pool2d".
int window_axes(const OpCall& call);
// A list attribute of `axes` entries; one entry stands for all, an absent or empty one for `otherwise`.
Result<std::vector<int64_t>> spread(const OpCall& call, std::string_view attr, int axes,
                                    const std::vector<int64_t>& otherwise);
// How many windows fit.
Result<Window> fit(const OpCall& call, Window window, bool ceil_mode);
// The input position of window element `inside` at output position `out`: out * stride + inside * dilation - padding.
ExprP position(const Window& window, int which, const ExprP& out, const ExprP& inside);
// Whether that position lies in the input.
ExprP inside(const Window& window, int which, const ExprP& position);

}  // namespace mtmc
