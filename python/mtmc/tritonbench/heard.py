"""What a script prints, from Python or from below it."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Callable, Iterator


@contextlib.contextmanager
def heard() -> Iterator[Callable[[], str]]:
    """Keeps standard output; the function says what it holds so far. Standard error goes nowhere."""
    saved = [os.dup(1), os.dup(2)]
    with tempfile.TemporaryFile() as file, open(os.devnull, "wb") as nowhere:
        os.dup2(file.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)

        def said() -> str:
            sys.stdout.flush()
            file.seek(0)
            text = file.read().decode(errors="replace")
            file.seek(0, os.SEEK_END)
            return text

        try:
            yield said
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            for number, descriptor in zip((1, 2), saved, strict=True):
                os.dup2(descriptor, number)
                os.close(descriptor)
