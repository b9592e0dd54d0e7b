"""Less common functions, distances, diagonals and products of three."""

import math

from cases import INF, ODD, I, T, U, V, case

for name in "asinh acosh atanh deg2rad rad2deg".split():
    case(f"{name}.default", U(3, 5) * 0.5 + (1.0 if name == "acosh" else 0.0))
    case(f"{name}.default", I(4, low=1, high=2) if name == "acosh" else I(4, low=0, high=2))
case("asinh.default", T(9, scale=30.0))
case("signbit.default", V(1.0, -2.0, 0.0, -0.0, INF, -INF))
case("signbit.default", I(5))
case("copysign.Tensor", ODD[1:], ODD.roll(3)[1:])
case("copysign.Scalar", T(5), -2.0)
case("heaviside.default", V(-1.0, 0.0, 2.0), T(3))
case("logaddexp2.default", T(4, 5, scale=40.0), T(5))
case("logaddexp2.default", V(INF, -INF, 1.0), V(INF, -INF, -INF))
case("bilinear.default", T(4, 3), T(4, 5), T(2, 3, 5), T(2))
case("bilinear.default", T(2, 4, 3), T(2, 4, 5), T(2, 3, 5))
case("addbmm.default", T(3, 5), T(2, 3, 4), T(2, 4, 5))
case("addbmm.default", T(5), T(2, 3, 4), T(2, 4, 5), beta=0.5, alpha=2.0)
for p in (1.0, 2.0, math.inf):
    case("cdist.default", T(2, 4, 3), T(5, 3), p)
case("linalg_cross.default", T(4, 3), T(4, 3))
case("linalg_cross.default", T(3, 4), T(3, 1), dim=0)
case("diag_embed.default", T(2, 3))
case("diag_embed.default", T(2, 3), 1, 0, -1)
case("diag_embed.default", T(4), -2)
for diagonal in (0, 1, -2):
    case("diag.default", T(4, 5), diagonal)
    case("diag.default", T(4), diagonal)
case("trace.default", T(4, 5))
case("trace.default", I(5, 4))
case("channel_shuffle.default", T(2, 6, 3), 3)
for k in (1, 2, 3, -1, 4):
    case("rot90.default", T(2, 3, 4), k, [1, 2])
case("rot90.default", T(2, 3))
case("eye.m", 3, 5)
case("linspace.default", -1.0, 2.5, 9)
case("linspace.default", 3, 7, 4)
case("linspace.default", 3, 7, 1)
case("count_nonzero.default", I(4, 5, low=0, high=2))
case("count_nonzero.dim_IntList", T(4, 5).round(), [1])
case("nansum.default", ODD[[0, 3, 5, 7]])
case("nansum.default", T(4, 5), [1], True)
case("aminmax.default", T(4, 5), dim=1)
case("aminmax.default", I(4, 5))
for reduction in (0, 1, 2):
    case("soft_margin_loss.default", T(4, 5), T(4, 5).sign(), reduction)
