"""What the case files share: `case(OVERLOAD, ARGUMENTS...)`, and short ways to draw arguments."""

import importlib
import math
from pathlib import Path

import torch

INF, NAN = math.inf, math.nan
generator = torch.Generator().manual_seed(7)


def T(*shape, scale=1.0):
    return torch.randn(shape, generator=generator, dtype=torch.float64) * scale


def U(*shape):  # in (0, 1)
    return torch.rand(shape, generator=generator, dtype=torch.float64) * 0.98 + 0.01


def I(*shape, low=-5, high=6, dtype=torch.int64):
    return torch.randint(low, high, shape, generator=generator).to(dtype)


def B(*shape):
    return torch.rand(shape, generator=generator) < 0.5


def V(*values, dtype=torch.float64):
    return torch.tensor(values, dtype=dtype)


def K(*values):
    """Integers that the program knows: a constant of its text."""
    tensor = torch.tensor(values)
    tensor.known = True
    return tensor


ODD = V(
    NAN, INF, -INF, 0.0, -0.0, 1.0, -1.0, 2.5, -2.5, 0.5, -0.5, 1.5, 30.0, -30.0, 3.0, -3.0, 6.0, 7.0, 100.0, -100.0
)
CASES = []


def case(overload, *args, **kwargs):
    CASES.append((overload, args, kwargs))


def all_cases():
    """Those of every file here. Each begins with the same seed, so that adding one changes nothing in the others."""
    for path in sorted(Path(__file__).parent.glob("[a-z]*.py")):
        generator.manual_seed(7)
        importlib.import_module(f"{__name__}.{path.stem}")
    return CASES
