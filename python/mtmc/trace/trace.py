"""`python -m mtmc.trace.trace TASK.json OUT.json`: a PyTorch module as a functional graph in JSON.

torch.export, then run_decompositions, which keeps composite operators and turns buffer updates into named outputs.
No arguments are drawn for that and no large weights. A small graph is run against eager before it is written. OUT.json holds

    name, mode, torch        what was traced, with which torch
    parameters, opening      forward's parameters as text, and the lines that bind and check what is no plain tensor
    leaves                   [{name, kind: input|param|buffer|constant, target, type, strides?, values?}]
    nodes                    [{op, name, args, call, operands, outputs, several, at, source}] in order: the overload,
                             its arguments by schema name (null: some cannot be held), and as text over {0}, {1}, ...
    outputs, template        names of results, and the Python expression over {0}, {1}, ... that forward returns
    states                   [{target, value, returned}]: buffers, and plain attributes (see plain.py), that forward updates;
                             returned: forward also returns the attribute's own memory
    checked                  was the graph compared with eager? Not where its values are many or calls take long: the judge does that
    constructor_source       see constructor.py

With --wait in place of both files the process waits for their names (see `wait`).

A mistake of the user's is written as {"error": {doing, wrong, got, wanted}} with exit code 2.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import json
import logging
import math
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import NoneType
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.export import ExportedProgram
from torch.export.graph_signature import ConstantArgument, InputKind, InputSpec, OutputKind, TensorArgument
from torch.utils import _pytree as pytree

from mtmc.device.memory import NO_MEMORY
from mtmc.task.foreign import refuse_foreign
from mtmc.task.lasting import refuse_lasting, remade
from mtmc.task.plain_state import built_again
from mtmc.task.task import Task, load_task
from mtmc.task.unheld import refuse_unheld
from mtmc.trace.check import check_against_eager
from mtmc.trace.composites import decompositions, with_reshapes
from mtmc.trace.constructor import Held, all_tensors, constructor_source
from mtmc.trace.doors import doors_watched
from mtmc.trace.encoder import masks_of_transformers, without_fast_ways
from mtmc.trace.graph import GraphWriter, UserCode, has_size, real_view, strides, type_text
from mtmc.trace.known import Known
from mtmc.trace.layout import made_contiguous, not_contiguous, ordered_by_chance
from mtmc.trace.parameters import (
    argument_expressions,
    check_line,
    keyword_marked,
    leaf_expressions,
    length_checks,
    parameter_text,
    star_checks,
    unused_defaults,
)
from mtmc.trace.plainer import in_plainer_operators
from mtmc.trace.recurrent import recurrent_shapes
from mtmc.trace.refusal import GRADIENTS, Failure, no_tensor, opaque, refusal, refuse_seeding, unseen
from mtmc.trace.shapes import shapes_inferred
from mtmc.trace.state import Exported, constant_attributes, exportable, registered_tensors, scalar_checks
from mtmc.trace.structure import structure
from mtmc.trace.unnoticed import unnoticed
from mtmc.trace.value_checks import without_value_checks
from mtmc.wire.line import REPLIES, REQUESTS, Line, serve
from mtmc.wire.outputs import bytes_of_all
from mtmc.wire.plain import attribute_tensors, plain_tensors, transient_buffers
from mtmc.wire.task_error import TaskError, first_line

CHECKED_BYTES = 256 << 20  # of all values of a graph: more is compared with eager by the judge alone
OURS = re.compile(r"v\d+|_[a-z]\d+")  # variables of a printed module
REAL_VIEW = "@real"  # behind the name of a complex tensor that the module holds (kRealView in src/ir/program.h)
INLINE_CONSTANT = 64  # elements: larger constants are held by the module instead of the program's text
# Modules with a faster way of their own where there are no gradients, which is not traced: it returns rows in order.
FASTER = (torch.nn.MultiheadAttention, torch.nn.TransformerEncoderLayer)
KINDS = {InputKind.PARAMETER: "param", InputKind.BUFFER: "buffer", InputKind.CONSTANT_TENSOR: "constant"}


def trace(task: Task) -> dict[str, Any]:
    """The whole trace of a task of the host; a TaskError says what cannot be traced, with the user's line and torch's reason.
    No value of arguments or large weights is needed for that, but to compare the graph with eager, where all is small."""
    try:
        inputs = stand_ins(argument_types(task))
    except RuntimeError as error:  # memory of the host that nobody writes to, and yet more than there is
        if not NO_MEMORY.search(str(error)):
            raise
        wanted = "smaller inputs, or a machine with more"
        raise TaskError(f"calling {task.entry}()", "out of memory", first_line(error), wanted) from error
    model, lacking = task.make_unfilled(0)
    refuse_not_dense(task, inputs, model)
    refuse_parts(task, model)
    user = UserCode(str(Path(task.namespace.__file__ or "").resolve()))
    if remembers(task) and bytes_of_all([inputs, *model.state_dict().values()]) <= CHECKED_BYTES:
        task.check_runs(task.make_model(0))  # so that what it remembers are no tensors without values
    try:
        exported, seen = export(task, model, inputs, user)
    except TaskError as error:
        # What eager itself refuses, it explains best, but for gradients: those it refuses as the judge calls it, which has none.
        if error.wrong != GRADIENTS and bytes_of_all([inputs, *model.state_dict().values()]) <= CHECKED_BYTES:
            task.check_runs(task.make_model(0))
        raise
    refuse_mutated_inputs(task, exported, user, seen)
    data = write_graph(task, model, exported, inputs, user, seen)
    data["checked"] = bytes_of_values(exported) <= CHECKED_BYTES
    if lacking and data["checked"]:
        model, lacking = task.make_model(0), set()
    data["constructor_source"] = constructor_source(task, model, data.pop("held"), lacking)
    if data["checked"]:
        state = {name: value.clone() for name, value in all_tensors(model).items()}
        if seen.foreign:
            refuse_foreign(task, model, state, f"tracing {task.name}")
        refuse_unheld(task, model, built_again(task), state, f"tracing {task.name}")
    disordered = check_trace(task, exported, seen) if data["checked"] else None
    data["checked"] = disordered is not None
    if disordered is None:  # not looked at: a copy too many does no harm
        disordered = not_contiguous(exported) if any(isinstance(m, FASTER) for m in model.modules()) else set()
    data["template"] = made_contiguous(data["template"], disordered | ordered_by_chance(exported))
    return data


def remembers(task: Task) -> bool:
    """Has the file a place of its own where its functions may keep something from call to call?"""
    own = [value for name, value in vars(task.namespace).items() if not name.startswith("__")]
    return task.from_file and any(hasattr(one, "cache_info") or isinstance(one, (dict, list, set)) for one in own)


def argument_types(task: Task) -> list[Any]:
    """The arguments without their values where the code that draws them allows it, else as they are."""
    try:
        with FakeTensorMode():
            return task.make_inputs(0)
    except TaskError:
        return task.make_inputs(0)


def refuse_not_dense(task: Task, inputs: list[Any], model: torch.nn.Module) -> None:
    named = {f"argument {place}": leaf for place, leaf in enumerate(pytree.tree_leaves(inputs))}
    for name, value in named.items():
        if not isinstance(value, (torch.Tensor, bool, int, float, str, NoneType)):
            wanted = "tensors (torch.from_numpy), plain values, and lists, tuples and dicts of them"
            raise TaskError(
                f"tracing {task.name}", f"{name} is neither a tensor nor a plain value", type(value).__name__, wanted
            )
    named |= {name.lstrip("."): tensor for name, tensor in (model.state_dict() | plain_tensors(model)).items()}
    for name, value in named.items():
        if isinstance(value, torch.Tensor) and (value.layout != torch.strided or value.is_nested):
            got = "a nested tensor" if value.is_nested else str(value.layout)
            wanted = "dense tensors (.to_dense(); or indices and values as arguments of their own)"
            raise TaskError(f"tracing {task.name}", f"{name} is no dense tensor", got, wanted)


def refuse_parts(task: Task, model: torch.nn.Module) -> None:
    """What fails elsewhere before anybody could say why."""
    if any(isinstance(part, torch.jit.ScriptModule) for part in model.modules()):
        raise unseen(task, opaque(model))
    for name, value in model.state_dict().items():
        if isinstance(value, torch.Tensor) and torch._debug_has_internal_overlap(value):
            wrong = f"{name} is an expanded tensor: no state_dict can be loaded into it"
            raise TaskError(f"tracing {task.name}", wrong, f"strides {value.stride()}", "memory of its own (.clone())")


def stand_ins(inputs: list[Any]) -> list[Any]:
    """Arguments of the host of the same types and strides: export reads no values, and one tensor passed twice is two."""

    def like(tensor: torch.Tensor) -> torch.Tensor:
        if tensor.layout != torch.strided or tensor.is_nested:
            return tensor  # refused once the module is there, too
        return torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype)

    return pytree.tree_map_only(torch.Tensor, like, inputs)


def bytes_of_values(exported: ExportedProgram) -> int:
    """Of all arguments, weights and intermediates together, but for those whose size data decide: what comparing with eager costs."""
    held = [one for node in exported.graph.nodes for one in pytree.tree_leaves(node.meta.get("val"))]
    return bytes_of_all([one for one in held if isinstance(one, torch.Tensor) and has_size(one)])


def check_trace(task: Task, exported: ExportedProgram, seen: Exported) -> set[int] | None:
    eager, module = task.make_model(0), exported.module()
    state = eager.state_dict() | plain_tensors(eager)
    known = {name: state[seen.key(name)] for name in module.state_dict() if seen.key(name) in state}
    module.load_state_dict(known, strict=False)
    transient = {key[1:]: key for key in transient_buffers(eager)}

    def traced_state() -> dict[str, torch.Tensor]:
        found = {seen.key(name): value for name, value in registered_tensors(module).items()}
        held = {transient.get(key, key): value for key, value in found.items()}
        return {key: value for key, value in held.items() if key not in seen.remade}

    if seen.remade and (lasting := seen.remade - remade(task, task.make_model(0))):
        wrong = "forward makes a tensor anew in another shape, and goes on to change it or to depend on it"
        got, wanted = ", ".join(key[1:] for key in sorted(lasting)), "a buffer of its full size from the constructor on"
        raise TaskError(f"tracing {task.name}", wrong, got, wanted)
    try:
        return check_against_eager(task, eager, module, traced_state)
    except TaskError as error:
        refuse_lasting(task, task.make_model(0), f"tracing {task.name}")  # where that is why
        if any(isinstance(part, FASTER) for part in eager.modules()) and torch.backends.mha.get_fastpath_enabled():
            refuse_fast_way(task, lambda: check_against_eager(task, task.make_model(0), module, traced_state), error)
        raise


def refuse_fast_way(task: Task, check: Callable[[], Any], error: TaskError) -> None:
    """TaskError where trace and eager agree once torch's layers have no faster way."""
    try:
        with without_fast_ways():
            check()
    except TaskError:
        return
    wrong = (
        "torch's transformer layers return something else in a faster way of theirs, which they take without gradients"
    )
    wanted = "masks of bools, or of 0 and -inf, which that way takes all numbers for; or torch.backends.mha.set_fastpath_enabled(False)"
    raise TaskError(f"tracing {task.name}", wrong, error.got or error.wrong, wanted) from error


def export(task: Task, model: torch.nn.Module, inputs: list[Any], user: UserCode) -> tuple[ExportedProgram, Exported]:
    """With the module's plain attributes as state; where they cannot be seen so, they are constants, as torch takes them."""
    plain = list(attribute_tensors(model))
    try:
        return export_with(task, model, inputs, user, plain)
    except TaskError:
        if not plain:
            raise
        try:
            return export_with(task, model, inputs, user, [])
        except TaskError:
            pass
        raise  # the reason of the first


@contextlib.contextmanager
def mended_torch() -> Iterator[None]:
    """Where torch itself cannot trace what it can do, or traces something else."""
    with without_value_checks(), recurrent_shapes(), shapes_inferred(), masks_of_transformers(), in_plainer_operators():
        yield


def export_with(
    task: Task, model: torch.nn.Module, inputs: list[Any], user: UserCode, keys: list[str]
) -> tuple[ExportedProgram, Exported]:
    def exported() -> tuple[ExportedProgram, Exported]:
        with exportable(task, model, keys, len(inputs)) as seen, user.recorded(), mended_torch():
            program = torch.export.export(model, tuple(inputs), strict=False).run_decompositions(decompositions())
            refuse_seeding(task, asked, user)
            return with_reshapes(program), seen

    with doors_watched() as asked:
        try:
            with unnoticed(), Known():
                return exported()
        except Exception as error:
            unaware = error  # some code cannot be traced without its knowing
        try:
            return exported()
        except TaskError:
            raise
        except Exception as error:
            failure = error
        try:
            with torch.no_grad(), unnoticed(), Known():  # as the judge calls it: `out=` and writing to views need that
                return exported()
        except Exception:
            if isinstance(unaware, TaskError):  # in words of ours
                raise unaware from failure
            raise refusal(task, model, Failure(failure, unaware, asked), user) from failure


def refuse_mutated_inputs(task: Task, exported: ExportedProgram, user: UserCode, seen: Exported) -> None:
    for spec in exported.graph_signature.output_specs:
        if spec.kind not in (OutputKind.USER_INPUT_MUTATION, OutputKind.PARAMETER_MUTATION):
            continue
        node = next(node for node in exported.graph.nodes if node.name == spec.arg.name)
        traces = (user.location(one.meta.get("stack_trace")) for one in (node, *node.all_input_nodes))
        place = next((f"{at}: {source}" for at, source in traces if at), "")
        if spec.kind == OutputKind.USER_INPUT_MUTATION:
            wrong = f"forward modifies its input {spec.target} in place"
            raise TaskError(f"tracing {task.name}", wrong, place, "a forward that leaves its inputs alone")
        wrong = f"forward modifies the parameter {seen.key(spec.target)} in place"
        wanted = "a buffer for what forward changes"
        if "embedding_renorm" in str(node.target):
            wanted = "an embedding without max_norm, which scales its weight (normalise what is looked up)"
        raise TaskError(f"tracing {task.name}", wrong, place, wanted)


def write_graph(
    task: Task, model: torch.nn.Module, exported: ExportedProgram, inputs: list[Any], user: UserCode, seen: Exported
) -> dict[str, Any]:
    signature = exported.graph_signature
    constants = constant_attributes(task, model, exported, seen)
    placeholders = {node.name: node for node in exported.graph.nodes if node.op == "placeholder"}
    parameters = task.forward_signature.parameters
    leaves: list[dict[str, Any]] = []
    given = argument_expressions(parameters, len(inputs), task.by_name)
    opening = [*star_checks(task.name, parameters, len(inputs), task.by_name)]
    opening += [check_line(task.name, name, value) for name, value in unused_defaults(parameters, given)]
    opening += length_checks(task.name, given, inputs)
    opening += scalar_checks(task, model, exported, seen)
    held: Held = {}
    users = (spec for spec in signature.input_specs if spec.kind == InputKind.USER_INPUT)
    of_user = dict(zip((spec.arg.name for spec in users), leaf_expressions(given, inputs), strict=True))
    for spec in signature.input_specs:
        if isinstance(spec.arg, ConstantArgument):
            opening.append(check_line(task.name, of_user[spec.arg.name], spec.arg.value))
            continue
        if not isinstance(spec.arg, TensorArgument):
            raise no_tensor(task, exported, spec, user)
        leaf = leaf_of(task, placeholders[spec.arg.name], spec, of_user, constants, seen)
        if leaf["kind"] == "input" and (not leaf["target"].isidentifier() or OURS.fullmatch(leaf["target"])):
            mine = f"given_{leaf['name']}" if OURS.fullmatch(leaf["name"]) else leaf["name"]
            opening.append(f"{mine} = {leaf['target']}")
            leaf["target"] = mine
        if spec.kind == InputKind.CONSTANT_TENSOR and not is_attribute(model, seen.key(spec.target)):
            constant = exported.constants[spec.target]
            constant = torch.view_as_real(constant.resolve_conj()) if constant.is_complex() else constant
            if constant.numel() <= INLINE_CONSTANT:
                leaf["values"] = [scalar(item) for item in constant.flatten().tolist()]
            else:
                leaf["target"] = spec.target.replace(".", "_")
                held[leaf["target"]] = constant
        leaves.append(leaf)
    tensors = [leaf["name"] for leaf in leaves if leaf["kind"] == "input"]
    writer = GraphWriter(user, (tensors or [leaf["name"] for leaf in leaves] or [None])[0])
    for node in exported.graph.nodes:
        if node.op == "placeholder":
            writer.add_leaf(node)
        elif node.op == "call_function":
            writer.add(node)
    outputs, template, states = results(task, exported, writer, seen, held)
    return {
        "name": task.name,
        "mode": task.mode,
        "torch": torch.__version__,
        "file": task.namespace.__file__,
        "parameters": [parameter_text(parameter) for parameter in keyword_marked(parameters)],
        "opening": [line for line in opening if line],
        "leaves": leaves,
        "nodes": writer.nodes,
        "outputs": outputs,
        "template": template,
        "states": states,
        "held": held,
    }


def leaf_of(
    task: Task, node: torch.fx.Node, spec: InputSpec, of_user: dict[str, str], constants: set[str], seen: Exported
) -> dict[str, Any]:
    """A tensor that the graph begins with: what it is, where it comes from (an expression over forward's parameters, or the
    name of an attribute), and its type."""
    leaf = {"name": node.name, "kind": KINDS.get(spec.kind, "input")}
    is_input = spec.kind == InputKind.USER_INPUT
    if is_input:
        leaf["target"] = of_user[node.name]
    else:
        leaf["target"] = seen.key(spec.target)
    if leaf["target"] in constants:
        leaf |= {"kind": "constant", "target": leaf["target"][1:]}
    value = node.meta["val"]
    if (real := real_view(value)) is not None:
        value = real
        leaf["target"] = (
            f"torch.view_as_real({leaf['target']}.resolve_conj())" if is_input else leaf["target"] + REAL_VIEW
        )
    if (kind := type_text(value)) is None:
        wrong = f"{leaf['kind']} {leaf['target']} is {value.dtype}"
        raise TaskError(f"tracing {task.name}", wrong, "", "a dense tensor of a usual type")
    return leaf | {"type": kind, **strides(value)}


def results(
    task: Task, exported: ExportedProgram, writer: GraphWriter, seen: Exported, held: Held
) -> tuple[list[str], str, list[dict[str, Any]]]:
    """Output names (each once), the expression that forward returns, and the state it updates."""
    returned = next(node for node in exported.graph.nodes if node.op == "output").args[0]
    outputs: list[str] = []
    states: list[dict[str, Any]] = []
    leaves: list[str] = []
    for spec, node in zip(exported.graph_signature.output_specs, returned, strict=True):
        is_node = isinstance(node, torch.fx.Node)
        is_complex = is_node and spec.kind == OutputKind.USER_OUTPUT and real_view(node.meta.get("val")) is not None
        if spec.kind == OutputKind.BUFFER_MUTATION and real_view(node.meta.get("val")) is not None:
            got = seen.key(spec.target)
            raise TaskError(
                f"tracing {task.name}", "forward changes complex state", got, "its real and imaginary parts as two"
            )
        if is_node and not is_complex and node not in writer.names:
            value = node.meta.get("val")
            got = f"{value.dtype} of shape {list(value.shape)}" if isinstance(value, torch.Tensor) else str(value)
            at, source = writer.user.location(node.meta.get("stack_trace"))
            got, wanted = f"{got} ({at}: {source})" if at else got, "tensors of a fixed shape"
            raise TaskError(f"tracing {task.name}", "forward returns what a program cannot hold", got, wanted)
        if spec.kind == OutputKind.BUFFER_MUTATION:
            target = seen.key(spec.target)
            states.append({"target": target, "value": writer.names[node], "returned": target in seen.returned})
        elif is_node:
            name = node.name if is_complex else writer.names[node]
            if name not in outputs:
                outputs.append(name)
            place = f"{{{outputs.index(name)}}}"
            leaves.append(f"torch.view_as_complex({place})" if is_complex else place)
        else:
            leaves.append(repr(node))
    if not outputs and not states:
        got = ", ".join(leaves) or "nothing"
        raise TaskError(
            f"tracing {task.name}", "forward returns no tensor and moves no state", got, "a tensor to return"
        )
    spec = exported.call_spec.out_spec
    return outputs, structure(task.name, pytree.tree_unflatten(leaves, spec), held), states


def scalar(value: Any) -> Any:
    return {"float": repr(value)} if isinstance(value, float) and not math.isfinite(value) else value


def is_attribute(model: torch.nn.Module, dotted: str) -> bool:
    owner: Any = model
    for part in dotted.split("."):
        if not hasattr(owner, part):
            return False
        owner = getattr(owner, part)
    return isinstance(owner, torch.Tensor)


def write_trace(task: str, out: str) -> int:
    """0, or 2 for a mistake of the user's."""
    code = 0
    try:
        result = trace(load_task(task))
    except TaskError as error:
        result, code = {"error": error.to_json()}, 2
    except SystemExit as error:  # sys.exit(0) would leave no trace and no word
        got, wanted = f"sys.exit({error.code!r})", "code that returns"
        result, code = {"error": TaskError("tracing the module", "its code ends the process", got, wanted).to_json()}, 2
    Path(out).write_text(json.dumps(result, indent=1, allow_nan=False) + "\n")
    return code


def wait() -> None:
    """For a task that will be named by {"op": "trace", "task": file, "out": file}: what every trace imports is there by then. What
    the user's module prints is heard no more than that of a process which is run to its end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(nowhere, stream.fileno())
    torch.export.export(torch.nn.Identity(), (torch.zeros(1),)).run_decompositions({})
    serve(Line(REQUESTS, REPLIES), lambda request: {"code": write_trace(request["task"], request["out"])})


def main(argv: list[str]) -> int:
    warnings.simplefilter("ignore")  # torch's own; what matters to the user is in the error
    logging.disable(logging.WARNING)
    gc.set_threshold(100_000)  # most of a small trace is imports, a fifth of which went by looking for garbage
    if argv == ["--wait"]:
        wait()
        return 0
    if len(argv) != 2:
        print("usage: python -m mtmc.trace.trace TASK.json OUT.json, or --wait", file=sys.stderr)
        return 2
    return write_trace(*argv)


if __name__ == "__main__":
    code = main(sys.argv[1:])
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # to take all of torch apart takes longer than most traces
