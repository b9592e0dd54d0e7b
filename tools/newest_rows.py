#!/usr/bin/env python3
"""Keeps the newest row of each task of a benchmark, and prints the table that docs/results has of them.

  tools/newest_rows.py KEPT.jsonl [ROWS.jsonl ...]

KEPT is written anew: rows of the others, as `mtmc bench` writes them, take the place of older ones. What failed takes no
row's place.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

Row = dict[str, Any]


def in_order(task: str) -> list[int | str]:
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", task)]


def newest(files: list[Path]) -> list[Row]:
    """In the order of their tasks."""
    found: dict[str, Row] = {}
    for file in files:
        for row in map(json.loads, file.read_text().splitlines()):
            if not row["error"] and row["started"] >= found.get(row["task"], row)["started"]:
                found[row["task"]] = {name: value for name, value in row.items() if name != "from_store"}
    return [found[task] for task in sorted(found, key=in_order)]


def line_of(row: Row) -> str:
    eager, compiled = (row["speedup"].get(baseline) for baseline in ("eager", "compile"))
    chip = row["hardware"].removeprefix("NVIDIA ").split()[0]
    judge = row["evaluator"].removeprefix("judge ").split(",")[0]
    cells = [
        row["task"].removeprefix("level"),
        row["refusal"]["reason"] if row["answer"] == "refused" else row["answer"],
        *(f"{x:.2f}" if x else "-" for x in (eager, compiled)),
        f"{row['seconds']:.1f}",
        f"{chip} {judge}",
    ]
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    kept, *others = map(Path, sys.argv[1:])
    rows = newest([kept, *others])
    kept.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    print("| level/task | answer | over eager | over compile | seconds | chip, judge |")
    print("| --- | --- | ---: | ---: | ---: | --- |")
    print("\n".join(map(line_of, rows)))


if __name__ == "__main__":
    main()
