"""The walls around a guest: what it cannot change, even through libc, and what it can."""

from __future__ import annotations

import ctypes
import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from mtmc.device import kernel_calls
from mtmc.guest.limits import Limits
from mtmc.keeper.processes import kill_tree
from mtmc.keeper.sandbox import can_own_proc, lock, outermost, start_guest
from mtmc.wire.line import Line, Message, serve

LIMITS = Limits(memory_bytes=1 << 40)


def changed(path: str, own: str) -> int:
    """What libc says to taking all rights from a path; 0 when it is done."""
    mode = 0o700 if path == own else 0
    return 0 if kernel_calls.LIBC.chmod(path.encode(), mode) == 0 else ctypes.get_errno()


def asked(main: Callable[[Line], None], folder: Path, writable: list[str], own_proc: bool | None = None) -> Message:
    """What a guest answers, and what its room is made of."""
    guest = start_guest(main, folder, [], writable, own_proc)
    try:
        guest.line.send({"op": "try"})
        reply = guest.line.receive()
    finally:
        kill_tree(guest.init)
        kill_tree(guest.keeper)
        os.waitpid(guest.keeper, 0)
    assert reply is not None
    return {**reply, "parts": guest.parts}


def test_modes_outside_of_its_folders_stay(tmp_path: Path) -> None:
    """Landlock has no rule for them, and whoever judges belongs to the same user."""
    own, beside = tmp_path / "rooms/1", tmp_path / "draw"
    own.mkdir(parents=True)
    beside.write_text("x")

    def main(line: Line) -> None:
        lock([str(own)], LIMITS)
        paths = [str(own), str(own.parent), str(tmp_path), str(beside)]
        serve(line, lambda _: {"errors": [changed(path, str(own)) for path in paths]})

    reply = asked(main, own, [str(own)])
    if "mounts" in reply["parts"]:
        assert reply["errors"] == [0, *[errno.EROFS] * 3]
    assert (own / "stdout").exists()
    assert beside.stat().st_mode & 0o777


def test_a_guest_for_a_gpu_writes_about_itself_in_proc(tmp_path: Path) -> None:
    """As CUDA does; with a /proc of its own where it may have one, and in ours."""
    writable = [str(tmp_path), "/proc"]

    def main(line: Line) -> None:
        lock(writable, LIMITS)
        serve(line, lambda _: {"written": Path("/proc/self/comm").write_text("guest")})

    for own_proc in {can_own_proc(), False}:
        assert asked(main, tmp_path, writable, own_proc)["written"] == 5


def test_a_folder_inside_of_another_needs_no_mount(tmp_path: Path) -> None:
    (tmp_path / "room/build").mkdir(parents=True)
    paths = [str(tmp_path / "room"), str(tmp_path / "room/build"), "/dev/null"]
    assert outermost(paths) == paths[:1]


def test_no_wall_has_its_gate_at_a_link(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/")
    with pytest.raises(ValueError, match="is a link"):
        kernel_calls.landlock([str(tmp_path / "link")])
    with pytest.raises(ValueError, match="cannot be opened"):
        kernel_calls.landlock([str(tmp_path / "missing")])
