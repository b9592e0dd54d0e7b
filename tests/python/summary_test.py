"""What ./test says of its runs: counts, reasons, and tests that failed beside others and passed alone."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
import summarise_tests

FAILED = '<failure message="x"/>'
SKIPPED = '<skipped message="no GPU"/>'


def write(folder: Path, name: str, **cases: str) -> None:
    folder.mkdir(exist_ok=True)
    rows = "".join(
        f'<testcase classname="c" name="{case.replace("__", ".")}">{what}</testcase>' for case, what in cases.items()
    )
    (folder / name).write_text(f"<testsuite>{rows}</testsuite>")


def test_counts_are_of_tests_and_not_of_what_holds_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, "ctest.xml", base__A="", python__x="", ops__B=SKIPPED)
    write(tmp_path, "pytest-x.xml", one="", two="")
    assert summarise_tests.main(tmp_path) == 0
    assert capsys.readouterr().out == "skipped 1: no GPU\n3 passed, 0 failed, 1 skipped\n"


def test_what_passes_alone_is_named_and_fails_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, "ctest.xml", base__A="", python__x=FAILED)
    write(tmp_path, "pytest-x.xml", one=FAILED)
    write(tmp_path / "again", "ctest.xml", python__x="")
    write(tmp_path / "again", "pytest-x.xml", one="")
    assert summarise_tests.main(tmp_path, tmp_path / "again") == 0
    said = capsys.readouterr().out
    assert "unsteady: c.one failed beside other tests, and passed alone\n" in said
    assert said.endswith("1 passed, 0 failed, 0 skipped, 2 passed only when run again\n")


def test_what_fails_twice_or_was_not_run_again_has_failed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, "ctest.xml", base__A="", base__B=FAILED, base__C=FAILED)
    write(tmp_path / "again", "ctest.xml", base__B=FAILED)
    assert summarise_tests.main(tmp_path, tmp_path / "again") == 1
    assert capsys.readouterr().out == "failed: base.B\nfailed: base.C\n1 passed, 2 failed, 0 skipped\n"


def test_no_test_at_all_is_a_failure(tmp_path: Path) -> None:
    assert summarise_tests.main(tmp_path) == 1
