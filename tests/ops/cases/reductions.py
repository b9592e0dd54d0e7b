"""Reductions, softmax, scans."""

import torch

from cases import INF, NAN, B, I, T, V, case

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
