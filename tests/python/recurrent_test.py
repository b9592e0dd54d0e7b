"""Recurrences of the triton target: run by Triton's interpreter against float64, and compiled for sm_90 without a GPU."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BINARY = Path(os.environ.get("MTMC_BINARY", ROOT / "build/release/mtmc"))
pytest.importorskip("triton", reason="triton is not installed")

# In a process of its own: the interpreter is chosen when triton is imported.
COMPARE = """
import importlib.util, sys, torch
from torch.utils import _pytree as pytree
def load(path, name):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
task, made = load(sys.argv[1], "task"), load(sys.argv[2], "made")
torch.manual_seed(0)
model, new = task.Model(), made.ModelNew()
new.load_state_dict(model.state_dict())
inputs = task.get_inputs()
with torch.no_grad():
    results = pytree.tree_leaves(new(*inputs))
    for parameter in (*model.parameters(), *new.parameters()):
        parameter.mul_(0.5)  # weights are followed when they change
    results += pytree.tree_leaves(new(*inputs))
    halved = pytree.tree_leaves(model.double()(*[x.double() for x in inputs]))
    for parameter in model.parameters():
        parameter.mul_(2)
    truth = pytree.tree_leaves(model(*[x.double() for x in inputs])) + halved
for a, b in zip(results, truth, strict=True):
    error = (a.double() - b).norm() / b.norm()
    assert a.shape == b.shape and error < 1e-6, error
"""

# Every kernel as Triton compiles it for a GPU, from the arguments that its caller would pass.
COMPILE = """
import importlib.util, sys, triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
spec = importlib.util.spec_from_file_location("made", sys.argv[1])
made = importlib.util.module_from_spec(spec)
spec.loader.exec_module(made)
numbers = ("first_layer", "last_layer", "begin", "end")
kernels = [value for name, value in vars(made).items() if name.endswith("lstm_kernel")]
assert kernels
for kernel in kernels:
    types = {n: "i32" if n in numbers else "*i32" if n == "ready" else "*fp32" for n in kernel.arg_names}
    types["WAIT"] = "constexpr"
    source = ASTSource(kernel, types, {"WAIT": True})
    options = {"num_warps": 8, "num_stages": 1, "launch_cooperative_grid": True}
    compiled = triton.compile(source, target=GPUTarget("cuda", 90, 32), options=options)
    assert compiled.metadata.shared < 227 * 1024, compiled.metadata.shared
    assert "mma" in compiled.asm["ptx"] and "ld.acquire.gpu" in compiled.asm["ptx"]
"""

# Constructor, what forward returns, and the inputs' shapes.
MODULES = {
    "lstm": ("nn.LSTM(12, 20, 2, batch_first=True)", "self.net(x)", "(3, 4, 12)"),
    "lstm_states": ("nn.LSTM(5, 16)", "self.net(x, (h, c))", "(4, 3, 5), (1, 3, 16), (1, 3, 16)"),
    "lstm_two_directions": ("nn.LSTM(5, 18, 2, bidirectional=True)", "self.net(x)[0]", "(3, 2, 5)"),
    "lstm_transposed": ("nn.LSTM(5, 8, bias=False)", "self.net(x.transpose(0, 1))[1]", "(2, 4, 5)"),
    "lstm_one_sample": ("nn.LSTM(5, 8)", "self.net(x)", "(4, 5)"),
    "gru": ("nn.GRU(6, 20, 2)", "self.net(x)", "(4, 3, 6)"),
    "gru_two_directions": ("nn.GRU(6, 10, 2, bidirectional=True, batch_first=True)", "self.net(x, h)", "(2, 3, 6), (4, 2, 10)"),
    "gru_large_state": ("nn.GRU(6, 10, bias=False)", "self.net(x, h * 1e6)", "(2, 3, 6), (1, 3, 10)"),
    "rnn": ("nn.RNN(6, 40, 3)", "self.net(x)[0]", "(4, 17, 6)"),
    "rnn_relu": ("nn.RNN(6, 20, nonlinearity='relu')", "self.net(x * 1e5)", "(4, 3, 6)"),
}  # fmt: skip


def lowered(folder: Path, net: str, result: str, shapes: str) -> tuple[Path, Path]:
    """The task's file, and its module with the recurrence lowered."""
    task, made = folder / "net.py", folder / "made.py"
    names = ["x", "h", "c"][: shapes.count("(")]
    task.write_text(
        "import torch\nimport torch.nn as nn\n\n\nclass Model(nn.Module):\n    def __init__(self):\n"
        f"        super().__init__()\n        self.net = {net}\n\n    def forward(self, {', '.join(names)}):\n"
        f"        return {result}\n\n\ndef get_inputs():\n    return [torch.randn(shape) for shape in [{shapes}]]\n"
    )
    command = [str(BINARY), "apply", str(task), "--target", "triton"]
    environment = {**os.environ, "MTMC_PYTHON": sys.executable}
    run = subprocess.run(command, capture_output=True, text=True, timeout=240, env=environment)
    assert run.returncode == 0, run.stderr
    program, actions = run.stdout.split("legal actions:\n")
    line = next(line for line in program.splitlines() if " = lstm(" in line or " = gru(" in line or " = rnn_" in line)
    values = line.split(" = ")[0].strip().replace(",", "")
    assert f"lower {values}" in actions, run.stdout
    command += ["--do", f"lower {values}", "--write", str(made)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=240, env=environment)
    assert run.returncode == 0, run.stderr
    assert "} recurrent\n" in run.stdout, run.stdout
    return task, made


@pytest.mark.parametrize("name", MODULES)
def test_a_recurrence_computes_what_the_module_does(name: str, tmp_path: Path) -> None:
    task, made = lowered(tmp_path, *MODULES[name])
    run = subprocess.run(
        [sys.executable, "-c", COMPARE, str(task), str(made)],
        capture_output=True,
        text=True,
        timeout=240,
        env={**os.environ, "TRITON_INTERPRET": "1"},
    )
    assert run.returncode == 0, run.stderr[-3000:] + made.read_text()


@pytest.mark.parametrize("directions", [1, 2])
def test_a_recurrence_compiles_for_a_gpu(directions: int, tmp_path: Path) -> None:
    net = f"nn.LSTM(128, 256, {6 // directions}, batch_first=True, bidirectional={directions == 2})"
    made = lowered(tmp_path, net, "self.net(x)", "(10, 3, 128)")[1]
    run = subprocess.run(
        [sys.executable, "-c", COMPILE, str(made)],
        capture_output=True,
        text=True,
        timeout=240,
        env={key: value for key, value in os.environ.items() if key != "TRITON_INTERPRET"},
    )
    assert run.returncode == 0, run.stderr[-3000:]
