"""What a file draws at random while it is imported is told to the user where results depend on it, and only there."""

from __future__ import annotations

from pathlib import Path

import pytest

from mtmc.device.device import device_named
from mtmc.referee.reference import Reference
from mtmc.task.imported import AGAIN, import_file, imported_again
from mtmc.task.task import load_task
from mtmc.wire.task_error import TaskError
from traced_modules import module_text
from tracing import refused, traced

WRONG = "what forward returns depends on what its file draws at random while it is imported"
CASES = {
    "tensor": ("W = torch.randn(8, 3)", "", "return x @ W", "W: a tensor [8, 3]"),
    "list": ("W = [torch.randn(8, 8) for _ in range(2)]", "", "return x @ W[1]", "W: a list of 2"),
    "numbers": ("import random\nW = random.random()", "", "return x * W", "W: 0."),
    "array": (
        "import numpy as np\nW = np.random.rand(8)",
        "",
        "return x * torch.from_numpy(W).float()",
        "W: an array [8]",
    ),
    "module": ("W = nn.Linear(8, 3)", "", "return W(x)", "W: a Linear"),
    "class": ("class A:\n    w = torch.rand(8)", "", "return x * A.w", "A.w: a tensor [8]"),
    "kept number": ("W = torch.rand(()).item()", "self.w = W", "return x * self.w", "W: 0."),
    "default": ("def f(x, w=torch.rand(8)): return x * w", "", "return f(x)", ""),
}
FREE = {
    "seeded": ("torch.manual_seed(3)\nW = torch.randn(8)", "", "return x * W"),
    "weight": ("W = torch.randn(8)", "self.w = nn.Parameter(W.clone())", "return x * self.w"),
    "attribute": ("W = torch.randn(8)", "self.w = W", "return x * self.w"),
    "unused": ("W = torch.randn(8)", "", "return x * 2"),
    "no draw": ("W = torch.ones(8)", "", "return x * W"),
    "only once": ("W = torch.randn(8)\nopen(__file__ + '.once', 'x')", "", "return x * 2"),
}


def text_of(top: str, init: str, body: str) -> str:
    return module_text(body, init).replace("class Model(", f"{top}\nclass Model(", 1)


def reference(folder: Path, text: str) -> Reference:
    (folder / "model.py").write_text(text)
    return Reference(load_task({"name": "t", "file": str(folder / "model.py")}), 1, device_named("cpu"))


@pytest.mark.parametrize("name", CASES)
def test_it_is_named(tmp_path: Path, name: str) -> None:
    *parts, got = CASES[name]
    told = refused(tmp_path, text_of(*parts))
    assert told.wrong == WRONG and told.got.startswith(got) and "a seed in the file" in told.wanted
    with pytest.raises(TaskError, match="judging t: " + WRONG):
        reference(tmp_path, text_of(*parts))


@pytest.mark.parametrize("name", FREE)
def test_what_can_be_set_or_decides_about_nothing_may_be_drawn(tmp_path: Path, name: str) -> None:
    text = text_of(*FREE[name])
    assert traced(tmp_path, text)["checked"]
    made = reference(tmp_path, text)
    assert made.plain == ([".w"] if name == "attribute" else [])


BOTH = "self.w = {'a': torch.randn(8)}"
CONSTRUCTED = "what forward returns depends on what differs from one construction to the next, and nobody can set it"


@pytest.mark.parametrize(
    ("body", "wrong", "got"),
    [
        ("return x * self.w['a']", CONSTRUCTED, "w: a dict of 1"),
        ("return x * W", WRONG, "W: a tensor [8]"),
        ("return x * W * self.w['a']", CONSTRUCTED, "w: a dict of 1"),
    ],
)
def test_a_file_that_draws_is_not_blamed_for_its_constructor(tmp_path: Path, body: str, wrong: str, got: str) -> None:
    text = text_of("W = torch.randn(8)\nEXAMPLES = torch.randn(4, 8)", BOTH, body)
    text = text.replace("return [torch.randn(4, 8)]", "return [EXAMPLES]")
    told = refused(tmp_path, text)
    assert told.wrong == wrong and told.got.startswith(got)
    with pytest.raises(TaskError, match="judging t: " + wrong):
        reference(tmp_path, text)


def test_only_a_file_that_draws_is_imported_twice(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text("import torch\nW = torch.ones(2)\n")
    (tmp_path / "two.py").write_text("import torch\nW = torch.rand(2)\n")
    one, two = (import_file(tmp_path / name, "reading") for name in ("one.py", "two.py"))
    assert imported_again(one) is one
    again = imported_again(two)
    assert again.__name__ == two.__name__ + AGAIN and not again.W.equal(two.W) and imported_again(two) is again
