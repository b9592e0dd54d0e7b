"""What forward does with the names and the shapes of a module's tensors, while it is traced and while it is judged."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from mtmc.device.device import device_named
from mtmc.referee.reference import Reference
from mtmc.task.task import load_task
from mtmc.wire.task_error import TaskError
from traced_modules import module_text
from tracing import refused, traced

TWO = "self.register_buffer('a', torch.zeros(8))\nself.register_buffer('b', torch.ones(8))\n"


def reference(folder: Path, text: str) -> Reference:
    (folder / "model.py").write_text(text)
    return Reference(load_task({"name": "t", "file": str(folder / "model.py")}), 1, device_named("cpu"))


def test_a_module_with_two_names_and_buffers_that_it_writes(tmp_path: Path) -> None:
    init = "self.norm = nn.BatchNorm1d(8)\nself.net = nn.Sequential(nn.Linear(8, 8), self.norm, nn.ReLU(), self.norm)"
    data = traced(tmp_path, module_text("return self.net(x)", init))
    assert data["checked"]
    wanted = ["norm.running_mean", "norm.running_var", "norm.num_batches_tracked"]
    assert [state["target"] for state in data["states"]] == wanted


@pytest.mark.parametrize("names", ["self.b = self.a", "self.register_buffer('c', self.a, persistent=False)"])
def test_a_buffer_with_two_names(tmp_path: Path, names: str) -> None:
    data = traced(tmp_path, module_text("self.a.add_(1)\nreturn x + self.a + self.b", TWO + names))
    assert data["checked"] and [state["target"] for state in data["states"]] == ["a"]


@pytest.mark.parametrize(
    ("body", "moved"),
    [
        ("self.a = self.b\nreturn x + self.a", ["a"]),
        ("self.a, self.b = self.b, self.a\nreturn x + self.a", ["a", "b"]),
        ("self.a = self.b\nself.b = x.mean(0) * 3\nreturn x + self.a", ["a", "b"]),
    ],
)
def test_buffers_that_take_each_others_place(tmp_path: Path, body: str, moved: list[str]) -> None:
    text = module_text(body, TWO)
    data = traced(tmp_path, text)
    assert data["checked"] and sorted(state["target"] for state in data["states"]) == moved
    made, x = reference(tmp_path, text), torch.ones(4, 8)
    for _ in range(2):  # the second run begins where the first one did
        eager = made.run_eager([x], made.pristine, 0)
        assert sorted(eager.after[0]) == moved and len(eager.calls) == len(eager.after) == 2
        assert torch.equal(eager.calls[0][0], torch.full((4, 8), 2.0))


TABLES = {
    "attribute": ("self.t = torch.zeros(0)", "self.t"),
    "list": ("self.t = [torch.zeros(0)] * 2", "self.t[1]"),
    "buffer": ("self.register_buffer('t', torch.zeros(0), persistent=False)", "self.t"),
}


@pytest.mark.parametrize("kind", TABLES)
def test_a_table_that_is_made_again_when_it_is_too_short(tmp_path: Path, kind: str) -> None:
    init, table = TABLES[kind]
    body = f"if len({table}) < len(x):\n    {table} = torch.arange(len(x)) * 2.0\nreturn x + {table}[:len(x), None]"
    data = traced(tmp_path, module_text(body, init))
    assert data["checked"] and not data["states"]
    assert reference(tmp_path, module_text(body, init)).plain == []


def test_a_table_that_is_registered_again(tmp_path: Path) -> None:
    init = TABLES["buffer"][0] + "\nself.most = 0"
    build = "self.most = len(x)\n    self.register_buffer('t', torch.arange(len(x)) * 2.0, persistent=False)"
    text = module_text(f"if len(x) > self.most:\n    {build}\nreturn x + self.t[:, None]", init)
    assert traced(tmp_path, text)["checked"] and reference(tmp_path, text).plain == []


@pytest.mark.parametrize("result", ["self.t.sum(0)", "x * 2"])
def test_what_grows_from_call_to_call_is_state(tmp_path: Path, result: str) -> None:
    text = module_text(f"self.t = torch.cat([self.t, x])\nreturn {result}", "self.t = torch.zeros(0, 8)")
    assert "goes on to change it" in refused(tmp_path, text).wrong
    assert reference(tmp_path, text).plain == [".t"]


def test_what_cannot_be_state_is_named(tmp_path: Path) -> None:
    two = "self.a, self.b = nn.Parameter(torch.ones(8)), nn.Parameter(torch.zeros(8))"
    error = refused(tmp_path, module_text("self.a = self.b\nreturn x * self.a", two))
    assert (error.wrong, error.got) == ("forward puts something else in a parameter's place", "a")
    error = refused(tmp_path, module_text("self.a.resize_(4)\nreturn x.sum() + self.a", TWO))
    assert (error.wrong, error.got) == ("forward resizes a tensor of the module", "a: [8], then [4]")


def test_what_forward_adds_to_the_state_dict_is_named(tmp_path: Path) -> None:
    added = "if self.w is None:\n    self.w = nn.Parameter(torch.ones(8))\nreturn x * self.w"
    text = module_text(added, "self.w = None")
    adds = "forward adds a parameter or buffer to the state_dict"
    assert (refused(tmp_path, text).wrong, refused(tmp_path, text).got) == (adds, "w")
    with pytest.raises(TaskError, match="judging t: " + adds):
        reference(tmp_path, text)
