"""Draws whose results show dropout's masks: how often eager's masks drop, and what a candidate with masks of its own returned.
The arithmetic is chance.py's.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch

from mtmc.referee.budgets import SEEDS
from mtmc.referee.chance import Masks, all_kept, fractions, is_masked, under_own_mask
from mtmc.referee.kept_draws import KeptDraws
from mtmc.referee.measure import Measurement, measure
from mtmc.referee.reference import Reference
from mtmc.referee.truth import widen


class MaskedDraws:
    def __init__(self, reference: Reference, draws: KeptDraws) -> None:
        self.reference, self.draws = reference, draws
        self.undropped: dict[str, list[list[Any]] | None] = {}  # by draw; the newest last
        self.first_results: list[Any] = []  # of the candidate, in its first call on a draw
        self.masks: tuple[str, dict[int, Masks]] = ("", {})  # that a guest has drawn, output by output

    def truths_undropped(self, name: str) -> list[list[Any]] | None:
        """The truths of a draw when its dropouts keep everything, call by call; None where that says nothing about its outputs."""
        if name not in self.undropped:
            draw, found = self.draws.draw(name), None
            drawn = [all_kept(call) for call in draw.eager.drawn]
            if draw.eager.drawn[0] and None not in drawn:
                eager = replace(draw.eager, drawn=drawn)
                anywhere = self.draws.last_try
                kept = self.reference.run_truth(draw.arguments, draw.state, eager, widen, anywhere=anywhere).calls
                pairs = [pair for c, k in zip(draw.truth.calls, kept, strict=True) for pair in zip(c, k, strict=True)]
                if all(isinstance(t, torch.Tensor) and t.is_floating_point() and is_masked(t, k) for t, k in pairs):
                    found = kept
            self.undropped = {**dict(list(self.undropped.items())[-2 * SEEDS :]), name: found}
        return self.undropped[name]

    def forget(self) -> None:
        """What can be computed again."""
        self.undropped.clear()

    def chances(self, kind: str) -> list[dict[str, dict[str, tuple[int, int]]]]:
        """The fractions of eager's own masks, call by call, output by output; empty where no mask can be seen."""
        found = []
        masks: dict[int, Masks] = {}
        for index in range(SEEDS):
            draw, kept = self.draws.draw(f"{kind}-{index}"), self.truths_undropped(f"{kind}-{index}")
            if kept is None:
                return []
            first = draw.eager.calls[0]
            for call, leaves in enumerate(draw.eager.calls):
                rows = zip(leaves, kept[call], first, strict=True)
                found.append({})
                for output, (e, k, f) in enumerate(rows):
                    alike = masks.setdefault(output, Masks()).like_earlier(e, k)
                    found[-1][draw.eager.name_of(output)] = fractions(e, k, f if call else None) | alike
        return found

    def compare(
        self, name: str, call: int, leaves: list[Any], plain: list[Measurement], guest: str
    ) -> list[Measurement]:
        """What `guest` returned in a call, against the truth under its own masks. `plain`: the answer of budgets.compare, which
        is this one, too, where the draw shows no masks."""
        if not (kept := self.truths_undropped(name)):
            return plain
        first = self.first_results if call else None
        if self.masks[0] != guest:
            self.masks = (guest, {})
        found, eager = [], self.draws.draw(name).eager.calls[0]
        for index, (c, k) in enumerate(zip(leaves, kept[call], strict=True)):
            if "mismatch" in plain[index]:
                found.append(plain[index])
                continue
            t = under_own_mask(c, k)
            one = measure(c, t.to(eager[index].dtype), t, None)
            one |= {key: plain[index][key] for key in ("output", "exact", "official_bad", "legacy_bad")}
            seen = fractions(c, k, first[index] if first else None)
            seen |= self.masks[1].setdefault(index, Masks()).like_earlier(c, k)
            found.append({**one, "fractions": seen})
        self.first_results = [leaf.clone() if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]
        return found + plain[len(leaves) :]
