"""What the devices of the judge do, as far as no GPU is needed for it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
import torch

from mtmc.device import memory
from mtmc.device.cuda import OWN_KERNELS
from mtmc.device.device import Cpu
from mtmc.device.memory import UNUSED_BYTES, release
from mtmc.device.random_state import random_state, seed_all


def test_seeding_is_what_torch_does() -> None:
    torch.manual_seed(7)
    expected = random_state()
    torch.rand(3)
    seed_all(7)
    assert torch.equal(random_state(), expected)


def test_memory_that_nobody_uses_is_given_back_where_it_is_much_and_others_may_want_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given_back: list[int] = []
    monkeypatch.setattr(memory, "ASKED_SECONDS", 0.0)
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: given_back.append(1))
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda: (40 << 30, 100 << 30))
    monkeypatch.delenv("MTMC_TURN", raising=False)
    some, a_lot = 20 << 30, 40 << 30
    cases = [(0, 1.0, 0), (1, 1 / 3, 0), (a_lot, 1 / 3, 1), (1, 0.5, 2), (1, 1.0, 3), (some, None, 3), (some, None, 4)]
    for number, (unused, enough, expected) in enumerate(cases):
        if number == len(cases) - 1:  # the same, beside other searches
            monkeypatch.setenv("MTMC_TURN", "somewhere")
        parts = {"reserved_bytes": 5 + UNUSED_BYTES + unused, "allocated_bytes": 5}
        stats = {name: {"all": {"current": size}} for name, size in parts.items()}
        monkeypatch.setattr(torch.cuda, "memory_stats_as_nested_dict", lambda stats=stats: stats)
        release(enough)
        assert len(given_back) == expected


@pytest.mark.parametrize("chip", ["sm_75", "sm_80", "sm_90", "sm_100"])
def test_the_kernels_in_the_drivers_language_can_be_assembled(chip: str, tmp_path: Path) -> None:
    triton = pytest.importorskip("triton", reason="triton is not installed")
    assembler = Path(triton.__file__).parent / "backends/nvidia/bin/ptxas"
    source = tmp_path / "own_kernels.ptx"
    source.write_bytes(OWN_KERNELS)
    subprocess.run([assembler, f"-arch={chip}", source, "-o", tmp_path / "own_kernels.cubin"], check=True)


def test_a_process_calls_vector_functions_by_one_thread_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two threads that come first may meet tables that are not there yet; too seldom to be tried here."""
    called = []
    exp = torch.exp
    monkeypatch.setattr(torch, "exp", lambda x: (called.append(x.numel()), exp(x))[1])
    Cpu()
    assert called == [1]
