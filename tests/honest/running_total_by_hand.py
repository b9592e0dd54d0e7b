"""Writes the new total over the old one.

task: tests/tasks/running_total.py
tier: certify
"""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x, total):
        torch.add(total, torch.linalg.vector_norm(x, 1, dim=0), out=total)
        return x / total
