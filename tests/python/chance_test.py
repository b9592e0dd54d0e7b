"""Masks that a candidate drew itself: what is known of them, and which modules show them."""

from __future__ import annotations

import itertools

import pytest
import torch

from mtmc.referee.chance import Masks, Spectra, all_kept, fractions, is_masked, reversed_along, under_own_mask


def test_everything_is_kept_where_dropout_drew() -> None:
    mask = torch.tensor([True, False])
    kept = all_kept([torch.tensor([0.0, 1.0]), (torch.rand(2), mask)])
    assert kept is not None
    assert kept[0].tolist() == [1, 1] and kept[1][1].tolist() == [True, True]
    assert all_kept([torch.rand(4)]) is None


def test_a_mask_shows_only_where_elements_have_one_value() -> None:
    kept = torch.tensor([2.0, 3.0, torch.inf])
    assert is_masked(torch.tensor([0.0, 3.0, torch.nan]), kept)
    assert not is_masked(torch.tensor([1.0, 3.0, torch.inf]), kept)


def test_the_truth_follows_the_candidates_mask() -> None:
    kept = torch.tensor([2.0, 3.0, torch.inf, torch.inf], dtype=torch.float64)
    t = under_own_mask(torch.tensor([0.0, 9.0, torch.nan, torch.inf]), kept)
    assert t[:2].tolist() == [0.0, 3.0] and t[2].isnan() and t[3].isinf()


def test_fractions_of_a_mask() -> None:
    kept = torch.ones(2, 4, dtype=torch.float64)
    c = torch.tensor([[0.0, 1, 0, 1], [0, 1, 0, 1]])
    found = fractions(c, kept, 1 - c)
    assert found["dropped"] == (4, 8) and found["like the next"] == (0, 7) and found["like the one below"] == (4, 4)
    assert found["like the first call"] == (0, 8)
    nothing = fractions(c, torch.zeros(2, 4), None)
    assert nothing == {"dropped": (0, 0), "like the next": (0, 0), "like the one below": (0, 0)}


def test_a_mask_that_an_earlier_call_had_is_found_wherever_it_is_moved() -> None:
    generator = torch.Generator().manual_seed(3)

    def drop(mask: torch.Tensor) -> float:
        hits, of = masks.like_earlier(torch.where(mask, 0.0, kept), kept)["like an earlier call's, moved"]
        return hits / of

    kept = torch.rand(64, 48, generator=generator) + 1
    first, other = (torch.rand(64, 48, generator=generator) < 0.3 for _ in range(2))
    masks = Masks()
    assert list(masks.like_earlier(torch.where(first, 0.0, kept), kept)) == ["like itself, moved"]
    assert drop(other) < 0.6
    for moved in (first.view(-1).roll(1234).view(64, 48), first.roll((5, 7), (0, 1)), first.flip(1), other):
        assert drop(moved) > 0.99


def test_all_masks_are_remembered_and_parts_that_repeat_are_seen() -> None:
    generator, masks = torch.Generator().manual_seed(4), Masks()
    drawn = [torch.rand(64, 48, generator=generator) < 0.3 for _ in range(40)]
    kept = [torch.rand(64, 48, generator=generator).sub_(0.3).relu_() for _ in drawn]  # each leaves out others
    for mask, one in zip(drawn, kept, strict=True):
        found = masks.like_earlier(torch.where(mask, 0.0, one), one)
        assert all(hits < 0.65 * of for hits, of in found.values())
    hits, of = masks.like_earlier(torch.where(drawn[20], 0.0, kept[7]), kept[7])["like an earlier call's, moved"]
    assert hits > 0.9 * of
    tiled = drawn[0][:16].repeat(4, 1)
    hits, of = masks.like_earlier(torch.where(tiled, 0.0, kept[7]), kept[7])["like itself, moved"]
    assert hits > 0.85 * of


@pytest.mark.parametrize("shape", [(40,), (12, 15), (5, 7, 8), (4, 6, 5, 8)])
def test_a_mask_is_found_along_any_axes_reversed_and_rolled(shape: tuple[int, ...]) -> None:
    mask, other = torch.randn(shape), torch.randn(shape)
    whole = float((mask * mask).sum())
    for count in range(len(shape) + 1):
        for axes in itertools.combinations(range(len(shape)), count):
            spectrum = torch.fft.fftn(mask.flip(axes)).abs()[..., : shape[-1] // 2 + 1]
            assert torch.allclose(reversed_along(torch.fft.rfftn(mask), axes).abs(), spectrum, rtol=1e-3, atol=1e-3)
            moved = mask.flip(axes).roll([2] * len(shape), list(range(len(shape))))
            assert abs(Spectra(mask).best_fit(Spectra(moved)) - whole) < 1e-3 * whole
    assert Spectra(mask).best_fit(Spectra(other)) < 0.9 * whole
