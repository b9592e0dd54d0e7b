"""torch's transformers with masks are traced as eager computes them, whatever the masks hold."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from traced_modules import module_text
from tracing import refused, traced

ENCODER = "self.net = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 1, nn.LayerNorm(8))"
CAUSAL = "nn.Transformer.generate_square_subsequent_mask(4)"


def attention(folder: Path, call: str, *more: str, init: str = ENCODER) -> list[dict[str, object]]:
    """The arguments of its attentions in the trace, which agrees with eager in two draws."""
    text = module_text(
        f"return self.net({call})", init, ", ".join(["torch.randn(3, 4, 8)", *more]), "x, m=None, n=None"
    )
    data = traced(folder, text, mode="eval")
    assert data["checked"]
    return [node["args"] for node in data["nodes"] if "attention" in node["op"]]


@pytest.mark.parametrize("mask", [CAUSAL, "torch.ones(4, 4, dtype=torch.bool).triu(1)", "torch.eye(4) < 1"])
def test_a_mask_that_comes_from_elsewhere_is_applied(tmp_path: Path, mask: str) -> None:
    (args,) = attention(tmp_path, "x, mask=m", mask)
    assert "attn_mask" in args and "is_causal" not in args
    layer = "nn.TransformerDecoderLayer(8, 2, 16, batch_first=True)"
    args, _ = attention(tmp_path, "x, x, tgt_mask=m", mask, init=f"self.net = nn.TransformerDecoder({layer}, 1)")
    assert "attn_mask" in args


@pytest.mark.parametrize("call", [f"x, mask={CAUSAL}", "x, mask=m, is_causal=True"])
def test_a_mask_that_is_known_to_be_causal_is_none(tmp_path: Path, call: str) -> None:
    (args,) = attention(tmp_path, call, CAUSAL)
    assert args["is_causal"] and "attn_mask" not in args


# Eager returns zeros for padding in the last places only, and only where no other mask is there.
@pytest.mark.parametrize("padded", ["torch.arange(4) >= m[:, None]", "torch.arange(4) < 4 - m[:, None]"])
@pytest.mark.parametrize("more", ["", ", mask=n"])
def test_padding(tmp_path: Path, padded: str, more: str) -> None:
    attention(tmp_path, f"x, src_key_padding_mask={padded}{more}", "torch.randint(1, 5, (3,))", "torch.eye(4) < 0")


def test_padding_of_numbers(tmp_path: Path) -> None:
    attention(tmp_path, "x, src_key_padding_mask=m", "torch.full((3, 4), float('-inf')).triu(2)")


UNCHECKED = ENCODER.replace("nn.LayerNorm(8))", "nn.LayerNorm(8), mask_check=False)")


@pytest.mark.parametrize("padded", ["torch.arange(4) >= m[:, None]", "torch.arange(4) < 4 - m[:, None]"])
@pytest.mark.parametrize("more", ["", ", mask=n"])
def test_padding_that_nobody_looks_at(tmp_path: Path, padded: str, more: str) -> None:
    masks = "torch.randint(1, 5, (3,))", "torch.eye(4) < 0"
    attention(tmp_path, f"x, src_key_padding_mask={padded}{more}", *masks, init=UNCHECKED)


def test_masks_of_numbers_are_taken_for_others_in_eval_mode(tmp_path: Path) -> None:
    text = module_text("return self.net(x, mask=m)", ENCODER, "torch.randn(3, 4, 8), torch.randn(4, 4)", "x, m")
    error = refused(tmp_path, text, mode="eval")
    assert error.wrong.startswith("torch's transformer layers return something else") and "0 and -inf" in error.wanted
    assert traced(tmp_path, text, mode="train")["checked"]
    enabled = torch.backends.mha.get_fastpath_enabled()
    assert enabled
    try:
        assert traced(tmp_path, "import torch\ntorch.backends.mha.set_fastpath_enabled(False)\n" + text, mode="eval")[
            "checked"
        ]
    finally:
        torch.backends.mha.set_fastpath_enabled(enabled)
