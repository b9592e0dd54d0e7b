"""Returns an object of a class of its own with the fields of eager's.

task: tests/tasks/scored.py
tier: screen
"""

from dataclasses import dataclass

import torch
import torch.nn as nn


@dataclass(slots=True)
class Scored:
    scores: torch.Tensor
    loss: torch.Tensor
    hidden: torch.Tensor | None


class ModelNew(nn.Module):
    def __init__(self, features, classes):
        super().__init__()
        self.head = nn.Linear(features, classes)

    def forward(self, x, wanted):
        scores = self.head(x)
        wrong = torch.logsumexp(scores, 1) - scores.gather(1, wanted[:, None])[:, 0]
        return Scored(scores, wrong.mean(), None)
