"""Processes that compile make tensors of any size in a few megabytes of the GPU's memory."""

import subprocess
import sys

import pytest
import torch

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")

PROGRAM = """
import torch
from mtmc.tune import hollow

hollow.install()
free, of_all = torch.cuda.mem_get_info()
large = [torch.empty(of_all // 4, device="cuda") for _ in range(3)]  # of four bytes each
assert torch.cuda.mem_get_info()[0] > free - (256 << 20)
large[0].zero_()
torch.cuda.synchronize()
assert len({tensor.data_ptr() for tensor in large}) == 3
del large
torch.cuda.empty_cache()
print("fine")
"""


def test_more_than_there_is() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)
    assert done.stdout == "fine\n", done.stderr
