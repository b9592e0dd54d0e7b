"""Of experts that are equally good the first are taken, whichever eager's algorithm would take.

task: tests/tasks/routes.py
tier: certify
"""

import torch
import torch.nn as nn
import torch.nn.functional as F


class ModelNew(nn.Module):
    def forward(self, scores):
        weights, order = (x[:, :2] for x in torch.sort(F.softmax(scores, dim=-1), dim=-1, descending=True, stable=True))
        weights = weights / weights.sum(dim=-1, keepdim=True)
        marked = torch.zeros((len(scores), 48), dtype=torch.int64, device=scores.device)
        return torch.zeros_like(scores).scatter(-1, order, weights), marked.scatter(-1, order, 1)
