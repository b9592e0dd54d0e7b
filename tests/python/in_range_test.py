"""What a GPU would stop at is refused before it is called; what torch accepts on a CPU is not."""

import pytest
import torch
from torch.nn import functional

from mtmc.referee import in_range
from mtmc.wire.modes import DispatchMode

X = torch.arange(12.0).reshape(3, 4)
GOOD, BAD = torch.tensor([0, 2]), torch.tensor([0, 3])
PAIR = torch.tensor([[0, 1], [2, 2]])


class Checked(DispatchMode):
    def watch(self, func, types, args=(), kwargs=None):
        check = in_range.CHECKS.get(func.overloadpacket.__name__.strip("_"))
        if check is not None:
            check(in_range.named(func, args, kwargs or {}))
            self.met = True
        return func(*args, **(kwargs or {}))


CALLS = {
    "embedding": lambda i: functional.embedding(i, X),
    "embedding_bag": lambda i: functional.embedding_bag(i, X, torch.tensor([0])),
    "index": lambda i: X[i],
    "index of the second axis": lambda i: X.T[:, i],
    "index after a mask": lambda i: X.reshape(2, 2, 3)[torch.ones(2, 2, dtype=torch.bool).nonzero(as_tuple=True)][:, i],
    "index_put": lambda i: X.clone().index_put_((i,), torch.tensor(1.0)),
    "index_select": lambda i: X.index_select(0, i),
    "index_add": lambda i: X.index_add(0, i, X[:2]),
    "index_copy": lambda i: X.index_copy(0, i, X[:2]),
    "index_fill": lambda i: X.index_fill(0, i, 1.0),
    "gather": lambda i: X.T.gather(1, i.expand(4, 2)),
    "scatter": lambda i: X.T.scatter(1, i.expand(4, 2), 1.0),
    "scatter_add": lambda i: X.T.scatter_add(1, i.expand(4, 2), torch.ones(4, 2)),
    "scatter_reduce": lambda i: X.T.scatter_reduce(1, i.expand(4, 2), torch.ones(4, 2), "amax"),
    "take": lambda i: X.reshape(-1)[:3].take(i),
    "put": lambda i: X.reshape(-1)[:3].clone().put(i, torch.ones(2)),
    "cross_entropy": lambda i: functional.cross_entropy(X.T[:2], i),
    "cross_entropy of images": lambda i: functional.cross_entropy(X.reshape(2, 3, 1, 2), i.expand(2, 1, 2)),
}


@pytest.mark.parametrize("name", CALLS)
def test_indices(name):
    with Checked() as mode:
        CALLS[name](GOOD)
        assert mode.met
        with pytest.raises(IndexError, match="index out of range: got 0 to 3"):
            CALLS[name](BAD)


def test_indices_that_torch_takes():
    with Checked() as mode:
        assert X[torch.tensor([-3])].tolist() == [X[0].tolist()]
        assert X.take(torch.tensor([-12])).item() == 0
        assert X.index_fill(0, torch.tensor([-3]), 7.0)[0].tolist() == [7.0] * 4
        assert functional.cross_entropy(X, torch.tensor([0, -100, 3])).isfinite()
        assert X[X > 5].numel() == 6
        assert functional.embedding(torch.zeros(0, dtype=torch.int64), X).shape == (0, 4)
        assert mode.met


def test_negative_indices_where_torch_takes_none():
    with Checked(), pytest.raises(IndexError, match="wanted 0 to 2"):
        functional.embedding(torch.tensor([-1]), X)


@pytest.mark.parametrize("value", [1.5, -0.5, float("nan")])
def test_probabilities(value):
    p = torch.tensor([0.5, value])
    with Checked():
        for call in (
            lambda: functional.binary_cross_entropy(p, torch.ones(2)),
            lambda: torch.bernoulli(p),
            lambda: torch.zeros(2).bernoulli_(p),
        ):
            with pytest.raises(ValueError, match="not a probability"):
                call()
        torch.tensor([value, 2.0]).bernoulli_(0.5)  # what is overwritten is none
        torch.bernoulli(torch.tensor([0.0, 1.0]))


@pytest.mark.parametrize("value", [-0.5, float("inf"), float("nan")])
def test_weights_of_a_draw(value):
    with Checked():
        torch.tensor([0.5, 3.0]).multinomial(1)
        with pytest.raises(ValueError, match="not a weight of a draw"):
            torch.tensor([0.5, value]).multinomial(1)


def test_a_cpu_says_so_itself():
    in_range.check_on_gpu(torch.ops.aten.embedding.default, (X, BAD), {})
    with pytest.raises(IndexError):
        functional.embedding(BAD, X)
