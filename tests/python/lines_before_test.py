"""What a Program cannot hold, since its size depends on data: inside a call's text, or in lines before it."""

from __future__ import annotations

import json
from pathlib import Path

import torch

from traced_modules import module_text
from tracing import refused, traced

PICKED = "h = x[x > 0]\n"


def written(data: dict[str, object]) -> str:
    return json.dumps(data["nodes"])


def test_a_short_chain_stands_inside_of_its_user(tmp_path: Path) -> None:
    (_, node) = traced(tmp_path, module_text(PICKED + "return h.exp().sum()"))["nodes"]
    assert node["before"] == []
    assert node["call"] == "torch.ops.aten.exp.default(torch.ops.aten.index.Tensor({0}, [{1}]))"


def test_what_is_read_twice_is_computed_once(tmp_path: Path) -> None:
    node = traced(tmp_path, module_text(PICKED + "return (h + h.exp()).sum()"))["nodes"][-1]
    assert node["before"] == [
        "_s0 = torch.ops.aten.index.Tensor({0}, [{1}])",
        "_s1 = torch.ops.aten.exp.default(_s0)",
        "_s2 = torch.ops.aten.add.Tensor(_s0, _s1); del _s0, _s1",
        "del _s2",
    ]
    assert node["call"] == "_s2" and len(node["operands"]) == 2


def test_a_long_chain_grows_by_a_line_a_call(tmp_path: Path) -> None:
    sizes = []
    for count in (10, 40):
        data = traced(tmp_path, module_text(PICKED + "h = h + h.tanh()\n" * count + "return h.sum()"))
        assert len(data["nodes"][-1]["before"]) == 2 * count + 2 and data["checked"]
        sizes.append(len(written(data)))
    assert sizes[1] < 5 * sizes[0], "not twice as much by each"


def test_parts_of_results_and_sizes_are_variables_too(tmp_path: Path) -> None:
    lines = PICKED + "v, i = h.sort()\nreturn (v * v + i).sum() + torch.arange(h.shape[0]).add(v.floor()).sum()"
    data = traced(tmp_path, module_text(lines))
    x = torch.randn(8)
    names = {"torch": torch, data["leaves"][0]["name"]: x}
    for node in data["nodes"]:
        lines_of_it = [
            *node["before"][:-1],
            f"{node['name']} = torch.ops.{node['op']}({node['call']})",
            *node["before"][-1:],
        ]
        for line in lines_of_it:
            for place, operand in enumerate(node["operands"]):
                line = line.replace(f"{{{place}}}", operand)
            exec(line, names)
    v, i = x[x > 0].sort()
    wanted = (v * v + i).sum() + torch.arange(len(v)).add(v.floor()).sum()
    assert any("aten.sort.default(" in line for node in data["nodes"] for line in node["before"])
    assert torch.allclose(names[data["nodes"][-1]["name"]], wanted)
    assert not any(name.startswith("_s") for name in names), "all are deleted"


def test_random_numbers_for_what_data_pick_are_drawn_once_or_not_at_all(tmp_path: Path) -> None:
    drawn = PICKED + "h = nn.functional.dropout(h, 0.5) + h\n"
    node = traced(tmp_path, module_text(drawn + "return (h * h).sum()"))["nodes"][-1]
    assert sum("dropout" in line for line in node["before"]) == 1
    error = refused(tmp_path, module_text(drawn + "return h.sum(), h.amax()"))
    assert "which several results need" in str(error) and "h.amax()" in str(error)
