"""Indices of which an output is a view are judged as the operator's own: by what they point at."""

import pytest
import torch

from mtmc.referee.measure import measure
from mtmc.referee.truth import run_wide
from mtmc.referee.wrong import first_wrong

ROWS = torch.tensor([[3.0, 1.0, 3.0, 0.0], [2.0, 2.0, 5.0, 1.0], [9.0, 4.0, 4.0, 9.0]])


def ties_of(call):
    result, orders = run_wide(call, [])
    return result, orders.of(result)


@pytest.mark.parametrize("call", [lambda: ROWS.argmax(1).view(3, 1), lambda: ROWS.T.argmax(0).reshape(1, 3)])
def test_a_reshaped_index_may_be_another_of_the_best(call):
    t, ties = ties_of(call)
    c = t.clone().reshape(-1)
    c[0], c[2] = 2 - c[0], 3 - c[2]  # the other 3 and the other 9
    found = measure(c.reshape(t.shape), t, t, ties)
    assert (found["wrong"], found["gap"], found["official_bad"]) == (0, 0, 2)
    c[1] = 0  # 2 where 5 is the largest
    assert measure(c.reshape(t.shape), t, t, ties)["gap"] > 0.4
    assert len(first_wrong(c.reshape(t.shape), t, t, ties, None, False, True)) == 1


def test_a_transposed_order_is_measured_along_its_own_axis():
    t, ties = ties_of(lambda: ROWS.topk(2, dim=-1).indices.T)
    assert t.shape == (2, 3)
    assert measure(t.flip(0), t, t, ties)["wrong"] == 0
    assert measure(t.flip(0), t, t, ties)["repeated"] == 0
    twice = torch.stack([t[0], t[0]])
    assert measure(twice, t, t, ties)["repeated"] == 3


def test_of_a_slice_what_is_not_returned_is_as_in_the_truth():
    t, ties = ties_of(lambda: ROWS.topk(3, dim=1).indices[1:, :2])
    assert t.shape == (2, 2)
    c = t.clone()
    c[1] = t[1].flip(0)  # both nines
    found = measure(c, t, t, ties)
    assert (found["wrong"], found["gap"], found["repeated"]) == (0, 0, 0)
    c[0, 1] = 3  # 1 where 2 is the second largest
    assert measure(c, t, t, ties)["gap"] > 0.1


def test_slices_of_orders_repeat_nothing_and_keep_theirs():
    few = torch.tensor([[1.0, 0, 0, 0, 0, 2], [0, 3, 0, 0, 1, 0]])
    t, ties = ties_of(lambda: (few > 0).int().argsort(1)[:, :3])
    assert measure(t.flip(1), t, t, ties)["repeated"] == 0
    assert measure(t[:, :1].expand(-1, 3).contiguous(), t, t, ties)["repeated"] == 4
    behind = torch.stack([t[:, 0], t[:, 1], ties.view.own[:, 3]], 1)  # an equal one that the truth has behind the slice
    assert measure(behind, t, t, ties)["repeated"] == 0
    t, ties = ties_of(lambda: (few > 0).int().argsort(dim=1, stable=True)[:, :3])
    assert measure(t.flip(1), t, t, ties)["repeated"] > 0


def changed() -> torch.Tensor:
    index = ROWS.argmax(1)
    index.add_(1)
    return index.view(3, 1)


@pytest.mark.parametrize(
    "call",
    [
        lambda: ROWS.argmax(1).expand(2, 3),  # each in two places
        lambda: ROWS.argmax(1) + 0,  # no view
        lambda: ROWS.argmax(1).view(torch.int32),  # halves of them
        lambda: ROWS.topk(2, 1).indices.unfold(1, 2, 1).as_strided((3, 3), (1, 1)),  # windows
        changed,
    ],
)
def test_what_is_no_part_of_the_indices_has_no_ties(call):
    assert ties_of(call)[1] is None


def test_indices_made_in_inference_mode_have_ties():
    def call() -> torch.Tensor:
        with torch.inference_mode():
            return ROWS.argmax(1).view(3, 1)

    assert ties_of(call)[1] is not None
