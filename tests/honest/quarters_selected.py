"""Selects the rows and adds them before it divides.

task: tests/tasks/quarters.py
tier: certify
"""

import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, table, places):
        chosen = (places * 4).long()
        return table[chosen].sum(0) / len(chosen)
