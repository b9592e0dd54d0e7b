"""Truth of large arguments: in pieces, and with the arguments lent as they are."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from mtmc.device.device import device_named
from mtmc.referee import pieces, reference
from mtmc.referee.draws import make_draw
from mtmc.referee.reference import Reference, Truth
from mtmc.referee.truth import run_wide, widen
from mtmc.task.task import load_task

F = torch.nn.functional


@pytest.fixture
def everything_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "LARGE", 8)
    monkeypatch.setattr(pieces, "PIECE", 64)
    monkeypatch.setattr(reference, "COPIED_BYTES", 0)


OPERATORS = {
    "mean of squares": lambda x, y, row: F.mse_loss(x, y),
    "huber": lambda x, y, row: F.huber_loss(x, y, reduction="sum", delta=0.7),
    "smooth": lambda x, y, row: F.smooth_l1_loss(x, y, beta=0.3),
    "each loss": lambda x, y, row: F.mse_loss(x, y, reduction="none"),
    "sum": lambda x, y, row: x.sum(),
    "mean": lambda x, y, row: x.mean(),
    "chain": lambda x, y, row: (1 - x * row).clamp(min=0).mean(),
    "column": lambda x, y, row: torch.where(x > y, x, y[:1]) + y[:, :1],
    "view": lambda x, y, row: x.t().exp() @ y.view(-1, 5).t()[:, :33].t(),
    "argmin": lambda x, y, row: x.argmin(1),
    "largest": lambda x, y, row: x.max(0),
    "numbers": lambda x, y, row: x.pow(3) + 1,
}


@pytest.mark.usefixtures("everything_is_large")
@pytest.mark.parametrize("name", OPERATORS)
def test_narrow_arguments_give_what_wide_ones_do(name: str) -> None:
    torch.manual_seed(3)
    given = torch.randn(33, 5), torch.randn(33, 5), torch.randn(5)
    lent, orders = run_wide(lambda: OPERATORS[name](*given), [])
    wide, _ = run_wide(lambda: OPERATORS[name](*(x.double() for x in given)), [])
    for one, other in zip(*([x] if isinstance(x, torch.Tensor) else list(x) for x in (lent, wide)), strict=True):
        assert one.dtype == other.dtype and one.shape == other.shape
        torch.testing.assert_close(one, other, rtol=1e-13, atol=1e-13)
    ties = [orders.of(one) for one in ([lent] if isinstance(lent, torch.Tensor) else lent)]
    assert all(tie.values.data_ptr() == given[0].data_ptr() for tie in ties if tie)  # no copy of gigabytes
    assert any(ties) == (name in ("argmin", "largest"))


MODULES = {
    "reads": ("return torch.nn.functional.linear(x, self.w).argmax(1), (x - x.mean()).square().mean()", True),
    "writes": ("return x.mul_(2).sum()", False),
    "wants one type": (
        "return torch.nn.functional.scaled_dot_product_attention(x[None], (x @ self.w.t() @ self.w)[None], x[None])",
        False,
    ),
}


@pytest.mark.usefixtures("everything_is_large")
@pytest.mark.parametrize("name", MODULES)
def test_arguments_are_lent_to_the_module_in_double_where_it_bears_that(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body, is_lent = MODULES[name]
    (tmp_path / "model.py").write_text(
        "import torch\nclass Model(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.w = torch.nn.Parameter(torch.randn(6, 16))\n"
        f"    def forward(self, x):\n        {body}\ndef get_inputs():\n    return [torch.randn(24, 16)]\n"
    )
    (tmp_path / "task.json").write_text(f'{{"name": "t", "file": "{tmp_path}/model.py", "attr": "Model"}}')
    task = load_task(tmp_path / "task.json")
    with torch.no_grad():
        made = Reference(task, 1, device_named("cpu"))
        drawn = make_draw(task, 1, "task", "0")
        before = [x.clone() for x in drawn]
        eager = made.run_eager(drawn, made.pristine, 1)
        finished, replay = [], made._replay

        def noted(model: torch.nn.Module, *more: object) -> Truth:
            truth = replay(model, *more)  # type: ignore[arg-type]
            finished.append(more[3] is None)
            return truth

        monkeypatch.setattr(made, "_replay", noted)
        truth = made.run_truth(drawn, made.pristine, eager, widen)
    assert finished == [is_lent]
    assert all(torch.equal(x, y) for x, y in zip(drawn, before, strict=True))
    for t, e in zip(truth.calls[0], eager.calls[0], strict=True):
        torch.testing.assert_close(t, e.to(t.dtype), rtol=1e-4, atol=1e-4)
