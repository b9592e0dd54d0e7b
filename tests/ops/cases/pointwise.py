"""Functions of one number, and arithmetic."""

import torch

from cases import INF, NAN, ODD, B, I, T, U, V, case

for name in (
    "relu relu6 leaky_relu elu selu celu gelu silu mish softplus sigmoid hardsigmoid hardswish hardtanh tanh "
    "log_sigmoid hardshrink softshrink exp exp2 expm1 log log2 log1p log10 sqrt rsqrt sin cos tan asin acos atan sinh "
    "cosh erf erfc reciprocal neg abs square sign sgn floor ceil round trunc frac nan_to_num isnan isinf isfinite clone "
    "logical_not logit"
).split():
    case(f"{name}.default", T(3, 5))
    case(f"{name}.default", ODD)
case("logit.default", V(0.0, 0.2, 1.0, NAN), 0.05)
case("leaky_relu.default", ODD, 0.2)
case("elu.default", T(4), 0.7)
case("elu.default", T(4), 0.7, 1.3, 0.9)
case("celu.default", T(4), 0.5)
case("gelu.default", ODD, approximate="tanh")
case("softplus.default", ODD, 2.0, 10.0)
case("hardtanh.default", ODD, -0.3, 2.0)
case("threshold.default", ODD, 0.1, 20.0)
case("nan_to_num.default", ODD, 1.0, 2.0, -2.0)
for name in "add sub mul div rsub".split():
    case(f"{name}.Tensor", T(3, 5), T(3, 5))
    case(f"{name}.Tensor", T(3, 1, 5), T(4, 1))
    case(f"{name}.{'Scalar' if name == 'rsub' else 'Tensor'}", T(3, 5), 2.5)
    case(f"{name}.Tensor", I(3, 5), I(5, low=1))
    case(f"{name}.Tensor", ODD, ODD.flip(0))
    case(f"{name}.Tensor", T(3), V(2.0)[0])
case("add.Tensor", T(3), T(3), alpha=2)
for name in "multiply subtract divide true_divide".split():  # torch's other names for them
    case(f"{name}.Tensor", T(3, 5), T(5))
    case(f"{name}.Scalar", T(3, 5), 2.5)
case("sub.Tensor", I(3), I(3), alpha=3)
case("rsub.Scalar", T(3), 2, 3)
case("add.Tensor", B(8), B(8))
case("mul.Tensor", B(8), B(8))
case("mul.Tensor", I(4), 0.5)
case("add.Tensor", I(4, dtype=torch.int32), 2)
case("add.Tensor", B(4), 2)
case("mul.Tensor", I(4, low=0, dtype=torch.uint8), I(4, dtype=torch.int8))
signs = [I(40, low=-9, high=10), I(40, low=1, high=5) * (1 - 2 * I(40, low=0, high=2))]
for mode in ("trunc", "floor"):
    case("div.Tensor_mode", *signs, rounding_mode=mode)
    case("div.Tensor_mode", T(20), T(20), rounding_mode=mode)
    case("div.Tensor_mode", T(20), 0.3, rounding_mode=mode)
for name in ("floor_divide.default", "remainder.Tensor", "fmod.Tensor"):
    case(name, *signs)
    case(name, T(20), T(20))
case("floor_divide.default", V(1.0, -1.0, 0.0, INF, 7.0), V(0.0, 0.0, 0.0, 2.0, INF))
case("remainder.Scalar", T(9, scale=5.0), 2)
case("fmod.Scalar", T(9, scale=5.0), 2)
case("remainder.Scalar_Tensor", 7, T(5))
for exponent in (2, 3, 0.5, -1, 1.7, 0, 1):
    case("pow.Tensor_Scalar", T(6), exponent)
case("pow.Tensor_Scalar", I(6), 3)
case("pow.Tensor_Scalar", I(6, low=1), 0.5)
case("pow.Tensor_Tensor", U(6), T(6))
case("pow.Tensor_Tensor", I(6), I(6, low=0, high=4))
case("pow.Scalar", 2, T(6))
for name in "maximum minimum fmax fmin atan2 hypot".split():
    case(f"{name}.default", T(4, 5), T(5))
    case(f"{name}.default", ODD, ODD.roll(3))
case("maximum.default", I(4), I(4))
case("minimum.default", B(8), B(8))
case("max.other", T(4), T(4))
case("logaddexp.default", ODD, ODD.roll(1))
case("logaddexp.default", V(INF, -INF, 5.0), V(INF, -INF, 500.0))
case("xlogy.Tensor", ODD, ODD.roll(1))
case("xlogy.Scalar_Other", U(4), 0.5)
case("type_as.default", T(4, scale=9.0), I(1))
case("lerp.Scalar", T(4), T(4), 0.3)
case("lerp.Scalar", T(4), T(4), 0.8)
case("lerp.Tensor", T(4), T(4), U(4))
case("addcmul.default", T(4, 5), T(4, 1), T(5), value=0.5)
case("addcdiv.default", T(4), T(4), U(4), value=2)
for dtype in (torch.float32, torch.float16, torch.int64, torch.int32, torch.uint8, torch.bool):
    case("_to_copy.default", V(0.0, 1.0, 2.5, -2.5, 100.0) if dtype != torch.uint8 else V(0.0, 2.5, 200.0), dtype=dtype)
case("_to_copy.default", B(5), dtype=torch.float32)
case("_to_copy.default", I(5, high=300), dtype=torch.int8)
case("to.dtype", I(5), torch.float64)
