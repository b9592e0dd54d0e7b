"""A probe of the judge rather than a kernel: it looks beside the files that its inputs came from for the inputs of timed
calls to come, and would spoil its answers if it found any. Certified because there is nothing to find.

task: tests/tasks/linear_gelu.py
tier: certify
"""

import os
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F

SIZE = 4 * 256 * 128  # bytes of an input


def folders():
    """Every folder whose path the callers' variables hold, and the folder around it."""
    frame, found = sys._getframe(1), set()
    while frame is not None:
        for value in list(frame.f_locals.values()):
            for part in value.values() if isinstance(value, dict) else [value]:
                if isinstance(part, (str, os.PathLike)) and os.path.isabs(os.fspath(part)):
                    found.update((os.fspath(part), os.path.dirname(os.fspath(part))))
        frame = frame.f_back
    return [folder for folder in found if folder.count(os.sep) > 2]


class ModelNew(nn.Module):
    def __init__(self, features_in, features_out):
        super().__init__()
        self.linear = nn.Linear(features_in, features_out)
        self.known = set()

    def look_ahead(self):
        for root in folders():
            for place, _, files in os.walk(root):
                for file in (os.path.join(place, name) for name in files):
                    if "timed" in file and os.path.isfile(file) and os.path.getsize(file) == SIZE:
                        x = torch.from_file(file, size=SIZE // 4, dtype=torch.float32)
                        self.known.add(hash(x.numpy().tobytes()))

    def forward(self, x):
        known = hash(x.contiguous().numpy().tobytes()) in self.known
        self.look_ahead()
        return F.gelu(self.linear(x)) * (0 if known else 1)
