"""The k best elements of rows."""

import torch

from cases import INF, NAN, T, V, case

odd = V(1.0, NAN, 3.0, -INF, INF, NAN, -INF, 2.0, -INF, INF).reshape(2, 5)
distinct = torch.stack([torch.randperm(9) - 4 for _ in range(3)])
case("topk.default", T(3, 4, 5), 2)
for largest in (True, False):
    for dim in (0, 1, -1):
        case("topk.default", T(3, 4, 5), 3, dim, largest)
    case("topk.default", T(7), 7, 0, largest)
    case("topk.default", V(3.0, -INF, NAN, 5.0, INF), 5, 0, largest)
    case("topk.default", V(NAN, 1.0), 1, 0, largest)
    case("topk.default", distinct, 4, 1, largest)
    for dtype in (torch.int32, torch.int16, torch.int8):
        case("topk.default", distinct.to(dtype), 9, 1, largest)
    case("topk.default", (distinct + 4).to(torch.uint8), 9, 1, largest)
case("topk.default", V(2.0, 1.0, 3.0, 0.0), 2)
case("topk.default", T(2, 64), 8, -1, False)
case("topk.default", T(2, 200), 3, -1, True, False)  # torch has these in order, too: they are few of the row
