"""What a kernel file takes along of the user's file so that ModelNew is constructed as Model is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from mtmc.task.task import load_task
from mtmc.trace.trace import trace
from traced_modules import module_text
from tracing import refused, traced

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


def test_containers_stand_in_for_packages() -> None:
    task = {"name": "m", "module": "torch.nn", "attr": "TransformerEncoderLayer", "inputs": ["f32[2,3,8]"]}
    task |= {"init_args": [8, 2], "init_kwargs": {"dim_feedforward": 16, "dropout": 0.0}}
    loaded = load_task(task)
    namespace: dict[str, Any] = {}
    source = trace(loaded)["constructor_source"]
    exec(source.replace("# mtmc: forward", "pass"), namespace)
    built, original = loaded.make_model(0, constructor=namespace["ModelNew"]), loaded.make_model(0)
    built.load_state_dict(original.state_dict())
    assert torch.equal(built.self_attn.out_proj.weight, original.self_attn.out_proj.weight)
    with pytest.raises(ValueError, match=r"this kernel was made for TransformerEncoderLayer\(8, 2, dim_feedforward=16"):
        namespace["ModelNew"](8, 4)


def test_constructor_takes_what_it_needs(tmp_path: Path) -> None:
    text = (
        '"""Docs."""\nimport math\nimport torch, os\nimport torch.nn as nn\n\n'
        "WIDTH = 8; SEED = 3\nUNUSED = os.getcwd()\n\n"
        "def scale(x):\n    return x / math.sqrt(WIDTH)\n\ndef unused(): pass\n\n"
        "class Block(nn.Module):\n"
        "    'A block.'\n    hidden = WIDTH  # of the block\n"
        "    def __init__(self):\n        super(Block, self).__init__()\n"
        "        self.w = nn.Parameter(scale(torch.randn(WIDTH)))\n"
        "    def reset(self):\n        nn.init.normal_(self.w)\n"
        "    def forward(self, x):\n        return x * self.w\n\n"
        "class Unused(nn.Module): pass\n\n"
        "class Net(nn.Module):\n"
        "    def __init__(self, blocks=2):\n"
        "        super(Net, self).__init__()\n"
        "        self.blocks = nn.ModuleList(Block() for _ in range(blocks))\n"
        "        self.apply(self._init)\n"
        "    def _init(self, module):\n"
        "        if isinstance(module, Block): module.reset()\n"
        "    def helper(self, x):\n        return x + 1\n"
        "    def forward(self, x):\n"
        "        for block in self.blocks: x = self.helper(block(x))\n"
        "        return x\n"
        "def get_inputs():\n    return [torch.randn(4, 8)]\n"
    )
    source = traced(tmp_path, text, attr="Net")["constructor_source"]
    assert source == (
        "import math\nimport torch, os\nimport torch.nn as nn\nWIDTH = 8\n\n\n"
        "def scale(x):\n    return x / math.sqrt(WIDTH)\n\n\n"
        "class Block(nn.Module):\n"
        "    hidden = WIDTH  # of the block\n\n"
        "    def __init__(self):\n        super(Block, self).__init__()\n"
        "        self.w = nn.Parameter(scale(torch.randn(WIDTH)))\n\n"
        "    def reset(self):\n        nn.init.normal_(self.w)\n\n\n"
        "class ModelNew(nn.Module):\n"
        "    def __init__(self, blocks=2):\n"
        "        super(ModelNew, self).__init__()\n"
        "        self.blocks = nn.ModuleList(Block() for _ in range(blocks))\n"
        "        self.apply(self._init)\n\n"
        "    def _init(self, module):\n"
        "        if isinstance(module, Block): module.reset()\n\n"
        "    # mtmc: forward\n"
    )


def test_constructors_that_depend_on_the_rest_of_the_file_get_containers(tmp_path: Path) -> None:
    init = "self.w = nn.Parameter(torch.full((8,), float(sum(SEEN))))"
    text = module_text("return x * self.w", init).replace("class Model", "SEEN = []\nSEEN.append(3)\nclass Model", 1)
    assert "torch.zeros((8,)" in traced(tmp_path, text)["constructor_source"]


def test_future_imports_stay_first(tmp_path: Path) -> None:
    text = "from __future__ import annotations\n" + module_text("return x * self.w", "self.w: Unknown = 2.0")
    source = traced(tmp_path, text.replace("import torch\n", "import torch as t, torch\n"))["constructor_source"]
    assert source.startswith("from __future__ import annotations\n")


def test_files_that_import_their_neighbours_get_containers(tmp_path: Path) -> None:
    (tmp_path / "neighbour_of_m.py").write_text("import torch\nclass Part(torch.nn.Linear): pass\n")
    text = module_text("return self.net(x)", "self.net = nn.Sequential(Part(8, 8))")
    data = traced(tmp_path, "from neighbour_of_m import Part\n" + text)
    assert "neighbour" not in data["constructor_source"] and "_Container()" in data["constructor_source"]


OUTPUT = """
from collections import OrderedDict
from dataclasses import dataclass, fields
from torch.utils import _pytree
class Base(OrderedDict):  # as transformers' ModelOutput
    def __init_subclass__(cls):
        made = lambda values, names: cls(**dict(zip(names, values)))
        _pytree.register_pytree_node(cls, lambda one: (list(one.values()), list(one)), made)
    def __post_init__(self):
        given = {one.name: getattr(self, one.name) for one in fields(self)}
        self.update({name: value for name, value in given.items() if value is not None})
@dataclass
class Out(Base):
    first: object = None
    none: object = None
    rest: object = None
"""
RETURNED = "return Out(first=x, rest=(x + 1, x * 2))"


@pytest.mark.parametrize("first", [True, False])
def test_results_of_the_users_own_classes_are_of_such_a_class(tmp_path: Path, first: bool) -> None:
    text = module_text(RETURNED)
    data = traced(tmp_path, OUTPUT + text if first else text + OUTPUT)
    assert data["template"] == "self._Out(first={0}, rest=({1}, {2}))"
    source = data["constructor_source"]
    assert source.index("class Out") < source.index("class ModelNew") and "    _Out = Out\n" in source
    namespace: dict[str, Any] = {"__name__": "__main__"}
    exec(source.replace("# mtmc: forward", "pass"), namespace)
    made = namespace["ModelNew"]()._Out(first=1, rest=2)
    assert type(made).__name__ == "Out" and made.first == 1 and list(made) == ["first", "rest"]


def test_classes_of_results_that_no_kernel_file_can_have(tmp_path: Path) -> None:
    (tmp_path / "outputs_of_m.py").write_text(OUTPUT)
    error = refused(tmp_path, "from outputs_of_m import Out\n" + module_text(RETURNED))
    wrong = "forward returns an object of a class that kernel.py cannot import"
    assert (error.wrong, error.got) == (wrong, "outputs_of_m.Out")
    own = "from dataclasses import dataclass\n@dataclass\nclass Own(Base):\n    first: object = None\n    rest: object = None\n"
    error = refused(tmp_path, "from outputs_of_m import Base\n" + own + module_text(RETURNED.replace("Out(", "Own(")))
    assert (error.wrong, error.got) == ("forward returns a Own", "imports its neighbour outputs_of_m")
    inside = "\n".join("    " + line for line in OUTPUT.splitlines())
    error = refused(tmp_path, f"def make():\n{inside}\n    return Out\nOut = make()\n{module_text(RETURNED)}")
    assert error.wrong == wrong and error.got.endswith("make.<locals>.Out")


def test_a_file_that_cannot_be_taken_along_keeps_its_plain_attributes(tmp_path: Path) -> None:
    (tmp_path / "cell_of_m.py").write_text(
        module_text("self.h = self.h + x\nreturn self.h", "self.h = torch.randn(4, 8)")
    )
    inner = "self.cell = Cell()\nself.two = [torch.ones(8), torch.arange(8.0)]"
    text = "from cell_of_m import Model as Cell\n" + module_text("return self.cell(x) * self.two[1]", inner)
    source = traced(tmp_path, text)["constructor_source"]
    assert "_Container()" in source and "torch.full((8,), 1.0, dtype=torch.float32)" in source
    namespace: dict[str, Any] = {}
    exec(source.replace("# mtmc: forward", "pass"), namespace)
    built = namespace["ModelNew"]()
    assert torch.equal(built.two[1], torch.arange(8.0)) and built.cell.h.shape == (4, 8)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_have_equal_constructors(path: Path) -> None:
    function = path.stem == "fused_score"
    attr, kind = ("score", "function") if function else ("Model", "class")
    task = load_task({"name": path.stem, "file": str(path), "attr": attr, "kind": kind})
    data = trace(task)
    namespace: dict[str, Any] = {}
    exec(data["constructor_source"].replace("# mtmc: forward", "pass"), namespace)
    own, theirs = task.make_model(3, constructor=namespace["ModelNew"]).state_dict(), task.make_model(3).state_dict()
    assert list(own) == list(theirs) and all(torch.equal(own[name], theirs[name]) for name in own)
    assert {node["at"].split(":")[0] for node in data["nodes"]} == {path.name}
