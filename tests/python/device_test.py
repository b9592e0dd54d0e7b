"""What the devices of the judge do, as far as no GPU is needed for it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
import torch

from mtmc.device.cuda import FILL_SHARED
from mtmc.device.device import Cpu, random_state, seed_all


def test_seeding_is_what_torch_does() -> None:
    torch.manual_seed(7)
    expected = random_state()
    torch.rand(3)
    seed_all(7)
    assert torch.equal(random_state(), expected)


@pytest.mark.parametrize("chip", ["sm_75", "sm_80", "sm_90", "sm_100"])
def test_the_kernel_in_the_drivers_language_can_be_assembled(chip: str, tmp_path: Path) -> None:
    triton = pytest.importorskip("triton", reason="triton is not installed")
    assembler = Path(triton.__file__).parent / "backends/nvidia/bin/ptxas"
    source = tmp_path / "fill_shared.ptx"
    source.write_bytes(FILL_SHARED)
    subprocess.run([assembler, f"-arch={chip}", source, "-o", tmp_path / "fill_shared.cubin"], check=True)


def test_a_process_calls_vector_functions_by_one_thread_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two threads that come first may meet tables that are not there yet; too seldom to be tried here."""
    called = []
    exp = torch.exp
    monkeypatch.setattr(torch, "exp", lambda x: (called.append(x.numel()), exp(x))[1])
    Cpu()
    assert called == [1]
