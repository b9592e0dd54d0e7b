"""torch's transformers while they are traced: what they decide by the values of their masks.

Eager looks whether a mask is the causal one, and takes a shorter way to the same results if it is. In eval mode an encoder drops
rows of padding that all come last (with mask_check=False wherever they are), whence its layers return zeros for them: the traced one
computes them and puts zeros there."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import torch
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode
from torch.nn import TransformerEncoder
from torch.nn.modules import transformer

detect, forward = transformer._detect_is_causal_mask, TransformerEncoder.forward


def is_causal_mask(mask: torch.Tensor | None, is_causal: bool | None = None, size: int | None = None) -> bool:
    """torch's answer where the code alone decides it, or the user says it, else no: the mask is applied then."""
    try:
        return detect(mask, is_causal, size)
    except GuardOnDataDependentSymNode:
        return False


def encoded(
    self: TransformerEncoder,
    src: torch.Tensor,
    mask: torch.Tensor | None = None,
    src_key_padding_mask: torch.Tensor | None = None,
    is_causal: bool | None = None,
) -> torch.Tensor:
    """As eager does it without gradients."""
    if src_key_padding_mask is None or mask is not None or not drops_padding(self, src):
        return forward(self, src, mask, src_key_padding_mask, is_causal)
    padded = src_key_padding_mask != 0  # a mask of numbers holds -inf there
    if self.mask_check:
        dropped = padded & (padded == (padded.cumsum(1) > 0)).all()
    else:  # of each row as many are dropped as are padded: the last ones
        count = padded.sum(1, keepdim=True)
        src_key_padding_mask = dropped = torch.arange(src.shape[1], device=src.device) >= src.shape[1] - count
    out = src.masked_fill(dropped[..., None], 0.0)  # not even what is not finite there reaches the other rows
    for layer in self.layers:
        out = layer(out, src_key_padding_mask=src_key_padding_mask)
    out = out.masked_fill(dropped[..., None], 0.0)
    return out if self.norm is None else self.norm(out)


def drops_padding(encoder: TransformerEncoder, src: torch.Tensor) -> bool:
    """Would eager, should all padding come last, or nobody look?"""
    able = torch.backends.mha.get_fastpath_enabled() and encoder.use_nested_tensor
    return able and not encoder.layers[0].training and src.dim() == 3 and not torch.is_autocast_enabled()


@contextlib.contextmanager
def masks_of_transformers() -> Iterator[None]:
    """Within it no value of a mask decides what is computed."""
    transformer._detect_is_causal_mask, TransformerEncoder.forward = is_causal_mask, encoded
    try:
        yield
    finally:
        transformer._detect_is_causal_mask, TransformerEncoder.forward = detect, forward


@contextlib.contextmanager
def without_fast_ways() -> Iterator[None]:
    """Within it layers compute without gradients what they compute with them."""
    before = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        yield
    finally:
        torch.backends.mha.set_fastpath_enabled(before)
