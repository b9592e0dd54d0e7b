"""Hands out its own hidden state and its own tables, as eager does, without the copy that joins rows and state.

task: tests/tasks/handed_out.py
tier: certify
"""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.linear = nn.Linear(2 * features, features)
        self.hidden = torch.zeros(256, features)
        self.phases = torch.linspace(0, 1, features)
        self.rows = torch.arange(256)

    def forward(self, x):
        if len(x) != 256:
            raise ValueError(f"running ModelNew: other rows: got {len(x)}, wanted 256")
        of_rows, of_state = self.linear.weight.t().split(x.shape[1])
        self.hidden = torch.addmm(self.linear.bias, x, of_rows).addmm_(self.hidden, of_state).tanh_()
        return self.hidden, self.phases, self.rows
