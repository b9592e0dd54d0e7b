"""Half of the work on a stream of its own that the caller's stream waits for.

task: tests/tasks/gated.py
tier: screen
needs: cuda
"""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.stream = None

    def forward(self, x):
        self.stream = self.stream or torch.cuda.Stream()
        here = torch.cuda.current_stream()
        y = torch.empty_like(x)
        half = x.shape[0] // 2
        self.stream.wait_stream(here)
        with torch.cuda.stream(self.stream):
            y[:half] = x[:half] * torch.sigmoid(1.5 * x[:half]) + 0.5
        y[half:] = x[half:] * torch.sigmoid(1.5 * x[half:]) + 0.5
        here.wait_stream(self.stream)
        return y
