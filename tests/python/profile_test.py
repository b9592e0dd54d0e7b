"""Whose time is it: the share of a call outside torch's operators, and what kind of operators they are."""

from __future__ import annotations

import subprocess
import sys
import time

import torch

from mtmc.device.device import Cpu
from mtmc.guest.profile import profile_call

NAP = 0.03  # seconds: long beside what a busy machine adds


@torch.library.custom_op("mtmc_test::mv", mutates_args=())
def slow_operator(x: torch.Tensor) -> torch.Tensor:
    time.sleep(NAP)
    return x.clone()


def test_work_outside_torch_is_the_kernels_own() -> None:
    x = torch.ones(4)
    found = profile_call(lambda: time.sleep(NAP) or x.clone(), Cpu())
    assert found["own_kernel_share"] > 0.9 and found["library_use"] == "none"


def test_work_in_torchs_operators_is_not() -> None:
    x = torch.ones(4)
    found = profile_call(lambda: slow_operator(x), Cpu())
    assert found["own_kernel_share"] < 0.5 and found["library_use"] == "BLAS"
    shares = found["kernel_shares"]
    assert shares["mv"] > 0.5 and max(shares.values()) <= 1
    assert profile_call(lambda: x.exp(), Cpu())["library_use"] == "any"


def test_what_holds_up_plain_calls_is_not_the_kernels_own() -> None:
    x, calls = torch.ones(1 << 16), iter(range(100))
    found = profile_call(lambda: time.sleep(NAP if next(calls) < 5 else 0) or x.exp(), Cpu())
    assert found["own_kernel_share"] < 0.5


COMPILED = """
import torch
from mtmc.device.device import Cpu
from mtmc.guest.profile import profile_call
compiled, x = torch.compile(lambda x: x.sin() + 1, fullgraph=True, backend="eager"), torch.ones(4)
compiled(x)
print(profile_call(lambda: compiled(x), Cpu()))
assert torch.equal(compiled(x), x.sin() + 1)
"""


def test_what_is_compiled_has_no_share_and_goes_on_working() -> None:
    said = subprocess.run([sys.executable, "-c", COMPILED], capture_output=True, text=True, check=True).stdout
    assert "'own_kernel_share': None" in said and "no-profile: torch.compile" in said
