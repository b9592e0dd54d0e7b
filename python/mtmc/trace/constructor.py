"""The text of a standalone kernel.py without its forward: `class ModelNew` with the user's constructor.

From the user's file (by syntax tree): the class renamed, with what its constructor needs of the file and nothing else,
so that parameters are made in the same order from the same random numbers. The text is executed and compared with the
module; where that fails (a module from a package, a file that imports its neighbours), containers with the recorded
names and shapes stand in, and values come by load_state_dict.
"""

from __future__ import annotations

import ast
import base64
import importlib.util
import pickle
import sys
import zlib
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from mtmc.task.plain_state import same_values
from mtmc.task.task import Task, is_module_class
from mtmc.wire.arguments import classes_of
from mtmc.wire.plain import State, is_plain, plain_tensors
from mtmc.wire.source import read_source
from mtmc.wire.task_error import TaskError

MARKER = "# mtmc: forward"
# Methods that nn.Module calls by itself, kept wherever the user defines them.
HOOKS = {"_load_from_state_dict", "_save_to_state_dict", "_register_load_state_dict_pre_hook", "get_extra_state"}
HOOKS |= {"set_extra_state", "train", "extra_repr", "__init_subclass__"}
NEVER = {"forward", "__call__"}


# What the traced forward needs made once, by the attribute of ModelNew that holds it: constants too large for the program's
# text, and the classes of the named tuples and ModelOutputs that it returns.
Held = dict[str, torch.Tensor | type]


class NotStandalone(Exception):
    """Why the user's text cannot be used."""


def constructor_source(task: Task, model: torch.nn.Module, held: Held, lacking: set[str]) -> str:
    """`lacking`: entries of the model's state that have no values, see unfilled.py."""
    own = own_classes(task, held)
    if task.kind == "class":
        try:
            text = add_held(from_user_file(task, own), held, own)
            check_builds(task, model, text, lacking, values=task.weights is None)
            return text
        except NotStandalone:
            pass  # the containers below need nothing of the user's file but the classes of its results
    try:
        before = user_file(task, own).text(own) if own else "import torch\n"
    except NotStandalone as error:
        wanted = "a class that needs nothing of the file, or a tuple or dict"
        raise TaskError(f"tracing {task.name}", f"forward returns a {own[0]}", str(error), wanted) from error
    text = add_held(before + containers(task, model), held, own)
    try:
        check_builds(task, model, text, lacking, values=False)
    except NotStandalone as error:
        wrong = "its parameters and buffers cannot be rebuilt outside of its own code"
        raise TaskError(f"tracing {task.name}", wrong, str(error), "plain parameters and buffers") from error
    return text


def check_builds(task: Task, model: torch.nn.Module, text: str, lacking: set[str], values: bool) -> None:
    """Builds ModelNew under seed 0, as `model` was built, and compares names, shapes and, where asked, values."""
    module = ModuleType("mtmc_constructor")
    sys.modules[module.__name__] = module  # where dataclasses look their annotations up
    make = task.make_unfilled if lacking else lambda *given: (task.make_model(*given), set())
    try:
        exec(compile(text.replace(MARKER, "pass"), "constructor", "exec", dont_inherit=True), vars(module))
        built = make(0, module.ModelNew)[0]
    except Exception as error:
        raise NotStandalone(str(error)) from error
    finally:
        del sys.modules[module.__name__]
    own, theirs = all_tensors(built), all_tensors(model)
    if list(built.state_dict()) != list(model.state_dict()) or not set(theirs) <= set(own):
        raise NotStandalone("other names")
    again: State = {}  # what the user's own constructor makes when it is called again
    for name, tensor in theirs.items():
        if own[name].shape != tensor.shape or own[name].dtype != tensor.dtype:
            raise NotStandalone(f"another type of {name}")
        if name in lacking or not (values or is_plain(name)) or same_values(own[name], tensor):
            continue
        if not again:
            again = all_tensors(make(0)[0])
        if same_values(again[name], tensor):
            raise NotStandalone(f"other values in {name}")


def all_tensors(model: torch.nn.Module) -> State:
    """Of its state; a module may put other things there (get_extra_state)."""
    held = model.state_dict() | plain_tensors(model)
    return {name: value for name, value in held.items() if isinstance(value, torch.Tensor)}


# The user's text ---------------------------------------------------------------------------------------------------


def from_user_file(task: Task, own: list[str]) -> str:
    try:
        needed = classes_of(pickle.dumps(task.constructor_arguments()), task.namespace.__name__)
    except Exception:  # they cannot be rebuilt: the referee refuses the task with this reason
        needed = []
    return user_file(task, [*needed, *own]).extract()


def user_file(task: Task, needed: list[str]) -> UserFile:
    return UserFile(read_source(task.namespace.__file__ or ""), task.namespace, task.attr, needed)


def own_classes(task: Task, held: Held) -> list[str]:
    """Those classes of results that only the user's file has; a TaskError for one that nothing but its own code can reach."""
    own = []
    for kind in held.values():
        if not isinstance(kind, type) or hasattr(kind, "_fields"):
            continue
        if "." in kind.__qualname__ or (task.from_file and is_neighbour(task.namespace, kind.__module__)):
            got, wanted = f"{kind.__module__}.{kind.__qualname__}", "one of the file itself or of a package"
            wrong = "forward returns an object of a class that kernel.py cannot import"
            raise TaskError(f"tracing {task.name}", wrong, got, wanted)
        if task.from_file and kind.__module__ == task.namespace.__name__:
            own.append(kind.__name__)
    return own


def is_neighbour(namespace: ModuleType, module: str) -> bool:
    """Is it another file of the folder that the user's file is in?"""
    spec = importlib.util.find_spec(module.split(".")[0]) if module != namespace.__name__ else None
    folder = str(Path(namespace.__file__ or "").parent)
    return spec is not None and bool(spec.origin) and str(Path(str(spec.origin)).parent).startswith(folder)


class UserFile:
    """One parsed file; `extract` gives the part of it that constructing `attr` needs."""

    def __init__(self, source: str, namespace: ModuleType, attr: str, needed: Iterable[str] = ()) -> None:
        """`needed`: more names to keep, of classes that the constructor's arguments or the results are objects of."""
        self.lines = source.split("\n")  # as ast counts them
        self.namespace, self.attr, self.needed = namespace, attr, list(needed)
        self.body = ast.parse(source).body
        self.definers: dict[str, list[ast.stmt]] = {}  # module-level name -> the statements that bind it
        for statement in self.body:
            for name in bound_names(statement):
                self.definers.setdefault(name, []).append(statement)

    def extract(self) -> str:
        if not isinstance(self._class(self.attr), ast.ClassDef):
            raise NotStandalone("no plain class")
        return self.text([self.attr, *self.needed])

    def text(self, names: list[str]) -> str:
        """What defines these names, with all that it needs."""
        kept, members = self._closure(names)
        parts: list[str] = []
        for statement in self.body:
            future = isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
            if statement not in kept and not future:
                continue
            if isinstance(statement, (ast.Import, ast.ImportFrom)):
                self._check_not_local(statement)
            text = self._class_text(statement, members) if statement in members else self._text(statement)
            blank = isinstance(statement, (ast.ClassDef, ast.FunctionDef))
            parts.append(("\n\n" if blank else "") + text)
        if not any(binds_torch(statement) for statement in kept):
            parts.insert(sum(part.startswith("from __future__") for part in parts), "import torch")
        return "\n".join(parts).strip("\n") + "\n"

    def _class(self, name: str) -> ast.stmt | None:
        return next((s for s in reversed(self.definers.get(name, [])) if isinstance(s, ast.ClassDef)), None)

    def _closure(self, names: list[str]) -> tuple[set[ast.stmt], dict[ast.stmt, list[ast.stmt]]]:
        """Statements to keep, and for each kept nn.Module class the members to keep: what the constructor can reach."""
        modules: set[ast.ClassDef] = set()
        kept: set[ast.stmt] = set()
        attributes: set[str] = set(HOOKS)
        pending: list[ast.AST] = []
        visited: set[ast.AST] = set()

        def reach(name: str) -> None:
            for statement in self.definers.get(name, []):
                if statement in kept:
                    continue
                kept.add(statement)
                value = getattr(self.namespace, name, None)
                if isinstance(statement, ast.ClassDef) and is_module_class(value):
                    modules.add(statement)
                    pending.extend([*statement.bases, *statement.keywords, *statement.decorator_list])
                else:
                    pending.append(statement)

        for name in names:
            reach(name)
        while True:
            for cls in modules:
                pending.extend(m for m in cls.body if m not in visited and keeps(m, attributes))
            if not pending:
                break
            node = pending.pop()
            if node in visited:
                continue
            visited.add(node)
            for inner in ast.walk(node):
                if isinstance(inner, ast.Name):
                    reach(inner.id)
                elif isinstance(inner, ast.Attribute):
                    attributes.add(inner.attr)
        return kept, {cls: [m for m in cls.body if m in visited] for cls in modules}

    def _check_not_local(self, statement: ast.Import | ast.ImportFrom) -> None:
        if isinstance(statement, ast.ImportFrom):
            names = [statement.module or ""]
            if statement.level:
                raise NotStandalone("a relative import")
        else:
            names = [alias.name for alias in statement.names]
        for name in names:
            if is_neighbour(self.namespace, name):
                raise NotStandalone(f"imports its neighbour {name}")

    def _text(self, statement: ast.stmt) -> str:
        decorators = getattr(statement, "decorator_list", [])
        first = min([statement.lineno, *(d.lineno for d in decorators)])
        lines = self.lines[first - 1 : statement.end_lineno]
        others = [s for s in self.body if s is not statement and s.lineno <= statement.end_lineno]
        if any((s.end_lineno or 0) >= first for s in others):  # `a = 1; b = 2`
            return ast.unparse(statement)
        return "\n".join(self._renamed(lines, first, statement))

    def _renamed(self, lines: list[str], first: int, node: ast.AST) -> list[str]:
        """The lines with every use of the class's name turned into ModelNew."""
        uses = [n for n in ast.walk(node) if isinstance(n, ast.Name) and n.id == self.attr]
        for use in sorted(uses, key=lambda n: (n.lineno, n.col_offset), reverse=True):
            raw = lines[use.lineno - first].encode()
            end = use.col_offset + len(self.attr.encode())
            lines[use.lineno - first] = (raw[: use.col_offset] + b"ModelNew" + raw[end:]).decode()
        return lines

    def _class_text(self, cls: ast.stmt, members: dict[ast.stmt, list[ast.stmt]]) -> str:
        assert isinstance(cls, ast.ClassDef)
        mine = cls.name == self.attr
        bases = [ast.unparse(b) for b in cls.bases] + [f"{k.arg}={ast.unparse(k.value)}" for k in cls.keywords]
        parts = [f"@{ast.unparse(d)}" for d in cls.decorator_list]
        parts.append(f"class {'ModelNew' if mine else cls.name}({', '.join(bases)}):")
        indent = " " * (cls.body[0].col_offset if cls.body[0].lineno != cls.lineno else 4)
        for index, member in enumerate(members[cls]):
            decorators = getattr(member, "decorator_list", [])
            first = min([member.lineno, *(d.lineno for d in decorators)])
            if first == cls.lineno:
                parts.append(indent + ast.unparse(member))
                continue
            lines = self._renamed(self.lines[first - 1 : member.end_lineno], first, member)
            parts.append(("\n" if index else "") + "\n".join(lines))
        if mine:
            parts.append(("\n" if members[cls] else "") + f"{indent}{MARKER}")
        elif not members[cls]:
            parts.append(f"{indent}pass")
        return "\n".join(parts)


def binds_torch(statement: ast.stmt) -> bool:
    """`import torch` or `import torch.nn`, but not `import torch.nn as nn`."""
    return isinstance(statement, ast.Import) and any(
        alias.name.split(".")[0] == "torch" and (alias.asname or "torch") == "torch" for alias in statement.names
    )


def keeps(member: ast.stmt, attributes: set[str]) -> bool:
    """Whether a member of a module class is reached: methods by name, everything else always, docstrings never."""
    if isinstance(member, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return member.name not in NEVER and (member.name == "__init__" or member.name in attributes)
    return not (isinstance(member, ast.Expr) and isinstance(member.value, ast.Constant))


def bound_names(statement: ast.stmt) -> Iterable[str]:
    """Names that a module-level statement binds, those inside `if` and `try` included."""
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)):
        yield statement.name
    elif isinstance(statement, (ast.Import, ast.ImportFrom)):
        for alias in statement.names:
            yield alias.asname or alias.name.split(".")[0]
    elif isinstance(statement, (ast.If, ast.Try, ast.With, ast.For, ast.While)):
        for inner in ast.iter_child_nodes(statement):
            if isinstance(inner, ast.stmt):
                yield from bound_names(inner)
            elif isinstance(inner, ast.ExceptHandler):
                for one in inner.body:
                    yield from bound_names(one)
    elif isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
        for inner in ast.walk(statement):
            if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
                yield inner.id


# Containers --------------------------------------------------------------------------------------------------------


CONTAINER = """class _Container(torch.nn.Module):
    def __getitem__(self, index):
        return getattr(self, str(index))
"""


def containers(task: Task, model: torch.nn.Module) -> str:
    """Plain modules with the recorded parameters and buffers, for modules whose text cannot be taken along."""
    args, kwargs = ([], {}) if task.kind == "function" else task.constructor_arguments()
    body = construction(model)
    lines = ["", "", "class ModelNew(torch.nn.Module):"]
    if any("_Container()" in line for line in body):
        lines[1:1] = ["", *CONTAINER.splitlines(), ""]
    if body or args or kwargs:
        lines.append("    def __init__(self, *args, **kwargs):")
        lines.append("        super().__init__()")
        lines += [f"        {line}" for line in argument_check(task.attr, args, kwargs)]
        if body:
            lines.append("        # Names and shapes as recorded; load_state_dict brings the values.")
        lines += [f"        {line}" for line in body]
        lines.append("")
    lines.append(f"    {MARKER}")
    return "\n".join(lines) + "\n"


def argument_check(attr: str, args: list[Any], kwargs: dict[str, Any]) -> list[str]:
    try:
        literal = ast.literal_eval(repr((args, kwargs))) == (args, kwargs)
    except (ValueError, SyntaxError):
        literal = False
    if not literal:  # arguments that have no literal form cannot be compared
        return []
    wanted = f"({tuple(args)!r}, {kwargs!r})"
    shown = ", ".join([*map(repr, args), *(f"{name}={value!r}" for name, value in kwargs.items())])
    message = f"this kernel was made for {attr}({shown})"
    return [
        f"if (args, kwargs) != {wanted}:",
        f"    raise ValueError({message + ', got '!r} + repr((args, kwargs)))",
    ]


def construction(model: torch.nn.Module) -> list[str]:
    lines: list[str] = []
    made: dict[int, str] = {}  # tied parameters are one object under several names
    for path, module in model.named_modules(remove_duplicate=False):
        here = "self" + "".join(f".get_submodule({part!r})" for part in ([path] if path else []))
        entries = list(module._parameters.items()) + list(module._buffers.items())
        if path and id(module) in made:
            parent, _, name = path.rpartition(".")
            owner = f"self.get_submodule({parent!r})" if parent else "self"
            lines.append(f"{owner}.add_module({name!r}, {made[id(module)]})")
            continue
        if path:
            made[id(module)] = here
            parent, _, name = path.rpartition(".")
            owner = f"self.get_submodule({parent!r})" if parent else "self"
            lines.append(f"{owner}.add_module({name!r}, _Container())")
        for name, value in entries:
            lines.append(entry(here, module, name, value, made))
    return lines + plain_attributes(model)


def plain_attributes(model: torch.nn.Module) -> list[str]:
    """Tensors that are neither parameters nor buffers, with their values: state_dict does not bring them."""
    plain = plain_tensors(model)
    lines = []
    for path, module in model.named_modules():
        here = f"self.get_submodule({path!r})" if path else "self"
        for name, held in vars(module).items():
            key = f".{path}.{name}" if path else f".{name}"
            if key in plain:
                lines.append(f"{here}.{name} = {tensor_source(held)}")
            elif f"{key}.0" in plain and all(f"{key}.{index}" in plain for index in range(len(held))):
                lines.append(f"{here}.{name} = {type(held).__name__}([{', '.join(map(tensor_source, held))}])")
    return lines


def entry(here: str, module: torch.nn.Module, name: str, value: torch.Tensor | None, made: dict[int, str]) -> str:
    register = "register_parameter" if name in module._parameters else "register_buffer"
    persistent = name not in module._non_persistent_buffers_set
    if value is None:
        made_of = "None"
    elif id(value) in made:
        made_of = made[id(value)]
    else:
        made[id(value)] = f"getattr({here}, {name!r})"
        made_of = f"torch.zeros({tuple(value.shape)}, dtype={value.dtype})"
        if register == "register_parameter":
            made_of = f"torch.nn.Parameter({made_of}, requires_grad={value.requires_grad})"
        elif not persistent:
            made_of = tensor_source(value)
    return f"{here}.{register}({name!r}, {made_of}{'' if persistent else ', persistent=False'})"


def tensor_source(value: torch.Tensor) -> str:
    """An expression that makes the tensor: its bytes, compressed, in the text."""
    if value.numel() > 1 and bool((value == value.reshape(-1)[0]).all()) and bool(value.isfinite().all()):
        return f"torch.full({tuple(value.shape)}, {value.reshape(-1)[0].item()!r}, dtype={value.dtype})"
    raw = bytes(value.detach().cpu().contiguous().reshape(-1).view(torch.uint8).tolist())
    packed = base64.b85encode(zlib.compress(raw, 9)).decode()
    unpacked = f'__import__("zlib").decompress(__import__("base64").b85decode({packed!r}))'
    return f"torch.frombuffer(bytearray({unpacked}), dtype={value.dtype}).reshape({tuple(value.shape)})"


def add_held(text: str, held: Held, own: list[str]) -> str:
    """What is held becomes class attributes above the forward. `own`: classes that the text itself defines."""
    line = next(line for line in text.splitlines() if line.strip() == MARKER)
    indent = line[: len(line) - len(MARKER)]

    def class_source(kind: Any) -> str:
        if hasattr(kind, "_fields"):
            return f'__import__("collections").namedtuple({kind.__name__!r}, {kind._fields!r})'
        if kind.__name__ in own:
            return kind.__name__
        return f"__import__({kind.__module__!r}, fromlist=['']).{kind.__name__}"

    kinds = [
        ("Constants that the traced forward built.", torch.Tensor, tensor_source),
        ("What forward returns.", type, class_source),
    ]
    for comment, kind, source in kinds:
        made = [f"{indent}{name} = {source(value)}\n" for name, value in held.items() if isinstance(value, kind)]
        if made:
            text = text.replace(line, f"{indent}# {comment}\n{''.join(made)}\n{line}")
    return text
