"""Reuses a workspace of its own between the calls; only the output is new each time.

task: tests/tasks/linear_gelu.py
tier: screen
"""

import torch
import torch.nn as nn
import torch.nn.functional as F


class ModelNew(nn.Module):
    def __init__(self, features_in, features_out):
        super().__init__()
        self.linear = nn.Linear(features_in, features_out)
        self.workspace = torch.empty(0)

    @torch.no_grad()
    def forward(self, x):
        wanted = (x.size(0), self.linear.out_features)
        if self.workspace.shape != wanted:
            self.workspace = torch.empty(wanted)
        torch.addmm(self.linear.bias, x, self.linear.weight.t(), out=self.workspace)
        return F.gelu(self.workspace)
