"""What forward returns in classes of its own: traced, described, and taken apart nowhere but where it is held."""

from __future__ import annotations

import math
from collections import OrderedDict, UserDict, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch

from mtmc.task.task import TaskError, load_task
from mtmc.wire.blobs import leaves, names_of, structure_of
from mtmc.wire.forms import checked, form_of, rebuilt, without_values
from mtmc.wire.outputs import detached, lazy, tensors
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


class Single(NamedTuple):
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


@dataclass(init=False)
class Rows(list[Any]):
    """Who takes it for a dataclass asks for a field that it has not."""

    a: Any = field(init=False)

    def __getattr__(self, name: str) -> Any:
        return torch.ones(1)


class Answers(type):
    """A class that is asked whether it is another one, or hashed, could work."""

    def __hash__(cls) -> int:
        raise AssertionError

    def __eq__(cls, other: object) -> bool:
        raise AssertionError


class Met(list[Any], metaclass=Answers):
    pass


class Denies(type):
    def __getattribute__(cls, name: str) -> Any:
        if name == "__get__":
            raise AttributeError(name)
        return super().__getattribute__(name)


class Computed(metaclass=Denies):
    def __get__(self, owner: Any, kind: type) -> Any:
        return torch.ones(1)


Field = dataclass(type("Field", (), {"__annotations__": {"a": Any}, "a": Computed()}), init=False)


@Mapping.register
class Registered:
    def __getattr__(self, name: str) -> Any:
        return getattr({"a": torch.ones(1)}, name)


def replaced(made: Any) -> Any:
    made.values = lambda: [torch.ones(1)]
    return made


class Plain(dict[Any, Any]):
    pass


class Text(str):
    pass


def other_attributes() -> Any:
    made = Held(1)
    made.__dict__ = {Text("a"): 1}
    return made


LAZY: list[tuple[Callable[[], Any], str]] = [
    *((kind, f"{kind.__name__}.") for kind in (Iterates, Items, Computes, Property, Field)),
    *((kind, f"a {kind.__name__}") for kind in (Looks, Changing, Registered, Met, UserDict, deque)),
    *((lambda kind=kind: replaced(kind()), f"{kind.__name__}.values") for kind in (Plain, OrderedDict)),
    (lambda: {Text("a"): torch.ones(1)}, "a key that is a Text"),
    (other_attributes, "Held.a"),
]


@pytest.mark.parametrize(("made", "way"), LAZY)
def test_a_container_that_computes_its_parts_is_lazy(made: Callable[[], Any], way: str) -> None:
    why = lazy((1, {"a": made()}))
    assert f"it holds {way}" in why and why.endswith("lists, dicts, dataclasses and ModelOutputs")


def test_a_list_is_read_by_place_whatever_else_it_is() -> None:
    assert lazy(Rows([1])) == "" and leaves(Rows([1])) == [1] and structure_of(Rows([1])) == "[int]"


def test_a_dict_is_read_not_asked() -> None:
    turned = replaced(OrderedDict(a=1, b=2))
    turned.move_to_end("a")
    assert leaves(turned) == [2, 1] and structure_of(turned) == "{b: int, a: int}"


def test_names_of_parts_are_none_that_are_computed() -> None:
    kind = type("Kind", (tuple,), {"__match_args__": Computed()})
    assert names_of(kind((1,))) == () and names_of(Single(1)) == ("a",)


def test_a_parameter_carries_notes_and_no_other_methods() -> None:
    noted, other = (torch.nn.Parameter(torch.ones(1)) for _ in range(2))
    noted.loader, other.numel = print, lambda: 1  # type: ignore[attr-defined,method-assign]
    assert lazy(noted) == "" and lazy(other) == "output 0 carries attributes of its own: numel"


def test_results_of_any_class_are_detached() -> None:
    x = torch.ones(2, requires_grad=True)
    value = detached([Held(x * 2, math.inf), OrderedDict(b=(x + 1).expand(3, 2)), (x, 3)])
    assert structure_of(value) == "[{.a: tensor, .b: float}, {b: tensor}, [tensor, int]]"
    assert not any(leaf.requires_grad for leaf in tensors(value)) and tensors(value)[1].stride() == (0, 1)
    assert tensors(value)[2].data_ptr() == x.data_ptr()


@pytest.mark.parametrize("result", ["UserDict(a=x)", "deque([x])", "(x, MappingProxyType({'a': x}))", "{x.dtype: x}"])
def test_what_eager_may_not_return_is_said_at_once(tmp_path: Path, result: str) -> None:
    file = tmp_path / "m.py"
    file.write_text("from collections import *\nfrom types import *\n" + module_text(f"return {result}"))
    task = load_task({"file": str(file), "name": "m"})
    with pytest.raises(TaskError, match="running Model on its inputs: forward returns another structure: got a "):
        task.check_runs(task.make_model(0), compared=True)


@pytest.mark.parametrize("made", [Held, Slotted, Single, lambda x: OrderedDict(a=x), lambda x: torch.ones(2, 2).max(0)])
def test_a_container_that_holds_them_is_none(made: Any) -> None:
    assert lazy([made(torch.ones(1))]) == ""
