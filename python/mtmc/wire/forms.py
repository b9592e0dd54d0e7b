"""Forms: what a structure of tensors and scalars is made of, as JSON, without what the tensors hold.

    form = {"list": [form, ...][, "names"]} | {"dict": [[key, form], ...][, "fields"]} | {"value": scalar} | {"float": "inf"}
         | {"hole": place}
         | {"dtype", "shape", "stride"[, "device"]}      a tensor; with "at" and "lent" where one is described that exists

A tensor's bytes are its span: all from its first element to its last, gaps included, in the order they lie in memory. The spans
of a form follow one another in `leaves` order, each at a multiple of ALIGNED bytes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

from mtmc.wire.blobs import Fields, by_key, named, names_of

Form = dict[str, Any]
ALIGNED = 64
ARGUMENTS = ".arguments"  # behind the name of a file of results: of what a call left in its arguments
MOST_LEAVES, MOST_DEPTH, MOST_DIMENSIONS = 1 << 16, 64, 32
KINDS = {str(dtype)[6:]: dtype for dtype in vars(torch).values() if isinstance(dtype, torch.dtype)}


class FormError(Exception):
    """A value that has no form, or a form of no value."""


def form_of(value: Any) -> Form:
    """The form of a structure. Tensors whose elements share memory are described as contiguous ones."""
    if isinstance(value, torch.Tensor):
        shares = any(step == 0 and size > 1 for step, size in zip(value.stride(), value.shape, strict=True))
        stride = contiguous(value.shape) if shares else list(value.stride())
        form = {"dtype": str(value.dtype)[6:], "shape": list(value.shape), "stride": stride}
        return form if value.device.type == "cpu" else {**form, "device": value.device.type}
    if (parts := by_key(value)) is not None:
        form = {"dict": [[str(key), form_of(part)] for key, part in parts.items()]}
        return {**form, "fields": True} if isinstance(parts, Fields) else form
    if isinstance(value, (list, tuple)):
        form = {"list": [form_of(part) for part in value]}
        return {**form, "names": list(names)} if (names := names_of(value)) else form
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": repr(value)}
    if value is None or isinstance(value, (bool, int, float, str)):
        return {"value": value}
    raise FormError(f"cannot pass a {type(value).__name__} between processes")


def contiguous(shape: Any) -> list[int]:
    stride, step = [], 1
    for size in reversed(list(shape)):
        stride.append(step)
        step *= max(size, 1)
    return stride[::-1]


def rebuilt(form: Form, tensor: Callable[[Form], Any], scalar: Callable[[Form], Any]) -> Any:
    """The structure of a form with its leaves as the two functions make them, in order."""
    if "dict" in form:
        parts = {key: rebuilt(part, tensor, scalar) for key, part in form["dict"]}
        return Fields(parts) if "fields" in form else parts
    if "list" in form:
        row = [rebuilt(part, tensor, scalar) for part in form["list"]]
        return named(row, form["names"]) if "names" in form else row
    return tensor(form) if "dtype" in form else scalar(form)


def scalar_of(form: Form) -> Any:
    return float(form["float"]) if "float" in form else form["value"]


def tensors_of(form: Form) -> list[Form]:
    """The forms of all tensors, in order."""
    found: list[Form] = []
    rebuilt(form, found.append, lambda _: None)
    return found


def without_values(form: Form) -> tuple[Form, list[Form]]:
    """A form whose scalars are holes, and what belongs there: whoever gets the first cannot know the second."""
    if "dict" in form or "list" in form:
        kind = "dict" if "dict" in form else "list"
        values: list[Form] = []
        parts = []
        for part in form[kind]:
            inner, found = without_values(part[1] if kind == "dict" else part)
            values += found
            parts.append([part[0], inner] if kind == "dict" else inner)
        return {**form, kind: parts}, values
    return (form, []) if "dtype" in form else ({"hole": True}, [form])


def elements(form: Form) -> int:
    """How many elements a tensor's span has."""
    if 0 in form["shape"]:
        return 0
    return 1 + sum((size - 1) * step for size, step in zip(form["shape"], form["stride"], strict=True))


def span_bytes(form: Form) -> int:
    return elements(form) * KINDS[form["dtype"]].itemsize


def offsets(forms: list[Form]) -> tuple[list[int], int]:
    """Where each tensor's span begins when they follow one another, and where the last ends."""
    return in_a_row([span_bytes(form) for form in forms])


def in_a_row(sizes: list[int]) -> tuple[list[int], int]:
    """The same for spans of these sizes, in bytes."""
    starts, end = [], 0
    for size in sizes:
        starts.append(-(-end // ALIGNED) * ALIGNED)
        end = starts[-1] + size
    return starts, end


def make(form: Form) -> torch.Tensor:
    """A tensor of that form in fresh memory, whatever lies there."""
    behind = form.get("behind", 0)
    flat = torch.empty(behind + elements(form), dtype=KINDS[form["dtype"]], device=form.get("device", "cpu"))[behind:]
    return flat.as_strided(form["shape"], form["stride"])


def make_all(form: Form) -> list[torch.Tensor]:
    """Tensors for all leaves of a form that are some, in order."""
    made: list[torch.Tensor] = []
    rebuilt(form, lambda one: made.append(made[one["same"]] if "same" in one else make(one)), lambda _: None)
    return made


def tell_of_memory(form: Form, held: list[torch.Tensor]) -> None:
    """Says of the tensors of a form, which are those `held`, how many elements behind a multiple of ALIGNED bytes they begin
    (`behind`), and which of those before is the same tensor (`same`, its number)."""
    first: dict[int, int] = {}
    for number, (one, tensor) in enumerate(zip(tensors_of(form), held, strict=True)):
        if away := tensor.data_ptr() % ALIGNED // tensor.element_size():
            one["behind"] = away
        if (before := first.setdefault(id(tensor), number)) != number:
            one["same"] = before


def span_of(tensor: torch.Tensor) -> torch.Tensor:
    """The memory of a tensor from its first element to its last, as bytes in a row."""
    count = (
        0 if not tensor.numel() else 1 + sum((n - 1) * s for n, s in zip(tensor.shape, tensor.stride(), strict=True))
    )
    return tensor.detach().as_strided((count,), (1,)).view(torch.uint8)


def seen_as(form: Form, memory: torch.Tensor) -> torch.Tensor:
    """A span of bytes as the tensor of a form. The memory must be aligned for its type."""
    return memory.view(KINDS[form["dtype"]]).as_strided(form["shape"], form["stride"])


def checked(form: Any, most_bytes: int) -> Form:
    """A form that came from a process which may say anything: FormError unless it is one, of so many bytes at most."""
    state = {"leaves": 0}

    def rows_of(parts: Any) -> list[Any]:
        if not isinstance(parts, list):
            raise FormError("no description of a result")
        return parts

    def check(one: Any, depth: int) -> None:
        state["leaves"] += 1
        if depth > MOST_DEPTH or state["leaves"] > MOST_LEAVES or not isinstance(one, dict):
            raise FormError("no description of a result")
        if "dict" in one:
            for pair in rows_of(one["dict"]):
                if not (isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str)):
                    raise FormError("no description of a result")
                check(pair[1], depth + 1)
        elif "list" in one:
            for part in rows_of(one["list"]):
                check(part, depth + 1)
            names = rows_of(one.get("names", []))
            if "names" in one and (
                len(names) != len(one["list"]) or not all(isinstance(n, str) and n.isidentifier() for n in names)
            ):
                raise FormError("no description of a result")
        elif "dtype" in one:
            _check_tensor(one)
        elif "float" in one:
            if one["float"] not in ("inf", "-inf", "nan"):
                raise FormError("no description of a number")
        elif "value" not in one or not (one["value"] is None or isinstance(one["value"], (bool, int, float, str))):
            raise FormError("no description of a result")

    check(form, 0)
    forms = tensors_of(form)
    spread = sum(math.prod(one["shape"]) * KINDS[one["dtype"]].itemsize for one in forms)  # once nothing shares memory
    if (total := max(offsets(forms)[1], spread)) > most_bytes:
        raise FormError(f"results of {total} bytes: more than {most_bytes}")
    return form


def _check_tensor(one: Form) -> None:
    shape, stride = one.get("shape"), one.get("stride")
    whole = all(
        isinstance(row, list) and len(row) <= MOST_DIMENSIONS and all(type(n) is int and 0 <= n < 1 << 48 for n in row)
        for row in (shape, stride)
    )
    if (
        not isinstance(one["dtype"], str)
        or one["dtype"] not in KINDS
        or not whole
        or len(shape) != len(stride)
        or one.get("device", "cpu") not in ("cpu", "cuda")
    ):
        raise FormError("no description of a tensor")


def ranges(form: Form) -> list[tuple[int, int]]:
    """First and last address of every tensor of a form that describes what exists."""
    return [(start, end) for start, end in spans(form) if start < end]


def spans(form: Form) -> list[tuple[int, int]]:
    """First and last address of each tensor of such a form; alike where it has none."""
    found = [(one.get("at"), span_bytes(one)) for one in tensors_of(form)]
    return [(at, at + size) if type(at) is int else (0, 0) for at, size in found]


def sharing(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Which of some ranges of addresses overlap: pairs of their numbers."""
    numbered = list(enumerate(spans))
    return [(i, j) for i, a in numbered for j, b in numbered[i + 1 :] if overlap([a], [b])]


def overlap(some: list[tuple[int, int]], others: list[tuple[int, int]]) -> bool:
    return any(a < b and c < d and a < d and c < b for a, b in some for c, d in others)
