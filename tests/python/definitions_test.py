"""The truth of operators that torch has in narrow types only."""

from __future__ import annotations

import pytest
import torch

from mtmc.referee.definitions import fake_quantized
from mtmc.referee.truth import TruthError, run_wide

aten = torch.ops.aten


@pytest.mark.parametrize("zero_points", [torch.tensor([3, 0, 7], dtype=torch.int32), torch.tensor([3.3, 0.0, 7.6])])
@pytest.mark.parametrize("axis", [1, -2])
def test_quantised_by_channel(zero_points: torch.Tensor, axis: int) -> None:
    x, scales = 2 * torch.randn(50, 3, 4), torch.rand(3) * 0.05 + 0.01
    values, inside = aten.fake_quantize_per_channel_affine_cachemask(x, scales, zero_points, 1, 0, 127)
    ours, within = fake_quantized(x, scales, zero_points, axis, 0, 127)
    assert torch.allclose(ours, values) and torch.equal(within, inside)
    wide, _ = run_wide(lambda: torch.fake_quantize_per_channel_affine(x, scales, zero_points, 1, 0, 127), [])
    assert wide.dtype == torch.float64 and torch.allclose(wide.float(), values, atol=1e-5)


def test_what_has_neither_is_named() -> None:
    one, zero = torch.ones(1), torch.zeros(1, dtype=torch.int32)
    on = torch.ones(1, dtype=torch.int64)
    state = [torch.tensor(float("inf")).double(), torch.tensor(float("-inf")).double(), one.double(), zero]
    with pytest.raises(
        TruthError, match="_fused_moving_avg_obs_fq_helper.default has no float64 version and no definition"
    ):
        run_wide(lambda: torch.fused_moving_avg_obs_fake_quant(one.double(), on, on, *state, 0.01, 0, 255, 0), [])
