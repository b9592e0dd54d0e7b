"""A process that watches operators has no need of torch's compiler."""

from __future__ import annotations

import subprocess
import sys

CODE = """
import sys
import torch
from mtmc.wire.modes import DispatchMode

class Counts(DispatchMode):
    seen = 0

    def watch(self, func, types, args=(), kwargs=None):
        Counts.seen += 1
        return func(*args, **(kwargs or {}))

with Counts():
    torch.ones(2) + 1
assert Counts.seen >= 2
assert "torch._dynamo" not in sys.modules, "the compiler came along"
before, double = Counts.seen, torch.compile(lambda x: x * 2, backend="eager")
with Counts():
    assert double(torch.ones(2)).sum() == 4
assert Counts.seen > before
"""


def test_the_compiler_stays_away_until_somebody_brings_it() -> None:
    subprocess.run([sys.executable, "-c", CODE], check=True, timeout=120)
