"""Which results are contiguous in eager and would not be in code of ours, which writes rows."""

from __future__ import annotations

import itertools
import re

import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import OutputKind
from torch.fx import Node

aten = torch.ops.aten
# What may copy; a view that was possible in eager's order of the axes may have to in another.
RESHAPES = {
    aten.reshape.default: aten.reshape.default,
    aten.flatten.using_ints: aten.flatten.using_ints,
    aten.view.default: aten.reshape.default,
    aten._unsafe_view.default: aten.reshape.default,
}

COPIES = (aten.clone.default, aten.contiguous.default)
# Whose results lie in order, however their operands lie.
IN_ORDER = frozenset(
    "linear addmm mm bmm baddbmm matmul layer_norm native_layer_norm softmax _softmax log_softmax _log_softmax "
    "embedding".split()
)


def returned_nodes(exported: ExportedProgram) -> list[Node]:
    """Those whose tensors are returned, in their order."""
    nodes = {node.name: node for node in exported.graph.nodes}
    specs = [spec.arg.name for spec in exported.graph_signature.output_specs if spec.kind == OutputKind.USER_OUTPUT]
    found = [nodes[name] for name in specs if name in nodes]
    return [node for node in found if isinstance(node.meta.get("val"), torch.Tensor)]


def not_contiguous(exported: ExportedProgram) -> set[int]:
    """The tensors that are not, by their place among those returned."""
    returned = enumerate(returned_nodes(exported))
    return {place for place, node in returned if not node.meta["val"].is_contiguous()}


def ordered_by_chance(exported: ExportedProgram) -> set[int]:
    """The tensors that are contiguous, by their place among those returned, though nothing in the Program makes them so. They are
    views that would not be, were what they look at: a transposed convolution's whose operands have their channels last (a kernel
    of ours writes rows). Or torch computes them in the order of an operand of which the module made a contiguous copy, and
    a Program has no copies."""
    return {
        place
        for place, node in enumerate(returned_nodes(exported))
        if node.meta["val"].is_contiguous() and (not of_rows(node).is_contiguous() or behind_a_copy(node))
    }


def behind_a_copy(node: Node) -> bool:
    """Does its order come from a copy that the module makes of what lies otherwise? (Where that is not known: it may.)"""
    pending, seen = [node], set()
    while pending:
        at = pending.pop()
        if at in seen or at.op != "call_function" or getattr(at.target, "__name__", "").split(".")[0] in IN_ORDER:
            continue
        seen.add(at)
        if at.target in COPIES:
            before, after = at.args[0].meta["val"], at.meta["val"]
            known = all(isinstance(size, int) for size in before.shape)  # else they depend on data
            if not known or (after.is_contiguous() and not before.is_contiguous()):
                return True
        pending += at.all_input_nodes
    return False


def of_rows(node: Node) -> torch.Tensor:
    """A node's tensor, without values, were whatever it is a view of contiguous."""
    source = node.args[0] if node.op == "call_function" and node.args else None
    schema = getattr(node.target, "_schema", None)
    looks = node.target in RESHAPES or (
        schema and len(schema.returns) == 1 and schema.returns[0].alias_info is not None
    )
    looks = looks and isinstance(source, Node) and source.op != "placeholder" and not node.all_input_nodes[1:]
    if looks and all(isinstance(size, int) for size in source.meta["val"].shape):
        look = RESHAPES.get(node.target, node.target)
        return look(of_rows(source), *node.args[1:], **node.kwargs)
    return torch.empty(node.meta["val"].shape, dtype=node.meta["val"].dtype, device="meta")


def made_contiguous(template: str, places: set[int]) -> str:
    """The same expression where these of the tensors that it holds, counted from the left, lie as eager's do."""
    count = itertools.count()
    return re.sub(r"\{\d+\}", lambda one: one[0] + (".contiguous()" if next(count) in places else ""), template)
