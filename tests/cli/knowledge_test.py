"""`mtmc knowledge`: listed, searched, shown, added to; and a search that is told of a folder."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

from scripted_world import BINARY, World

NOTE = "# Zebras\nfor: cpu; stripes\n\nTheir stripes are contiguous in memory.\n"


def knowledge(*words: object) -> subprocess.CompletedProcess[str]:
    argv = [str(BINARY), "knowledge", *map(str, words)]
    return subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False, env=os.environ)


def test_notes_are_listed_searched_shown_and_added(tmp_path: Path) -> None:
    folder, note = tmp_path / "notes", tmp_path / "zebras.md"
    note.write_text(NOTE)
    ours = knowledge("list").stdout
    assert "Variances lose digits" in ours and knowledge().stdout == ours
    added = knowledge("add", note, "--knowledge", folder)
    assert (added.returncode, added.stdout) == (0, "added: Zebras\n")
    assert "Zebras" in knowledge("list", "--knowledge", folder).stdout
    found = knowledge("search", "contiguous", "stripes", "--knowledge", folder, "--most", 1).stdout
    assert found == NOTE
    assert "Zebras" not in knowledge("search", "stripes", "--knowledge", folder, "--target", "triton").stdout
    assert knowledge("show", "zebras", "--knowledge", folder).stdout == NOTE
    (shown,) = json.loads(knowledge("show", "Zebras", "--knowledge", folder, "--json").stdout)
    assert shown["for"] == "cpu; stripes" and Path(shown["file"]).parent == folder


def test_mistakes_are_told(tmp_path: Path) -> None:
    bad = tmp_path / "bad.md"
    bad.write_text("no title\n")
    for words, said in [
        (["list", "--knowledge", tmp_path / "none"], "reading notes: no such folder"),
        (["find", "x"], "one of list, search, show, add"),
        (["search"], "mtmc knowledge search WORDS"),
        (["show", "Yaks"], "there is none of that title: got 'Yaks'"),
        (["add", bad], "--knowledge is missing"),
        (["add", bad, "--knowledge", tmp_path / "notes"], f"reading {bad}: it has no title"),
        (["list", "zebras"], "it takes no words"),
    ]:
        done = knowledge(*words)
        assert done.returncode == 2 and said in done.stderr, (words, done.stdout, done.stderr)


def test_a_run_is_one_of_its_notes(world: World) -> None:
    """A missing folder is a mistake; a run that was cut off is not gone on with by a search that knows something else."""
    notes = world.folder / "notes"
    world.play({"status": 401})  # gives up, and can go on
    words = (world.folder / "small.py", "--coder", "agent", "--target", "null")
    code, said = world.optimize(*words, "--knowledge", notes)
    assert code == 2 and "reading notes: no such folder" in said, said
    notes.mkdir()

    def run_of_a_search() -> int:
        world.optimize(*words, "--knowledge", notes)
        return world.runs()

    assert run_of_a_search() == 1
    assert run_of_a_search() == 1, "the same notes"
    (notes / "zebras.md").write_text(NOTE)
    assert run_of_a_search() == 2
    (notes / "zebras.md").unlink()
    assert run_of_a_search() == 2, "the first one goes on"
