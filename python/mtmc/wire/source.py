"""The text of a file of Python source, whatever encoding its first lines name."""

from __future__ import annotations

import importlib.util
from pathlib import Path


def read_source(path: str | Path) -> str:
    """As the import system decodes it. A SyntaxError where its bytes are not in the encoding that it names."""
    try:
        return importlib.util.decode_source(Path(path).read_bytes())
    except UnicodeDecodeError as error:
        raise SyntaxError(f"{Path(path).name}: {error}") from error
