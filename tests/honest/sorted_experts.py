"""Experts that need not be sorted, the best first.

task: tests/tasks/unsorted_experts.py
tier: certify
"""

import torch
import torch.nn as nn
import torch.nn.functional as F


class ModelNew(nn.Module):
    def forward(self, scores):
        weights, chosen = torch.topk(F.softmax(scores, dim=-1), 4, dim=-1)
        return weights / weights.sum(dim=-1, keepdim=True), chosen
