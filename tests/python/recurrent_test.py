"""Recurrences of the triton target: run by Triton's interpreter against float64, and compiled for sm_90 without a GPU."""

import os
import re
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
# Rows are far apart in size: none is lost beside a larger one.
inputs = [x * torch.exp2(10 * torch.rand(*x.shape[:-1], 1) - 5) for x in task.get_inputs()]
with torch.no_grad():
    truth = model.double()(*[x.double() for x in inputs])
    for (name, result) in new(*inputs).items():
        for a, b in zip(pytree.tree_leaves(result), pytree.tree_leaves(truth[name]), strict=True):
            assert a.shape == b.shape, name
            error = ((a.double() - b).norm(dim=-1) / b.norm(dim=-1)).max()
            assert error < 3e-6, (name, error)
    for parameter in (*model.parameters(), *new.parameters()):  # weights are followed when they change
        parameter.mul_(0.5)
    x, h, c, s = range(4)
    # What is not finite is where it belongs, and nowhere else: first in x, then in one sample of h, another of c, and s.
    for places in ({x: (2, 0, 0)}, {h: (0, 1, 8), c: (0, 2, 3), s: (2, 0, 0)}):
        changed = [x.clone() for x in inputs]
        for place, index in places.items():
            changed[place][index] = float("inf")
        truth = model.double()(*[x.double() for x in changed])
        for (name, result) in new(*changed).items():
            for a, b in zip(pytree.tree_leaves(result), pytree.tree_leaves(truth[name]), strict=True):
                assert a.shape == b.shape, (name, places)
                assert torch.equal(a.isnan(), b.isnan()) and torch.equal(a.isinf(), b.isinf()), (name, places)
                error = torch.where(b.isfinite(), a.double() - b, 0).norm()
                assert error <= 1e-6 * torch.where(b.isfinite(), b, 0).norm(), (name, places)
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
assert len(kernels) == 2
for kernel in kernels:
    types = {n: "i32" if n in numbers else "*i32" if n == "ready" else "*fp32" for n in kernel.arg_names}
    types["WAIT"] = "constexpr"
    source = ASTSource(kernel, types, {"WAIT": True})
    options = {"num_warps": 8, "num_stages": 1, "launch_cooperative_grid": True}
    compiled = triton.compile(source, target=GPUTarget("cuda", 90, 32), options=options)
    assert compiled.metadata.shared < 227 * 1024, compiled.metadata.shared
    assert "mma" in compiled.asm["ptx"] and "ld.acquire.gpu" in compiled.asm["ptx"]
"""

# Constructor, and what forward makes of x: f32[4,3,6], h and c: f32[1,3,16], and s: f32[4,4,10].
NETS = {
    "lstm": ("nn.LSTM(6, 20, 2, batch_first=True)", "NET(x)"),
    "lstm_states": ("nn.LSTM(6, 16)", "NET(x, (h, c))"),
    "lstm_two_directions": ("nn.LSTM(6, 18, 2, bidirectional=True)", "NET(x)[0]"),
    "lstm_transposed": ("nn.LSTM(6, 8, bias=False)", "NET(x.transpose(0, 1))[1]"),
    "lstm_one_sample": ("nn.LSTM(6, 8)", "NET(x[:, 0])"),
    "gru": ("nn.GRU(6, 20, 2)", "NET(x)"),
    "gru_two_directions": ("nn.GRU(6, 10, 2, bidirectional=True, batch_first=True)", "NET(x, s)"),
    "gru_large_state": ("nn.GRU(6, 16, bias=False)", "NET(x, h * 1e6)"),
    "rnn": ("nn.RNN(6, 40, 3)", "NET(x)[0]"),
    "narrow": ("nn.LSTM(1, 20)", "NET(x[..., :1])"),  # a row that holds nothing but what is not finite
    "rnn_relu": ("nn.RNN(6, 20, nonlinearity='relu')", "NET(x * 1e5)"),
}
RECURRENT = re.compile(r"^  (%[%0-9, ]+) = (?:lstm|gru|rnn_tanh|rnn_relu)\(", re.MULTILINE)


def lowered(folder: Path, nets: dict[str, tuple[str, str]], inputs: str) -> tuple[Path, Path]:
    """The task's file, and its module with every recurrence lowered."""
    task, made = folder / "net.py", folder / "made.py"
    lines = [f"        self.{name} = {net}" for name, (net, _) in nets.items()]
    results = [f"            {name!r}: {result.replace('NET', 'self.' + name)}," for name, (_, result) in nets.items()]
    names = "x, h, c, s".split(", ")[: inputs.count("randn")]
    text = ["import torch", "import torch.nn as nn", "", "", "class Model(nn.Module):", "    def __init__(self):"]
    text += [
        "        super().__init__()",
        *lines,
        "",
        f"    def forward(self, {', '.join(names)}):",
        "        return {",
    ]
    text += [*results, "        }", "", "", "def get_inputs():", f"    return [{inputs}]", ""]
    task.write_text("\n".join(text))
    command = [str(BINARY), "apply", str(task), "--target", "triton"]
    environment = {**os.environ, "MTMC_PYTHON": sys.executable}
    run = subprocess.run(command, capture_output=True, text=True, timeout=240, env=environment)
    assert run.returncode == 0, run.stderr
    for values in RECURRENT.findall(run.stdout):
        command += ["--do", f"lower {values.replace(',', '')}"]
    run = subprocess.run([*command, "--write", str(made)], capture_output=True, text=True, timeout=240, env=environment)
    assert run.returncode == 0, run.stderr
    assert run.stdout.count("} recurrent\n") == len(nets), run.stdout
    return task, made


def test_recurrences_compute_what_the_module_does(tmp_path: Path) -> None:
    inputs = "torch.randn(4, 3, 6), torch.randn(1, 3, 16), torch.randn(1, 3, 16), torch.randn(4, 4, 10)"
    task, made = lowered(tmp_path, NETS, inputs)
    run = subprocess.run(
        [sys.executable, "-c", COMPARE, str(task), str(made)],
        capture_output=True,
        text=True,
        timeout=240,
        env={**os.environ, "TRITON_INTERPRET": "1"},
    )
    assert run.returncode == 0, run.stderr[-3000:]


def test_recurrences_compile_for_a_gpu(tmp_path: Path) -> None:
    nets = {
        name: (f"nn.LSTM(128, 256, 2, batch_first=True, bidirectional={name == 'two_directions'})", "NET(x)")
        for name in ("one_direction", "two_directions")
    }
    made = lowered(tmp_path, nets, "torch.randn(10, 3, 128)")[1]
    run = subprocess.run(
        [sys.executable, "-c", COMPILE, str(made)],
        capture_output=True,
        text=True,
        timeout=240,
        env={key: value for key, value in os.environ.items() if key != "TRITON_INTERPRET"},
    )
    assert run.returncode == 0, run.stderr[-3000:]
