"""Tracing: what is written for modules of every kind, where the user's lines are, and what each refusal says."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from mtmc.task.task import load_task
from mtmc.trace.trace import trace
from traced_modules import HEADER, MODULES, module_text
from tracing import refused, traced

ROOT = Path(__file__).resolve().parents[2]


def ops(data: dict[str, Any]) -> list[str]:
    return [node["op"].removeprefix("aten.") for node in data["nodes"]]


# Every operator of the first release: the call and the overload it is traced to; its shape is eager's.
CALLS = [
    ("x + 2 * x - x / 3", "add.Tensor"),
    ("torch.where(x > 0, x, -x)", "where.self"),
    ("x.clamp(-1, 1)", "clamp.default"),
    ("x.to(torch.float16).float()", "_to_copy.default"),
    ("F.gelu(x, approximate='tanh')", "gelu.default"),
    ("F.hardswish(F.mish(F.elu(x)))", "hardswish.default"),
    ("x.sum(dim=1, keepdim=True)", "sum.dim_IntList"),
    ("x.mean()", "mean.default"),
    ("x.prod(1)", "prod.dim_int"),
    ("x.max(dim=1)[1]", "max.dim"),
    ("torch.amin(x, 0)", "amin.default"),
    ("x.argmax(1)", "argmax.default"),
    ("x.argmin()", "argmin.default"),
    ("x.var(1, unbiased=False)", "var.dim"),
    ("x.std()", "std.correction"),
    ("torch.logsumexp(x, 1)", "logsumexp.default"),
    ("x.norm(dim=1)", "linalg_vector_norm.default"),
    ("F.softmax(x, -1)", "softmax.int"),
    ("F.log_softmax(x, 1)", "log_softmax.int"),
    ("F.layer_norm(x, (8,))", "layer_norm.default"),
    ("F.group_norm(x[None], 2)", "group_norm.default"),
    ("F.instance_norm(x[None])", "instance_norm.default"),
    ("F.rms_norm(x, (8,))", "rms_norm.default"),
    ("torch.mm(x, x.t())", "mm.default"),
    ("torch.bmm(x[None], x.t()[None])", "bmm.default"),
    ("torch.addmm(x, x, torch.eye(8))", "addmm.default"),
    ("F.linear(x, x)", "linear.default"),
    ("torch.matmul(x, x[0])", "matmul.default"),
    ("torch.einsum('ij,kj->ik', x, x)", "bmm.default"),
    ("F.conv2d(x[None, None], torch.ones(3, 1, 2, 2), padding=1)", "conv2d.default"),
    ("F.max_pool2d(x[None], 2)", "max_pool2d.default"),
    ("F.avg_pool2d(x[None], 2)", "avg_pool2d.default"),
    ("F.adaptive_avg_pool2d(x[None], 1)", "adaptive_avg_pool2d.default"),
    ("torch.div(x, x.exp(), rounding_mode=None)", "div.Tensor"),
    ("torch.cumsum(x, 0)", "cumsum.default"),
    ("torch.cumprod(x, 1)", "cumprod.default"),
    ("x.permute(1, 0).reshape(-1)", "permute.default"),
    ("x.expand(3, 4, 8)", "expand.default"),
    ("x[1:, ::2]", "slice.Tensor"),
    ("torch.cat([x, x], 1)", "cat.default"),
    ("F.pad(x, (1, 2))", "pad.default"),
    ("torch.flip(x, (0,))", "flip.default"),
    ("F.embedding(x.argmax(0), x)", "embedding.default"),
    ("F.scaled_dot_product_attention(x[None], x[None], x[None])", "scaled_dot_product_attention.default"),
    ("F.mse_loss(x, x * 2)", "mse_loss.default"),
    ("F.cross_entropy(x, x.argmax(1))", "cross_entropy_loss.default"),
    ("F.huber_loss(x, x * 3)", "huber_loss.default"),
    ("F.kl_div(x, x.exp(), reduction='batchmean')", "kl_div.default"),
]


@pytest.mark.parametrize(("call", "overload"), CALLS)
def test_operators_stay_composite(tmp_path: Path, call: str, overload: str) -> None:
    data = traced(tmp_path, module_text(f"return {call}"))
    assert overload in ops(data)
    assert {node["at"] for node in data["nodes"]} == {"m0.py:7"}
    assert {node["source"] for node in data["nodes"]} == {f"return {call}"}
    eager = eval(call, {"torch": torch, "F": torch.nn.functional, "x": torch.randn(4, 8)})
    types = {output["name"]: output["type"] for node in data["nodes"] for output in node["outputs"]}
    assert types[data["outputs"][0]].endswith("[" + ",".join(map(str, eager.shape)) + "]")


def test_arguments_by_name_without_defaults(tmp_path: Path) -> None:
    text = module_text(
        "return F.conv2d(x, self.w, stride=2, padding=(1, 0))",
        "self.w = nn.Parameter(torch.ones(3, 1, 2, 2))",
        "torch.randn(1, 1, 6, 6)",
    )
    (node,) = traced(tmp_path, text)["nodes"]
    assert node["args"] == {"input": {"v": "x"}, "weight": {"v": "p_w"}, "stride": [2, 2], "padding": [1, 0]}
    assert (node["call"], node["operands"]) == ("{0}, {1}, None, [2, 2], [1, 0]", ["x", "p_w"])


def test_batch_norm_in_training_updates_state(tmp_path: Path) -> None:
    data = traced(tmp_path, module_text("return self.n(x)", "self.n = nn.BatchNorm1d(8)"))
    assert [state["target"] for state in data["states"]] == ["n.running_mean", "n.running_var", "n.num_batches_tracked"]
    outputs = data["nodes"][1]["outputs"]
    assert [output["used"] for output in outputs] == [True, False, False, True, True]  # nobody needs the saved ones
    assert [state["value"] for state in data["states"][:2]] == [output["name"] for output in outputs[3:]]
    assert traced(tmp_path, module_text("return self.n(x)", "self.n = nn.BatchNorm1d(8)"), mode="eval")["states"] == []


def test_lines_inside_helpers_and_layers(tmp_path: Path) -> None:
    text = HEADER + (
        "def helper(x):\n"
        "    y = x * 2\n"
        "    return y + 1\n"
        "class Model(nn.Module):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        self.layers = nn.Sequential(nn.Linear(8, 8), nn.ReLU())\n"
        "    def forward(self, x):\n"
        "        return helper(\n"
        "            self.layers(x))\n"
        "def get_inputs():\n"
        "    return [torch.randn(4, 8)]\n"
    )
    lines = [(node["op"].split(".")[1], node["at"]) for node in traced(tmp_path, text)["nodes"]]
    assert lines == [("linear", "m0.py:14"), ("relu", "m0.py:14"), ("mul", "m0.py:6"), ("add", "m0.py:7")]


@pytest.mark.parametrize(
    ("returned", "template"),
    [
        ("x", "{0}"),
        ("x + 1, x", "({0}, {1})"),
        ("(x + 1,)", "({0},)"),
        ("[x, (x, x + 1)]", "[{0}, ({0}, {1})]"),
        ("{'a': x + 1, 'b': {'c': None, 'd': 3}}", "{'a': {0}, 'b': {'c': None, 'd': 3}}"),
        ("torch.max(x, dim=1)", "torch.return_types.max(({0}, {1},))"),
        ("OrderedDict(out=x)", """__import__("collections").OrderedDict({'out': {0}})"""),
        ("Pair(x, (x + 1,))", "self._Pair({0}, ({1},))"),
    ],
)
def test_structure_of_outputs(tmp_path: Path, returned: str, template: str) -> None:
    imports = "from collections import OrderedDict, namedtuple\nPair = namedtuple('Pair', 'first rest')\n"
    data = traced(tmp_path, imports + module_text(f"return {returned}"))
    assert data["template"] == template
    held = """    _Pair = __import__("collections").namedtuple('Pair', ('first', 'rest'))\n"""
    assert (held in data["constructor_source"]) == ("Pair" in returned)


def test_same_tensor_twice_stays_two_inputs(tmp_path: Path) -> None:
    text = module_text("return a @ b.t()", inputs="*[torch.ones(2, 2)] * 2", arguments="a, b")
    leaves = traced(tmp_path, text)["leaves"]
    assert [leaf["target"] for leaf in leaves] == ["a", "b"]


def test_lists_scalars_and_defaults_as_arguments(tmp_path: Path) -> None:
    text = module_text("return xs[0] * scale + xs[1]['k'] * 2", inputs="[torch.ones(2), {'k': torch.ones(2)}], 3.0")
    data = traced(tmp_path, text.replace("self, x)", "self, xs, scale, flag=False)"))
    assert [leaf["target"] for leaf in data["leaves"]] == ["xs_0", "xs_1_k"]
    assert data["parameters"] == ["xs", "scale", "flag=False"]
    assert data["opening"] == [
        'if flag is not False: raise ValueError(f"running m: flag is fixed: got {flag!r}, wanted False")',
        'if len(xs) != 2: raise ValueError(f"running m: len(xs) is fixed: got {len(xs)!r}, wanted 2")',
        'if len(xs[1]) != 1: raise ValueError(f"running m: len(xs[1]) is fixed: got {len(xs[1])!r}, wanted 1")',
        "xs_0 = xs[0]",
        "xs_1_k = xs[1]['k']",
        'if scale != 3.0: raise ValueError(f"running m: scale is fixed: got {scale!r}, wanted 3.0")',
    ]


def test_stars_in_the_signature(tmp_path: Path) -> None:
    text = module_text(
        "return a + rest[0] * rest[1]", inputs="*torch.randn(3, 4)", arguments="a, *rest, act=F.relu, p=1"
    )
    data = traced(tmp_path, text)
    assert data["parameters"] == ["a", "*rest", "act=None", "p=1"]
    assert data["opening"][0].startswith("if len(rest) != 2: raise ValueError(")
    assert data["opening"][3:] == ["rest_0 = rest[0]", "rest_1 = rest[1]"]
    data = traced(tmp_path, module_text("return x", arguments="x, p=1, *rest"))
    assert data["opening"][0].startswith("if len(rest) != 0:")
    data = traced(tmp_path, module_text("return x if flag is None else -x", arguments="x, *, flag=None"))
    assert data["parameters"] == ["x", "*", "flag=None"]


def test_arguments_that_go_by_name_only(tmp_path: Path) -> None:
    body = "def f(x, *rest, mask, scale=2.0, **words): return x * rest[0] * scale + mask * words['pair'][1]\n"
    drawn = "[torch.randn(3), torch.randn(3)], {'pair': [1, torch.randn(3)], 'mask': torch.randn(3)}"
    data = traced(tmp_path, f"import torch\n{body}def get_inputs(): return {drawn}\n", attr="f")
    assert data["parameters"] == ["x", "*rest", "mask", "scale=2.0", "**words"]
    assert [leaf["target"] for leaf in data["leaves"] if leaf["kind"] == "input"] == [
        "x",
        "rest_0",
        "mask",
        "words_pair_1",
    ]
    lines = "\n".join(data["opening"])
    assert "rest_0 = rest[0]" in lines and "words_pair_1 = words['pair'][1]" in lines
    assert "if len(rest) != 1:" in lines and "if sorted(words) != ['pair']:" in lines
    assert "scale != 2.0" in lines and "words['pair'][0] != 1" in lines


def test_parameters_buffers_and_constants_by_name(tmp_path: Path) -> None:
    init = (
        "self.a = nn.Linear(8, 8)\nself.b = nn.Linear(8, 8)\nself.b.weight = self.a.weight\n"
        "self.register_buffer('steps', torch.zeros((), dtype=torch.int64))\nself.loose = torch.arange(8.0)"
    )
    forward = (
        "self.steps += 1\n"
        "y = torch.tensor([1.5, float('inf')])[0] * torch.tensor(list(range(100)))[:8]\n"
        "return self.b(self.a(x)) + self.loose + y"
    )
    data = traced(tmp_path, module_text(forward, init))
    leaves = {leaf["target"]: leaf for leaf in data["leaves"]}
    assert leaves["loose"]["kind"] == "constant" and "values" not in leaves["loose"]
    (small,) = [leaf for leaf in leaves.values() if "values" in leaf]
    assert small["values"] == [1.5, {"float": "inf"}]
    (large,) = [leaf for leaf in leaves.values() if leaf["type"] == "i64[100]"]
    assert f"    {large['target']} = torch.frombuffer" in data["constructor_source"]
    assert [state["target"] for state in data["states"]] == ["steps"]
    namespace: dict[str, Any] = {}
    exec(data["constructor_source"].replace("# mtmc: forward", "pass"), namespace)
    built = namespace["ModelNew"]()
    assert torch.equal(getattr(built, large["target"]), torch.arange(100)) and built.a.weight is built.b.weight


def test_what_a_program_cannot_hold_stays_inside_a_call(tmp_path: Path) -> None:
    (node,) = traced(tmp_path, module_text("return torch.fft.rfft(x).abs()"))["nodes"]
    assert (node["op"], node["args"]) == ("aten.abs.default", None)
    assert node["call"] == "torch.ops.aten.fft_rfft.default({0})"
    counted = traced(tmp_path, module_text("y = x[x > 0]\nreturn y.sum() / y.shape[0]"))
    assert ops(counted) == ["gt.Scalar", "sum.default", "div.Tensor"]
    chosen = traced(tmp_path, module_text("y = x.t()[x[0] > 0].t().contiguous()\nreturn y.sum() + 1"))
    assert ops(chosen)[-1] == "add.Tensor"
    unique = traced(tmp_path, module_text("return torch.unique(x, return_inverse=True)[1]"))
    assert ops(unique) == ["alias.default"] and unique["nodes"][0]["call"].endswith("[1]")
    message = refused(tmp_path, module_text("return x.sum(), x.nonzero()")).message()
    assert message.startswith(
        "tracing m: forward returns what a program cannot hold: got torch.int64 of shape [u0, 2] (m"
    )
    assert message.endswith(".py:7: return x.sum(), x.nonzero()), wanted tensors of a fixed shape")


def test_random_operators_and_devices(tmp_path: Path) -> None:
    data = traced(tmp_path, module_text("return F.dropout(x) + torch.rand(8, device=x.device)"))
    rand = next(node for node in data["nodes"] if node["op"] == "aten.rand.default")
    assert rand["call"] == "[8], device={0}.device, pin_memory=False" and rand["operands"] == ["x"]


def test_functions(tmp_path: Path) -> None:
    text = HEADER + "def scaled(x, by=2.0):\n    y = x * by\n    return y, y.sum()\n"
    data = traced(tmp_path, text, attr="scaled", kind="function", inputs=["f32[3]", 4.0])
    assert [node["at"] for node in data["nodes"]] == ["m0.py:6", "m0.py:7"]
    assert data["parameters"] == ["x", "by=2.0"]
    assert data["constructor_source"] == "import torch\n\n\nclass ModelNew(torch.nn.Module):\n    # mtmc: forward\n"


def test_plain_attributes_are_state(tmp_path: Path) -> None:
    data = traced(tmp_path, MODULES["plain_attributes"])
    leaves = {leaf["target"]: leaf["kind"] for leaf in data["leaves"]}
    assert leaves == dict.fromkeys(["net.weight", "net.bias"], "param") | {
        "x": "input",
        "gain": "constant",
    } | dict.fromkeys(["eps", ".pair.0", ".pair.1", ".c.0", ".drawn", ".total"], "buffer")
    returned = {state["target"]: state["returned"] for state in data["states"]}
    assert returned == {".pair.0": True, ".pair.1": False, ".c.0": False, ".total": False}


def test_buffers_that_are_not_persistent_are_state(tmp_path: Path) -> None:
    data = traced(tmp_path, MODULES["transient_buffers"])
    buffers = {leaf["target"] for leaf in data["leaves"] if leaf["kind"] == "buffer"}
    assert buffers == {"cell.past", "cache", "steps", "table"} and data["checked"]
    assert {state["target"] for state in data["states"]} == {"cell.past", "cache", "steps"}


def test_buffers_that_a_trace_cannot_hold(tmp_path: Path) -> None:
    init = "self.net = nn.Module()\nself.net.register_buffer('late', torch.ones(2, 8), persistent=False)"
    late = "if len(x) > len(self.net.late): self.net.register_buffer('late', x * 2, persistent=False)\nreturn self.net.late"
    grown = refused(tmp_path, module_text(late, init))
    assert (grown.wrong, grown.got) == (REMAKES, "net.late")
    grown = refused(tmp_path, module_text(late, init).replace(", persistent=False", ""))
    assert grown.wrong == "forward gives the buffer net.late another type or shape" and "[4, 8]" in str(grown.got)
    late = "if not hasattr(self, 'late'): self.register_buffer('late', x.detach() * 2)\nreturn self.late + x"
    kept = refused(tmp_path, module_text(late))
    assert (kept.wrong, kept.got) == ("forward adds a parameter or buffer to the state_dict", "late")


def test_numbers_read_from_the_state_are_checked(tmp_path: Path) -> None:
    forward = "if self.gate[0] > self.net.bias.detach().sum().item() - 100:\n    x = x * 2\nreturn self.net(x) * (self.gate[1] * 3).item()"
    data = traced(
        tmp_path, module_text(forward, "self.net = nn.Linear(8, 8)\nself.register_buffer('gate', torch.ones(2))")
    )
    assert ops(data) == ["mul.Tensor", "linear.default", "mul.Tensor"]
    first, second = data["opening"]
    scope = {"self": SimpleNamespace(gate=torch.ones(2))}
    exec(first, scope)
    scope["self"].gate[1] = 2
    with pytest.raises(ValueError, match=r"running m: gate is fixed: got \[1.0, 2.0\], wanted \[1.0, 1.0\]"):
        exec(first, scope)
    assert "self.net.bias" in second


def test_what_is_large_is_neither_drawn_nor_compared(tmp_path: Path) -> None:
    text = module_text("return self.net(x)", "self.net = nn.Linear(40000, 40000)", "torch.rand(40000, 40000) * 2")
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    data = traced(tmp_path, text)
    assert (
        not data["checked"]
        and ops(data) == ["linear.default"]
        and "nn.Linear(40000, 40000)" in data["constructor_source"]
    )
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - used < 1 << 20  # KiB: one gigabyte of 13


def test_arguments_whose_code_reads_their_values_are_drawn(tmp_path: Path) -> None:
    data = traced(
        tmp_path, module_text("return x * n", inputs="torch.ones(3), int(torch.ones(4).sum())", arguments="x, n")
    )
    assert "n != 4" in data["opening"][0] and data["checked"]


REMAKES = "forward makes a tensor anew in another shape, and goes on to change it or to depend on it"
REFUSALS = [
    (
        module_text("self.h = torch.cat([self.h, x])\nreturn self.h.sum()", "self.h = torch.zeros(4, 8)"),
        f"tracing m: {REMAKES}: got h, wanted a buffer of its full size from the constructor on",
    ),
    (
        module_text(
            "self.n += 1\nreturn x * int(self.n)", "self.register_buffer('n', torch.ones(1, dtype=torch.int64))"
        ),
        "tracing m: forward makes a tensor's value a Python number: got m0.py:11: return x * int(self.n), "
        "wanted no branch and no Python number that depends on a tensor's values (torch.where chooses by element)",
    ),
    (
        module_text("n = self.n.item()\nself.n = self.n + 1\nreturn x * n", "self.n = torch.ones(())"),
        "tracing m: forward reads n as a Python number and changes it, too: wanted arithmetic on tensors, or a number that "
        "stays",
    ),
    (
        module_text("if x.sum() > 0:\n    x = -x\nreturn x"),
        "tracing m: forward branches on a tensor's values: got m0.py:7: if x.sum() > 0:, "
        "wanted no branch and no Python number that depends on a tensor's values (torch.where chooses by element)",
    ),
    (
        module_text("return torch.from_numpy(x.numpy() * 2)"),
        "tracing m: forward leaves torch for numpy: got m0.py:7: return torch.from_numpy(x.numpy() * 2), "
        "wanted torch's own functions",
    ),
    (
        module_text("x.relu_()\nreturn x + 1"),
        "tracing m: forward modifies its input x in place: got m0.py:7: x.relu_(), "
        "wanted a forward that leaves its inputs alone",
    ),
    (
        module_text("self.calls += 1\nreturn x * self.calls", "self.calls = 0"),
        "tracing m: what forward returns depends on attributes that it changes and that are not tensors from the first "
        "call on: got calls: 0, then 1, wanted buffers or tensor attributes for what lasts from call to call",
    ),
    (
        module_text("return torch.sparse.mm(self.a, x)", "self.a = torch.eye(4).to_sparse()"),
        "tracing m: a is no dense tensor: got torch.sparse_coo, "
        "wanted dense tensors (.to_dense(); or indices and values as arguments of their own)",
    ),
    (
        module_text("return x.to_dense()", inputs="torch.eye(4).to_sparse()"),
        "tracing m: argument 0 is no dense tensor: got torch.sparse_coo, "
        "wanted dense tensors (.to_dense(); or indices and values as arguments of their own)",
    ),
    (
        module_text(
            "with torch.enable_grad():\n    y = x.detach().requires_grad_()\n    return torch.autograd.grad(self.net(y).sum(), y)",
            "self.net = nn.Linear(8, 2)",
        ),
        "tracing m: forward computes gradients: got m0.py:12: return torch.autograd.grad(self.net(y).sum(), y), "
        "wanted a forward without torch.autograd.grad, backward and torch.func.grad",
    ),
    (
        module_text("return torch.func.grad(lambda y: self.net(y).sum())(x)", "self.net = nn.Linear(8, 2)"),
        "tracing m: forward computes gradients: got m0.py:10: return torch.func.grad(lambda y: self.net(y).sum())(x), "
        "wanted a forward without torch.autograd.grad, backward and torch.func.grad",
    ),
    (
        module_text("return x", inputs="torch.ones(4).numpy()"),
        "tracing m: argument 0 is neither a tensor nor a plain value: got ndarray, "
        "wanted tensors (torch.from_numpy), plain values, and lists, tuples and dicts of them",
    ),
    (
        module_text("return self.net(x)", "self.net = torch.jit.script(nn.Linear(8, 2))"),
        "tracing m: nothing can be seen of a part of the module: got net is made by torch.jit, "
        "wanted plain modules with tensors",
    ),
    (
        module_text(
            "return self.net(x)",
            "self.net = torch.ao.quantization.quantize_dynamic(nn.Sequential(nn.Linear(8, 2)), {nn.Linear})",
        ),
        "tracing m: nothing can be seen of a part of the module: got net.0._packed_params holds packed weights "
        "(LinearPackedParams), wanted plain modules with tensors",
    ),
    (
        module_text("return slice(x)"),
        "tracing m: forward returns another structure: got slice, "
        "wanted tensors in tuples, named tuples, lists, dicts, dataclasses and ModelOutputs",
    ),
    (
        module_text("return torch.autograd.grad((x * self.w).sum(), self.w)", "self.w = nn.Parameter(torch.ones(8))"),
        "tracing m: forward computes gradients: got m0.py:10: return torch.autograd.grad((x * self.w).sum(), self.w), "
        "wanted a forward without torch.autograd.grad, backward and torch.func.grad",
    ),
    (
        module_text("x = x.requires_grad_()\nreturn torch.autograd.grad(x.sin().sum(), x)"),
        "tracing m: forward computes gradients: got m0.py:8: return torch.autograd.grad(x.sin().sum(), x), "
        "wanted a forward without torch.autograd.grad, backward and torch.func.grad",
    ),
    (
        module_text("self.turn *= 1j\nreturn x", "self.register_buffer('turn', torch.ones(3, dtype=torch.complex64))"),
        "tracing m: forward changes complex state: got turn, wanted its real and imaginary parts as two",
    ),
    (
        module_text("return torch.complex(x, x).to(torch.complex32)"),
        "tracing m: forward returns what a program cannot hold: got torch.complex32 of shape [4, 8] "
        "(m0.py:7: return torch.complex(x, x).to(torch.complex32)), wanted tensors of a fixed shape",
    ),
    (
        module_text("return None"),
        "tracing m: forward returns no tensor and moves no state: got None, wanted a tensor to return",
    ),
    (
        module_text("return self.part(x)", "self.part = nn.Linear(8, 8, device='meta')"),
        "constructing Model: a weight has no data: got part.weight on meta, wanted a real device",
    ),
    (
        module_text("return self.part(x)", "self.part = nn.LazyLinear(8)"),
        "constructing Model: a weight has no shape yet: got part.weight, "
        "wanted a module whose shapes are known when it is constructed",
    ),
    (
        module_text("return x.reshape(5)"),
        "running Model on its inputs: RuntimeError: shape '[5]' is invalid for input of size 32: "
        "got m0.py:7: return x.reshape(5)",
    ),
]


@pytest.mark.parametrize(("text", "message"), REFUSALS)
def test_refusals(tmp_path: Path, text: str, message: str) -> None:
    assert refused(tmp_path, text).message() == message


def test_the_line_of_a_package_is_named_beside_the_users(tmp_path: Path) -> None:
    (tmp_path / "package_of_theirs.py").write_text("def choose(x):\n    return x * 2 if x.sum() > 0 else x\n")
    text = module_text("return package_of_theirs.choose(x)").replace(
        "import torch\n", "import torch, package_of_theirs\n", 1
    )
    assert refused(tmp_path, text).got == (
        "m1.py:7: return package_of_theirs.choose(x), by it package_of_theirs.py:2: return x * 2 if x.sum() > 0 else x"
    )


def test_values_are_not_checked_while_tracing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.distributions.Distribution, "_validate_args", True)  # Inductor turns it off
    data = traced(
        tmp_path,
        module_text("return torch.distributions.Normal(x[0], 1.0).log_prob(x), F.gaussian_nll_loss(x, x, x.exp())"),
    )
    assert data["checked"] and torch.distributions.Distribution._validate_args


def test_command_writes_errors_as_json(tmp_path: Path) -> None:
    task, out = tmp_path / "task.json", tmp_path / "out.json"
    task.write_text(json.dumps({"name": "m", "file": str(tmp_path / "none.py")}))
    command = [sys.executable, "-m", "mtmc.trace.trace", str(task), str(out)]
    done = subprocess.run(command, env={"PYTHONPATH": str(ROOT / "python")}, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (2, "")
    assert json.loads(out.read_text())["error"]["wrong"] == "no such file"


def test_results_of_ways_that_only_eager_has_are_put_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "module.py"
    file.write_text(
        module_text(
            "return self.attention(x, x, x, need_weights=False)[0]",
            "self.attention = nn.MultiheadAttention(8, 2, batch_first=True)",
            "torch.randn(2, 4, 8)",
        )
    )
    task = {"name": "module", "file": str(file), "attr": "Model", "mode": "eval"}
    data = trace(load_task(task))
    assert data["checked"] and data["template"] == "{0}.contiguous()"
    monkeypatch.setattr("mtmc.trace.trace.CHECKED_BYTES", 0)
    data = trace(load_task(task))
    assert not data["checked"] and data["template"] == "{0}.contiguous()", "where they are too large to be looked at"
