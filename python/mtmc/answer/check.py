"""What can be said of a kernel file without running it: python -m mtmc.answer.check FILE [--script]

Prints one line of JSON: {} where nothing speaks against it, else {"wrong": a sentence}. The file is only read and parsed, with
limits on time and memory: its author is nobody we know. A script need not define ModelNew.
"""

from __future__ import annotations

import ast
import json
import resource
import sys
from pathlib import Path

MEMORY, SECONDS = 2 << 30, 20
LONGEST = 400_000  # bytes

# What kernels are made of, and what building one with a compiler takes. The judge refuses more than this list can.
ALLOWED = frozenset(
    (
        "torch triton numpy math cmath operator functools itertools collections dataclasses enum typing types abc "
        "contextlib warnings textwrap string re struct array copy numbers ctypes os sys subprocess shutil tempfile "
        "pathlib hashlib platform sysconfig json __future__"
    ).split()
)


def imported(tree: ast.Module) -> list[tuple[int, str]]:
    """(line, module) of every import statement, wherever it stands."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found.append((node.lineno, "." * node.level + (node.module or "")))
    return found


def wrong_with(text: str, script: bool = False) -> str:
    """A sentence, or nothing."""
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        return f"line {error.lineno}: {error.msg}"
    except (ValueError, RecursionError, MemoryError) as error:
        return f"it cannot be parsed: {error or type(error).__name__}"
    for line, module in imported(tree):
        if module.partition(".")[0] not in ALLOWED:
            return f"line {line}: it may not import {module}"
    if script:
        return ""
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name == "ModelNew":
            inherits = [ast.unparse(base) for base in node.bases]
            own = any(isinstance(part, ast.FunctionDef) and part.name == "forward" for part in node.body)
            if not inherits:
                return f"line {node.lineno}: ModelNew is no torch.nn.Module"
            if not own and all(base.endswith("Module") for base in inherits):
                return f"line {node.lineno}: ModelNew has no forward"
            return ""
    return "it defines no class ModelNew"


def main() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    text = Path(sys.argv[1]).read_text(errors="replace")
    wrong = (
        wrong_with(text, "--script" in sys.argv) if len(text) <= LONGEST else f"it is longer than {LONGEST} characters"
    )
    print(json.dumps({"wrong": wrong} if wrong else {}))


if __name__ == "__main__":
    main()
