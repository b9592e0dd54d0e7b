"""The referee's own kernels say what torch's operators say: run by Triton's interpreter, and compiled for sm_90."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("triton", reason="triton is not installed")
SOURCE = Path(__file__).resolve().parents[2] / "python"

# In processes of their own: the interpreter is chosen when triton is imported.
INTERPRETED = """
import torch
from mtmc.device import one_pass
from mtmc.device.digest import MIXER
from mtmc.referee import elsewhere
from mtmc.referee.measure import LEGACY, OFFICIAL, _measure_piece, _scale, poisoned
from mtmc.referee.tails import ROUNDING, smallest_whole

torch.manual_seed(0)
one_pass.BLOCK, one_pass.STEP, elsewhere.BLOCK = 1 << 12, 1 << 10, 1 << 12

words = torch.randint(-(2**62), 2**62, (5000,))
assert torch.equal(one_pass.run_mix(words, MIXER.factors), MIXER.mixed(words))

for dtype in (torch.float32, torch.float16, torch.bfloat16):
    for axis in range(3):
        e = torch.randn(20, 12, 30).to(dtype)
        c = (e.float() * (1 + 1e-3 * torch.randn(e.shape))).to(dtype)
        c[0, 0, 0], c[11, 5, 7] = torch.tensor([0xFE] * e.element_size(), dtype=torch.uint8).view(dtype)[0], 3
        known = torch.tensor([0, 2, e.shape[axis] - 1])
        of = [c, e, axis, known, (1e-4, 1e-2)]
        want = elsewhere.difference(*of, 1.0)
        seen = one_pass.run_differ(*of)
        got = elsewhere._of_blocks(elsewhere.Difference(want.numel), seen, c, e, axis, known, 1.0)
        for key in ("numel", "max_error", "max_eager", "official_bad", "legacy_bad", "exact", "poison"):
            assert getattr(got, key) == getattr(want, key), (dtype, axis, key, got, want)
        assert abs(got.block_error - want.block_error) < 1e-5 * want.block_error
        assert got.worst()[0] == want.worst()[0]
        assert seen.poison == 1 and not seen.strange
        assert one_pass.run_differ(c / 0, e, axis, known, (1e-4, 1e-2)).strange
        lost = e.clone()
        lost[0, 0, 0] = torch.inf  # in a sample that is known
        assert one_pass.run_differ(e, lost, axis, known, (1e-4, 1e-2)).strange == 1
        same = one_pass.run_differ(e, e, axis, known, (1e-4, 1e-2))
        assert same.exact and not same.strange and float(same.largest.max()) == 0

for shape in ((40, 254), (33, 3), (5000,), (3, 5, 2500), (1000, 2), (70, 32)):
    for dtype in (torch.float32, torch.bfloat16, torch.float64):
        t = torch.randn(shape, dtype=torch.float64)
        e, c = t.to(dtype), (t * (1 + 1e-4 * torch.randn(shape, dtype=torch.float64))).to(dtype)
        c.view(-1)[5] = t.view(-1)[6] = 0
        rules = OFFICIAL.get(dtype, LEGACY), LEGACY
        got = one_pass.run_measure(c, e, t, rules, smallest_whole(dtype), ROUNDING)
        want = _measure_piece(c, e, t, _scale(e, t), False)
        for key in ("error", "norm_truth", "max_error", "max_truth", "official_bad"):
            assert abs(getattr(got, key) - want[key]) <= 1e-12 * want[key], (shape, dtype, key)
        assert got.legacy_bad == want["legacy_bad"] or not got.official_bad
        assert got.elements == want["tails"]["elements"] and got.rows == want["tails"].get("rows"), (shape, dtype)
        assert not got.exact and got.poison == poisoned(c, e)
        clean = one_pass.run_measure(e, e, e.double(), rules, smallest_whole(dtype), ROUNDING)
        assert clean.exact and clean.error == 0 and clean.elements[1:] == [0] * 9
        zeros = one_pass.run_measure(e * 0, e * 0, t * 0, rules, smallest_whole(dtype), ROUNDING)
        assert zeros.error == zeros.norm_truth == 0 and zeros.exact
        for lost, value in ((0, torch.nan), (1, torch.inf), (2, -torch.inf)):
            of = [c.clone(), e.clone(), t.clone()]
            of[lost].view(-1)[9] = value
            assert one_pass.run_measure(*of, rules, smallest_whole(dtype), ROUNDING) is None

tiny = torch.full((40, 64), 1e-170, dtype=torch.float64)  # its squares are no numbers
assert one_pass.run_measure(tiny, tiny, tiny, (1e-4, 1e-2), smallest_whole(tiny.dtype), ROUNDING) is None
"""

COMPILED = """
import triton
from triton.backends.compiler import GPUTarget
from mtmc.device import one_pass, one_pass_kernels as made
import triton.language as tl

types = {"fp32": tl.int32, "fp16": tl.int16, "bf16": tl.int16, "fp64": tl.int64}

def build(kernel, signature, **constants):
    constants |= {"pattern": -2} if "pattern" in kernel.arg_names else {}
    whole = {name: signature.get(name, "constexpr") for name in kernel.arg_names}
    triton.compile(triton.compiler.ASTSource(kernel, whole, constants), target=GPUTarget("cuda", 90, 32), options={"num_warps": 8})

build(made._mix, dict(words="*i64", sums="*i64", count="i64", place="i64", first="i64", second="i64", third="i64"), block=one_pass.MIXED)
for name, bits in types.items():
    if name != "fp64":
        for narrow in (True, False):
            build(made._differ, dict(c="*" + name, e="*" + name, known="*u8", found="*fp64", count="i64", inner="i32", size="i32",
              official="fp32", legacy="fp32"), bits=bits, narrow=narrow, block=one_pass.BLOCK, step=one_pass.STEP)
    build(made._measure, dict(c="*" + name, e="*" + name, t="*fp64", limits="*fp64", found="*fp64", rows="i32", width="i32",
          count="i32", least="i32"), bits=bits, tall=one_pass.TILE // one_pass.CUTS[1], wide=one_pass.CUTS[1])
"""


@pytest.mark.parametrize("script", ["INTERPRETED", "COMPILED"])
def test_kernels(script: str, tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(SOURCE), os.environ.get("PYTHONPATH", "")]),
        "TRITON_CACHE_DIR": str(tmp_path),
        "TRITON_INTERPRET": "1" if script == "INTERPRETED" else "0",
    }
    file = tmp_path / "script.py"
    file.write_text(globals()[script])
    run = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, env=environment, check=False)
    assert run.returncode == 0, run.stderr[-3000:]
