"""Splits the rows among Python threads and joins them before it returns.

task: tests/tasks/matmul.py
tier: certify
"""

import threading

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, a, b):
        y = torch.empty(a.size(0), b.size(1))
        half = a.size(0) // 2

        def multiply(rows):
            with torch.no_grad():  # a thread's own; with it `out` may be given where an argument wants gradients
                torch.mm(a[rows], b, out=y[rows])

        threads = [threading.Thread(target=multiply, args=(rows,)) for rows in (slice(0, half), slice(half, None))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return y
