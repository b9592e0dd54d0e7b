"""The loss in bfloat16, as it is asked for, and the penalty in fp32, by other words.

task: tests/tasks/penalised.py
tier: certify
"""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x, y):
        off = x.bfloat16().sub(y.bfloat16())
        bent = (x - y).clamp(-8, 8)
        return torch.stack([(off * off).mean().float(), 2e-4 * (bent * bent).mean()])
