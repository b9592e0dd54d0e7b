"""Tensors from nothing."""

import torch

from cases import I, T, case

case("full.default", [2, 3], 2.5, dtype=torch.float64)
case("full.default", [2], 3)
case("full.default", [2], True)
case("zeros.default", [2, 3])
case("ones.default", [3], dtype=torch.int64)
case("scalar_tensor.default", 2.0)
case("zeros_like.default", T(2, 3))
case("ones_like.default", I(2, 3))
case("full_like.default", T(2, 3), 7)
case("full_like.default", T(2, 3), 1, dtype=torch.bool)
case("fill.Scalar", T(2, 3), 2)
case("new_zeros.default", T(2), [3])
case("new_full.default", I(2), [3], 4)
case("arange.default", 5)
case("arange.start", 2, 7)
case("arange.start_step", 1, 10, 3)
case("arange.start_step", 5, 0, -2)
case("arange.start_step", 0.0, 1.0, 0.3, dtype=torch.float64)
case("arange.default", 4, dtype=torch.float32)
case("eye.default", 3)
case("dropout.default", T(5), 0.5, False)
