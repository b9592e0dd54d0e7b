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


def test_what_is_not_a_number_is_itself_and_zeros_are_equal() -> None:
    nan = torch.tensor([float("nan"), 1.0])
    assert same_numbers(nan, nan.clone()) and not same_numbers(nan, nan + 1)
    zero = torch.zeros(2)
    assert same_numbers(zero, -zero) and not same_bits(zero, -zero)
