"""Every include in src/ obeys src/ROOMS, every import in python/mtmc obeys python/ROOMS: a room names itself and what its
line names, nothing else of ours."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
IMPORT = re.compile(r"\s*(?:from|import)\s+mtmc\b(?:\.(\w+))?")


def read_rooms(text, file):
    """{room: rooms it may include}, in import order; a line may only name rooms above it."""
    rooms = {}
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        room, _, imports = line.partition(":")
        unknown = [name for name in imports.split() if name not in rooms]
        if unknown:
            raise SystemExit(f"{file}: {room} names {', '.join(unknown)}, which is no room above it")
        rooms[room] = set(imports.split())
    return rooms


def wrong_includes(rooms, path, text):
    """The messages for one C++ file, `path` relative to src/."""
    room = path.parts[0]
    if room not in rooms:
        return [f"src/{path}: {room} is no room of src/ROOMS"]
    wrong = []
    for number, line in enumerate(text.splitlines(), 1):
        found = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
        if not found:
            continue
        included = found.group(1)
        other = included.split("/")[0]
        if "/" in included and other in rooms and other != room and other not in rooms[room]:
            allowed = " ".join(sorted(rooms[room])) or "nothing"
            wrong.append(f"src/{path}:{number}: {room} includes {included}; it may include {allowed}")
    if path.suffix == ".h" and "#include <nlohmann/json.hpp>" in text:
        wrong.append(f'src/{path}: headers include "base/json.h", not <nlohmann/json.hpp>')
    return wrong


def wrong_imports(rooms, path, text):
    """The messages for one Python file, `path` relative to python/mtmc."""
    if path == Path("__init__.py"):
        return [] if not IMPORT.search(text) else ["python/mtmc/__init__.py: imports a package"]
    room = path.parts[0]
    if len(path.parts) == 1 or room not in rooms:
        return [f"python/mtmc/{path}: lies in no package of python/ROOMS"]
    wrong = []
    for number, line in enumerate(text.splitlines(), 1):
        if (found := IMPORT.match(line)) and (other := found.group(1)) != room and other not in rooms[room]:
            allowed = " ".join(sorted(rooms[room])) or "nothing"
            wrong.append(f"python/mtmc/{path}:{number}: {room} imports mtmc.{other}; it may import {allowed}")
    return wrong


def self_test():
    """The check itself catches what it is for."""
    rooms = read_rooms("base:\nir: base\nops: base ir\n", "ROOMS")
    assert wrong_includes(rooms, Path("ir/a.cpp"), '#include "ops/op.h"\n')
    assert wrong_includes(rooms, Path("ir/a.h"), "#include <nlohmann/json.hpp>\n")
    assert wrong_includes(rooms, Path("attic/a.cpp"), "")
    assert not wrong_includes(rooms, Path("ops/a.cpp"), '#include "ir/program.h"\n#include "ops/op.h"\n')
    assert wrong_imports(rooms, Path("ir/a.py"), "    from mtmc.ops import op\n")
    assert wrong_imports(rooms, Path("a.py"), "") and wrong_imports(rooms, Path("attic/a.py"), "")
    assert wrong_imports(rooms, Path("ir/a.py"), "from mtmc import ops\n")
    assert not wrong_imports(rooms, Path("ops/a.py"), "from mtmc.ir.program import Program\nimport mtmc.ops.b\n")


def main():
    self_test()
    wrong, counts = [], []
    for folder, file, suffixes, check in (
        (ROOT / "src", "src/ROOMS", ("*.h", "*.cpp"), wrong_includes),
        (ROOT / "python/mtmc", "python/ROOMS", ("*.py",), wrong_imports),
    ):
        rooms = read_rooms((ROOT / file).read_text(), file)
        files = [path for suffix in suffixes for path in sorted(folder.rglob(suffix))]
        wrong += [line for path in files for line in check(rooms, path.relative_to(folder), path.read_text())]
        counts.append(f"{len(files)} files in {len(rooms)} rooms obey {file}")
    print("\n".join(wrong or counts))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
