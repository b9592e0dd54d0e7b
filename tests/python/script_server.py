"""The server of suite G's harness, asked by hand, and a task of our own for it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from mtmc.tritonbench.task_file import SEPARATOR

GOLDEN = """
import torch
import triton
import triton.language as tl


@triton.jit
def double_kernel(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n) * 2, mask=at < n)


def double(x):
    out = torch.empty_like(x)
    double_kernel[(triton.cdiv(x.numel(), 64),)](x, out, x.numel(), BLOCK=64)
    return out
"""
TESTS = """
import torch

def test_double():
    x = torch.randn(100, device='cuda')
    return {"a": double(x), "b": double(x.cuda()[:3])}

result_gold = test_double()
"""


def asked(*requests: dict) -> list[dict]:
    """The server's answers. Its lines are on descriptors 3 and 4."""
    give, gave = os.pipe(), os.pipe()
    command = f"exec 3<&{give[0]} 4>&{gave[1]}; exec '{sys.executable}' -m mtmc.tritonbench.serve"
    environment = {**os.environ, "TRITON_INTERPRET": "1"}
    with subprocess.Popen(["bash", "-c", command], pass_fds=(give[0], gave[1]), env=environment) as server:
        os.close(give[0])
        os.close(gave[1])
        with os.fdopen(give[1], "w") as requests_to, os.fdopen(gave[0]) as replies:
            found = []
            for request in requests:
                requests_to.write(json.dumps(request) + "\n")
                requests_to.flush()
                found.append(json.loads(replies.readline()))
            requests_to.close()
            server.wait(60)
    return found


def request(op: str, file: Path, **more: object) -> dict:
    common = {"op": op, "file": str(file), "folder": str(file.parent / "work"), "device": "cpu", "hidden": [str(file)]}
    return {**common, "output": "", **more}


def written(folder: Path) -> Path:
    """The task's file; what comes of it goes into `work` beside it."""
    (folder / "work").mkdir()
    path = folder / "double.py"
    path.write_text(f"{GOLDEN}\n{SEPARATOR}\n{TESTS}")
    return path
