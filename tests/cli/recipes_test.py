"""The recipes of docs/ADDING.md, carried out on a copy of the tree: its files written, its commands executed. The copy is
built like the program under test, so that ccache has nearly every object already. Where the judge's corpora take turns
(`./test`), so do the recipes: a third, and all where the last commits changed the page."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from doc_blocks import Block, read_blocks

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("MTMC_BINARY", ROOT / "build/release/mtmc")).resolve().parent
PAGE = ROOT / "docs/ADDING.md"
sys.path.append(str(ROOT / "tools"))

import corpus_turn  # noqa: E402

pytestmark = [
    pytest.mark.recipes,
    pytest.mark.skipif(not shutil.which("ccache"), reason="without ccache the recipes would build everything again"),
    pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a git checkout"),
]


def recipes() -> dict[str, list[Block]]:
    """The blocks of each `## An operator`."""
    blocks = read_blocks(PAGE)
    return {block.section: [other for other in blocks if other.section == block.section] for block in blocks}


def whose_turn() -> list[str]:
    return corpus_turn.every_third(list(recipes()), str(PAGE.relative_to(ROOT)))


def execute(command: str, folder: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MTMC_")}
    environment |= {
        "MTMC_PYTHON": sys.executable,
        "CMAKE_BUILD_PARALLEL_LEVEL": os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL", str(os.cpu_count())),
        "CCACHE_BASEDIR": str(folder),
        "CCACHE_NOHASHDIR": "1",
    }
    done = subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", command], cwd=folder, env=environment, capture_output=True, text=True,
        timeout=600, check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.returncode == 0, f"{command}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that git tracks, as they are now, configured in build/dev."""
    folder = tmp_path_factory.mktemp("copy")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    if (ROOT / ".deps").exists():
        (folder / ".deps").symlink_to(ROOT / ".deps")
    cache = (BUILD / "CMakeCache.txt").read_text()
    kind = re.search(r"^CMAKE_BUILD_TYPE:\w+=(\w+)$", cache, re.MULTILINE)
    generator = re.search(r"^CMAKE_GENERATOR:\w+=(.+)$", cache, re.MULTILINE)
    assert kind and generator
    execute(f"cmake -S . -B build/dev -G '{generator[1]}' -DCMAKE_BUILD_TYPE={kind[1]}", folder)
    return folder


@pytest.mark.parametrize("title", whose_turn())
def test_a_recipe(copy: Path, title: str) -> None:
    blocks = recipes()[title]
    files = [block for block in blocks if block.file]
    assert 1 <= len(files) <= 2, "one source file and one test file"
    for block in files:
        assert not (copy / block.file).exists(), f"{block.file} is there already"
        (copy / block.file).write_text(block.text)
    for block in blocks:
        for command in block.commands():
            execute(command, copy)
    for block in files:
        assert (copy / block.file).read_text() == block.text, f"{block.place} is not what the commands make of it"


def test_the_house_with_all_of_them_is_in_order(copy: Path) -> None:
    execute(
        "python3 tests/house/rooms.py && python3 tests/house/sizes.py && python3 tests/house/format.py || [ $? = 77 ]",
        copy,
    )
