"""What torch computes in full f32 is told by the same call where TF32 is not allowed. No GPU is needed to tell two results apart."""

import pytest
import torch

from mtmc.device.device import device_named
from mtmc.tune.full_f32 import in_full_f32

INPUTS = ["f32[2,3,8,8]", "f32[4,3,3,3]"]
ALLOWED = "torch.backends.cudnn.allow_tf32"


def answer(text: str) -> bool:
    before = torch.backends.cudnn.allow_tf32
    answers = in_full_f32([{"call": text, "inputs": INPUTS}], device_named("cpu"))
    assert torch.backends.cudnn.allow_tf32 == before
    return answers[0]


def test_a_host_knows_no_tf32() -> None:
    assert answer("F.conv2d(x0, x1, None, 1, [1, 1], 1, 1)")


def test_one_that_is_rounded_where_it_may_be_is_in_tf32() -> None:
    assert not answer(f"x0 * 1.0003 if {ALLOWED} else x0 * 1.0")


def test_another_order_of_sums_is_not_tf32() -> None:
    assert answer(f"(x0.sum(-1) if {ALLOWED} else x0.flip(-1).cumsum(-1)[..., -1]) * 1")


@pytest.mark.parametrize("error", [torch.OutOfMemoryError("full"), RuntimeError("unable to find an engine")])
def test_what_the_library_refuses_is_no_answer(error: RuntimeError) -> None:
    def full() -> None:
        raise error

    torch.full_memory = full  # type: ignore[attr-defined]
    try:
        assert not answer("torch.full_memory()")
    finally:
        del torch.full_memory  # type: ignore[attr-defined]


def test_a_call_that_is_wrong_is_not_hidden() -> None:
    with pytest.raises(NameError):
        answer("F.conv2d(x0, x7)")
