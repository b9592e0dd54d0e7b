"""An activation that works where its first step lies.

task: tests/tasks/pixels.py
tier: certify
"""

import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        return (x * 2 - 1).clamp_(min=0).mul_(x)
