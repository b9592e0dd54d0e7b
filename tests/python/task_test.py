"""Loading tasks: what KernelBench files, functions and checkpoints give, and what each mistake says."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

import pytest
import torch

from mtmc.task.task import Task, TaskError, in_order, load_task
from mtmc.wire.by_name import by_place

MODEL = """
import torch
class Model(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = torch.nn.Linear(width, 3)
    def forward(self, x):
        return self.linear(x)
def get_inputs():
    return [torch.randn(2, 4)]
def get_init_inputs():
    return [4]
def double(x, scale=2.0):
    return x * scale
"""


@pytest.fixture
def model_file(tmp_path: Path) -> Path:
    path = tmp_path / "model.py"
    path.write_text(MODEL)
    return path


def load(path: Path, **more: Any) -> Task:
    return load_task({"name": "t", "file": str(path), **more})


def failure(path: Path, **more: Any) -> TaskError:
    with pytest.raises(TaskError) as caught:
        task = load(path, **more)
        task.check_runs(task.make_model(0))
    return caught.value


def test_kernelbench_file(model_file: Path) -> None:
    task = load(model_file)
    torch.manual_seed(7)
    expected = torch.nn.Linear(4, 3).weight
    model = task.make_model(7)
    assert torch.equal(model.linear.weight, expected) and model.training
    assert torch.equal(task.make_inputs(5)[0], task.make_inputs(5)[0])
    assert not torch.equal(task.make_inputs(5)[0], task.make_inputs(6)[0])
    assert list(task.forward_signature.parameters) == ["x"]


def test_json_file_and_mode(model_file: Path, tmp_path: Path) -> None:
    path = tmp_path / "task.json"
    path.write_text(json.dumps({"name": "t", "file": str(model_file), "attr": "Model", "mode": "eval"}))
    assert not load_task(path).make_model(0).training


def test_function_with_specs_can_be_exported(model_file: Path) -> None:
    task = load(model_file, attr="double", kind="function", inputs=["f32[2,3]", 3.0])
    model, inputs = task.make_model(0), task.make_inputs(0)
    assert torch.equal(model(*inputs), inputs[0] * 3.0)
    assert list(task.forward_signature.parameters) == ["x", "scale"]
    exported = torch.export.export(model, tuple(inputs))
    assert torch.equal(exported.module()(*inputs), inputs[0] * 3.0)


def test_integer_inputs_stay_below_their_bound(model_file: Path) -> None:
    drawn = load(model_file, inputs=["i64[1000]<3", "bool[4]", "bf16[]"]).make_inputs(0)
    assert set(drawn[0].tolist()) == {0, 1, 2}
    assert drawn[1].dtype == torch.bool and drawn[2].shape == () and drawn[2].dtype == torch.bfloat16


def test_named_arguments_stand_at_their_parameters_places() -> None:
    def forward(x: Any, mask: Any = None, bias: Any = 2, *, scale: float = 1.0) -> None: ...

    def placed(first: list[Any], **named: Any) -> tuple[list[Any], tuple[str, ...]]:
        return in_order(inspect.signature(forward), first, named, "reading an input")

    assert placed([3], bias=4) == ([3, None, 4], ())
    assert placed([], mask=5, x=3) == ([3, 5], ())
    assert placed([3], scale=4) == ([3, 4], ("scale",))
    for first, named, wrong in (
        ([3], {"x": 4}, "given twice"),
        ([3], {"msk": 4}, "forward has no such parameter"),
        ([], {"mask": 4}, "forward needs another argument"),
    ):
        with pytest.raises(TaskError) as caught:
            placed(first, **named)
        assert caught.value.wrong == wrong


def test_named_arguments_of_a_task(model_file: Path) -> None:
    task = load(model_file, attr="double", kind="function", inputs=["f32[2,3]"], named_inputs={"scale": 3.0})
    assert task.make_inputs(0)[1] == 3.0


@pytest.mark.parametrize(
    ("made", "placed"),
    [
        ("{'scale': 3, 'x': 1}", [1, 3]),
        ("([1], {'scale': 3})", [1, 3]),
        ("[(1,), {'scale': 3}]", [1, 3]),
        ("({}, {'scale': 3})", [{}, {"scale": 3}]),
        ("([1], {'other': 3})", [[1], {"other": 3}]),  # no parameter: the dict is an argument itself
        ("([1], {})", [[1], {}]),
        ("{'of': 'only'}", [{"of": "only"}]),  # forward takes one argument
        ("{'x': 1}", [1]),
    ],
)
def test_get_inputs_may_name_arguments(tmp_path: Path, made: str, placed: list[Any]) -> None:
    path = tmp_path / f"named{abs(hash(made))}.py"
    parameters = "batch" if "only" in made else "x, scale=2.0"
    path.write_text(f"def double({parameters}): ...\ndef get_inputs(): return {made}\n")
    assert load(path, attr="double").make_inputs(0) == placed


@pytest.mark.parametrize(
    ("made", "message"),
    [
        ("3", "wrong type: got int, wanted a list of arguments, a dict of them by name, or (list, dict)"),
        ("{'z': 1}", "forward has no such parameter: got z, wanted one of x scale y"),
        ("{'scale': 1}", "forward needs another argument: got x, wanted a value for it"),
        ("([1], {'x': 1})", "given twice: got x, wanted each argument once"),
        (
            "[1, 2.0]",
            "forward takes an argument by its name only: got y, wanted get_inputs() that returns ([...], {'y': ...}), "
            "or --input y=...",
        ),
    ],
)
def test_names_that_get_inputs_cannot_give(tmp_path: Path, made: str, message: str) -> None:
    path = tmp_path / f"misnamed{abs(hash(made))}.py"
    path.write_text(f"def double(x, scale=2.0, *, y): ...\ndef get_inputs(): return {made}\n")
    with pytest.raises(TaskError) as caught:
        load(path, attr="double").make_inputs(0)
    assert caught.value.message() == "calling get_inputs(): " + message


NAMED = """
def double(x, *more, y, z=3, **words): return x, more, y, z, words
def get_inputs(): return GIVEN
"""


@pytest.mark.parametrize(
    ("made", "placed", "names", "returned"),
    [
        ("([1], {'y': 2})", [1, 2], ("y",), (1, (), 2, 3, {})),
        ("([1], {'w': 6, 'y': 2})", [1, 2, 6], ("y", "w"), (1, (), 2, 3, {"w": 6})),
        ("([1, 5], {'z': 4, 'y': 2})", [1, 5, 2, 4], ("y", "z"), (1, (5,), 2, 4, {})),
        ("{'w': 6, 'y': 2, 'x': 1}", [1, 2, 6], ("y", "w"), (1, (), 2, 3, {"w": 6})),
    ],
)
def test_arguments_that_go_by_name_only(
    tmp_path: Path, made: str, placed: list[Any], names: tuple[str, ...], returned: tuple[Any, ...]
) -> None:
    path = tmp_path / f"only{abs(hash(made))}.py"
    path.write_text(NAMED.replace("GIVEN", made))
    task = load(path, attr="double")
    assert (task.make_inputs(0), task.by_name) == (placed, names)
    assert by_place(task.make_model(0), task.by_name)(*placed) == returned


def test_names_are_the_same_in_every_draw(tmp_path: Path) -> None:
    path = tmp_path / "moody.py"
    path.write_text(NAMED.replace("GIVEN", "[1], {'y': 2} if torch.rand(()) < 0.5 else {'y': 2, 'z': 3}"))
    path.write_text("import torch\n" + path.read_text())
    with pytest.raises(TaskError) as caught:
        task = load(path, attr="double")
        for seed in range(20):
            task.make_inputs(seed)
    assert caught.value.wrong == "it names other arguments than before"


def test_why_a_file_does_not_import_is_what_went_wrong_first(tmp_path: Path) -> None:
    path = tmp_path / "wrapped.py"
    path.write_text("try:\n    import no_such_package\nexcept ImportError as e:\n    raise ValueError('odd') from e\n")
    assert failure(path).got == "ModuleNotFoundError: No module named 'no_such_package'"


def test_constructor_arguments_and_checkpoint(model_file: Path, tmp_path: Path) -> None:
    state = torch.nn.Linear(5, 3).state_dict()
    torch.save({f"linear.{name}": value for name, value in state.items()}, tmp_path / "w.pt")
    task = load(model_file, init_kwargs={"width": 5}, inputs=["f32[2,5]"], weights=str(tmp_path / "w.pt"))
    assert torch.equal(task.make_model(0).linear.weight, state["weight"])


def test_modules_by_dotted_name() -> None:
    task = load_task({"name": "t", "module": "torch.nn", "attr": "GELU", "inputs": ["f32[3]"]})
    task.check_runs(task.make_model(0))


def test_mistakes_say_what_is_wrong(model_file: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.py"
    broken.write_text("import no_such_package\n")
    torch.save(torch.nn.Linear(5, 3).state_dict(), tmp_path / "w.pt")
    assert failure(tmp_path / "none.py").wrong == "no such file"
    assert failure(broken).message() == (
        "loading t: broken.py does not import: got ModuleNotFoundError: No module named 'no_such_package'"
    )
    assert failure(model_file, attr="Net").message() == (
        "loading t: model.py has no Net: got the classes Model, wanted a class or function named Net"
    )
    assert failure(model_file, attr="double", kind="class").wrong == "double is not a module class"
    made = model_file.with_name("made.py")
    made.write_text(MODEL + "net = Model(4)\n")
    assert failure(made, attr="net").message() == (
        "loading t: net is not a module class: got Model, wanted a subclass of torch.nn.Module, or a function"
    )
    assert failure(model_file, entry="inputs").wrong == "model.py has no inputs()"
    model_file.with_name("odd.py").write_text(MODEL + 'MODE = "inference"\n')
    odd = failure(model_file.with_name("odd.py"))
    assert (odd.wrong, odd.got, odd.wanted) == ("odd.py has an unknown MODE", "'inference'", '"train" or "eval"')
    assert failure(model_file, inputs=["float[3]"]).got == "'float[3]'"
    assert failure(model_file, inputs=["f32[3,]"]).wrong == "a size is missing or a bound is 0"
    assert failure(model_file, init_args=[4, 5]).doing == "constructing Model"
    assert "cannot be multiplied" in failure(model_file, inputs=["f32[2,9]"]).wrong
    unfit = failure(model_file, weights=str(tmp_path / "w.pt"))
    assert unfit.got.startswith("linear.weight is missing; linear.bias is missing; weight is not in the module")
    torch.save(torch.nn.Linear(3, 4), tmp_path / "whole.pt")
    whole = failure(model_file, weights=str(tmp_path / "whole.pt"))
    assert (whole.wrong, whole.got) == ("this is a whole module", "torch.nn.modules.linear.Linear")
    assert whole.wanted == "what torch.save(model.state_dict(), FILE) writes"
    none = failure(model_file, weights=str(model_file))
    assert (none.wrong, none.got) == ("this is no checkpoint that torch can read", "")


OUT = """
import torch
class Model(torch.nn.Module):
    def forward(self, x, out, count):
        return torch.log(x, out=out)
def get_inputs():
    x = torch.rand(300)
    return [x, torch.empty_like(x), torch.empty(300, dtype=torch.int64), x.new_empty(300), torch.empty(0), torch.empty(3).normal_()]
"""


def test_memory_that_nobody_filled_is_the_same_whenever_arguments_are_drawn(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(OUT)
    task = load(tmp_path / "model.py")

    def drawn(seed: int, left: float) -> list[torch.Tensor]:
        del_me = [torch.full((300,), left) for _ in range(8)] + [torch.full((300,), 77) for _ in range(8)]
        del del_me
        return task.make_inputs(seed)

    first, again, other = drawn(5, 3.0), drawn(5, 4.0), drawn(6, 5.0)
    assert all(map(torch.equal, first, again))
    assert bool((first[1] == first[1][0]).all()) and 1 <= float(first[1][0]) <= 2 and not first[2].any()
    assert torch.equal(first[1], first[3]) and not torch.equal(first[1], other[1])


@pytest.mark.parametrize(
    ("parameters", "made", "args", "named"),
    [
        ("d=8, bias=True", [[], {"d": 4, "bias": False}], [], {"d": 4, "bias": False}),
        ("d, *, bias=True", ([4], {"bias": False}), [4], {"bias": False}),
        ("d=8, bias=True", [[], {}], [], {}),
        ("", [[], {}], [], {}),
        ("d", [[4], {}], [4], {}),
        ("sizes, options", [[4], {}], [[4], {}], {}),
        ("sizes, options", [[], {}], [[], {}], {}),
        ("sizes, options", [[4], {"options": 3}], [4], {"options": 3}),
        ("sizes, options, deep=False", [[4], {"depth": 3}], [[4], {"depth": 3}], {}),
        ("sizes, options=None, **more", [[4], {"depth": 3}], [[4], {"depth": 3}], {}),
        ("*sizes, **more", [[4], {"depth": 3}], [[4], {"depth": 3}], {}),
        ("size, **more", [[4], {"depth": 3}], [4], {"depth": 3}),
    ],
)
def test_a_list_and_a_dict_construct_as_kernelbook_means_them(
    tmp_path: Path, parameters: str, made: Any, args: list[Any], named: dict[str, Any]
) -> None:
    init = f"    def __init__(self, {parameters}):\n        super().__init__()\n"
    text = "import torch\nclass Model(torch.nn.Module):\n" + init + "    def forward(self, x): return x\n"
    made_by = f"def get_init_inputs(): return {made!r}\ndef get_inputs(): return [torch.ones(2)]\n"
    (tmp_path / "model.py").write_text(text + made_by)
    assert load(tmp_path / "model.py").constructor_arguments() == (args, named)
