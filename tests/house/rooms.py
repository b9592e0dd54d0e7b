"""Every include in src/ obeys src/ROOMS: a room includes itself and what its line names, nothing else of ours."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def read_rooms(text):
    """{room: rooms it may include}, in import order; a line may only name rooms above it."""
    rooms = {}
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        room, _, imports = line.partition(":")
        unknown = [name for name in imports.split() if name not in rooms]
        if unknown:
            raise SystemExit(f"src/ROOMS: {room} names {', '.join(unknown)}, which is no room above it")
        rooms[room] = set(imports.split())
    return rooms


def wrong_includes(rooms, path, text):
    """The messages for one file, `path` relative to src/."""
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


def self_test():
    """The check itself catches what it is for."""
    rooms = read_rooms("base:\nir: base\nops: base ir\n")
    assert wrong_includes(rooms, Path("ir/a.cpp"), '#include "ops/op.h"\n')
    assert wrong_includes(rooms, Path("ir/a.h"), "#include <nlohmann/json.hpp>\n")
    assert wrong_includes(rooms, Path("attic/a.cpp"), "")
    assert not wrong_includes(rooms, Path("ops/a.cpp"), '#include "ir/program.h"\n#include "ops/op.h"\n')


def main():
    self_test()
    rooms = read_rooms((ROOT / "src/ROOMS").read_text())
    files = [path for suffix in ("*.h", "*.cpp") for path in sorted((ROOT / "src").rglob(suffix))]
    wrong = [line for path in files for line in wrong_includes(rooms, path.relative_to(ROOT / "src"), path.read_text())]
    print("\n".join(wrong) or f"{len(files)} files in {len(rooms)} rooms obey src/ROOMS")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
