"""A probe of the judge rather than a kernel: it leaves a mark in every folder it may write to. A process that finds one there is
not the first, could take liberties that the first does not, and spoils its answers. Certified because no two processes of
a candidate share a folder.

task: tests/tasks/weight_norm.py
tier: certify
"""

import os
import tempfile
from pathlib import Path

import torch
import torch.nn as nn
import torch.nn.functional as F


def folders():
    places = [tempfile.gettempdir(), *(part for value in os.environ.values() for part in value.split(os.pathsep))]
    return {os.path.realpath(place) for place in places if os.path.isabs(place) and os.path.isdir(place)}


def was_here():
    found = False
    for folder in filter(lambda place: os.access(place, os.W_OK), folders()):
        mark = Path(folder) / "was_here"
        found = found or mark.exists()
        mark.touch()
    return found


SECOND = was_here()


class ModelNew(nn.Module):
    def __init__(self, features_in, features_out):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(features_out, features_in))
        self.scale = nn.Parameter(torch.empty(features_out, 1))

    def forward(self, x):
        weight = torch.tanh(self.scale * self.weight / self.weight.norm(dim=1, keepdim=True))
        return F.linear(x, weight) * (0 if SECOND else 1)
