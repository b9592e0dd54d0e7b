"""What forward returns in classes of its own: traced, described, and taken apart nowhere but where it is held."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch

from mtmc.wire.blobs import leaves, structure_of
from mtmc.wire.forms import checked, form_of, rebuilt, without_values
from mtmc.wire.outputs import lazy
from traced_modules import module_text
from tracing import refused, traced

CLASSES = """
from collections import OrderedDict, UserDict, defaultdict
from dataclasses import dataclass, fields, field
from types import SimpleNamespace
from typing import Any, NamedTuple
@dataclass
class Out:
    first: Any
    none: Any = None
    rest: Any = None
@dataclass
class Late:
    first: Any
    rest: Any = field(init=False, default=None)
class Pair(NamedTuple):
    one: Any
    two: Any
class Dot(dict):
    __getattr__ = dict.__getitem__
@dataclass
class Model_Output(OrderedDict):
    first: Any = None
    none: Any = None
    def __post_init__(self):
        self.update({one.name: getattr(self, one.name) for one in fields(self) if getattr(self, one.name) is not None})
"""
TEMPLATES = {
    "Out(x * 2, rest=[Pair(x, Dot(a=x + 1))])": "self._Out(first={0}, none=None, rest=[self._Pair({1}, self._Dot({'a': {2}}))])",
    "Model_Output(first=x * 2)": "self._Model_Output(first={0})",
    "(x * 2, x.size(), x.shape[1:], len(x))": "({0}, torch.Size([4, 8]), torch.Size([8]), 4)",
    "{'a': torch.export.register_dataclass(Out) or Out(x)}": "{'a': self._Out(first={0}, none=None, rest=None)}",
}


@pytest.mark.parametrize("result", TEMPLATES)
def test_results_are_made_again(tmp_path: Path, result: str) -> None:
    data = traced(tmp_path, CLASSES + module_text(f"return {result}"))
    assert data["template"] == TEMPLATES[result] and data["checked"]
    exec(data["constructor_source"].replace("# mtmc: forward", "pass"), {"__name__": "__main__"})


@pytest.mark.parametrize("result", ["Late(x)", "SimpleNamespace(a=x)", "defaultdict(list, a=[x])", "(x, x.dtype)"])
def test_what_cannot_be_made_again_is_named(tmp_path: Path, result: str) -> None:
    error = refused(tmp_path, CLASSES + module_text(f"return {result}"))
    assert error.wrong == "forward returns another structure"
    assert error.wanted == "tensors in tuples, named tuples, lists, dicts, dataclasses and ModelOutputs"


@dataclass
class Held:
    a: Any
    b: Any = None


def test_the_parts_of_a_dataclass_are_described() -> None:
    value = [Held(torch.ones(2), 3)]
    assert structure_of(value) == "[{.a: tensor, .b: int}]" != structure_of([{"a": torch.ones(2), "b": 3}])
    assert [type(leaf) for leaf in leaves(value)] == [torch.Tensor, int]
    form = checked(form_of(value), 1 << 20)
    again = rebuilt(form, lambda one: torch.empty(one["shape"]), lambda one: one["value"])
    assert structure_of(again) == structure_of(value) and without_values(form)[0]["list"][0]["fields"]


class Iterates(list[Any]):
    def __iter__(self) -> Any:
        return iter([torch.ones(1)])


class Named(NamedTuple):
    a: Any


class Items(OrderedDict[str, Any]):
    def items(self) -> Any:
        return [("a", torch.ones(1))]


@dataclass
class Computes:
    a: Any = field(init=False)

    def __getattr__(self, name: str) -> Any:
        return torch.ones(1)


class Looks:
    __class__ = property(lambda self: list)  # type: ignore[assignment]

    def __iter__(self) -> Any:
        return iter([torch.ones(1)])


class Changing:
    asked = 0

    @property
    def __class__(self) -> Any:  # type: ignore[override]
        Changing.asked += 1
        return list if Changing.asked > 4 else int


@dataclass(slots=True)
class Slotted:
    a: Any


Property = dataclass(
    type("Property", (), {"__annotations__": {"a": Any}, "a": property(lambda self: torch.ones(1))}), init=False
)


@pytest.mark.parametrize("kind", [Iterates, Items, Computes, Looks, Changing, Property])
def test_a_container_that_computes_its_parts_is_lazy(kind: type) -> None:
    assert f"{kind.__name__}." in lazy((1, {"a": kind()}))


@pytest.mark.parametrize("made", [Held, Slotted, Named, lambda x: OrderedDict(a=x), lambda x: torch.ones(2, 2).max(0)])
def test_a_container_that_holds_them_is_none(made: Any) -> None:
    assert lazy([made(torch.ones(1))]) == ""
