"""Truth in slices: which modules have one, that it is the truth, and that nothing hides outside of it."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch

from mtmc.referee import elsewhere, slices
from mtmc.referee.slices import NotSeparableError, find_cut, sliced_truth
from mtmc.referee.truth import run_wide, widen
from mtmc.wire.blobs import leaves

BOTH = (1e-4, 1e-2)


def difference(c: torch.Tensor, e: torch.Tensor, axis: int, known: list[int]) -> elsewhere.Difference:
    return elsewhere.difference(c, e, axis, torch.tensor(known, dtype=torch.int64), BOTH, elsewhere.rms(e))


class Bench:
    """A module on one draw: what slices.py is given by the reference."""

    def __init__(self, model: torch.nn.Module, *arguments: Any) -> None:
        torch.manual_seed(0)
        self.model, self.arguments = model, list(arguments)
        self.state = {name: value.clone() for name, value in model.state_dict().items()}
        with torch.no_grad():
            self.calls = [leaves(model(*arguments))]
        after = model.state_dict()
        self.after = {n: after[n].clone() for n in self.state if not torch.equal(after[n], self.state[n])}
        self.wide = copy.deepcopy(model).double()
        self.elements = 0

    def run(self, arguments: list[Any], state: dict[str, torch.Tensor]) -> Any:
        self.elements += sum(leaf.numel() for leaf in leaves(arguments) if isinstance(leaf, torch.Tensor))
        given = {name: widen(value).clone() for name, value in state.items()}
        with torch.no_grad():
            wide = [widen(a) for a in arguments]
            result, _ = run_wide(lambda: torch.func.functional_call(self.wide, given, tuple(wide)), [])
        return [[widen(leaf) for leaf in leaves(result)]], [{name: given[name] for name in self.after}]

    def cut(self) -> slices.Cut | None:
        return find_cut(self.run, self.arguments, self.state, self.calls, list(self.after), 1)


class Function(torch.nn.Module):
    def __init__(self, function: Any) -> None:
        super().__init__()
        self.function = function

    def forward(self, *arguments: Any) -> Any:
        return self.function(*arguments)


def x(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(2))


@pytest.fixture(autouse=True)
def small_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slices, "ELEMENTS", 1 << 10)


SEPARABLE = {
    "rows of a softmax": (Function(lambda a: a.softmax(-1)), [x(64, 50)], (0,)),
    "samples of a convolution": (torch.nn.Conv2d(3, 4, 3), [x(32, 3, 9, 9)], (0,)),
    "rows of a product": (Function(torch.matmul), [x(64, 20), x(20, 30)], (0,)),
    "rows of a square product": (Function(torch.matmul), [x(64, 64), x(64, 64)], (0,)),
    "columns of a factor that is transposed": (Function(lambda a, b: a.T @ b), [x(20, 64), x(20, 30)], (0,)),
    "both arguments": (Function(lambda a, b: (a * b).sum(1)), [x(64, 90), x(64, 90)], (0,)),
    "two results": (Function(lambda a: (a.sum(1), [a * 2])), [x(64, 90)], (0, 0)),
    "channels whose statistics are of the batch": (
        torch.nn.Sequential(torch.nn.Conv1d(5, 32, 3), torch.nn.BatchNorm1d(32)),
        [x(16, 5, 40)],
        (1,),
    ),
    "columns of a softmax over the batch": (Function(lambda a: a.softmax(0)), [x(16, 64)], (1,)),
}
WHOLE = {
    "a loss": (Function(lambda a: (a * a).mean()), [x(64, 90)]),
    "a norm over everything": (Function(lambda a: a / a.norm()), [x(64, 90)]),
    "a trace of the other samples": (Function(lambda a: a + 1e-8 * a.mean()), [x(64, 90)]),
    "a division by the number of samples": (Function(lambda a: a / a.shape[0] / a.shape[1]), [x(64, 64)]),
    "the sample before": (Function(lambda a: (a + 1e-5 * a.roll(1, 0)) + 1e-5 * a.roll(1, 1)), [x(64, 64)]),
    "a place in the batch": (Function(lambda a: torch.tril(a @ a)), [x(64, 64)]),
    "an index": (Function(lambda a: a.argmax(1)), [x(64, 90)]),
}


@pytest.mark.parametrize("name", SEPARABLE)
def test_what_is_computed_apart_is_cut(name: str) -> None:
    model, arguments, axes = SEPARABLE[name]
    bench = Bench(model, *arguments)
    cut = bench.cut()
    assert cut is not None and cut.results == axes
    found = sliced_truth(bench.run, cut, bench.arguments, bench.state, bench.calls, 1)
    whole, after = bench.run(bench.arguments, bench.state)
    for t, full in zip(found.calls[0], cut.of_call(whole[0], found.places), strict=True):
        assert torch.allclose(t, full, rtol=1e-9, atol=1e-12)
    for entry, value in found.states[0].items():
        assert torch.allclose(value, slices.taken(after[0][entry], cut.state.get(entry), found.places), rtol=1e-9)
    places = found.places.tolist()
    assert {0, cut.size - 1} <= set(places) and len(places) == len(set(places)) < cut.size


@pytest.mark.parametrize("name", WHOLE)
def test_what_depends_on_other_samples_is_not(name: str) -> None:
    model, arguments = WHOLE[name]
    assert Bench(model, *arguments).cut() is None


def test_a_cut_is_checked_on_every_draw() -> None:
    model = Function(lambda a: a - a.mean() if float(a.max()) > 100 else a * 2)
    bench = Bench(model, x(64, 50))
    cut = bench.cut()
    assert cut is not None
    other = Bench(model, x(64, 50) + 200)
    with pytest.raises(NotSeparableError):
        sliced_truth(other.run, cut, other.arguments, other.state, other.calls, 1)


def test_the_sample_that_is_furthest_from_eager_is_computed_again() -> None:
    """A place that matters to few samples: those that stand earlier in the batch than in the slice."""
    a = torch.tril(x(256, 256))
    a[3, 3] = 100.0  # eager's largest
    bench = Bench(Function(lambda a: torch.tril(a @ a)), a)
    cut = slices.Cut(256, (1,), (1,), {})
    bench.model = bench.wide = Function(lambda b: torch.tril(a.to(b.dtype) @ b))
    with pytest.raises(NotSeparableError):
        sliced_truth(bench.run, cut, bench.arguments, bench.state, bench.calls, 1)


def test_a_slice_costs_what_it_holds() -> None:
    bench = Bench(torch.nn.Linear(16, 16), x(4096, 16))
    cut = bench.cut()
    assert cut is not None
    bench.elements = 0
    found = sliced_truth(bench.run, cut, bench.arguments, bench.state, bench.calls, 1)
    assert bench.elements < 2 * slices.ELEMENTS
    more = slices.extended(bench.run, found, bench.arguments, bench.state, [5, 7])
    assert len(more.places) == len(found.places) + 2 == len(more.calls[0][0])


def test_samples_may_be_single_elements_of_a_long_vector(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slices, "ELEMENTS", 1 << 20)
    bench = Bench(Function(torch.abs), x(1 << 21))
    cut = bench.cut()
    assert cut is not None
    found = sliced_truth(bench.run, cut, bench.arguments, bench.state, bench.calls, 3)
    places = found.places
    assert 1 << 19 <= len(places) <= (1 << 19) + slices.LARGEST
    assert len(places.unique()) == len(places) and {0, (1 << 21) - 1} <= set(places.tolist())
    assert torch.equal(found.calls[0][0], bench.calls[0][0].double()[places])
    other = slices.choose(cut, bench.arguments, bench.calls[0], 4)
    assert torch.isin(other, places).double().mean() < 0.3  # others, that only the seed knows: a quarter by chance


def test_largest_and_not_finite_samples_are_in_the_slice() -> None:
    a = x(640, 20)
    a[17, 3], a[40, 4], a[23, 9] = 50.0, float("nan"), -60.0
    bench = Bench(Function(torch.sin), a)
    cut = bench.cut()
    assert cut is not None
    bench = Bench(Function(lambda a: a * 1.1), a)
    found = sliced_truth(bench.run, cut, bench.arguments, bench.state, bench.calls, 1)
    assert {17, 40, 23} <= set(found.places.tolist())


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.complex64])
def test_a_wrong_tile_is_seen_wherever_it_lies(axis: int, dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(elsewhere, "BLOCK", 1 << 10)
    monkeypatch.setitem(elsewhere.PIECE, "cpu", 1 << 13)
    generator = torch.Generator().manual_seed(3)
    shape = (40, 48, 52)
    eager = torch.randn(shape, generator=generator, dtype=torch.complex64 if dtype.is_complex else torch.float32)
    eager = eager.to(dtype)
    noise = torch.randn(shape, generator=generator) * 1e-3 if dtype == torch.float16 else torch.tensor(1e-6)
    honest = (eager + noise * eager.abs()).to(dtype)
    clean = difference(honest, eager, axis, [])
    assert clean.max_error < 0.05 and clean.block_error < 0.01
    for _ in range(20):
        start = int(torch.randint(0, eager.numel() - 128, (), generator=generator))
        wrong = honest.clone()
        wrong.view(-1)[start : start + 128] += 1.0  # as large as a typical element
        found = difference(wrong, eager, axis, [])
        samples = {index // (48 * 52, 52, 1)[axis] % shape[axis] for index in range(start, start + 128)}
        assert found.max_error > 0.9 and found.block_error > 3 * clean.block_error
        assert set(found.worst()) & samples and found.official_bad >= 128
        rest = difference(wrong, eager, axis, sorted(samples))
        assert rest.max_error <= clean.max_error and rest.numel < found.numel


def test_one_element_and_what_is_not_finite() -> None:
    eager = x(300, 500)
    eager[7, 7], eager[250, 3] = float("nan"), float("inf")
    wrong = eager.clone()
    assert difference(wrong, eager, 0, []).mismatched == 0
    wrong[250, 3], wrong[7, 7], wrong[100, 100], wrong[200, 200] = 1.0, 0.0, float("inf"), eager[200, 200] + 1e-2
    found = difference(wrong, eager, 0, [])
    assert (found.mismatched, found.nonfinite) == (2, 1) and abs(found.max_error - 1e-2) < 1e-5
    assert found.worst() == [7, 200] and found.official_bad == 4
    known = difference(wrong, eager, 0, [7, 100, 250])
    assert (known.mismatched, known.nonfinite) == (0, 0) and known.worst()[0] == 200


def test_errors_of_a_slice_are_measured_by_the_same_blocks() -> None:
    t, c = x(200, 1000).double(), x(200, 1000)
    c[150] += 0.5
    scale = elsewhere.rms(c)
    assert (
        abs(elsewhere.worst_block(elsewhere.off_truth(c, t), scale) - difference(c, t.float(), 0, []).block_error)
        < 1e-2
    )


def test_what_is_not_finite_must_be_so_in_both_truths() -> None:
    one = x(40, 30).double()
    other = one * (1 + 1e-13)
    assert slices.same(one, other) and not slices.same(one, one * (1 + 1e-6))
    one[3, 4] = other[3, 4] = float("nan")
    assert slices.same(one, other) and not slices.same(one, one * (1 + 1e-6))
    other[5, 6] = float("inf")
    assert not slices.same(one, other)
    assert slices.alike(one, other.float()), "eager may have lost some"
    assert not slices.alike(one, -one.float())
    off = elsewhere.off_truth(other.float(), one)
    assert off.isfinite().all() and off[3, 4] == 0 and off[5, 6] == 0 and off.abs().max() < 1e-6
