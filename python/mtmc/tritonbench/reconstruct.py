"""Factors that are not unique (signs, orders, phases) are right when what they factor comes back from them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from mtmc.tritonbench.compare import TOLERANCE

Tensors = list[torch.Tensor]


def svd(a: torch.Tensor, results: Tensors) -> list[tuple[torch.Tensor, torch.Tensor]]:
    u, s, vh = results
    k = s.shape[-1]
    return [((u[..., :k] * s.unsqueeze(-2)) @ vh[..., :k, :], a), identity(u), identity(vh.mH)]


def eig(a: torch.Tensor, results: Tensors) -> list[tuple[torch.Tensor, torch.Tensor]]:
    values, vectors = results
    lengths = torch.linalg.vector_norm(vectors, dim=-2)
    return [(a.to(vectors.dtype) @ vectors, vectors * values.unsqueeze(-2)), (lengths, torch.ones_like(lengths))]


def qr(a: torch.Tensor, results: Tensors) -> list[tuple[torch.Tensor, torch.Tensor]]:
    q, r = results
    if q.numel() == 0:  # mode="r": Q is not asked for
        return [(r.mH @ r, a.mH @ a), (r.triu(), r)]
    return [(q @ r, a), identity(q), (r.triu(), r)]


def lu(a: torch.Tensor, results: Tensors) -> list[tuple[torch.Tensor, torch.Tensor]]:
    p, lower, upper = results
    product = lower @ upper
    return [(p @ product if p.numel() else product, a), (lower.tril(), lower), (upper.triu(), upper)]


def ldl_factor(a: torch.Tensor, results: Tensors) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Only the lower half of the argument is read, which is Hermitian where the whole is, else symmetric."""
    hermitian = bool(torch.allclose(a, a.mH))
    upper = a.tril(-1).mH if hermitian else a.tril(-1).mT
    right = torch.eye(a.shape[-1], dtype=a.dtype).expand_as(a).contiguous()
    return [((a.tril() + upper) @ torch.linalg.ldl_solve(*results[:2], right, hermitian=hermitian), right)]


def identity(columns: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Orthonormal columns: what their products are, and what they should be."""
    products = columns.mH @ columns
    return products, torch.eye(products.shape[-1], dtype=products.dtype).expand_as(products)


RECONSTRUCTED: dict[str, Callable[[torch.Tensor, Tensors], list[tuple[torch.Tensor, torch.Tensor]]]] = {
    "svd": svd,
    "eig": eig,
    "qr": qr,
    "lu": lu,
    "ldl_factor": ldl_factor,
}


def reconstructed(name: str, calls: list[dict[str, Any]]) -> str:
    """Why the factors of some call are wrong, or ""."""
    for number, call in enumerate(calls, 1):
        if call["raised"]:
            continue
        for place, (got, wanted) in enumerate(RECONSTRUCTED[name](call["arguments"][0], call["leaves"])):
            limit = TOLERANCE.get(wanted.dtype, 0.0)
            if got.shape != wanted.shape or not torch.allclose(got, wanted, rtol=limit, atol=limit):
                return f"call {number} of {name}: identity {place + 1} does not hold"
    return ""
