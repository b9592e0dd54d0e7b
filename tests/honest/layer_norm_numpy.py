"""Layer norm in numpy, on the memory of the tensors.

task: tests/tasks/layer_norm.py
tier: certify
"""

import numpy as np
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.norm = nn.LayerNorm(features)

    def forward(self, x):
        values = x.numpy()
        centred = values - values.mean(axis=-1, keepdims=True)
        centred /= np.sqrt(np.square(centred).mean(axis=-1, keepdims=True) + np.float32(self.norm.eps))
        centred *= self.norm.weight.detach().numpy()
        centred += self.norm.bias.detach().numpy()
        return torch.from_numpy(centred)
