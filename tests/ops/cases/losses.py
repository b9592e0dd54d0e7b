"""Losses, distances and gates."""

import torch

from cases import I, T, U, V, case

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
for reduction in (0, 1, 2):
    case("triplet_margin_loss.default", T(4, 5), T(4, 5), T(4, 5), 1.5, 1.0, 1e-6, True, reduction)
    case("cosine_embedding_loss.default", T(4, 5), T(4, 5), V(1.0, -1.0, 1.0, -1.0), 0.2, reduction)
    case("multi_margin_loss.default", T(4, 5), I(4, low=0, high=5), 2, 0.7, U(5), reduction)
case("triplet_margin_loss.default", T(4, 5), T(4, 5), T(4, 5), 1.0, 3.0)
case("multi_margin_loss.default", T(4, 5), I(4, low=0, high=5))
