"""A command of ours that reads a file of JSON and writes another one: python -m MODULE REQUEST.json REPORT.json. The C++ side is
src/generate/python.h."""

from __future__ import annotations

import json
import logging
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any


def report(argv: list[str], module: str, answer: Callable[[dict[str, Any]], dict[str, Any]]) -> int:
    """The exit code: 2 where the words are not two files. Torch's warnings about users' code are nobody's concern."""
    if len(argv) != 2:
        print(f"usage: python -m {module} REQUEST.json REPORT.json", file=sys.stderr)
        return 2
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    Path(argv[1]).write_text(json.dumps(answer(json.loads(Path(argv[0]).read_text()))))
    return 0
