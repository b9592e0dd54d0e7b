"""Complex tensors in a trace: inside a call's text, or as their real views."""

from __future__ import annotations

import json
from pathlib import Path

from traced_modules import module_text
from tracing import traced


def test_complex_tensors_are_held_by_their_real_views(tmp_path: Path) -> None:
    twice = traced(tmp_path, module_text("f = torch.fft.rfft(x).conj()\nreturn (f * f).abs(), f"))
    (view, size) = twice["nodes"]
    assert view["op"] == "aten.view_as_real.default" and view["outputs"][0]["type"] == "f32[4,5,2]"
    assert view["call"].startswith("torch.ops.aten.resolve_conj.default(torch.ops.aten._conj.default(")
    assert "\n".join(size["before"]).count("torch.ops.aten.view_as_complex.default({0})") == 1, "it is computed once"
    assert twice["template"] == "({0}, torch.view_as_complex({1}))"
    again = "z = torch.complex(x, x)\n" + "z = z * z + 1j\n" * 40 + "return z.abs()"
    assert len(json.dumps(traced(tmp_path, module_text(again)))) < 1 << 17, "and not twice as often by each step"


def test_a_complex_leaf_is_its_real_view(tmp_path: Path) -> None:
    lines = "self.register_buffer('b', torch.zeros(8) + 1j)\nself.p = nn.Parameter(self.b * 2)\nself.f = self.b + 3"
    data = traced(
        tmp_path, module_text("return (x * self.b * self.p * self.f).real", lines, inputs="torch.ones(8) * 1j")
    )
    leaves = {leaf["target"]: (leaf["kind"], leaf["type"]) for leaf in data["leaves"]}
    held = {"b@real": ("buffer", "f32[8,2]"), "p@real": ("param", "f32[8,2]"), "f@real": ("constant", "f32[8,2]")}
    assert held.items() <= leaves.items()
    assert data["opening"] == ["x = torch.view_as_real(x.resolve_conj())"] and leaves["x"] == ("input", "f32[8,2]")


def test_complex_slices_may_be_written_where_weights_have_gradients(tmp_path: Path) -> None:
    lines = "f = torch.fft.rfft(x * self.w)\nf[:, :2] = f[:, 2:4] * 2\nreturn torch.fft.irfft(f)"
    assert traced(tmp_path, module_text(lines, "self.w = nn.Parameter(torch.ones(8))"))["checked"]
