"""What a candidate saved is read only where it is what was returned: plain files in plain folders, of the size that they say."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from mtmc import blobs, foreign
from mtmc.runner import save

VALUE = {"a": torch.arange(6.0).view(2, 3).t(), "b": [1, 2.5, None, float("nan")]}


def saved(folder: Path) -> str:
    blobs.save(VALUE, folder / "0")
    return foreign.digest_of(VALUE, folder)


def test_what_was_returned_is_read(tmp_path: Path) -> None:
    back = foreign.load(tmp_path, "0", saved(tmp_path))
    assert torch.equal(back["a"], VALUE["a"]) and back["b"][:3] == VALUE["b"][:3]


def test_the_digest_is_another_in_another_folder_only_on_a_gpu(tmp_path: Path) -> None:
    x = torch.arange(8)
    assert blobs.Mixer("out-0").mix(x) == blobs.Mixer("out-0").mix(x) != blobs.Mixer("out-1").mix(x)


def test_the_digest_tells_structures_apart() -> None:
    x, folder = torch.arange(8), Path("out-0")
    digests = {foreign.digest_of(value, folder) for value in (x, [x], {"a": x}, {"b": x}, [x, None])}
    assert len(digests) == 5 and foreign.digest_of((x,), folder) == foreign.digest_of([x], folder)


def test_equal_results_are_saved_once(tmp_path: Path) -> None:
    x, reply = torch.arange(8), dict[str, Any]()
    for name, value in (("0", x), ("1", x.clone()), ("state", {})):
        save(value, tmp_path, name, reply)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["0", "state"]
    assert reply["digests"]["0"] == reply["digests"]["1"] == foreign.digest_of(x, tmp_path)
    save(x + 1, tmp_path, "1", reply)
    assert torch.equal(foreign.load(tmp_path, "1", reply["digests"]["1"]), x + 1)


def test_a_file_that_became_shorter_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blobs, "STAGE_BYTES", 16)
    x, file = torch.arange(21.0).view(3, 7), tmp_path / "data.bin"
    file.write_bytes(b"12345" + bytes(blobs.bytes_of(x)))
    with file.open("rb") as data:
        back = torch.empty_like(x)
        blobs.read_in_pieces(back, data, 5)
        assert torch.equal(back, x)
        with pytest.raises(blobs.BlobError, match="missing"):
            blobs.read_in_pieces(back, data, 9)


def rewrite(folder: Path) -> None:
    blobs.save({"a": torch.zeros(3, 2), "b": VALUE["b"]}, folder / "0")


def remove(folder: Path) -> None:
    shutil.rmtree(folder / "0")


def remove_all(folder: Path) -> None:
    shutil.rmtree(folder)


def link_folder(folder: Path) -> None:
    (folder / "0").rename(folder / "elsewhere")
    (folder / "0").symlink_to(folder / "elsewhere")


def link_outer_folder(folder: Path) -> None:
    folder.rename(folder.with_name("elsewhere"))
    folder.symlink_to(folder.with_name("elsewhere"))


def link_file(folder: Path) -> None:
    (folder / "0/tree.json").unlink()
    (folder / "0/tree.json").symlink_to("/dev/zero")


def pipe(folder: Path) -> None:
    (folder / "0/data.bin").unlink()
    os.mkfifo(folder / "0/data.bin")


def folder_for_file(folder: Path) -> None:
    (folder / "0/tree.json").unlink()
    (folder / "0/tree.json").mkdir()


def describe(tree: object) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        (folder / "0/tree.json").write_text(json.dumps(tree))

    change.__name__ = f"describe_{str(tree)[:20]}"
    return change


LARGE = {"dtype": "float32", "shape": [1 << 40], "stride": None, "at": 0}
TWICE = {"list": [{"dtype": "float32", "shape": [6], "stride": None, "at": 0}] * 2}
ODD = [{**LARGE, "shape": shape} for shape in (["a", 1 << 40], [-1], 3)] + [{**LARGE, "dtype": "nn"}, 3, [], None]
FAR = {"dtype": "float32", "shape": [1], "stride": None, "at": 1 << 70}
BAD = [rewrite, remove, remove_all, link_folder, link_outer_folder, link_file, pipe, folder_for_file]


@pytest.mark.parametrize("change", [*BAD, *map(describe, [LARGE, TWICE, FAR, *ODD])], ids=lambda c: c.__name__)
def test_anything_else_is_an_error(tmp_path: Path, change: Callable[[Path], None]) -> None:
    folder = tmp_path / "out-0"
    digest = saved(folder)
    change(folder)
    with pytest.raises(foreign.ForeignError):
        foreign.load(folder, "0", digest)


def test_a_description_has_its_limit(tmp_path: Path) -> None:
    digest = saved(tmp_path)
    os.truncate(tmp_path / "0/tree.json", foreign.TREE_BYTES + 1)
    with pytest.raises(foreign.ForeignError, match="more than"):
        foreign.load(tmp_path, "0", digest)
