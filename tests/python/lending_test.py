"""What is offered to a process is the value, and what is seen of its results is what was read, or an error."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from mtmc.device.device import Cpu
from mtmc.referee.lending import Lender, same_numbers
from mtmc.wire.blobs import same_bits
from mtmc.wire.forms import FormError, form_of

VALUE = [torch.randn(3, 5).t(), 2, {"a": torch.arange(4.0).bfloat16()[::2], "b": torch.empty(0)}, torch.tensor(7)]


def lender(folder: Path) -> Lender:
    return Lender(Cpu(), folder / "task" / "draws")


def test_what_is_offered_lies_in_the_file_and_numbers_do_not(tmp_path: Path) -> None:
    mine = lender(tmp_path)
    told = mine.offered("task-0", VALUE)
    assert told["fill"] == "task/draws/task-0" and told["values"] == [{"value": 2}]
    file = str(tmp_path / told["fill"])
    x, _, inner, number = mine.seen(form_of(VALUE), file, "guest", 1 << 20)
    assert torch.equal(x, VALUE[0]) and x.stride() == VALUE[0].stride() and number == 7
    assert torch.equal(inner["a"], VALUE[2]["a"]) and inner["b"].numel() == 0
    mine.drop("task-0")
    assert not Path(file).exists()
    mine.drop("task-0")


def test_results_without_tensors_need_no_memory(tmp_path: Path) -> None:
    empty = tmp_path / "results"
    empty.write_bytes(b"")
    assert lender(tmp_path).seen(form_of([3, None]), str(empty), "guest", 16) == [3, None]


def test_a_file_of_another_size_or_kind_is_refused(tmp_path: Path) -> None:
    mine = lender(tmp_path)
    path = tmp_path / mine.offered("task-0", VALUE)["fill"]
    form = form_of(VALUE)
    with pytest.raises(FormError, match="more than"):
        mine.seen(form, str(path), "guest", 16)
    (tmp_path / "link").symlink_to(path)
    whole = path.read_bytes()
    for file, data in ((tmp_path / "link", whole), (path, whole[:-1]), (path, whole + b"x"), (tmp_path / "no", b"")):
        if data:
            path.write_bytes(data)
        with pytest.raises(FormError, match="not read"):
            mine.seen(form, str(file), "guest", 1 << 20)


class Lending(Cpu):
    """Looks at memory of other processes, as a GPU does."""

    lends = True

    def __init__(self) -> None:
        super().__init__()
        self.borrowed: list[str] = []  # since all was given back

    def borrow(self, handle: str, offset: int, size: int) -> torch.Tensor:
        self.borrowed.append(handle)
        return torch.zeros(size, dtype=torch.uint8)

    def give_back(self, beyond: float = 0, many: int = 0) -> None:
        if not beyond and not many:
            self.borrowed.clear()


def test_memory_of_processes_that_take_turns_stays_and_that_of_many_does_not(tmp_path: Path) -> None:
    device = Lending()
    mine = Lender(device, tmp_path)

    def fill(guest: str) -> None:
        mine.fill([torch.ones(4)], [{"at": 0, "bytes": 16, "lent": guest, "offset": 0}], guest)

    for guest in ("room-1", "eager", "graph", "room-2") * 3:
        fill(guest)
    assert len(device.borrowed) == 12
    fill("room-3")
    assert device.borrowed == ["room-3"], "nobody knows who is still there"
    assert Lender(device, tmp_path).unlike([torch.zeros(4)], [{"bytes": 16, "lent": "x", "offset": 0}], "eager") == []
    assert device.borrowed == ["x"], "another task's"


def test_what_is_not_a_number_is_itself_and_zeros_are_equal() -> None:
    nan = torch.tensor([float("nan"), 1.0])
    assert same_numbers(nan, nan.clone()) and not same_numbers(nan, nan + 1)
    zero = torch.zeros(2)
    assert same_numbers(zero, -zero) and not same_bits(zero, -zero)
