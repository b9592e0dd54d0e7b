"""JSON lines between the judge and its processes: requests come on one descriptor, replies go to another."""

from __future__ import annotations

import faulthandler
import json
import os
import select
import time
from collections.abc import Callable
from typing import Any

REQUESTS, REPLIES = 3, 4  # the descriptors that LineProcess (src/base/process.h) gives its children
HURRY_SECONDS = 0.005
MOST_OF_AN_END = 400  # characters
IDLE_SECONDS = 0.05
LONGEST = 64 << 20  # bytes
Message = dict[str, Any]


class Line:
    """One end of a conversation in JSON lines."""

    def __init__(self, incoming: int, outgoing: int) -> None:
        self.incoming, self.outgoing = incoming, outgoing
        self.buffer = b""

    def send(self, message: Message) -> None:
        data = json.dumps(message).encode() + b"\n"
        while data:
            data = data[os.write(self.outgoing, data) :]

    def receive(self) -> Message | None:
        """The next message; None when the other side is gone."""
        while b"\n" not in self.buffer:
            if not self.read_some():
                return None
        line, _, self.buffer = self.buffer.partition(b"\n")
        try:
            message = json.loads(line)
        except RecursionError as error:
            raise ValueError("a message is nested too deeply") from error
        if not isinstance(message, dict):
            raise ValueError("a message is an object")
        return message

    def read_some(self) -> bool:
        """Reads what is there; False when the other side is gone. `complete()` says whether it was enough."""
        data = os.read(self.incoming, 1 << 16)
        self.buffer += data
        if len(self.buffer) > LONGEST:
            raise ValueError("a message is too long")
        return bool(data)

    def expect(self, seconds: float) -> None:
        """Waits for the next message without going to sleep, for so long at most: a process that sleeps wakes up on another
        core, whose caches know nothing of it."""
        until = time.perf_counter() + seconds
        while time.perf_counter() < until and not select.select([self.incoming], [], [], 0)[0]:
            pass

    def complete(self) -> bool:
        return b"\n" in self.buffer


def serve(
    line: Line,
    handle: Callable[[Message], Message],
    hurried: tuple[str, ...] = (),
    meanwhile: Callable[[], None] | None = None,
) -> None:
    """Answers requests until the other side closes. After the `hurried` ones the next is expected at once; `meanwhile` is
    called again and again while none comes. An exception that nobody expects ends it, and the answer says so: `ends`."""
    while True:
        while meanwhile and not line.complete() and not select.select([line.incoming], [], [], IDLE_SECONDS)[0]:
            meanwhile()
        if (request := line.receive()) is None:
            return
        try:
            reply = handle(request)
        except Exception as error:
            machines = isinstance(error, (MemoryError, OSError)) or "allocate memory" in str(error)
            line.send({"ends": f"{type(error).__name__}: {error}"[:MOST_OF_AN_END], "bug": not machines})
            raise
        try:
            line.send(reply)
        except BrokenPipeError:
            return
        if request["op"] in hurried:
            line.expect(HURRY_SECONDS)


def saying_where(handle: Callable[[Message], Message]) -> Callable[[Message], Message]:
    """A request that takes a minute says where it is, on standard error and again and again."""

    def handled(request: Message) -> Message:
        faulthandler.dump_traceback_later(60, repeat=True)
        try:
            return handle(request)
        finally:
            faulthandler.cancel_dump_traceback_later()

    return handled
