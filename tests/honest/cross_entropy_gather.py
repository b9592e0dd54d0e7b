"""Cross entropy as logsumexp minus the gathered logit.

task: tests/tasks/cross_entropy.py
tier: screen
"""

import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, logits, targets):
        chosen = logits.gather(1, targets[:, None])[:, 0]
        return (logits.logsumexp(dim=1) - chosen).mean()
