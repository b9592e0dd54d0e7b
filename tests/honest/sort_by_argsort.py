"""Sorts through the order of the values, and gathers them: other places for equal values than torch may choose.

task: tests/tasks/sort_rows.py
tier: certify
"""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        order = torch.argsort(x, dim=-1, stable=True)
        return torch.return_types.sort((x.gather(-1, order), order))
