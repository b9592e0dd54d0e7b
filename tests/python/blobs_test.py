"""Structures on disk: what comes back, and large ones as what differs from another."""

from __future__ import annotations

from collections import namedtuple
from pathlib import Path

import pytest
import torch

from mtmc import blobs


def test_values_strides_and_structure_come_back(tmp_path: Path) -> None:
    value = {"a": [torch.randn(3, 5).t(), 2, float("inf")], "b": torch.arange(7, dtype=torch.uint8), "c": None}
    blobs.save(value, tmp_path)
    back = blobs.load(tmp_path)
    assert torch.equal(back["a"][0], value["a"][0]) and back["a"][0].stride() == (1, 5)
    assert back["a"][1:] == [2, float("inf")] and torch.equal(back["b"], value["b"]) and back["c"] is None


def test_changes_are_put_over_what_the_reader_kept(tmp_path: Path) -> None:
    base = [torch.randn(40, 3), 3, torch.arange(5)]
    other = [base[0].clone(), 3, base[2].clone()]
    other[0][7, 1], other[2][4] = -1.0, 9
    blobs.save(base, tmp_path / "base")
    (tmp_path / "base" / "keep").write_text("timed-0")
    blobs.save_changes(other, base, "timed-0", tmp_path / "other")
    kept: dict = {}
    blobs.load_over(tmp_path / "base", kept)[0].zero_()  # whoever got it may write to it
    back = blobs.load_over(tmp_path / "other", kept)
    assert torch.equal(back[0], other[0]) and back[1] == 3 and torch.equal(back[2], other[2])
    assert (tmp_path / "other" / "data.bin").stat().st_size < 300


def test_large_tensors_pass_through_files_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blobs, "STAGE_BYTES", 64)
    x, y = torch.randn(1000), torch.arange(37, dtype=torch.int16)
    with (tmp_path / "data.bin").open("wb") as data:
        data.write(b"before")
        for value in (x, y, torch.empty(0)):
            blobs.write_in_pieces(value, data)
    with (tmp_path / "data.bin").open("rb") as data:
        for value, start in ((x, 6), (y, 4006), (torch.empty(0), 4080)):
            for readers in (1, 4):
                back = torch.empty_like(value)
                blobs.read_in_pieces(back, data, start, readers)
                assert torch.equal(back, value)


def test_what_is_moved_keeps_its_structure() -> None:
    pair = namedtuple("pair", "a b")
    x = torch.zeros(2)
    made = blobs.moved([(x, [x, 3]), pair(x, {"c": x})], torch.device("meta"))
    assert type(made) is list and type(made[0]) is tuple and type(made[0][1]) is list and type(made[1]) is pair
    assert made[0][0].is_meta and made[0][1][1] == 3 and made[1].a.is_meta and made[1].b["c"].is_meta


def test_a_file_that_names_an_unknown_device_is_refused(tmp_path: Path) -> None:
    blobs.save([torch.zeros(2)], tmp_path)
    tree = (tmp_path / "tree.json").read_text().replace('"at"', '"device": "meta", "at"')
    (tmp_path / "tree.json").write_text(tree)
    with pytest.raises(blobs.BlobError, match="unknown device"):
        blobs.load(tmp_path)


def test_mixing_sees_every_bit_and_place() -> None:
    x = torch.randn(1000)
    same, moved, changed = x.clone(), x.flip(0), x.clone()
    changed[999] = torch.nextafter(changed[999], torch.tensor(9.0))
    mix = blobs.MIXER.mix
    assert mix(x) == mix(same) and mix(x) != mix(moved) and mix(x) != mix(changed)
    assert mix(x[1:].contiguous()) != mix(x[:-1].contiguous()) and mix(x[:3].half()) != mix(x[:3].half() + 1)
