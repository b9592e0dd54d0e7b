"""Mean cross entropy of a language model's logits against the next tokens."""

import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH, TOKENS, VOCABULARY = (8, 512, 32768) if torch.cuda.is_available() else (4, 128, 8192)


class Model(nn.Module):
    def forward(self, logits, targets):
        return F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1))


def get_inputs():
    return [torch.randn(BATCH, TOKENS, VOCABULARY), torch.randint(0, VOCABULARY, (BATCH, TOKENS))]


def get_init_inputs():
    return []
