"""Why torch.export cannot trace a module, for its user: one line with what is wrong, where, and what would be right."""

from __future__ import annotations

import contextlib
import re
import traceback
from dataclasses import dataclass
from pathlib import Path

import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import InputSpec

from mtmc.task.task import Task
from mtmc.trace.doors import Asked
from mtmc.trace.graph import TORCH_FOLDER, UserCode
from mtmc.wire.outputs import STRUCTURES
from mtmc.wire.task_error import TaskError, first_line

OTHERS = (
    TORCH_FOLDER,
    str(Path(__file__).parents[1]),
    contextlib.__file__,
    "<",
)  # whose frames are neither the user's nor a package's
LAYERS = (str(Path(TORCH_FOLDER, "nn")), str(Path(TORCH_FOLDER, "ao")))
CALLER = str(Path(TORCH_FOLDER, "nn", "modules", "module.py"))  # which calls all others
BY_VALUES = re.compile(r"Could not (?:(guard on)|extract specialized integer from) data-dependent expression")
# float(x), x.item(): torch tells of the first comparison with such a number.
READS = re.compile(r"\b(?:float|int)\(|\.item\(")
NO_VALUES = "no branch and no Python number that depends on a tensor's values (torch.where chooses by element)"
# What torch says in words of its own, by a part of them: what is wrong for its user, and what would be right.
PLAINLY = {
    "its data is not allocated yet": (
        "forward makes a tensor's value a Python number",
        "torch.stack for a tensor of tensors (torch.tensor reads each one's value)",
    ),
    ".numpy() is not supported": ("forward leaves torch for numpy", "torch's own functions"),
}
# Of torch's own layers, whose file is named: how to do without.
INSTEAD = {
    "ao/quantization": "observers that are switched off (model.apply(torch.ao.quantization.disable_observer))",
    "nn/modules/batchnorm.py": "a momentum that is a number (None divides by a count that is read)",
}
GRADIENTS = "forward computes gradients"
KEEPS_CACHE = " (of a model of transformers that returns its cache: use_cache=False)"


@dataclass
class Failure:
    """`unaware`: how tracing failed before, when the code was told that nothing traces it. `asked`: what forward called that no
    trace holds."""

    error: BaseException
    unaware: BaseException
    asked: Asked


def unseen(task: Task, part: str) -> TaskError:
    wrong = "nothing can be seen of a part of the module"
    return TaskError(f"tracing {task.name}", wrong, part, "plain modules with tensors")


def computes_gradients(task: Task, place: str) -> TaskError:
    wanted = "a forward without torch.autograd.grad, backward and torch.func.grad"
    return TaskError(f"tracing {task.name}", GRADIENTS, place, wanted)


def refuse_seeding(task: Task, asked: Asked, user: UserCode) -> None:
    places = [line for stack in asked.seeded if (line := last_line(stack, user))]
    if places:
        wrong = "forward sets the state of torch's random numbers, which a trace does not hold"
        wanted = "none of that (numbers that stay the same are drawn by the constructor, for a buffer)"
        raise TaskError(f"tracing {task.name}", wrong, places[0], wanted)


def no_tensor(task: Task, exported: ExportedProgram, spec: InputSpec, user: UserCode) -> TaskError:
    if not isinstance(exported.constants.get(spec.target or ""), torch.Generator):
        return TaskError(f"tracing {task.name}", "an argument that is no tensor", str(spec.target or spec.arg))
    users = [use for node in exported.graph.nodes if node.name == spec.arg.name for use in node.users]
    at, source = user.location(users[0].meta.get("stack_trace")) if users else ("", "")
    wrong = "forward draws random numbers from a generator of its own"
    wanted = "torch's default generator, or a buffer with the numbers, which the constructor draws"
    return TaskError(f"tracing {task.name}", wrong, f"{at}: {source}" if at else "", wanted)


def refusal(task: Task, model: torch.nn.Module, failure: Failure, user: UserCode) -> TaskError:
    """What is known to be out of reach, else the user's innermost line on the way to the failure and torch's reason in its
    first line."""
    doing, text = f"tracing {task.name}", str(failure.error)
    if part := opaque(model):
        return unseen(task, part)
    if failure.asked.gradients and "data-dependent" not in text:
        return computes_gradients(task, last_line(failure.asked.gradients[0], user))
    if failure.asked.packed and "data-dependent" not in text:
        wrong = "the sizes of a packed sequence depend on the lengths' values"
        wanted = "the recurrent layer on the padded tensor, and of its results each row's last step (torch.gather)"
        return TaskError(doing, wrong, last_line(failure.asked.packed[0], user), wanted)
    if unknown := re.match(r"Found <class '([\w<>.]+)'> in output, which is not a known type", text):
        hint = KEEPS_CACHE if unknown[1].startswith("transformers.") else ""
        return TaskError(doing, "forward returns another structure", unknown[1].split(".")[-1], STRUCTURES + hint)
    place = last_line(traceback.extract_tb(failure.error.__traceback__), user)
    if not place and user.file in text:  # some of torch's errors carry the user's frames only in their text
        at, source = user.location(text)
        place = f"{at}: {source}" if at else ""
    wanted = next((right for words, (_, right) in PLAINLY.items() if words in text), "")
    if "data-dependent" in text:
        layer = layer_of_torch(traceback.extract_tb(failure.error.__traceback__))
        wanted = next((right for part, right in INSTEAD.items() if layer.startswith(part)), NO_VALUES)
    wrong, unaware = reason(failure.error, place), reason(failure.unaware, place)
    if unaware != wrong:
        wrong += f" (and, while its code was told that nothing traces it: {unaware})"
    return TaskError(doing, wrong, place, wanted)


def reason(error: BaseException, place: str) -> str:
    """Ours where a tensor's values decide, or torch's own words mislead, else torch's in its first line."""
    if not (decided := BY_VALUES.match(str(error))):
        plainly = (wrong for words, (wrong, _) in PLAINLY.items() if words in str(error))
        return next(plainly, f"torch.export cannot trace it: {first_line(error)}")
    layer = layer_of_torch(traceback.extract_tb(error.__traceback__))
    who = f"torch's own {layer}" if layer else "forward"
    branches = decided[1] and not READS.search(place)
    return f"{who} branches on a tensor's values" if branches else f"{who} makes a tensor's value a Python number"


def layer_of_torch(stack: traceback.StackSummary) -> str:
    """`nn/modules/adaptive.py`: the file of torch.nn or torch.ao that failed, called by the innermost line that is not torch's. Else empty."""
    inside: list[str] = []
    for frame in stack:
        if not frame.filename.startswith(OTHERS):
            inside = []
        elif frame.filename.startswith(LAYERS) and frame.filename != CALLER:
            inside.append(frame.filename)
    return Path(inside[-1]).relative_to(TORCH_FOLDER).as_posix() if inside else ""


def last_line(stack: traceback.StackSummary, user: UserCode) -> str:
    """The user's innermost line, and that of the package which it called; empty where none is."""
    own = [index for index, frame in enumerate(stack) if frame.filename == user.file][-1:]
    theirs = [i for i, frame in enumerate(stack) if own and i > own[0] and not frame.filename.startswith(OTHERS)][-1:]
    lines = [f"{Path(stack[i].filename).name}:{stack[i].lineno}: {stack[i].line or ''}" for i in own + theirs]
    return ", by it ".join(lines)


def opaque(model: torch.nn.Module) -> str:
    """The first part that torch.jit compiled, or that holds weights packed for quantized operators; empty where none is."""
    for name, module in model.named_modules():
        if isinstance(module, torch.jit.ScriptModule):
            return f"{name or 'itself'} is made by torch.jit"
        if any(isinstance(value, torch.ScriptObject) for value in vars(module).values()):
            return f"{name or 'itself'} holds packed weights ({type(module).__name__})"
    return ""
