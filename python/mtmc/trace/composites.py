"""Of which operators a trace is made: composites that are written in simpler ones, and others that stay."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch.export import ExportedProgram

aten = torch.ops.aten
# What eager itself runs as several operators, without a kernel of its own.
COMPOSITES = (
    "diff.default float_power.Scalar float_power.Tensor_Scalar float_power.Tensor_Tensor inner.default isclose.default "
    "kron.default linalg_multi_dot.default margin_ranking_loss.default meshgrid.default meshgrid.indexing "
    "pairwise_distance.default poisson_nll_loss.default take_along_dim.default tensordot.default trapezoid.dx "
    "trapezoid.x trapz.dx trapz.x"
)


def with_reshapes(program: ExportedProgram) -> ExportedProgram:
    """A reshape is traced as a view wherever its operand was laid out for one; the operators of another device, or on other
    arguments, lay their results out otherwise. The Program says reshape, too; and div where a division rounds nothing."""
    for node in program.graph.nodes:
        if node.target in (aten.view.default, aten._unsafe_view.default):
            node.target = aten.reshape.default
        if node.target is aten.div.Tensor_mode and node.kwargs.get("rounding_mode") is None:  # nothing is rounded
            node.target, node.kwargs = aten.div.Tensor, {}
    program.graph_module.recompile()
    return program


def decompositions() -> dict[torch._ops.OpOverload, Any]:
    """Composites that are written in simpler operators: views that make lists, and contractions spelled as text."""
    table = torch.export.default_decompositions()
    chosen = {op: table[op] for op in (aten.einsum.default, aten.broadcast_tensors.default) if op in table}
    for packet, overload in (name.split(".") for name in COMPOSITES.split()):
        op = getattr(getattr(aten, packet), overload, None)  # newer or older torch may lack one
        if op in table:
            chosen[op] = table[op]
    for op in (aten.split.Tensor, aten.split.sizes, aten.split_with_sizes.default):
        chosen[op] = split_into_slices
    chosen[aten.copy.default] = lambda self, source, non_blocking=False: placed(source, self)
    chosen[aten.fill.Tensor] = lambda self, value: placed(value, self)
    chosen[aten.unbind.int] = lambda self, dim=0: [aten.select.int(self, dim, i) for i in range(self.shape[dim])]
    return chosen


def placed(source: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    """What a tensor like the second holds after the first was copied into it."""
    return aten.expand.default(aten._to_copy.default(source, dtype=like.dtype), like.shape)


def split_into_slices(self: torch.Tensor, sizes: int | list[int], dim: int = 0) -> list[torch.Tensor]:
    extent = self.shape[dim]
    if isinstance(sizes, int):
        sizes = [sizes] * max(1, math.ceil(extent / max(1, sizes)))
    ends = [min(extent, sum(sizes[: index + 1])) for index in range(len(sizes))]
    return [aten.slice.Tensor(self, dim, start, end) for start, end in zip([0, *ends[:-1]], ends, strict=True)]
