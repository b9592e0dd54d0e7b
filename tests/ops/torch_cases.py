"""Calls of torch with their results, for tests/ops/torch_test.cpp.

    torch_cases.py make CASES.json              every case: overload, arguments, operands, results in float64, and the
                                                types that float32, float16 and bfloat16 operands give
    torch_cases.py check CASES.json TEXTS.json  evaluates the text that each operator prints; lists those that differ
"""

import itertools
import json
import math
import sys

import torch
import torch.nn.functional as F  # noqa: F401 - the texts use it

aten = torch.ops.aten
NAMES = {
    torch.bool: "b1", torch.uint8: "u8", torch.int8: "i8", torch.int16: "i16", torch.int32: "i32", torch.int64: "i64",
    torch.float16: "f16", torch.bfloat16: "bf16", torch.float32: "f32", torch.float64: "f64",
}  # fmt: skip
INF, NAN = math.inf, math.nan
generator = torch.Generator().manual_seed(7)


def T(*shape, scale=1.0):
    return torch.randn(shape, generator=generator, dtype=torch.float64) * scale


def U(*shape):  # in (0, 1)
    return torch.rand(shape, generator=generator, dtype=torch.float64) * 0.98 + 0.01


def I(*shape, low=-5, high=6, dtype=torch.int64):  # noqa: E743
    return torch.randint(low, high, shape, generator=generator).to(dtype)


def B(*shape):
    return torch.rand(shape, generator=generator) < 0.5


def V(*values, dtype=torch.float64):
    return torch.tensor(values, dtype=dtype)


ODD = V(NAN, INF, -INF, 0.0, -0.0, 1.0, -1.0, 2.5, -2.5, 0.5, -0.5, 1.5, 30.0, -30.0, 3.0, -3.0, 6.0, 7.0, 100.0, -100.0)
CASES = []


def case(overload, *args, **kwargs):
    CASES.append((overload, args, kwargs))


def pointwise():
    for name in (
        "relu relu6 leaky_relu elu selu celu gelu silu mish softplus sigmoid hardsigmoid hardswish hardtanh tanh "
        "log_sigmoid hardshrink softshrink exp exp2 expm1 log log2 log1p log10 sqrt rsqrt sin cos tan asin acos atan sinh "
        "cosh erf reciprocal neg abs square sign sgn floor ceil round trunc frac nan_to_num isnan isinf isfinite clone "
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


def choices():
    for name in "eq ne lt le gt ge".split():
        case(f"{name}.Tensor", ODD, ODD.roll(1))
        case(f"{name}.Tensor", I(4, 5, low=0, high=2), I(5, low=0, high=2))
        case(f"{name}.Scalar", ODD, 0.5)
        case(f"{name}.Scalar", I(9), 1)
        case(f"{name}.Tensor", B(8), B(8))
    for name in "logical_and logical_or logical_xor".split():
        case(f"{name}.default", B(8), B(8))
        case(f"{name}.default", I(8, low=-1, high=2), T(8))
    for name in "bitwise_and bitwise_or bitwise_xor".split():
        case(f"{name}.Tensor", I(8), I(8))
        case(f"{name}.Tensor", B(8), B(8))
    case("__and__.Tensor", B(8), B(8))
    case("bitwise_and.Scalar", I(8), 3)
    case("bitwise_not.default", I(8))
    case("bitwise_not.default", B(8))
    case("bitwise_left_shift.Tensor", I(8), I(8, low=0))
    case("bitwise_right_shift.Tensor_Scalar", I(8, low=-99, high=99), 2)
    case("where.self", B(4, 5), T(5), T(4, 1))
    case("where.self", B(4), I(4), T(4))
    case("where.ScalarSelf", B(4), 0, T(4))
    case("where.ScalarOther", B(4), T(4), -INF)
    case("where.Scalar", B(4), 1.0, 0.0)
    case("masked_fill.Scalar", T(4, 5), B(4, 5), -INF)
    case("masked_fill.Scalar", T(2, 4, 5), B(4, 1), -1)
    case("masked_fill.Scalar", I(4), B(4), 7)
    case("masked_fill.Tensor", T(4), B(4), V(2.0)[0])
    case("clamp.default", ODD, -1, 2)
    case("clamp.default", ODD, None, 0.5)
    case("clamp.default", T(4), 2.0, -2.0)
    case("clamp.default", I(9), -2, 2)
    case("clamp.default", I(9), -1.5)
    case("clamp_min.default", ODD, 0)
    case("clamp_max.default", ODD, 0)
    case("clamp.Tensor", ODD, ODD.roll(2), ODD.roll(5))
    case("clamp.Tensor", T(4, 5), None, T(5))
    case("clamp_min.Tensor", T(4, 5), T(5))
    case("clamp_max.Tensor", T(4, 5), T(5))


def reductions():
    ties = V(1.0, 3.0, 3.0, -2.0, -2.0, 0.0).reshape(2, 3)
    broken = V(1.0, NAN, 3.0, NAN, 5.0, -INF).reshape(2, 3)
    for name in ("sum", "mean", "prod", "amax", "amin", "max", "min", "any", "all", "argmax", "argmin"):
        case(f"{name}.default", T(3, 4, 5))
        case(f"{name}.default", broken)
        case(f"{name}.default", T(1)[0])
    for dims, keep in (([1], False), ([0, -1], True), ([2], True), ([-3, 1], False)):
        for name in ("sum.dim_IntList", "mean.dim", "amax.default", "amin.default", "any.dims", "all.dims"):
            case(name, T(3, 4, 5), dims, keep)
        for name in ("var", "std", "var_mean", "std_mean"):
            case(f"{name}.correction", T(3, 4, 5), dims, correction=2, keepdim=keep)
        case("logsumexp.default", T(3, 4, 5), dims, keep)
        for order in (2, 1, 0, 3, 0.5, INF, -INF):
            case("linalg_vector_norm.default", T(3, 4, 5), order, dims, keep)
    for dim, keep in ((1, False), (-1, True), (0, True)):
        for name in ("argmax.default", "argmin.default", "max.dim", "min.dim", "prod.dim_int", "any.dim", "all.dim"):
            case(name, T(3, 4, 5), dim, keep)
    for name in ("argmax.default", "argmin.default", "max.dim", "min.dim"):
        case(name, ties, 1)
        case(name, broken, 1)
        case(name, broken, 0)
        case(name, I(4, 6, low=0, high=3), 1)
    case("max.dim", B(4, 6), 1)
    case("amax.default", B(4, 6), [1])
    for name in ("sum.default", "prod.default", "any.default", "all.default", "amax.default"):
        case(name, I(3, 4, low=0, high=3, dtype=torch.int32))
        case(name, B(3, 4))
    case("sum.dim_IntList", I(3, 4, dtype=torch.uint8, low=0), [1])
    case("sum.default", T(0, 3))
    case("mean.default", T(0))
    case("sum.dim_IntList", T(3, 4), None, False, dtype=torch.float64)
    case("sum.default", I(3), dtype=torch.float64)
    case("mean.dim", I(3, 4), [1], dtype=torch.float64)
    for name in ("var", "std"):
        case(f"{name}.default", T(7))
        case(f"{name}.default", T(7), False)
        case(f"{name}.dim", T(3, 7), [1], False)
        case(f"{name}.dim", T(3, 1), [1])
        case(f"{name}.correction", T(3, 7))
    case("var_mean.dim", T(3, 7), [1], False)
    case("logsumexp.default", V(-INF, -INF, INF, 1.0).reshape(2, 2), [1])
    case("logsumexp.default", T(3, 4, scale=400.0), [0, 1])
    case("linalg_norm.default", T(3, 4))
    case("linalg_vector_norm.default", T(3, 4))
    case("linalg_vector_norm.default", broken, 2, [1])
    case("norm.Scalar", T(3, 4), 1)
    case("norm.ScalarOpt_dim", T(3, 4), None, [1])
    case("norm.ScalarOpt_dim", T(3, 4), 3, [1], True)
    for name in ("softmax.int", "log_softmax.int"):
        case(name, T(3, 4, 5), 1)
        case(name, T(3, 4, 5, scale=300.0), -1)
        case(name, V(-INF, 1.0, NAN, 2.0, -INF, -INF).reshape(3, 2), 1)
    case("_softmax.default", T(3, 4), 0, False)
    for name in ("cumsum.default", "cumprod.default"):
        for dim in (0, 1, -1):
            case(name, T(3, 4, 5), dim)
        case(name, I(6, dtype=torch.int32), 0)
        case(name, B(6), 0)
        case(name, V(1.0, NAN, 2.0), 0)
    case("cumsum.default", I(6), 0, dtype=torch.float64)


def norms():
    case("layer_norm.default", T(3, 8), [8])
    case("layer_norm.default", T(3, 4, 8), [4, 8], T(4, 8), T(4, 8), 1e-3)
    case("layer_norm.default", T(3, 8) + 1e4, [8], T(8))
    case("layer_norm.default", V(NAN, 1.0, 2.0, 3.0).reshape(2, 2), [2])
    case("native_layer_norm.default", T(3, 4, 8), [8], T(8), T(8), 1e-5)
    case("rms_norm.default", T(3, 8), [8], T(8), 1e-6)
    case("rms_norm.default", T(3, 4, 8), [4, 8])
    case("group_norm.default", T(2, 6, 3, 4), 3, T(6), T(6))
    case("group_norm.default", T(2, 6), 2)
    case("group_norm.default", T(2, 6, 5), 6, None, None, 1e-2)
    case("instance_norm.default", T(2, 3, 4, 5), T(3), T(3), None, None, True, 0.1, 1e-5, False)
    case("instance_norm.default", T(2, 3, 9), None, None, None, None, True, 0.1, 1e-5, True)
    for shape in ((4, 3, 5, 2), (6, 3)):
        stats = (T(3), T(3), T(3), U(3))
        case("_native_batch_norm_legit_functional.default", T(*shape), *stats, True, 0.1, 1e-5)
        case("_native_batch_norm_legit_no_training.default", T(*shape), *stats, 0.1, 1e-5)
    case("_native_batch_norm_legit_functional.default", T(4, 3, 2), None, None, T(3), U(3), True, 0.3, 1e-3)
    case("_native_batch_norm_legit_no_training.default", T(4, 3), None, None, T(3), U(3), 0.1, 1e-5)
    case("_native_batch_norm_legit.no_stats", T(4, 3, 5), T(3), T(3), True, 0.1, 1e-5)


def products():
    case("linear.default", T(5, 7), T(3, 7), T(3))
    case("linear.default", T(2, 5, 7), T(3, 7))
    case("linear.default", T(7), T(3, 7), T(3))
    for a, b in (((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 4)), ((2, 3), (3, 4)), ((5, 2, 3), (3, 4)), ((5, 2, 3), (3,)),
                 ((3,), (5, 3, 4)), ((5, 2, 3), (5, 3, 4)), ((6, 1, 2, 3), (5, 3, 4))):  # fmt: skip
        case("matmul.default", T(*a), T(*b))
    case("mm.default", T(2, 3), T(3, 4))
    case("bmm.default", T(5, 2, 3), T(5, 3, 4))
    case("mv.default", T(2, 3), T(3))
    case("dot.default", T(3), T(3))
    case("outer.default", T(3), T(4))
    case("addmm.default", T(4), T(2, 3), T(3, 4))
    case("addmm.default", T(2, 4), T(2, 3), T(3, 4), beta=0.5, alpha=2)
    case("addmm.default", V(NAN, 1.0), T(2, 3), T(3, 2), beta=0)
    case("baddbmm.default", T(2, 1), T(5, 2, 3), T(5, 3, 4), alpha=3)
    case("addmv.default", T(2), T(2, 3), T(3))
    q, k, v = T(2, 3, 4, 8), T(2, 3, 6, 8), T(2, 3, 6, 5)
    case("scaled_dot_product_attention.default", q, k, v)
    case("scaled_dot_product_attention.default", q, k, v, None, 0.0, True)
    case("scaled_dot_product_attention.default", q, k, v, None, 0.0, False, scale=0.3)
    case("scaled_dot_product_attention.default", q, k, v, T(4, 6))
    case("scaled_dot_product_attention.default", q, k, v, T(2, 1, 4, 6))
    case("scaled_dot_product_attention.default", q, k, v, torch.arange(24).reshape(4, 6) % 4 > 0)
    case("scaled_dot_product_attention.default", q, k, v, torch.arange(24).reshape(4, 6) >= 6)  # a masked row
    case("scaled_dot_product_attention.default", T(2, 6, 4, 8), T(2, 3, 5, 8), T(2, 3, 5, 8), enable_gqa=True)
    case("scaled_dot_product_attention.default", T(2, 4, 8), T(2, 4, 8), T(2, 4, 8), None, 0.0, True)


def windows():
    x = T(2, 4, 9, 8)
    case("conv2d.default", x, T(6, 4, 3, 3), T(6), [1, 1], [1, 1])
    case("conv2d.default", x, T(6, 4, 3, 2), None, [2, 1], [1, 0], [1, 2])
    case("conv2d.default", x, T(6, 2, 3, 3), T(6), [2, 2], [0, 0], [1, 1], 2)
    case("conv2d.default", x, T(8, 1, 5, 5), None, [1, 1], [2, 2], [1, 1], 4)
    case("conv2d.default", x, T(5, 4, 1, 1))
    case("conv2d.padding", x, T(6, 4, 3, 4), T(6), [1, 1], "same")
    case("conv2d.padding", x, T(6, 4, 3, 3), None, [2, 2], "valid")
    case("conv1d.default", T(2, 4, 9), T(6, 2, 3), T(6), [2], [3], [2], 2)
    case("conv3d.default", T(1, 2, 4, 5, 6), T(3, 2, 2, 3, 3), T(3), [1, 2, 1], [1, 1, 1])
    case("conv_transpose2d.input", x, T(4, 6, 3, 3), T(6), [2, 2], [1, 1], [1, 1])
    case("conv_transpose2d.input", x, T(4, 3, 3, 2), None, [2, 3], [1, 0], [0, 1], 2, [2, 1])
    case("conv_transpose1d.default", T(2, 4, 7), T(4, 6, 4), T(6), [3])
    case("conv_transpose3d.input", T(1, 2, 3, 3, 2), T(2, 3, 2, 2, 2), T(3), [2, 2, 2])
    case("max_pool2d.default", x, [2, 2])
    case("max_pool2d.default", x, [3, 3], [2, 2], [1, 1])
    case("max_pool2d.default", x[0], [3, 2], [2, 1], [1, 1], [2, 1], True)
    case("max_pool2d.default", x.masked_fill(x > 1, NAN), [3, 3], [2, 2], [1, 1])
    case("max_pool2d_with_indices.default", x, [3, 3], [2, 2], [1, 1])
    case("max_pool2d_with_indices.default", (x * 2).round(), [3, 2], [1, 2], [1, 1], [1, 2])
    case("max_pool2d_with_indices.default", torch.full((1, 1, 4, 4), -INF, dtype=torch.float64), [3, 3], [1, 1], [1, 1])
    case("max_pool1d.default", T(2, 3, 9), [3], [2], [1])
    case("max_pool3d.default", T(1, 2, 4, 5, 6), [2, 2, 3], [1, 2, 2])
    case("avg_pool2d.default", x, [2, 2])
    case("avg_pool2d.default", x, [3, 3], [2, 2], [1, 1])
    case("avg_pool2d.default", x, [3, 3], [2, 2], [1, 1], False, False)
    case("avg_pool2d.default", x, [3, 2], [2, 2], [1, 1], True, True)
    case("avg_pool2d.default", x, [3, 2], [2, 2], [1, 1], True, False)
    case("avg_pool2d.default", x[0], [2, 2], [], [0, 0], False, True, 3)
    case("avg_pool1d.default", T(2, 3, 9), [3], [2], [1])
    case("avg_pool3d.default", T(1, 2, 4, 5, 6), [2, 2, 3])
    case("adaptive_avg_pool2d.default", x, [1, 1])
    case("adaptive_avg_pool2d.default", x, [3, 5])
    case("adaptive_avg_pool2d.default", x[0], [3, 4])
    case("adaptive_avg_pool3d.default", T(1, 2, 4, 5, 6), [2, 3, 4])
    case("adaptive_avg_pool1d.default", T(2, 3, 9), [4])


def movement():
    x = T(2, 3, 4)
    for size in ([24], [6, 4], [2, -1], [4, 3, 2], [1, 24, 1]):
        case("view.default", x, size)
    case("reshape.default", T(1)[0], [1, 1])
    case("flatten.using_ints", x)
    case("flatten.using_ints", x, 1, -1)
    case("permute.default", x, [2, 0, -2])
    case("transpose.int", x, 0, -1)
    case("t.default", T(3, 4))
    case("t.default", T(3))
    for dim in (0, 2, -1, -4):
        case("unsqueeze.default", x, dim)
    case("squeeze.default", T(1, 3, 1))
    case("squeeze.dim", T(1, 3, 1), -1)
    case("squeeze.dim", T(1, 3, 1), 1)
    case("squeeze.dims", T(1, 3, 1, 1), [0, -1])
    case("expand.default", T(3, 1), [2, 3, 4])
    case("expand.default", T(3, 1), [-1, 5])
    case("slice.Tensor", x, 1, 1, 3)
    case("slice.Tensor", x, -1, -3, 9223372036854775807, 2)
    case("slice.Tensor", x, 0, 5, 9)
    case("slice.Tensor", x, 2, 0, -1)
    case("select.int", x, 1, -1)
    case("select.int", x, -1, 2)
    case("diagonal.default", x)
    case("diagonal.default", x, 1, 2, 1)
    case("diagonal.default", x, -1, -1, 0)
    case("unfold.default", x, 2, 2, 1)
    case("unfold.default", x, 1, 2, 2)
    case("alias.default", x)
    case("cat.default", [x, T(2, 1, 4), T(2, 5, 4)], 1)
    case("cat.default", [T(3), I(2)])
    case("cat.default", [T(0), T(2, 3), T(1, 3)])
    case("cat.default", [T(3, 2), T(3, 1)], -1)
    case("stack.default", [T(3, 2), T(3, 2), T(3, 2)], -1)
    case("stack.default", [I(3), T(3)])
    case("pad.default", x, [1, 2])
    case("pad.default", x, [1, 0, 2, 1, 0, 3], "constant", 2.5)
    case("pad.default", x, [-1, 2])
    case("constant_pad_nd.default", x, [1, 1], -1)
    for mode in ("reflect", "replicate", "circular"):
        case("pad.default", x, [2, 3], mode)
        case("pad.default", T(1, 2, 4, 5), [2, 1, 3, 0], mode)
    case("reflection_pad2d.default", T(1, 2, 4, 5), [2, 1, 3, 0])
    case("replication_pad1d.default", x, [2, 7])
    case("flip.default", x, [0, -1])
    case("flip.default", x, [])
    case("roll.default", x, [1, -5], [0, 2])
    case("roll.default", x, [7])
    case("repeat.default", x, [2, 1, 1, 3])
    case("tile.default", x, [2, 3])
    case("repeat_interleave.self_int", x, 3, 1)
    case("repeat_interleave.self_int", x, 2)
    for name, diagonal in itertools.product(("tril.default", "triu.default"), (0, 1, -2)):
        case(name, T(2, 4, 5), diagonal)
    case("triu.default", torch.full((3, 3), -INF, dtype=torch.float64), 1)
    case("embedding.default", T(10, 4), I(2, 3, low=0, high=10))
    case("embedding.default", T(10, 4), I(3, low=0, high=10, dtype=torch.int32), 2)
    case("index_select.default", x, -1, I(5, low=0, high=4))
    case("gather.default", x, 1, I(2, 5, 3, low=0, high=3))
    case("index.Tensor", x, [I(5, low=-2, high=2)])
    case("index.Tensor", x, [None, I(5, low=0, high=3), I(2, 1, low=-4, high=4)])
    for dim, start, end, step, count in ((1, 1, 3, 1, 2), (-1, 0, 9, 3, 2), (0, -1, 9, 1, 1)):
        part = [2, 3, 4]
        part[dim] = count
        case("slice_scatter.default", x, T(*part), dim, start, end, step)
    case("select_scatter.default", x, T(2, 4), 1, -1)
    case("copy.default", x, T(3, 1))
    case("copy.default", I(3), T(3, scale=9.0))
    case("upsample_nearest2d.vec", T(1, 2, 3, 4), None, [2.0, 3.0])
    case("upsample_nearest1d.vec", T(1, 2, 3), [6], None)
    case("upsample_nearest3d.vec", T(1, 1, 2, 2, 2), None, [2.0, 2.0, 2.0])
    case("pixel_shuffle.default", T(2, 8, 3, 4), 2)
    case("pixel_unshuffle.default", T(2, 3, 4, 6), 2)
    case("one_hot.default", I(2, 3, low=0, high=5), 5)


def losses():
    for reduction in (0, 1, 2):
        for name in ("mse_loss", "l1_loss", "huber_loss", "smooth_l1_loss"):
            case(f"{name}.default", T(4, 5), T(4, 5), reduction)
        case("kl_div.default", T(4), V(0.0, 0.5, 1.0, 2.0), reduction)
        case("kl_div.default", T(4), T(4), reduction, log_target=True)
        case("hinge_embedding_loss.default", T(6, scale=2.0), V(1.0, -1.0, 1.0, -1.0, 0.0, 1.0), 0.7, reduction)
        case("triplet_margin_loss.default", T(4, 5), T(4, 5), T(4, 5), 1.5, reduction=reduction)
        case("binary_cross_entropy.default", U(4, 5), U(4, 5), None, reduction)
        case("binary_cross_entropy_with_logits.default", T(4, 5, scale=30.0), U(4, 5), None, None, reduction)
        case("cross_entropy_loss.default", T(4, 5), I(4, low=0, high=5), None, reduction)
        case("cross_entropy_loss.default", T(4, 5), V(0, -100, 2, 4, dtype=torch.int64), U(5), reduction)
        case("cross_entropy_loss.default", T(2, 5, 3), I(2, 3, low=0, high=5), U(5), reduction, 2, 0.1)
        case("cross_entropy_loss.default", T(4, 5), U(4, 5), U(5), reduction, -100, 0.2)
        case("nll_loss_nd.default", T(4, 5), V(0, -100, 2, 4, dtype=torch.int64), U(5), reduction)
    case("huber_loss.default", T(9, scale=3.0), T(9), 1, 0.7)
    case("smooth_l1_loss.default", T(9, scale=3.0), T(9), 1, 0.7)
    case("smooth_l1_loss.default", T(9), T(9), 1, 0.0)
    case("binary_cross_entropy.default", V(0.0, 1.0, 0.3), V(1.0, 0.0, 0.5), T(3))
    case("binary_cross_entropy_with_logits.default", T(4, 5), U(4, 5), T(5), U(5))
    case("cross_entropy_loss.default", T(5), I(1, low=0, high=5)[0])
    case("cross_entropy_loss.default", T(3, 5), torch.full((3,), -100))
    case("cross_entropy_loss.default", T(3, 5, scale=500.0), I(3, low=0, high=5))
    case("cosine_similarity.default", T(4, 5), T(4, 5))
    case("cosine_similarity.default", T(4, 5, 2), T(5, 1), -2, 0.5)
    case("glu.default", T(3, 8))
    case("glu.default", T(4, 3), 0)
    case("prelu.default", T(2, 3, 4), T(3))
    case("prelu.default", T(5), T(1))


def creations():
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


def number(value):
    value = float(value)
    return value if math.isfinite(value) else str(value)


def packed(tensor):
    return {"type": type_text(tensor), "values": [number(v) for v in tensor.reshape(-1).tolist()]}


def type_text(tensor):
    return f"{NAMES[tensor.dtype]}[{','.join(map(str, tensor.shape))}]"


def overload_of(name):
    packet, overload = name.split(".")
    return getattr(getattr(aten, packet), overload)


def named_arguments(overload, args, kwargs, leaves):
    """By schema name, those that differ from their default; tensors become {"v": index of the leaf}."""

    def plain(value):
        if isinstance(value, torch.Tensor):
            leaves.append(value)
            return {"v": len(leaves) - 1}
        if isinstance(value, (list, tuple)):
            return [plain(item) for item in value]
        if isinstance(value, torch.dtype):
            return {"dtype": NAMES[value]}
        if isinstance(value, float):
            return {"float": str(value)}
        return value

    named = {}
    for i, argument in enumerate(overload._schema.arguments):
        if i >= len(args) and argument.name not in kwargs:
            continue
        value = args[i] if i < len(args) else kwargs[argument.name]
        if argument.has_default_value() and type(value) is type(argument.default_value) and value == argument.default_value:
            continue
        named[argument.name] = plain(value)
    return named


def results_of(overload, args, kwargs):
    result = overload(*args, **kwargs)
    return list(result) if isinstance(result, (tuple, list)) else [result]


def in_dtype(value, dtype):
    if isinstance(value, torch.Tensor):
        return value.to(dtype) if value.is_floating_point() else value
    return [in_dtype(item, dtype) for item in value] if isinstance(value, (list, tuple)) else value


def make(path):
    for group in (pointwise, choices, reductions, norms, products, windows, movement, losses, creations):
        group()
    records = []
    for name, args, kwargs in CASES:
        overload, leaves = overload_of(name), []
        named = named_arguments(overload, args, kwargs, leaves)
        record = {
            "overload": f"aten.{name}",
            "args": named,
            "leaves": [packed(leaf) for leaf in leaves],
            "results": [packed(result) for result in results_of(overload, args, kwargs)],
            "types": {},
        }
        for dtype in (torch.float32, torch.float16, torch.bfloat16):
            try:
                narrow = results_of(overload, [in_dtype(arg, dtype) for arg in args], kwargs)
            except RuntimeError:  # torch has no kernel for this type on the CPU
                continue
            record["types"][NAMES[dtype]] = [type_text(result) for result in narrow]
        records.append(record)
    with open(path, "w") as file:
        json.dump(records, file)


def check(cases, texts):
    """Writes the list of texts whose value differs from torch's over the file that held them."""
    dtypes = {name: dtype for dtype, name in NAMES.items()}
    with open(cases) as file:
        records = json.load(file)
    with open(texts) as file:
        spelled = json.load(file)
    wrong = []
    for record, text in zip(records, spelled, strict=True):
        leaves = []
        for leaf in record["leaves"]:
            dtype, shape = leaf["type"].rstrip("]").split("[")
            values = torch.tensor([float(v) for v in leaf["values"]], dtype=torch.float64)
            leaves.append(values.to(dtypes[dtype]).reshape([int(n) for n in shape.split(",") if n]))
        try:
            result = eval(text, {"torch": torch, "F": F, **{f"x{i}": leaf for i, leaf in enumerate(leaves)}})
            results = list(result) if isinstance(result, (tuple, list)) else [result]
            for got, wanted in zip(results, record["results"], strict=False):
                if type_text(got) != wanted["type"]:
                    raise ValueError(f"{type_text(got)} instead of {wanted['type']}")
                expected = torch.tensor([float(v) for v in wanted["values"]], dtype=torch.float64)
                torch.testing.assert_close(
                    got.to(torch.float64).reshape(-1), expected, rtol=1e-9, atol=1e-9, equal_nan=True
                )
        except Exception as error:  # whatever a wrong text does is this test's finding
            wrong.append(f"{record['overload']}: {text}: {error}")
    with open(texts, "w") as file:
        json.dump(wrong, file)


if __name__ == "__main__":
    make(sys.argv[2]) if sys.argv[1] == "make" else check(sys.argv[2], sys.argv[3])
