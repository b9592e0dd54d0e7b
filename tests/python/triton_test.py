"""The triton printer's kernels, run by Triton's interpreter and compared with the user's module in float64."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BINARY = Path(os.environ.get("MTMC_BINARY", ROOT / "build/release/mtmc"))
pytest.importorskip("triton", reason="triton is not installed")

# Runs the printed module against the task in a process of its own: the interpreter is chosen when triton is imported.
COMPARE = """
import importlib.util, sys, torch
def load(path, name):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
task, made = load(sys.argv[1], "task"), load(sys.argv[2], "made")
init = task.get_init_inputs() if hasattr(task, "get_init_inputs") else []
torch.manual_seed(0)
model = task.Model(*init)
new = made.ModelNew(*init)
new.load_state_dict(model.state_dict())
inputs = task.get_inputs()
with torch.no_grad():
    truth = model.double()(*[x.double() if torch.is_tensor(x) and x.is_floating_point() else x for x in inputs])
    result = new(*inputs)
error = (result.double() - truth).norm() / truth.norm()
assert result.shape == truth.shape and error < 1e-6, error
print("kernels", open(sys.argv[2]).read().count("@triton.jit"))
"""

# Through the whole of tracing, actions and printing; each operator and family has its test in tests/targets. What forward returns,
# and the values that one kernel computes.
MODULES = {
    "rms_residual": (
        "x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * self.weight + x",
        "%3 %4 %5 %6 %7 %8 %9",
    ),
    "projected_softmax": ("F.softmax(x @ self.square, dim=-1) * self.bias", "%3 %4 %5"),
}


def module_file(folder: Path, expression: str) -> Path:
    path = folder / "net.py"
    path.write_text(
        "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n\n\n"
        "class Model(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.weight = nn.Parameter(torch.rand(96))\n        self.bias = nn.Parameter(torch.rand(96))\n"
        "        self.square = nn.Parameter(torch.rand(96, 96))\n\n"
        f"    def forward(self, x):\n        return {expression}\n\n\n"
        "def get_inputs():\n    return [torch.randn(24, 96)]\n"
    )
    return path


@pytest.mark.parametrize("name", MODULES)
def test_printed_kernels_match_the_module(name: str, tmp_path: Path) -> None:
    expression, values = MODULES[name]
    task, made = module_file(tmp_path, expression), tmp_path / "made.py"
    command = [str(BINARY), "apply", str(task), "--target", "triton", "--write", str(made)]
    run = subprocess.run(
        [*command, "--do", f"fuse {values}", "--do", f"capture {values}"],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "MTMC_PYTHON": sys.executable},
    )
    assert run.returncode == 0, run.stderr
    assert "def _run" in made.read_text()
    run = subprocess.run(
        [sys.executable, "-c", COMPARE, str(task), str(made)],
        capture_output=True,
        text=True,
        timeout=240,
        env={**os.environ, "TRITON_INTERPRET": "1"},
    )
    assert run.returncode == 0, run.stderr[-3000:] + made.read_text()
    assert int(run.stdout.split()[-1]) >= 1, "no kernel of ours was printed"
