"""What Triton builds once is kept between runs, and is never half there."""

from __future__ import annotations

from pathlib import Path

import pytest

from mtmc.device import triton_seed


@pytest.fixture
def builds(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[Path]:
    """Where something was built: no GPU is needed."""
    made: list[Path] = []

    def build(folder: Path) -> None:
        made.append(folder)
        (folder / "key").mkdir(parents=True)
        (folder / "key" / "launcher.so").write_text("built")

    monkeypatch.setattr(triton_seed, "_build", build)
    monkeypatch.setattr(triton_seed.importlib.metadata, "version", lambda _: "3.6")
    monkeypatch.setattr(triton_seed, "_kept", lambda _: tmp_path / "cache" / "one")
    return made


def test_is_built_once_for_all_runs(builds: list[Path], tmp_path: Path) -> None:
    for run in ("first", "second"):
        triton_seed.fill(tmp_path / run)
        assert (tmp_path / run / "key" / "launcher.so").read_text() == "built"
    assert len(builds) == 1
    assert builds[0] != tmp_path / "first" and not builds[0].exists(), "it is there as a whole or not at all"
    assert [path.name for path in (tmp_path / "cache").iterdir()] == ["one"]


def test_what_a_run_has_is_left_alone(builds: list[Path], tmp_path: Path) -> None:
    (tmp_path / "first").mkdir()
    triton_seed.fill(tmp_path / "first")
    assert builds == []


def test_a_cache_that_cannot_be_written_is_done_without(
    builds: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(triton_seed, "_kept", lambda _: tmp_path / "file" / "one")
    for run in ("first", "second"):
        triton_seed.fill(tmp_path / run)
    assert len(builds) == 2


def test_where_triton_is_missing_nothing_happens(
    builds: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(_: str) -> str:
        raise triton_seed.importlib.metadata.PackageNotFoundError

    monkeypatch.setattr(triton_seed.importlib.metadata, "version", missing)
    triton_seed.fill(tmp_path / "first")
    assert builds == [] and not (tmp_path / "first").exists()


def test_another_may_be_faster(builds: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build = triton_seed._build

    def late(folder: Path) -> None:
        build(folder)
        (tmp_path / "first" / "theirs").mkdir(parents=True)

    monkeypatch.setattr(triton_seed, "_build", late)
    triton_seed.fill(tmp_path / "first")
    assert [path.name for path in (tmp_path / "first").iterdir()] == ["theirs"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cache", "first"]
