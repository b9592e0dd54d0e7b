"""Modules as users write them that torch itself does not trace, or whose state moves where nobody looks at first."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from mtmc.device.device import device_named
from mtmc.referee.draws import seed_of
from mtmc.referee.kept_draws import KeptDraws
from mtmc.referee.open_order import nearest
from mtmc.referee.opening import choose_second, moving_entries
from mtmc.referee.reference import EagerError, Reference
from mtmc.referee.sampled import Sampler
from mtmc.task.task import load_task
from mtmc.trace import trace
from mtmc.wire.entries import load, registered
from traced_modules import module_text
from tracing import refused, traced

COUNTED = "self.register_buffer('n', torch.zeros(8))"


def kept(folder: Path, text: str) -> KeptDraws:
    (folder / "model.py").write_text(text)
    made = Reference(load_task({"name": "t", "file": str(folder / "model.py")}), 1, device_named("cpu"))
    return KeptDraws(made, Sampler(made, seed_of(1, "x"), "eager"), 1, {"first": made.pristine})


def test_what_data_writes_is_state(tmp_path: Path) -> None:
    text = module_text(
        "self.n.data.mul_(0.9).add_(x.sum(0))\nself.n.data = self.n.data + 1\nreturn x * self.n", COUNTED
    )
    assert [state["target"] for state in traced(tmp_path, text)["states"]] == ["n"]
    draws = kept(tmp_path, module_text("self.n.data.add_(x.sum(0))\nreturn x * self.n", COUNTED))
    eager = draws.draw("task-0").eager
    assert not torch.equal(eager.calls[0][0], eager.calls[1][0]), "no version of a tensor tells of it"
    assert "n" in eager.state


def test_what_works_without_gradients_only_is_traced(tmp_path: Path) -> None:
    lines = "y = torch.empty(4, 4)\ntorch.mm(x, self.w, out=y)\nreturn y"
    assert traced(tmp_path, module_text(lines, "self.w = nn.Parameter(torch.ones(8, 4))"))["checked"]


def test_a_part_of_what_has_a_size_of_its_own_is_traced(tmp_path: Path) -> None:
    inputs = "torch.randint(0, 12, (40,))"
    assert traced(tmp_path, module_text("return torch.bincount(x, minlength=12)[:12]", inputs=inputs))["checked"]


@pytest.mark.parametrize("name", ["v2", "_s0", "_c1"])
def test_arguments_that_are_called_as_variables_of_ours_get_another_name(tmp_path: Path, name: str) -> None:
    data = traced(tmp_path, module_text(f"return {name}.relu().exp() + {name}", arguments=name))
    (leaf,) = data["leaves"]
    assert leaf["target"] != name and f"{leaf['target']} = {name}" in data["opening"] and data["parameters"] == [name]


def test_extra_state_is_no_state(tmp_path: Path) -> None:
    extra = "self.register_buffer('b', torch.ones(8))\nself.get_extra_state = lambda: {'a': 1}"
    made = torch.nn.Module()
    made.register_buffer("b", torch.ones(8))
    made.get_extra_state = lambda: torch.tensor(3)  # type: ignore[method-assign]
    made.set_extra_state = lambda state: None  # type: ignore[method-assign]
    assert list(registered(made)) == ["b"]
    load(made, {"b": torch.zeros(8)})
    assert not made.b.any()
    assert traced(tmp_path, module_text("return x * self.b", extra))["leaves"]


def test_an_expanded_buffer_and_what_torch_jit_made_are_refused_by_name(tmp_path: Path) -> None:
    error = refused(
        tmp_path, module_text("return x + self.p", "self.register_buffer('p', torch.arange(8.).expand(4, 8))")
    )
    assert "p is an expanded tensor" in str(error)
    error = refused(tmp_path, module_text("return self.n(x)", "self.n = torch.jit.trace(nn.ReLU(), torch.ones(2))"))
    assert "n is made by torch.jit" in str(error)


def test_expanded_arguments_are_passed_on_as_dense_ones(tmp_path: Path) -> None:
    draws = kept(tmp_path, module_text("return x * 2", inputs="torch.arange(8.).expand(4, 8)"))
    assert draws.draw("task-0").eager.calls[0][0].shape == (4, 8)


def test_random_numbers_that_go_by_the_layout_of_arguments_are_drawn_in_either_order(tmp_path: Path) -> None:
    one = kept(tmp_path, module_text("return x + torch.randn_like(x)")).draw("transposed-0")
    in_order = one.other
    assert one.by_layout and in_order is not None
    for near in (one, in_order):
        (value,) = near.eager.calls[0]
        assert nearest(one, 0, [value]) is near and torch.allclose(value.double(), near.truth.calls[0][0])
    (tmp_path / "several").mkdir()
    with pytest.raises(EagerError, match="layout"):
        kept(tmp_path / "several", module_text("return torch.randn_like(x) * torch.rand_like(x)")).draw("transposed-0")
    (tmp_path / "in_order").mkdir()
    same = kept(tmp_path / "in_order", module_text("return x + torch.randn(4, 8)")).draw("transposed-0")
    assert not same.by_layout, "where it does not matter there is one order"


def test_state_that_is_made_of_the_weights_moves_with_other_ones(tmp_path: Path) -> None:
    init = "self.w = nn.Parameter(torch.ones(8))\nself.register_buffer('last', torch.ones(8))"
    draws = kept(tmp_path, module_text("self.last.copy_(self.w.detach())\nreturn x * self.last", init))
    choose_second(draws)
    assert moving_entries(draws, draws.draw("task-0").eager) == ["last"]


def test_a_branch_on_what_data_changed_is_not_decided_by_what_was_there(tmp_path: Path) -> None:
    lines = "n = torch.arange(4)\nn.data.add_(1)\nreturn x * 2 if int(n[0]) > 0 else x"
    error = refused(tmp_path, module_text(lines))
    assert "depends on a tensor's values" in str(error)


def test_a_gpus_library_that_lacks_memory_is_no_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = "if float(x.abs().max()) > 100:\n    raise RuntimeError('CUBLAS_STATUS_ALLOC_FAILED')\nreturn x * 2"
    made = kept(tmp_path, module_text(lines)).reference
    monkeypatch.setattr(made.device, "lends", True)
    with pytest.raises(torch.OutOfMemoryError, match="ALLOC_FAILED"):
        made.run_eager([torch.full((4, 8), 200.0)], made.pristine, 0)


def test_names_that_torchs_own_modules_have(tmp_path: Path) -> None:
    init = (
        "self.graph, self.code = nn.BatchNorm1d(8), nn.Parameter(torch.ones(8))\nself.graph.table = torch.arange(8.0)\n"
        "self.register_buffer('meta', torch.zeros(8), persistent=False)\nself.register_buffer('recompile', torch.zeros(8))"
    )
    lines = (
        "self.meta += x[0]\nself.recompile = self.recompile + x[1]\nreturn self.graph(x) * self.code + self.graph.table"
    )
    data = traced(tmp_path, module_text(lines, init), mode="train")
    own = "graph.running_mean graph.running_var graph.num_batches_tracked meta recompile"
    assert data["checked"] and sorted(state["target"] for state in data["states"]) == sorted(own.split())
    named = ["code", "graph.weight", "graph.bias", "graph.table"]
    assert [leaf["target"] for leaf in data["leaves"] if leaf["kind"] in ("param", "constant")] == named


def test_a_module_that_exits_is_told(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(module_text("import sys\nsys.exit(0)"))
    (tmp_path / "task.json").write_text(json.dumps({"name": "t", "file": str(tmp_path / "model.py")}))
    assert trace.write_trace(str(tmp_path / "task.json"), str(tmp_path / "out.json")) == 2
    assert json.loads((tmp_path / "out.json").read_text())["error"]["wrong"] == "its code ends the process"
