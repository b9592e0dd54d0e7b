"""Subgraphs of a sample as GraphNet lays them out: what they read becomes weights and arguments, and they compute the same."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
import torch

from mtmc.cut.cut import Cutter, main
from mtmc.cut.sample import read_sample
from mtmc.cut.subgraph import NoCut, cut_at
from mtmc.task.task import load_task

MODEL = """
import torch
from torch import device

class GraphModule(torch.nn.Module):
    def forward(self, L_x_: torch.Tensor, s0: torch.SymInt,
                L_self_modules_fc_parameters_weight_: torch.nn.parameter.Parameter,
                L_self_modules_fc_parameters_bias_: torch.nn.parameter.Parameter,
                L_mask_: torch.Tensor):
        l_x_ = L_x_
        l_weight_ = L_self_modules_fc_parameters_weight_
        l_bias_ = L_self_modules_fc_parameters_bias_
        linear = torch._C._nn.linear(l_x_, l_weight_, l_bias_);  l_x_ = l_weight_ = l_bias_ = None
        view = linear.view(1, s0, 4, 2);  linear = None
        gelu = torch.nn.functional.gelu(view, approximate='none')
        ones = torch.ones([1, 1, 1, 2], device=device(type="cuda", index=0))
        scaled = gelu * ones;  gelu = ones = None
        masked = torch.masked_fill(scaled, L_mask_, 0.0)
        _set_grad_enabled = torch._C._set_grad_enabled(False);  _set_grad_enabled = None
        shifted = masked + 1.0;  masked = None
        out = torch.softmax(shifted, -1)
        return (out,)
"""


def meta(name: str, shape: list[int], dtype: str = "torch.float32", data: str = "None", mean: str = "0.0") -> str:
    return (
        f'class Program_{name}:\n    name = "{name}"\n    shape = {shape}\n    dtype = "{dtype}"\n    device = "cuda:0"\n'
        f"    mean = {mean}\n    std = 0.5\n    data = {data}\n\n"
    )


@pytest.fixture
def graphnet(tmp_path: Path) -> Path:
    folder = tmp_path / "graphnet" / "samples" / "source" / "tiny"
    folder.mkdir(parents=True)
    (folder / "model.py").write_text(MODEL)
    weights = meta("L_self_modules_fc_parameters_weight_", [8, 6]) + meta(
        "L_self_modules_fc_parameters_bias_", [8], mean='float("nan")'
    )
    (folder / "weight_meta.py").write_text(weights + meta("s0", [], "torch.int64", "[3]"))
    (folder / "input_meta.py").write_text(meta("L_x_", [1, 3, 6]) + meta("L_mask_", [1, 3, 1, 1], "torch.bool"))
    return tmp_path / "graphnet"


def made(path: Path, text: str) -> tuple[torch.nn.Module, list[torch.Tensor]]:
    path.write_text(text)
    task = load_task({"name": path.stem, "file": str(path)})
    return task.make_model(0), task.make_inputs(1)


def test_a_subgraph_computes_what_its_statements_compute(graphnet: Path, tmp_path: Path) -> None:
    sample = read_sample(graphnet / "samples/source/tiny", graphnet / "samples")
    assert sample is not None and len(sample.statements) == 8
    cut = cut_at(sample, 0, 7, None)
    model, (x, mask) = made(tmp_path / "whole.py", cut.text)
    assert {name: list(value.shape) for name, value in model.named_parameters()} == {
        "fc_weight": [8, 6],
        "fc_bias": [8],
    }
    assert list(x.shape) == [1, 3, 6] and mask.dtype == torch.bool
    y = torch.nn.functional.gelu(torch.nn.functional.linear(x, model.fc_weight, model.fc_bias)).view(1, 3, 4, 2)
    torch.testing.assert_close(model(x, mask), torch.softmax(y.masked_fill(mask, 0.0) + 1.0, -1))


def test_what_comes_before_is_an_argument_and_what_is_read_later_a_result(graphnet: Path, tmp_path: Path) -> None:
    sample = read_sample(graphnet / "samples/source/tiny", graphnet / "samples")
    cut = cut_at(sample, 2, 6, None)
    model, inputs = made(tmp_path / "middle.py", cut.text)
    assert not list(model.parameters())
    assert [list(value.shape) for value in inputs] == [[1, 3, 4, 2], [1, 3, 1, 1]]
    view, mask = inputs
    expected = torch.nn.functional.gelu(view).masked_fill(mask, 0.0) + 1.0
    torch.testing.assert_close(model(*inputs), expected)


def test_a_batch_of_one_becomes_a_larger_one_where_that_runs(
    graphnet: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mtmc.cut.subgraph.WORTHWHILE", 1)
    sample = read_sample(graphnet / "samples/source/tiny", graphnet / "samples")
    cut = cut_at(sample, 0, 7, random.Random(1))
    model, inputs = made(tmp_path / "batch.py", cut.text)
    batch = inputs[0].shape[0]
    assert batch > 1 and model(*inputs).shape == (batch, 3, 4, 2)


def test_what_computes_too_little_or_is_too_small_is_no_task(graphnet: Path) -> None:
    sample = read_sample(graphnet / "samples/source/tiny", graphnet / "samples")
    with pytest.raises(NoCut, match="computes nothing"):
        cut_at(sample, 1, 2, None)
    with pytest.raises(NoCut, match="too small"):
        cut_at(sample, 0, 7, random.Random(1))


def test_files_name_their_sample_and_leave_out_what_is_known(graphnet: Path, tmp_path: Path) -> None:
    request = {"graphnet": str(graphnet), "out": str(tmp_path / "out"), "seed": 3, "count": 5, "large": False}
    request |= {"graphs": {}, "syntax": {}}
    (tmp_path / "request.json").write_text(json.dumps(request))
    assert main([str(tmp_path / "request.json"), str(tmp_path / "report.json")]) == 0
    report = json.loads((tmp_path / "report.json").read_text())
    assert [sample for _, sample in report["written"]] == ["source/tiny"]
    text = Path(report["written"][0][0]).read_text()
    assert "samples/source/tiny/model.py, statements" in text and "commit unknown" in text

    from mtmc.scan.scan import fingerprint

    graphs = {one: "a benchmark" for one in fingerprint(Path(report["written"][0][0]))["graphs"]}
    again = Cutter(request | {"graphs": graphs, "out": str(tmp_path / "again")}).run()
    assert ("a benchmark", "operators") in {(other, by) for _, other, by in again["left_out"]}
