"""How values reach other processes, and how theirs are looked at. On a CPU arguments are files in memory, from which the keeper
puts them into a process that stands still, and results are files into which it read them; on a GPU this process itself writes
to, and looks at, memory of the other one, which stands still meanwhile. No value passes through the hands of a candidate's process
before it is meant to.
"""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any

import torch

from mtmc.device.cuda import DeviceError
from mtmc.device.device import Device
from mtmc.referee.layouts import ELSEWHERE
from mtmc.wire.blobs import bytes_of
from mtmc.wire.forms import (
    ARGUMENTS,
    Form,
    FormError,
    checked,
    form_of,
    offsets,
    rebuilt,
    scalar_of,
    seen_as,
    span_bytes,
    span_of,
    tell_of_memory,
    tensors_of,
    without_values,
)
from mtmc.wire.line import Message
from mtmc.wire.outputs import tensors

# What a process frees, or leaves when it ends, stays for as long as we look at it; to look at it anew takes the driver up to
# 0.2 s where other processes use it, too.
PART_BORROWED, MOST_BORROWED = 8, 256  # that part of the GPU's memory; allocations
MOST_MET = 4  # processes that take turns, as in a timed round: to look at memory anew takes a millisecond, and far more beside others


class Lender:
    def __init__(self, device: Device, folder: Path) -> None:
        self.device, self.folder = device, folder
        self.met: set[str] = set()  # whose memory is looked at
        folder.mkdir(parents=True, exist_ok=True)

    def offered(self, name: str, value: Any) -> Message:
        """What a process is told of a value that it will get: its form without scalars, those apart, and the file that holds its
        tensors, below the folder of all tasks (not on a GPU)."""
        form, values = without_values(form_of(value))
        if name.startswith(ELSEWHERE):
            tell_of_memory(form, tensors(value))
        told = {"form": form, "values": values}
        if self.device.lends:
            return told
        self._write(self.folder / name, value, tensors_of(form))
        return {**told, "fill": str(Path(*(self.folder / name).parts[-3:]))}

    def _write(self, path: Path, value: Any, forms: list[Form]) -> None:
        starts, end = offsets(forms)
        with path.open("wb") as file:
            for tensor, form, at in zip(tensors(value), forms, starts, strict=True):
                row = laid_out(tensor, form)
                file.seek(at)
                file.write(bytes_of(row))
            file.truncate(end)

    def drop(self, name: str) -> None:
        (self.folder / name).unlink(missing_ok=True)

    def fill(self, value: Any, places: list[Message], guest: str) -> None:
        """Puts the tensors of a value where a process on the GPU wants them; afterwards no cache holds them. DeviceError when
        there is no such memory."""
        self._meet(guest)
        self.device.give_back(self.device.bytes / PART_BORROWED, MOST_BORROWED)
        forms = tensors_of(form_of(value))
        for tensor, form, place in zip(tensors(value), forms, places, strict=True):
            if span_bytes(form) != place["bytes"]:
                raise DeviceError("a place of another size")
            seen_as(form, self._borrowed(place)).copy_(tensor)
        self.device.flush()

    def give_back(self) -> None:
        """All that is looked at: it is asked for anew when it is needed."""
        if self.device.lends:
            self.device.give_back()

    def rest(self) -> None:
        """Between two requests: nothing that was seen is looked at any more."""
        if self.device.lends:
            self.device.give_back(math.inf, MOST_BORROWED)

    def unlike(self, value: Any, places: list[Message], guest: str) -> list[int]:
        """The tensors of a value, by number, that are not what lies in their places."""
        self._meet(guest)
        forms = tensors_of(form_of(value))
        rows = enumerate(zip(tensors(value), forms, places, strict=True))
        return [i for i, (t, form, place) in rows if not same_numbers(seen_as(form, self._borrowed(place)), t)]

    def left_in(self, value: Any, numbers: list[int], call: Message) -> list[torch.Tensor]:
        """What some tensors of a value, by number, hold after a call: in their `places` of the process `guest`, or in the file
        beside `file` into which the keeper read them one after the other."""
        forms = tensors_of(form_of(value))
        chosen = [forms[number] for number in numbers]
        if self.device.lends:
            self._meet(call["guest"])
            places = [call["places"][number] for number in numbers]
            return [seen_as(form, self._borrowed(place)) for form, place in zip(chosen, places, strict=True)]
        if not chosen:
            return []
        starts, end = offsets(chosen)
        memory = file_memory(Path(call["file"] + ARGUMENTS), end)
        return [seen_as(form, memory[at : at + span_bytes(form)]) for form, at in zip(chosen, starts, strict=True)]

    def seen(self, form: Any, file: str, guest: str, most_bytes: int) -> Any:
        """What a process returned, as it described it: where it lies (on a GPU), or in the file into which it was read. FormError
        when the description is none, or says something else than what is there."""
        checked(form, most_bytes)
        forms = tensors_of(form)
        starts, end = offsets(forms)
        where = iter(zip(forms, starts, strict=True))
        memory = None
        if not forms or any(one.get("device", "cpu") == "cpu" for one in forms):
            if self.device.lends:
                return rebuilt(
                    form, lambda one: torch.empty(one["shape"], dtype=getattr(torch, one["dtype"])), scalar_of
                )
            memory = file_memory(Path(file), end)
        else:
            self._meet(guest)

        def tensor(_: Form) -> torch.Tensor:
            one, at = next(where)
            if memory is not None:
                return seen_as(one, memory[at : at + span_bytes(one)])
            try:
                return seen_as(one, self._borrowed({**one, "bytes": span_bytes(one)}))
            except (DeviceError, ValueError) as error:
                raise FormError(f"a result that cannot be read: {error}") from error

        return rebuilt(form, tensor, scalar_of)

    def _borrowed(self, place: Message) -> torch.Tensor:
        if not place["bytes"]:
            return torch.empty(0, dtype=torch.uint8, device=self.device.where)
        if not isinstance(place.get("lent"), str) or type(place.get("offset")) is not int:
            raise DeviceError("memory that is not lent")
        return self.device.borrow(place["lent"], place["offset"], place["bytes"])

    def _meet(self, guest: str) -> None:
        """Gives back what was borrowed of processes that may be gone."""
        if guest not in self.met and len(self.met) % MOST_MET == 0:
            self.device.give_back()
            self.met.clear()
        self.met.add(guest)


def laid_out(tensor: torch.Tensor, form: Form) -> torch.Tensor:
    """A tensor's span in the order of a form, as bytes on the host; gaps hold zeros."""
    tensor = tensor.detach().resolve_conj().resolve_neg().cpu()
    if tensor.is_contiguous():
        return span_of(tensor)  # one element may lie at any step
    flat = torch.zeros(span_bytes(form), dtype=torch.uint8)
    seen_as(form, flat).copy_(tensor)
    return flat


def file_memory(path: Path, size: int) -> torch.Tensor:
    if not size:
        return torch.empty(0, dtype=torch.uint8)
    if not path.is_file() or path.is_symlink() or os.path.getsize(path) != size:
        raise FormError("the results were not read")
    return torch.from_file(str(path), shared=False, size=size, dtype=torch.uint8)


def same_numbers(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Of one shape and type: are all elements equal, or all of them bit for bit? So NaN is NaN, and 0.0 is -0.0 unless there is a
    NaN, too. (`same_bits` tells zeros apart.)"""
    if torch.equal(a, b):
        return True
    whole = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64, 16: torch.int64}[a.element_size()]
    return a.is_floating_point() and torch.equal(a.contiguous().view(whole), b.contiguous().view(whole))
