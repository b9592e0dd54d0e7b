"""Images made sharper by what a blur takes away, bounded: eager adds up shifted copies of them."""

import torch

COUNT, HEIGHT, WIDTH = (64, 512, 512) if torch.cuda.is_available() else (2, 21, 45)
WEIGHTS = [weight / 64 for weight in (1, 6, 15, 20, 15, 6, 1)]


class Model(torch.nn.Module):
    def forward(self, x):
        height, width = x.shape[-2:]
        blurred = torch.nn.functional.pad(x, (3, 3, 3, 3), mode="replicate")
        blurred = sum(weight * blurred[..., j : j + width] for j, weight in enumerate(WEIGHTS))
        blurred = sum(weight * blurred[..., i : i + height, :] for i, weight in enumerate(WEIGHTS))
        return x + 0.7 * torch.tanh(x - blurred)


def get_inputs():
    return [torch.randn(COUNT, HEIGHT, WIDTH)]
