"""Of equal codes the last one.

task: tests/tasks/nearest_code.py
tier: certify
"""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x, book):
        codes = book.flip(0)
        flat = x.reshape(-1, x.shape[-1])
        products = torch.addmm(codes.square().sum(1), flat, codes.T, alpha=-2)
        return (len(codes) - 1 - products.argmin(1)).view(x.shape[:-1])
