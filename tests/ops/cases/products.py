"""Matrix products and attention."""

import torch

from cases import NAN, T, V, case

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
low = torch.where(torch.arange(4)[:, None] == 0, -torch.inf, q)
case("scaled_dot_product_attention.default", low, k.abs(), v)  # a row whose products are -inf
case("scaled_dot_product_attention.default", low, k[..., :4, :].abs(), v[..., :4, :], None, 0.0, True)
case("scaled_dot_product_attention.default", T(2, 6, 4, 8), T(2, 3, 5, 8), T(2, 3, 5, 8), enable_gqa=True)
case("scaled_dot_product_attention.default", T(2, 4, 8), T(2, 4, 8), T(2, 4, 8), None, 0.0, True)
