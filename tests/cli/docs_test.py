"""The commands of README.md and docs/*.md, executed in the order they stand in. The example's search is given less time
and no torch.compile beside it, and its kernel is screened the second time; the others show how modules are named, and
need no judge for it. What stands in two blocks is done once."""

from __future__ import annotations

import os
import re
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from doc_blocks import Block, read_blocks

ROOT = Path(__file__).resolve().parents[2]
BINARY = Path(os.environ.get("MTMC_BINARY", ROOT / "build/release/mtmc"))
# README.md first: the others look at what its commands leave behind.
PAGES = [ROOT / "README.md", *sorted(path for path in (ROOT / "docs").glob("*.md") if path.name != "ADDING.md")]
BLOCKS = [
    (page, block)
    for page in PAGES
    for block in read_blocks(page)
    if block.file or block.commands() or block.language == "sql"
]

MTMC = """#!/bin/sh
case $1-$2 in
  optimize-examples/*) set -- "$@" --time 2 --evaluations 1 --baselines graph ;;
  optimize-*) set -- "$@" --time 2 --target null ;;
  verify-examples/*) set -- "$@" --tier screen ;;
esac
exec {binary} "$@"
"""
TEST = """#!/bin/sh
case ${1:-all} in fast | all | corpus | sanitize) ;; *) exit 2 ;; esac
"""


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder that looks like the checkout, with a program that is built already."""
    folder = tmp_path_factory.mktemp("checkout")
    for name in ("examples", "tests"):
        (folder / name).symlink_to(ROOT / name)
    for name, text in (("mtmc", MTMC.format(binary=BINARY)), ("test", TEST)):
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    yield folder


@pytest.fixture(scope="module")
def did() -> set[str]:
    """The commands that were right already, of scripts those that stayed in the folder."""
    return set()


def run_command(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {
        "MTMC_PYTHON": sys.executable,
        "MTMC_STORE": str(folder / "store.db"),
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    }
    return subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", command], cwd=folder, env=environment, capture_output=True, text=True,
        timeout=300, check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip


def expected_exit_codes(command: str) -> set[int]:
    """0, or what a comment says; a short search may find nothing."""
    said = re.search(r"# exits with (\d)", command)
    if said:
        return {int(said[1])}
    return {0, 1} if " optimize " in command else {0}


@pytest.mark.parametrize(("page", "block"), BLOCKS, ids=[block.place for _, block in BLOCKS])
def test_a_block(checkout: Path, did: set[str], page: Path, block: Block) -> None:
    if block.needs:
        pytest.skip(f"{block.place} needs {block.needs}")
    if block.file:
        (checkout / block.file).write_text(block.text)
    if block.language == "sql":
        with sqlite3.connect(checkout / "store.db") as store:
            store.execute(block.text).fetchall()
    for command in block.commands():
        if command in did:
            continue
        done = run_command(command, checkout)
        assert done.returncode in expected_exit_codes(command), (command, done.returncode, done.stdout, done.stderr)
        if "cd " not in command:
            did.update(line.partition(" #")[0].strip() for line in command.splitlines())
