"""A type of a namespace is defined once: two of one name in two files break the one-definition rule, and no linker says so."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OPENED = re.compile(r"^(?:inline )?namespace ?([\w:]*) \{$")
TYPE = re.compile(r"^(?:struct|class|union|enum class|enum) (\w+)(?: final)?(?: ?:(?!:)[^;{]*)? ?\{")


def types_of(text):
    """Qualified names of the types that a formatted file defines outside of any function, type or unnamed namespace."""
    found, spaces = [], []
    for line in text.splitlines():
        if opened := OPENED.match(line):
            spaces.append(opened[1])
        elif line.startswith("}  // namespace"):
            spaces.pop()
        elif (defined := TYPE.match(line)) and "" not in spaces:
            found.append("::".join([*spaces, defined[1]]))
    return found


def main():
    places = {}
    for path in sorted([*ROOT.glob("src/**/*.h"), *ROOT.glob("src/**/*.cpp")]):
        for name in types_of(path.read_text()):
            places.setdefault(name, []).append(str(path.relative_to(ROOT)))
    wrong = {name: files for name, files in places.items() if len(files) > 1}
    for name, files in wrong.items():
        print(f"{name} is defined in {', '.join(files)}")
    print(f"{len(places)} types of namespaces" + ("" if wrong else ", each defined once"))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
