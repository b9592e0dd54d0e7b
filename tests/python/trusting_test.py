"""A trial in the process that holds the truth: state that calls move is as it was before each of them."""

import json
from pathlib import Path
from typing import Any

import torch

from mtmc.trusting.judge import TrustingReferee

MODULE = """
import torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.BatchNorm1d(8)

    def forward(self, x):
        return self.norm(x)

def get_inputs():
    return [torch.randn(16, 8)]

def get_init_inputs():
    return []

MODE = "train"
"""


def opened(tmp_path: Path, module: str = MODULE) -> tuple[TrustingReferee, dict[str, Any]]:
    file, folder = tmp_path / "module.py", tmp_path / "task"
    file.write_text(module)
    folder.mkdir()
    (folder / "task.json").write_text(
        json.dumps({"name": "module", "file": str(file), "attr": "Model", "mode": "train"})
    )
    referee = TrustingReferee()
    told = referee.handle(
        {
            "op": "open",
            "folder": str(folder),
            "device": "cpu",
            "threads": 1,
            "seed": 3,
            "accuracy": "eager",
            "triton_seed": str(tmp_path / "seed"),
        }
    )
    assert "error" not in told, told
    return referee, told


def tried(referee: TrustingReferee, tmp_path: Path, name: str, body: str) -> dict[str, Any]:
    file = tmp_path / f"{name}.py"
    file.write_text(MODULE.replace("class Model(", "class ModelNew(").replace("return self.norm(x)", body))
    return referee.handle({"op": "try", "file": str(file), "draws": ["task-0"], "rounds": 3})


def errors(told: dict[str, Any]) -> dict[str, float]:
    return {one["output"]: one["error"] for one in told["measured"]["task-0"]["outputs"] if "error" in one}


def test_state_that_calls_move_begins_anew(tmp_path: Path) -> None:
    referee, told = opened(tmp_path)
    assert set(told["moving"]) == {"norm.running_mean", "norm.running_var", "norm.num_batches_tracked"}
    for number in range(2):  # the second finds what the first did not leave
        found = tried(referee, tmp_path, f"right{number}", "return self.norm(x)")
        assert max(errors(found).values()) < 1e-5
        assert {"0", "state:norm.running_mean", "state:norm.running_var"} <= set(errors(found))
        assert len(found["candidate_ns"]) == len(found["eager_ns"]) == 3
    wrong = tried(referee, tmp_path, "twice", "self.norm(x); return self.norm(x)")
    assert errors(wrong)["0"] < 1e-5 < errors(wrong)["state:norm.running_mean"]


def test_eager_is_as_it_was_after_a_trial(tmp_path: Path) -> None:
    referee, _ = opened(tmp_path)
    before = torch.clone(referee.draw("task-0").eager.calls[0][0])
    tried(referee, tmp_path, "right", "return self.norm(x)")
    referee.draws.forget_all()  # made again, by the module that was timed
    assert torch.equal(before, referee.draw("task-0").eager.calls[0][0])
