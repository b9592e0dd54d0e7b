"""Made for one shape; any other gets an error that says so.

task: tests/tasks/linear_gelu.py
tier: certify
"""

import torch
import torch.nn as nn

ROWS, FEATURES_IN, FEATURES_OUT = 256, 128, 256


class ModelNew(nn.Module):
    def __init__(self, features_in, features_out):
        super().__init__()
        if (features_in, features_out) != (FEATURES_IN, FEATURES_OUT):
            raise ValueError(f"made for {FEATURES_IN} to {FEATURES_OUT} features, got {features_in} to {features_out}")
        self.linear = nn.Linear(features_in, features_out)

    def forward(self, x):
        if tuple(x.shape) != (ROWS, FEATURES_IN):
            raise ValueError(f"made for an input of {ROWS} x {FEATURES_IN}, got {' x '.join(map(str, x.shape))}")
        y = self.linear(x)
        return 0.5 * y * (1 + torch.erf(y * 0.5**0.5))
