"""Forms: what is described is made again as it was, and no description does harm."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import pytest
import torch

from mtmc.wire.blobs import structure_of
from mtmc.wire.forms import (
    MOST_LEAVES,
    FormError,
    checked,
    form_of,
    make,
    overlap,
    ranges,
    rebuilt,
    scalar_of,
    seen_as,
    sharing,
    span_bytes,
    span_of,
    tensors_of,
    without_values,
)
from mtmc.wire.outputs import spans

VALUES = {
    "contiguous": torch.arange(6.0).view(2, 3),
    "transposed": torch.arange(6.0).view(2, 3).t(),
    "gaps": torch.arange(20, dtype=torch.int16).view(4, 5)[::2, 1::2],
    "expanded": torch.arange(3.0)[:, None].expand(3, 4),
    "empty": torch.empty(0, 5),
    "no-dimension": torch.tensor(7),
    "bf16": torch.arange(4.0).bfloat16(),
    "bool": torch.tensor([True, False]),
    "complex": torch.tensor([1 + 2j]),
}


@pytest.mark.parametrize("name", VALUES)
def test_a_tensor_comes_back_with_its_values_and_strides(name: str) -> None:
    value = VALUES[name]
    form = form_of(value)
    made = make(form).copy_(value)
    assert torch.equal(made, value) and made.dtype == value.dtype
    if name != "expanded":
        assert made.stride() == value.stride()
    span = span_of(made)
    assert span.numel() == span_bytes(form) and (not span.numel() or span.data_ptr() == made.data_ptr())
    assert torch.equal(seen_as(form, span.clone()), value)
    assert checked(form, max(span_bytes(form), 1)) is form


def test_a_structure_comes_back_and_its_numbers_can_come_apart() -> None:
    value = {"a": [torch.zeros(2), 3, math.inf], "b": ({"c": None}, "text", True, -0.5)}
    form, values = without_values(form_of(value))
    assert values == [{"value": 3}, {"float": "inf"}, *({"value": v} for v in (None, "text", True, -0.5))]
    assert "text" not in str(form) and len(tensors_of(form)) == 1
    left = iter(values)
    back = rebuilt(form, make, lambda hole: scalar_of(next(left)) if hole == {"hole": True} else "no hole")
    assert back["a"][1:] == [3, math.inf] and back["b"] == [{"c": None}, "text", True, -0.5]
    assert math.isnan(scalar_of(form_of(math.nan)))


def test_what_is_no_tensor_or_number_has_no_form() -> None:
    with pytest.raises(FormError, match="object"):
        form_of([object()])


def nested(depth: int) -> Any:
    form: Any = {"value": 1}
    for _ in range(depth):
        form = {"list": [form]}
    return form


TENSOR = {"dtype": "float32", "shape": [2, 3], "stride": [3, 1]}
HOSTILE: dict[str, Any] = {
    "deep": nested(500),
    "wide": {"list": [{"value": 1}] * (MOST_LEAVES + 1)},
    "nothing": {},
    "no-object": [],
    "negative-stride": {**TENSOR, "stride": [-3, 1]},
    "huge-stride": {**TENSOR, "stride": [1 << 70, 1]},
    "large-stride": {**TENSOR, "stride": [1 << 47, 1]},
    "negative-size": {**TENSOR, "shape": [-2, 3]},
    "large-size": {**TENSOR, "shape": [1 << 47, 3]},
    "large-once-spread": {**TENSOR, "shape": [1 << 47, 3], "stride": [0, 0]},
    "size-of-text": {**TENSOR, "shape": ["2", 3]},
    "true-size": {**TENSOR, "shape": [True, 3]},
    "one-stride": {**TENSOR, "stride": [1]},
    "no-stride": {"dtype": "float32", "shape": [2]},
    "many-dimensions": {**TENSOR, "shape": [1] * 65, "stride": [1] * 65},
    "unknown-type": {**TENSOR, "dtype": "nn"},
    "list-for-type": {**TENSOR, "dtype": ["float32"]},
    "unknown-device": {**TENSOR, "device": "meta"},
    "many-bytes": {"list": [TENSOR] * 100},
    "number": {"float": "1e5"},
    "object-for-value": {"value": {"a": 1}},
    "hole": {"hole": True},
    "dict-of-number": {"dict": 3, "list": []},
    "list-of-text": {"list": "text", **TENSOR},
    "pair-of-three": {"dict": [["a", TENSOR, 1]]},
    "key-of-number": {"dict": [[1, TENSOR]]},
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_form_of_no_value_is_refused(name: str) -> None:
    with pytest.raises(FormError):
        checked(HOSTILE[name], 4096)
    checked(TENSOR, 4096)


def test_ranges_that_only_touch_do_not_overlap() -> None:
    form = {"list": [{**TENSOR, "at": 1000}, {**TENSOR, "shape": [0, 3], "at": 1008}, {"value": 1}]}
    assert ranges(form) == [(1000, 1024)]
    assert overlap([(1000, 1024)], [(0, 8), (1023, 1030)])
    assert not overlap([(1000, 1024)], [(1024, 1030), (990, 1000)])
    assert ranges(TENSOR) == []


def test_ranges_that_overlap_are_told_by_their_numbers() -> None:
    assert sharing([(0, 8), (8, 16), (4, 6), (5, 5)]) == [(0, 2)]
    whole = torch.zeros(8)
    assert sharing(spans([whole[:5], whole[5:], whole[4:6]])) == [(0, 2), (1, 2)]


class Pair(NamedTuple):
    left: Any
    right: Any


@pytest.mark.parametrize("value", [Pair(torch.ones(2), 3.0), torch.sort(torch.ones(3))], ids=["named", "sorted"])
def test_parts_keep_their_names(value: Any) -> None:
    form = checked(form_of(value), 1 << 10)
    names = ["left", "right"] if isinstance(value, Pair) else ["values", "indices"]
    again = rebuilt(form, make, scalar_of)
    assert form["names"] == names and without_values(form)[0]["names"] == names
    assert structure_of(again) == structure_of(value) != structure_of(tuple(value))
    assert getattr(again, names[1]) is again[1] and not hasattr(again, "other")
    with pytest.raises(FormError):
        checked({**form, "names": ["left"]}, 1 << 10)
