"""A process that does not answer: where it is, in words."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from mtmc.keeper.stuck import ASKS, told_of

BUSY = f"""
import faulthandler, sys
faulthandler.register({int(ASKS)})

def forward():
    while True:
        pass

print("there", flush=True)
forward()
"""


def test_where_a_process_is_stuck_is_told_with_its_line(tmp_path: Path) -> None:
    script, errors = tmp_path / "busy.py", tmp_path / "errors"
    script.write_text(BUSY)
    with (
        errors.open("w") as file,
        subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, stderr=file) as busy,
    ):
        try:
            assert busy.stdout is not None and busy.stdout.readline() == b"there\n"
            time.sleep(0.05)
            told = told_of(busy.pid)
        finally:
            busy.kill()
    assert told.startswith("it runs in ") and "python" in told
    assert "busy.py:" in told and told.endswith("(forward)")


def test_who_does_not_say_is_looked_at_all_the_same() -> None:
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) as asleep:
        try:
            time.sleep(0.2)
            assert told_of(asleep.pid)
        finally:
            asleep.kill()
    assert told_of(1 << 30) == "it has ended"
