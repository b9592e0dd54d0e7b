"""JSON lines between the judge and its processes: requests come on one descriptor, replies go to another."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any

REQUESTS, REPLIES = 3, 4  # the descriptors that LineProcess (src/base/process.h) gives its children
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
        message = json.loads(line)
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

    def complete(self) -> bool:
        return b"\n" in self.buffer


def serve(line: Line, handle: Callable[[Message], Message]) -> None:
    """Answers requests until the other side closes."""
    while (request := line.receive()) is not None:
        reply = handle(request)
        try:
            line.send(reply)
        except BrokenPipeError:
            return
