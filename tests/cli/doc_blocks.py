"""The fenced blocks of a page. After the language a block may name a file that it is (```python nets.py) or say what it
needs that a test has not (```console needs a network)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Block:
    language: str
    file: str  # empty: commands, or an illustration
    needs: str  # "a network"; empty: nothing
    text: str
    place: str  # "README.md:12"
    section: str  # the heading `## ...` that it stands under

    def commands(self) -> list[str]:
        """Of a console block the lines after `$ `; a bash block is one script."""
        if self.language == "console":
            return [line[2:] for line in self.text.splitlines() if line.startswith("$ ")]
        return [self.text] if self.language == "bash" else []


def read_blocks(page: Path) -> list[Block]:
    text = page.read_text()
    blocks, section = [], ""
    for match in re.finditer(r"^## (.*)$|^```(\w+) *(.*)\n((?:.*\n)*?)```$", text, re.MULTILINE):
        heading, language, rest, body = match.groups()
        if heading:
            section = heading
            continue
        needs = rest[6:] if rest.startswith("needs ") else ""
        line = text.count("\n", 0, match.start()) + 1
        blocks.append(Block(language, "" if needs else rest, needs, body, f"{page.name}:{line}", section))
    return blocks
