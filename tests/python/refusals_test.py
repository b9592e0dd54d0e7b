"""What is known to be out of a trace's reach is refused in words of its own, with the user's line and a way out."""

from __future__ import annotations

from pathlib import Path

import pytest

from traced_modules import module_text
from tracing import refused

PACKED = module_text(
    "packed = nn.utils.rnn.pack_padded_sequence(x, n, enforce_sorted=False)\nreturn self.net(packed)[1][-1]",
    "self.net = nn.GRU(8, 5)",
    "torch.randn(4, 3, 8), torch.tensor([2, 4, 3])",
    "x, n",
)


@pytest.mark.parametrize("lengths", ["n", "[4, 3, 2]"])
def test_packed_sequences(tmp_path: Path, lengths: str) -> None:
    error = refused(tmp_path, PACKED.replace("(x, n", f"(x, {lengths}"))
    assert error.wrong == "the sizes of a packed sequence depend on the lengths' values"
    assert error.got.startswith("m0.py:10: packed = ") and "each row's last step" in error.wanted


def test_a_branch_inside_torch_is_called_torchs(tmp_path: Path) -> None:
    init = "self.net = nn.AdaptiveLogSoftmaxWithLoss(8, 20, [10])"
    error = refused(tmp_path, module_text("return self.net.predict(x)", init))
    assert error.wrong == "torch's own nn/modules/adaptive.py branches on a tensor's values"
    assert error.got == "m0.py:10: return self.net.predict(x)"


def test_an_observer_is_told_how_to_stop(tmp_path: Path) -> None:
    error = refused(tmp_path, module_text("return self.q(x)", "self.q = torch.ao.quantization.default_fake_quant()"))
    assert error.wrong == "torch's own ao/quantization/utils.py branches on a tensor's values"
    assert error.got == "m0.py:10: return self.q(x)" and "disable_observer" in error.wanted


@pytest.mark.parametrize(
    ("line", "init", "wrong", "wanted"),
    [
        (
            "return x @ torch.tensor([[x.max(), x.min()]] * 8)",
            "",
            "makes a tensor's value a Python number",
            "torch.stack",
        ),
        ("return x / float(x.abs().max())", "", "makes a tensor's value a Python number", "torch.where"),
        ("return x if x.sum() > 0 else -x", "", "branches on a tensor's values", "torch.where"),
        (
            "return self.net(x)",
            "self.net = nn.BatchNorm1d(8, momentum=None)",
            "a Python number",
            "momentum that is a number",
        ),
        ("return self.net(x.long())", "self.net = nn.Embedding(9, 4, max_norm=1.0)", "net.weight in place", "max_norm"),
    ],
)
def test_what_to_do_instead(tmp_path: Path, line: str, init: str, wrong: str, wanted: str) -> None:
    error = refused(tmp_path, module_text(line, init))
    assert wrong in error.wrong and wanted in error.wanted
    assert line in error.got
