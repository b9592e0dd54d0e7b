"""Small modules for the tests of tracing: every operator of the first release, and every shape of module."""

from __future__ import annotations

HEADER = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n\n"


def module_text(forward: str, init: str = "", inputs: str = "torch.randn(4, 8)", arguments: str = "x") -> str:
    """A file with Model and get_inputs; forward's first line is line 7, or 7 + 2 + the lines of init."""
    lines = ["class Model(nn.Module):"]
    if init:
        lines += ["    def __init__(self):", "        super().__init__()"]
        lines += [f"        {line}" for line in init.split("\n")]
    lines += [f"    def forward(self, {arguments}):", *(f"        {line}" for line in forward.split("\n"))]
    return HEADER + "\n".join(lines) + f"\ndef get_inputs():\n    return [{inputs}]\n"


# A call on x: f32[4,8], and an overload it is traced to.
CALLS = [
    ("x + 2 * x - x / 3", "add.Tensor"),
    ("torch.where(x > 0, x, -x)", "where.self"),
    ("x.clamp(-1, 1)", "clamp.default"),
    ("x.to(torch.float16).float()", "_to_copy.default"),
    ("(x > 0) & (x.abs() <= 1) | (x != x)", "__or__.Tensor"),
    ("x.masked_fill(x < 0, float('-inf'))", "masked_fill.Scalar"),
    ("F.gelu(x, approximate='tanh')", "gelu.default"),
    ("F.hardswish(F.mish(F.elu(x)))", "hardswish.default"),
    ("F.softplus(x) + F.silu(x) + F.hardtanh(x)", "softplus.default"),
    ("torch.exp(x).log1p().sqrt().rsqrt() ** 2", "pow.Tensor_Scalar"),
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
    ("F.normalize(x)", "linalg_vector_norm.default"),
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
    ("F.conv2d(x[None, None], torch.ones(3, 1, 2, 2), padding='same')", "conv2d.padding"),
    ("F.conv_transpose2d(x[None, None], torch.ones(1, 3, 2, 2), stride=2)", "conv_transpose2d.input"),
    ("F.max_pool2d(x[None], 2)", "max_pool2d.default"),
    ("F.avg_pool2d(x[None], 2)", "avg_pool2d.default"),
    ("F.adaptive_avg_pool2d(x[None], 1)", "adaptive_avg_pool2d.default"),
    ("torch.cumsum(x, 0)", "cumsum.default"),
    ("torch.cumprod(x, 1)", "cumprod.default"),
    ("x.permute(1, 0).reshape(-1)", "permute.default"),
    ("x.expand(3, 4, 8)", "expand.default"),
    ("x[1:, ::2]", "slice.Tensor"),
    ("torch.cat([x, x], 1)", "cat.default"),
    ("sum(x.split(2, 1)) + sum(x.chunk(4, 1)) + x.unbind(1)[0][:, None]", "slice.Tensor"),
    ("F.pad(x, (1, 2))", "pad.default"),
    ("F.pad(x, (1, 2), mode='reflect')", "pad.default"),
    ("torch.flip(x, (0,))", "flip.default"),
    ("x.roll(1, 0) + torch.tril(x)", "roll.default"),
    ("F.embedding(x.argmax(0), x)", "embedding.default"),
    ("x.gather(1, x.argsort(1))", "gather.default"),
    ("F.scaled_dot_product_attention(x[None], x[None], x[None])", "scaled_dot_product_attention.default"),
    ("F.mse_loss(x, x * 2)", "mse_loss.default"),
    ("F.cross_entropy(x, x.argmax(1))", "cross_entropy_loss.default"),
    ("F.huber_loss(x, x * 3)", "huber_loss.default"),
    ("F.kl_div(x, x.exp(), reduction='batchmean')", "kl_div.default"),
    ("F.interpolate(x[None, None], scale_factor=2)", "upsample_nearest2d.vec"),
    ("torch.topk(x, 3)[1]", "topk.default"),
]

BUFFERS = (
    "self.register_buffer('steps', torch.zeros((), dtype=torch.int64))\n"
    "self.register_buffer('a', torch.arange(8.0))\nself.register_buffer('b', torch.ones(8))"
)
MODULES = {
    "batch_norm_train": module_text("return self.n(x)", "self.n = nn.BatchNorm1d(8)"),
    "batch_norm_eval": "MODE = 'eval'\n" + module_text("return self.n(x)", "self.n = nn.BatchNorm1d(8)"),
    "buffers_swapped": module_text(
        "self.steps += 1\nold = self.a.clone()\nself.a.copy_(self.b)\nself.b.copy_(old)\nreturn x * self.a, old",
        BUFFERS,
    ),
    "fresh_outputs": module_text("y = x * 2\nreturn x.clone(), x.t(), y, y.clone(), x.clone().t()"),
    "dict_of_outputs": module_text("return {'y': (x + 1, None), 'best': torch.max(x, dim=1), 'n': [3]}"),
    "lists_as_arguments": module_text(
        "return xs[0] * scale + xs[1]", inputs="[torch.ones(3), torch.ones(3)], 3.0", arguments="xs, scale, flag=False"
    ),
    "integers": module_text(
        "return table[x] + (x // 2).float()[:, None]", inputs="torch.arange(4), torch.ones(9, 2)", arguments="x, table"
    ),
    "in_place_on_views": module_text("y = x * 2\ny[:, 0] = 1\ny[1:3] += x[0:2]\nreturn y.relu_()"),
    "constants": module_text(
        "return x * torch.tensor([1.5, float('inf')])[0] + self.loose + torch.tensor(list(range(100)))[:8]",
        "self.loose = torch.arange(8.0)",
    ),
    "complex_inside": module_text("return torch.fft.irfft(torch.fft.rfft(x) * 2j, n=8)"),
    "sizes_from_data": module_text("y = x[x > 0]\nreturn y.sum() / y.shape[0]"),
    "lstm": module_text("return self.net(x)[0]", "self.net = nn.LSTM(8, 5, batch_first=True)"),
    "attention": module_text(
        "return self.net(x, x, x)[0]", "self.net = nn.MultiheadAttention(8, 2)", inputs="torch.randn(4, 2, 8)"
    ),
    "tied": module_text(
        "return F.linear(F.embedding(x, self.table.weight), self.out.weight)",
        "self.table = nn.Embedding(9, 8)\nself.out = nn.Linear(8, 9, bias=False)\nself.out.weight = self.table.weight",
        inputs="torch.arange(4)",
    ),
    "autocast": module_text(
        "with torch.autocast('cpu', dtype=torch.bfloat16):\n    y = self.net(x)\nreturn y.float() + x",
        "self.net = nn.Linear(8, 8)",
    ),
}
