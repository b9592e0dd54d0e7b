"""The module as eager runs it and its twin in double: what both get, and what neither keeps."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from mtmc.device.device import device_named
from mtmc.referee.reference import EagerError, Reference
from mtmc.referee.truth import widen
from mtmc.task.task import load_task
from traced_modules import module_text


def reference(folder: Path, returned: str, init: str = "", inputs: str = "torch.ones(4, 8)") -> Reference:
    (folder / "model.py").write_text(module_text(f"return {returned}", init, inputs))
    return Reference(load_task({"name": "t", "file": str(folder / "model.py")}), 1, device_named("cpu"))


def test_eager_gets_arguments_where_a_candidate_gets_them(tmp_path: Path) -> None:
    made = reference(tmp_path, "torch.view_as_complex(x).abs()", inputs="torch.ones(4, 2)")
    x = torch.ones(4, 2)
    assert made.run_eager([x], {}, 0).calls[0][0].shape == (4,)
    with pytest.raises(EagerError, match="storage_offset"):
        made.run_eager([torch.ones(9)[1:].view(4, 2)], {}, 0)


@pytest.mark.parametrize("keeps", ["hook", "attribute"])
def test_modules_that_functions_were_defined_around_are_built_again(tmp_path: Path, keeps: str) -> None:
    init = {
        "hook": "self.net.register_forward_hook(lambda module, given, result: self.kept.update(h=result))",
        "attribute": "self.twice = lambda x: self.kept.update(h=2 * self.net.weight) or x",
    }[keeps]
    body = "self.net(x)" if keeps == "hook" else "self.net(self.twice(x))"
    made = reference(
        tmp_path, f"{body} + self.kept['h']", f"self.kept, self.net = {{}}, nn.Linear(4, 4)\n{init}", "torch.ones(4, 4)"
    )
    x = torch.ones(4, 4)
    eager = made.run_eager([x], made.pristine, 0)
    truth = made.run_truth([x], made.pristine, eager, widen)
    assert truth.calls[0][0].dtype == torch.float64
    assert torch.allclose(truth.calls[0][0].float(), eager.calls[0][0])


@pytest.mark.parametrize("persistent", [True, False])
def test_two_names_of_a_buffer_are_two_names_in_double(tmp_path: Path, persistent: bool) -> None:
    init = f"self.register_buffer('a', torch.zeros(8))\nself.register_buffer('b', self.a, persistent={persistent})"
    made = reference(tmp_path, "self.a.add_(x.sum(0)) * 0 + self.b", init)
    x = torch.ones(4, 8)
    eager = made.run_eager([x], made.pristine, 0)
    truth = made.run_truth([x], made.pristine, eager, widen)
    assert [call[0][0].item() for call in truth.calls] == [4, 8] and truth.calls[0][0].dtype == torch.float64


def test_what_a_module_compiles_runs_as_it_is_written(tmp_path: Path) -> None:
    """Under the judge's modes dynamo lost the self of the inner method."""
    text = module_text("return self.helper(x)").replace("    def forward", "    @torch.compile\n    def forward")
    helper = "    @torch.compile\n    def helper(self, x):\n        assert not torch.compiler.is_compiling()\n        return x * 2\n"
    (tmp_path / "model.py").write_text(text.replace("def get_inputs", helper + "def get_inputs"))
    made = Reference(load_task({"name": "t", "file": str(tmp_path / "model.py")}), 1, device_named("cpu"))
    x = torch.ones(4, 8)
    eager = made.run_eager([x], made.pristine, 0)
    assert torch.equal(made.run_truth([x], made.pristine, eager, widen).calls[0][0], x.double() * 2)
