"""Finds the best by max with indices; among ties any index of a largest element is right.

task: tests/tasks/top_score.py
tier: screen
"""

import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        best, where = x.flip(-1).max(dim=-1)
        return best, x.size(-1) - 1 - where
