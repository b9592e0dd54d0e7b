// Mean and inverse standard deviation of rows: what the norms share.
#pragma once
#include <vector>

#include "ops/build.h"

namespace mtmc {

// Stages of type `rows`.
struct Moments {
  int mean = 0, squares = 0, inverse = 0;  // squares: the sum of (x - mean)^2
  int rest = 0;                            // the sum of x - mean, where it was asked for
};

// `x` is the element at (row axes, reduce axes); inverse = 1 / sqrt(squares / count + eps). `rest`: who keeps the mean
// from call to call needs it near zero, too, where its rounding counts: mean + rest / count is exact there (Neely,
// 1966).
Moments moments(Builder& builder, const Shape& rows, const std::vector<int64_t>& over, const ExprP& x, double eps,
                bool rest = false);

}  // namespace mtmc
