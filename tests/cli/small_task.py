"""A module of a few operators, for tests that need any."""

SMALL_TASK = """import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.softmax(torch.relu(x * 2) + 1, -1)


def get_inputs():
    return [torch.randn(64, 64)]
"""
