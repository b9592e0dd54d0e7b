"""A task: the user's module, how to build it and how to draw its inputs. The one place that loads one.

`load_task(path_or_dict)` reads the JSON that `mtmc` writes; tracing and the judge's processes all go through it, so they
see the same model and the same inputs for the same seed. Every mistake of the user's is a `TaskError`.
"""

from __future__ import annotations

import importlib
import inspect
import json
import pickle
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch.nn.parameter import UninitializedTensorMixin
from torch.serialization import get_unsafe_globals_in_checkpoint

from mtmc.device.device import made_on
from mtmc.device.memory import is_full
from mtmc.device.random_state import other_random_states, seed_all, seed_others
from mtmc.device.unfilled import built
from mtmc.task.fresh import FreshMemory
from mtmc.task.imported import FROM_FILE, import_file, imported_again
from mtmc.task.input_spec import InputSpec, parse_input
from mtmc.task.uncompiled import uncompiled
from mtmc.wire.blobs import moved
from mtmc.wire.by_name import Names, by_place
from mtmc.wire.outputs import STRUCTURES, own_way
from mtmc.wire.task_error import TaskError, first_cause, first_line, line_in

__all__ = ["Task", "TaskError", "load_task", "import_file", "seed_everything"]

NO_GPU = re.compile(
    r"not compiled with CUDA|no NVIDIA driver|No CUDA GPUs|no CUDA-capable device|invalid device ordinal", re.IGNORECASE
)


def seed_everything(seed: int) -> None:
    """Seeds torch, random and, where it is loaded, numpy."""
    if torch.cuda.is_initialized() or not torch.backends.cuda.is_built():
        seed_all(seed)
    else:  # a GPU that the task initialises is seeded, too
        torch.manual_seed(seed)
    seed_others(seed)


CPU = torch.device("cpu")


class FunctionModule(torch.nn.Module):
    """A function as a module without parameters; it keeps the function's own signature."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.forward = function


@dataclass(frozen=True)
class Task:
    """A loaded task. `make_model` and `make_inputs` depend on nothing but their seed.

    `mode` is the JSON's, else the file's own `MODE = "eval"`, else train."""

    name: str
    namespace: ModuleType
    attr: str
    kind: str = "class"
    init_args: list[Any] | None = None
    init_kwargs: dict[str, Any] = field(default_factory=dict)
    inputs: list[Any] | None = None
    named_inputs: dict[str, Any] = field(default_factory=dict)
    weights: Path | None = None
    mode: str = "train"
    entry: str = "get_inputs"
    where: torch.device = CPU  # of weights and arguments

    @property
    def target(self) -> Callable[..., Any]:
        """The user's class or function itself."""
        return getattr(self.namespace, self.attr)

    @property
    def from_file(self) -> bool:
        """Is the module from a file that the user named, not from a package?"""
        return self.namespace.__name__.startswith(FROM_FILE)

    @cached_property
    def again(self) -> Task:
        """The same task of the same file, imported once more where it draws random numbers while it is imported; itself elsewhere."""
        other = imported_again(self.namespace) if self.from_file else self.namespace
        return self if other is self.namespace else replace(self, namespace=other)

    @property
    def forward_signature(self) -> inspect.Signature:
        """The signature of `forward`, without self."""
        if self.kind == "function":
            return inspect.signature(self.target)
        signature = inspect.signature(self.target.forward)
        return signature.replace(parameters=list(signature.parameters.values())[1:])

    def constructor_arguments(self) -> tuple[list[Any], dict[str, Any]]:
        """Positional and keyword arguments of the class: the task's own, else the file's get_init_inputs()."""
        if self.init_args is not None or self.init_kwargs:
            return list(self.init_args or []), dict(self.init_kwargs)
        make = getattr(self.namespace, "get_init_inputs", None)
        if make is None:
            return [], {}
        made = self._call_user(make, "calling get_init_inputs()")
        if isinstance(made, dict):
            return [], made
        if not isinstance(made, (list, tuple)):
            raise TaskError("calling get_init_inputs()", "wrong type", type(made).__name__, "a list of arguments")
        if len(made) == 2 and isinstance(made[0], (list, tuple)) and isinstance(made[1], dict):
            return constructor_call(*made, inspect.signature(self.target))
        return list(made), {}

    def make_model(self, seed: int, constructor: Callable[..., torch.nn.Module] | None = None) -> torch.nn.Module:
        """The module in the task's mode, with the weights that the seed gives (KernelBench's order: seed, arguments,
        constructor), or the checkpoint's. `constructor` builds a stand-in, such as ModelNew, from the same arguments."""
        return self._made(seed, constructor, lambda make: (make(), set()))[0]

    def make_unfilled(
        self, seed: int, constructor: Callable[..., torch.nn.Module] | None = None
    ) -> tuple[torch.nn.Module, set[str]]:
        """The same where its weights will be given or do not matter: large random ones are not drawn, see unfilled.py. The
        names of those come with it."""
        return self._made(seed, constructor, built)

    def _made(
        self, seed: int, constructor: Callable[..., torch.nn.Module] | None, build: Callable[..., Any]
    ) -> tuple[torch.nn.Module, set[str]]:
        given = None if self.where.type == "cpu" or self.kind == "function" else self.constructor_arguments()

        def make() -> torch.nn.Module:
            seed_everything(seed)
            args, kwargs = ([], {}) if self.kind == "function" else given or self.constructor_arguments()
            return (constructor or self.target)(*args, **kwargs)

        lacking: set[str] = set()
        if constructor is not None:
            model, lacking = build(make)  # the stand-in's errors are not the user's
        elif self.kind == "function":
            model = FunctionModule(self.target)
        else:
            doing = f"constructing {self.attr}"
            model, lacking = self._call_user(lambda: made_on(self.where, lambda: build(make)), doing)
        if not isinstance(model, torch.nn.Module):
            raise TaskError(f"constructing {self.attr}", "not a torch.nn.Module", type(model).__name__, "an nn.Module")
        for name, weight in [*model.named_parameters(), *model.named_buffers()]:
            if isinstance(weight, UninitializedTensorMixin):
                wanted = "a module whose shapes are known when it is constructed"
                raise TaskError(f"constructing {self.attr}", "a weight has no shape yet", name, wanted)
            if weight.is_meta:
                raise TaskError(f"constructing {self.attr}", "a weight has no data", f"{name} on meta", "a real device")
        if self.weights is not None and constructor is None:
            load_weights(model, self.weights)
        return model.to(self.where).train(self.mode == "train"), lacking

    @cached_property
    def by_name(self) -> Names:
        """Of the arguments the last have these names, by which alone forward takes them. They are the same in every draw."""
        kinds = {parameter.kind for parameter in self.forward_signature.parameters.values()}
        named = kinds & {inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD}
        return self._drawn(0)[1] if named else ()

    def make_inputs(self, seed: int) -> list[Any]:
        """The arguments of one call of forward, drawn from the seed; call it with `by_place(model, self.by_name)`."""
        placed, names = self._drawn(seed)
        if names != self.by_name:
            doing, wrong = f"calling {self.entry}()", "it names other arguments than before"
            raise TaskError(doing, wrong, " ".join(names), " ".join(self.by_name))
        return placed if self.where.type == "cpu" else moved(placed, self.where)

    def _drawn(self, seed: int) -> tuple[list[Any], Names]:
        """Arguments, and the names of the last ones."""
        if self.inputs is not None:
            seed_everything(seed)
            values = [drawn(value) for value in self.inputs]
            named = {name: drawn(value) for name, value in self.named_inputs.items()}
            return in_order(self.forward_signature, values, named, "reading an input")

        def make() -> Any:
            seed_everything(seed)
            with FreshMemory(seed):
                return getattr(self.namespace, self.entry)()

        made = self._call_user(lambda: made_on(self.where, make), f"calling {self.entry}()")
        first, named = call_of(made, self.forward_signature)
        if first is None:
            wanted = "a list of arguments, a dict of them by name, or (list, dict)"
            raise TaskError(f"calling {self.entry}()", "wrong type", type(made).__name__, wanted)
        return in_order(self.forward_signature, first, named, f"calling {self.entry}()")

    def check_runs(self, model: torch.nn.Module, compared: bool = False) -> bool:
        """Runs the module once: shapes that do not fit and missing devices are the user's to hear about, and so are, where results
        are to be `compared`, those that cannot be. Did forward draw random numbers that are not torch's?"""
        inputs, doing = self.make_inputs(0), f"running {self.attr} on its inputs"
        before = other_random_states()
        result = self.answer(model, inputs)
        if self.where.type == "cuda":
            self._call_user(torch.cuda.synchronize, doing)
        if compared and (way := own_way(result)):
            raise TaskError(doing, "forward returns another structure", way, STRUCTURES)
        return other_random_states() != before

    def answer(self, model: torch.nn.Module, inputs: list[Any]) -> Any:
        """What the module returns for the inputs, without gradients. TaskError where it raises."""
        with torch.no_grad(), uncompiled():
            return self._call_user(lambda: by_place(model, self.by_name)(*inputs), f"running {self.attr} on its inputs")

    def _call_user(self, function: Callable[[], Any], doing: str) -> Any:
        try:
            return function()
        except TaskError:
            raise
        except Exception as error:
            text = first_line(error)
            if is_full(error):
                raise TaskError(doing, "out of memory", text, "smaller inputs, or a machine with more") from error
            if NO_GPU.search(text):
                raise TaskError(doing, "needs a GPU, and here is none", text, "tensors on the cpu, or a GPU") from error
            raise TaskError(doing, text, line_in(error, str(self.namespace.__file__))) from error


def what_it_holds(path: Path, error: Exception) -> tuple[str, str]:
    """Why torch refused it as a checkpoint: what is wrong, and which classes it names."""
    try:
        named = get_unsafe_globals_in_checkpoint(path)
    except (
        ValueError,
        LookupError,
        EOFError,
        RuntimeError,
        pickle.UnpicklingError,
    ):  # the old format, or no checkpoint at all
        named = re.findall(r"GLOBAL (\S+)", str(error))
    if not named:
        return "this is no checkpoint that torch can read", ""
    whole = any(name.startswith("torch.nn.modules.") for name in named)
    wrong = "this is a whole module" if whole else "it holds more than tensors"
    return wrong, ", ".join(sorted(named)[:3]).encode("ascii", "replace").decode()


def load_weights(model: torch.nn.Module, path: Path) -> None:
    """Loads a checkpoint (a state_dict, or a dict that holds one under `state_dict`) into the model, strictly."""
    doing = f"loading weights from {path}"
    if not path.is_file():
        raise TaskError(doing, "no such file")
    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
    except OSError as error:
        raise TaskError(doing, "it cannot be read", first_line(error), "a checkpoint") from error
    except Exception as error:
        wrong, got = what_it_holds(path, error)
        raise TaskError(doing, wrong, got, "what torch.save(model.state_dict(), FILE) writes") from error
    if isinstance(state, dict) and isinstance(state.get("state_dict"), dict):
        state = state["state_dict"]
    if not isinstance(state, dict):
        raise TaskError(doing, "not a state_dict", type(state).__name__, "a dict of tensors by name")
    own = model.state_dict()
    wrong = [f"{name} is missing" for name in own if name not in state]
    wrong += [f"{name} is not in the module" for name in state if name not in own]
    wrong += [
        f"{name} is {list(state[name].shape)} in the file and {list(own[name].shape)} in the module"
        for name in own
        if name in state and state[name].shape != own[name].shape
    ]
    if wrong:
        more = f" and {len(wrong) - 3} more" if len(wrong) > 3 else ""
        raise TaskError(doing, "the checkpoint does not fit the module", "; ".join(wrong[:3]) + more)
    model.load_state_dict(state)


def load_task(source: str | Path | dict[str, Any], device: torch.device = CPU) -> Task:
    """Reads a task (a JSON file, or what it holds), imports the user's code and checks that what it names is there. Its
    weights and arguments will lie on the device."""
    data = source if isinstance(source, dict) else json.loads(Path(source).read_text())
    doing = f"loading {data.get('name') or data.get('file') or data.get('module')}"
    namespace, where = user_code(data, doing)
    attr = data.get("attr") or "Model"
    entry = data.get("entry") or "get_inputs"
    inputs = data.get("inputs")
    value = code_named(attr, namespace, where, doing)
    is_function = callable(value) and not isinstance(value, (type, torch.nn.Module))
    kind = data.get("kind") or ("function" if is_function else "class")
    if kind == "class" and not is_module_class(value):
        got, wanted = type(value).__name__, "a subclass of torch.nn.Module, or a function"
        raise TaskError(doing, f"{attr} is not a module class", got, wanted)
    if inputs is None and not hasattr(namespace, entry):
        raise TaskError(doing, f"{where} has no {entry}()", "", f"a function {entry}() or --input such as f32[64,512]")
    mode = data.get("mode") or getattr(namespace, "MODE", "train")
    if mode not in ("train", "eval"):
        raise TaskError(doing, f"{where} has an unknown MODE", repr(mode), '"train" or "eval"')
    return Task(
        name=data.get("name") or attr,
        namespace=namespace,
        attr=attr,
        kind=kind,
        init_args=data.get("init_args"),
        init_kwargs=data.get("init_kwargs") or {},
        inputs=None if inputs is None else [spec_of(value) for value in inputs],
        named_inputs={name: spec_of(value) for name, value in (data.get("named_inputs") or {}).items()},
        weights=Path(data["weights"]) if data.get("weights") else None,
        mode=mode,
        entry=entry,
        where=device,
    )


def user_code(data: dict[str, Any], doing: str) -> tuple[ModuleType, str]:
    """The file or module that a task names, imported, and what it is called in messages."""
    if data.get("file"):
        return import_file(Path(data["file"]).resolve(), doing), Path(data["file"]).name
    if data.get("path") and data["path"] not in sys.path:
        sys.path.append(data["path"])
    return import_module(data["module"], doing), data["module"]


def code_named(attr: str, namespace: ModuleType, where: str, doing: str) -> Any:
    """What a task is about. A TaskError: nothing has this name."""
    if not hasattr(namespace, attr):
        values = vars(namespace).items()
        offered = [k for k, v in values if is_module_class(v) and v.__module__ == namespace.__name__]
        found = "the classes " + " ".join(offered) if offered else "no module class"
        raise TaskError(doing, f"{where} has no {attr}", found, f"a class or function named {attr}")
    return getattr(namespace, attr)


def spec_of(value: Any) -> Any:
    """An argument of forward as the task's JSON has it: text describes a tensor, the rest is a plain value."""
    return parse_input(value) if isinstance(value, str) else value


def drawn(value: Any) -> Any:
    """An argument, of what describes it."""
    return value.draw() if isinstance(value, InputSpec) else value


def call_of(made: Any, signature: inspect.Signature) -> tuple[list[Any] | None, dict[str, Any]]:
    """The arguments that get_inputs() made, and those it gave by their names: of a list, a tensor, a dict, or (list, dict)
    whose dict names parameters of forward, which has all names where it takes `**words`. A dict that names none is the only argument of a forward that takes one. None: it
    is none of these."""
    if isinstance(made, torch.Tensor):
        return [made], {}
    parameters = signature.parameters
    if isinstance(made, Mapping):
        places = [p for p in parameters.values() if p.kind is not inspect.Parameter.VAR_KEYWORD]
        alone = len(places) == 1 and not any(name in parameters for name in made)
        return ([made], {}) if alone else ([], dict(made))
    if not isinstance(made, (list, tuple)):
        return None, {}
    if len(made) == 2 and isinstance(made[0], (list, tuple)) and isinstance(made[1], dict):
        first, named = made
        any_name = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters.values())
        if named and (any_name or all(name in parameters for name in named)):
            return list(first), named
    return list(made), {}


def constructor_call(
    first: Sequence[Any], named: dict[str, Any], signature: inspect.Signature
) -> tuple[list[Any], dict[str, Any]]:
    """What a list and a dict of get_init_inputs() are: arguments by place and by name, as KernelBook writes them, where the class
    takes them so. Where it takes the two themselves as well, they are meant when the dict names none of its parameters; `[[], {}]`
    is how KernelBook says that there are none."""
    named_ones = all(name in signature.parameters for name in named) if named else not first
    if binds(signature, first, named) and (named_ones or not binds(signature, [first, named], {})):
        return list(first), named
    return [first, named], {}


def binds(signature: inspect.Signature, first: Sequence[Any], named: dict[str, Any]) -> bool:
    try:
        signature.bind(*first, **named)
    except TypeError:
        return False
    return True


def in_order(
    signature: inspect.Signature, first: list[Any], named: dict[str, Any], doing: str
) -> tuple[list[Any], tuple[str, ...]]:
    """Arguments of which some have names, each at its parameter's place: those between that nobody gave keep their defaults.
    Behind them stand those that forward takes by their names only, which are returned, too."""
    parameters = signature.parameters.values()
    places = [p for p in parameters if p.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD]
    names, only = [p.name for p in places], [p.name for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY]
    if any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters):
        only += [name for name in named if name not in signature.parameters]
    for name in named:
        if name not in [*names, *only]:
            raise TaskError(doing, "forward has no such parameter", name, "one of " + " ".join([*names, *only]))
        if name in names and names.index(name) < len(first):
            raise TaskError(doing, "given twice", name, "each argument once")
    last = max((names.index(name) for name in named if name in names), default=-1)
    values = list(first)
    for parameter in places[len(first) : last + 1]:
        value = named.get(parameter.name, parameter.default)
        if value is inspect.Parameter.empty:
            raise TaskError(doing, "forward needs another argument", parameter.name, "a value for it")
        values.append(value)
    for name in only:
        if name not in named and signature.parameters[name].default is inspect.Parameter.empty:
            wanted = f"get_inputs() that returns ([...], {{'{name}': ...}}), or --input {name}=..."
            raise TaskError(doing, "forward takes an argument by its name only", name, wanted)
    given = tuple(name for name in only if name in named)
    return [*values, *(named[name] for name in given)], given


def is_module_class(value: Any) -> bool:
    return isinstance(value, type) and issubclass(value, torch.nn.Module)


def import_module(name: str, doing: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except Exception as error:
        raise TaskError(doing, f"the module {name} does not import", first_line(first_cause(error))) from error
