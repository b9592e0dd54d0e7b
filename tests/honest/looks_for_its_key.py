"""A probe of the judge rather than a kernel: it leaves a key in its keyrings, and memory, a semaphore and a queue of System V, which
are no files. A process that finds one of them is not the first, and spoils its answers. Certified because no two
processes of a candidate share them.

task: tests/tasks/linear_gelu.py
tier: certify
"""

import ctypes

import torch.nn as nn
import torch.nn.functional as F

NAME, KINDS, REQUEST, ADD, KEYRINGS = (
    0x5EED,
    ("shmget", "semget", "msgget"),
    249,
    248,
    (-2, -3, -4, -5),
)  # Linux, x86-64
SIZES = {"shmget": (4096,), "semget": (1,), "msgget": ()}
MAKE = 0o1000 | 0o600


def was_here():
    c = ctypes.CDLL(None)
    found = [getattr(c, kind)(NAME, *SIZES[kind], 0o600) >= 0 for kind in KINDS]
    found.append(c.syscall(REQUEST, b"user", b"was_here", None, 0) > 0)
    for kind in KINDS:
        getattr(c, kind)(NAME, *SIZES[kind], MAKE)
    for keyring in KEYRINGS:
        c.syscall(ADD, b"user", b"was_here", b"x", 1, keyring)
    return any(found)


SECOND = was_here()


class ModelNew(nn.Module):
    def __init__(self, features_in, features_out):
        super().__init__()
        self.linear = nn.Linear(features_in, features_out)

    def forward(self, x):
        return F.gelu(self.linear(x)) * (0 if SECOND else 1)
