"""Reads the clock, the environment and a random number of its own, for a log that it keeps; none of it matters.

task: tests/tasks/softmax.py
tier: screen
"""

import logging
import os
import random
import time

import torch
import torch.nn as nn

LOG = logging.getLogger(__name__)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.sample = random.Random(os.getpid())

    def forward(self, x):
        start = time.perf_counter()
        y = torch.softmax(x, dim=-1)
        if self.sample.random() < 0.1:
            LOG.debug("softmax of %s in %.3f ms", tuple(x.shape), 1e3 * (time.perf_counter() - start))
        return y
