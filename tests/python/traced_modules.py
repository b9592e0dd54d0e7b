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
    ("F.max_pool1d(x[None], 2, return_indices=True)", "max_pool1d_with_indices.default"),
    ("F.adaptive_max_pool2d(x[None], (3, 5), return_indices=True)", "adaptive_max_pool2d.default"),
    ("F.adaptive_avg_pool1d(x[None], 3)", "adaptive_avg_pool1d.default"),
    ("F.gaussian_nll_loss(x, x * 2, x.abs(), full=True)", "mean.default"),
    ("F.poisson_nll_loss(x, x.exp(), full=True)", "exp.default"),
    ("F.margin_ranking_loss(x, x * 2, x.sign(), 0.5)", "clamp_min.default"),
    ("F.soft_margin_loss(x, x.sign()) + F.multi_margin_loss(x, x.argmax(1))", "soft_margin_loss.default"),
    (
        "F.multilabel_margin_loss(x, x.argsort(1)) + F.multilabel_soft_margin_loss(x, x.sigmoid())",
        "log_sigmoid.default",
    ),
    ("F.cosine_embedding_loss(x, x.flip(1), x[:, 0].sign(), 0.2)", "cosine_embedding_loss.default"),
    ("F.triplet_margin_loss(x, x * 2, x.flip(0), p=1.0, swap=True)", "triplet_margin_loss.default"),
    ("F.pairwise_distance(x, x.flip(1)) + torch.cdist(x, x)[0]", "cdist.default"),
    ("x.scatter(1, x.argsort(1), x * 2) + x.scatter_add(1, x.argsort(1), x)", "scatter_add.default"),
    ("x.scatter_reduce(1, x.argsort(1), x, 'amax')", "scatter_reduce.two"),
    ("x.index_add(0, x.argmax(0)[:2] // 4, x[:2]) + x.index_copy(0, torch.tensor([2, 0]), x[:2])", "index_add.default"),
    ("x.index_put((torch.tensor([1, 1]),), x[:2], accumulate=True)", "index_put.default"),
    ("x.masked_select(x > 0).sum() + torch.bucketize(x, torch.tensor([0.0, 1.0]))", "bucketize.Tensor"),
    ("x.sort(1, descending=True)", "sort.default"),
    ("torch.triu(x, 1) + torch.tril(x, -2)", "triu.default"),
    ("torch.stack([x, x.roll(3)], 1).tensor_split(3, 2)", "stack.default"),
    ("F.unfold(x[None, None], 3, padding=1), x.unfold(1, 3, 2)", "im2col.default"),
    ("F.fold(x[None], (3, 5), (2, 2))", "col2im.default"),
    ("torch.einsum('ij,kj,k->i', x, x, x[:, 0])", "bmm.default"),
    ("x.cummax(1)[0] + x.cummin(1)[0] + x.logcumsumexp(1)", "cummax.default"),
    ("x * torch.linspace(0, 1, 8) + torch.meshgrid(x[:, 0], x[0], indexing='ij')[1]", "linspace.default"),
    ("x.rot90(1, [0, 1]), torch.kron(x[:2, :2], x), torch.diff(x), torch.inner(x, x)", "rot90.default"),
    ("torch.linalg.cross(x[:, :3], x[:, 3:6]), torch.diag(x), torch.diag_embed(x, 1), torch.trace(x)", "trace.default"),
    ("F.bilinear(x, x, torch.ones(3, 8, 8)), torch.addbmm(x[:, :4], x[None], x.t()[None])", "bilinear.default"),
    ("F.local_response_norm(x[None], 3), F.channel_shuffle(x[None], 2)", "channel_shuffle.default"),
    ("F.interpolate(x[None, None], scale_factor=1.5, mode='bilinear')", "upsample_bilinear2d.vec"),
    ("F.interpolate(x[None, None], size=(5, 11), mode='bicubic', align_corners=True)", "upsample_bicubic2d.vec"),
    (
        "F.interpolate(x[None, None], size=(3, 11)), F.interpolate(x[None], size=3, mode='linear')",
        "upsample_linear1d.vec",
    ),
    ("F.grid_sample(x[None, None], x.reshape(1, 4, 4, 2), align_corners=False)", "grid_sampler.default"),
    ("F.embedding_bag(x.argmax(0)[None], x), F.softmin(x, 1)", "softmax.int"),
    ("F.instance_norm(x[None], x[:, 0], x[:, 1].exp(), use_input_stats=False)", "instance_norm.default"),
    ("torch.asinh(x).cosh() + torch.erfc(x) + torch.copysign(x, -x) + torch.signbit(x)", "asinh.default"),
    ("x.count_nonzero(1) + x.nansum(1) + torch.aminmax(x, dim=1)[0]", "nansum.default"),
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
    "packed_outputs": module_text(
        "y = (x * 2).view(2, 2, 8).transpose(0, 1).contiguous()\nreturn y, y.unsqueeze(0), y[1], y.view(4, 8), y.view(2, 1, 2, 8)"
    ),
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
    "plain_attributes": module_text(
        "h, self.c[0] = self.pair\nh = torch.tanh(self.net(x) + h * self.gain) / self.eps.item()\n"
        "self.pair = (h, x + self.drawn)\nself.total += h.sum()\nself.last = h\nreturn self.total.clone(), h",
        "self.net = nn.Linear(8, 8)\nself.pair = (torch.zeros(4, 8), torch.ones(4, 8))\nself.c = [torch.zeros(4, 8)]\n"
        "self.drawn = torch.randn(8)\nself.total = torch.zeros(())\nself.gain = torch.full((8,), 0.5)\nself.last = None\n"
        "self.register_buffer('eps', torch.tensor(2.0))",
    ),
    "transient_buffers": module_text(
        "h = self.net(x)\nself.cache[:, 2:3] = h[:, None]\nself.cell.past = torch.cat([self.cell.past[:, 4:], h[:, :4]], 1)\n"
        "if self.mask is None:\n    self.register_buffer('mask', torch.arange(8.0), persistent=False)\n"
        "self.steps += 1\nreturn self.cache.sum(1) * self.mask + self.cell.past * self.table / self.steps",
        "self.net, self.cell = nn.Linear(8, 8), nn.Module()\nself.cell.register_buffer('past', torch.zeros(4, 8), persistent=False)\n"
        "for name, value in [('cache', torch.zeros(4, 3, 8)), ('steps', torch.zeros(())), ('table', torch.arange(8.0)), ('mask', None)]:\n"
        "    self.register_buffer(name, value, persistent=False)",
    ),
    "parts_of_buffers": module_text(
        "self.cache[1, :, 2:4] = x.view(4, 2, 4).transpose(0, 1)[:, :2]\nself.cache[0].view(-1, 4)[place] = x[:3, :4]\n"
        "self.cache[0, 0].transpose(0, 1)[1:3, :2] *= 2\nold = self.bank[place]\nself.bank.index_add_(0, place, old + x[:3])\n"
        "self.counts.index_put_((place,), torch.ones(3), accumulate=True)\nself.counts[2:].mul_(0.5)\n"
        "return self.cache.sum(0), old, self.bank[1:3], self.counts",
        "for name, value in [('cache', torch.zeros(2, 2, 5, 4)), ('bank', torch.ones(4, 8)), ('counts', torch.zeros(4))]:\n"
        "    self.register_buffer(name, value)",
        inputs="torch.arange(32.0).view(4, 8), torch.tensor([3, 0, 2])",
        arguments="x, place",
    ),
    "complex_inside": module_text("return torch.fft.irfft(torch.fft.rfft(x) * 2j, n=8)"),
    "complex_values": module_text(
        "f = torch.fft.rfft(x) * self.turn * self.drawn * z\nreturn f, f * f.conj(), torch.view_as_real(f * self.w)",
        "self.turn = torch.polar(torch.ones(5), torch.arange(5.0))\nself.w = nn.Parameter(self.turn * 2)\n"
        "self.drawn = torch.randn(5, dtype=torch.complex64)",
        inputs="torch.randn(4, 8), torch.randn(5, dtype=torch.complex64)",
        arguments="x, z",
    ),
    "complex_of_copies": module_text(
        "z = torch.view_as_complex(x.transpose(1, 2).contiguous())\nreturn z.abs(), torch.view_as_real(z * z), z.conj() * v",
        inputs="torch.randn(3, 2, 5), torch.randn(3, 5, dtype=torch.complex64).conj()",
        arguments="x, v",
    ),
    "copies_decide_the_layout": module_text(
        "y = x.permute(0, 3, 1, 2).contiguous()\nz = F.relu(y)\n"
        "w = (z + y).view(2, 3, 6, 7)\n"
        "return z + 1, self.conv(w), F.max_pool2d(y, 2), self.norm(y.clone(memory_format=torch.contiguous_format))",
        "self.conv, self.norm = nn.Conv2d(3, 5, 3), nn.BatchNorm2d(3)",
        inputs="torch.randn(2, 6, 7, 3)",
    ),
    "sizes_from_data": module_text("y = x[x > 0]\nreturn y.sum() / y.shape[0]"),
    "lstm": module_text("return self.net(x)[0]", "self.net = nn.LSTM(8, 5, batch_first=True)"),
    "lstm_deep": module_text(
        "return self.net(x, (h, c))",
        "self.net = nn.LSTM(8, 5, 2, bidirectional=True, dropout=0.0)",
        inputs="torch.randn(3, 2, 8), torch.randn(4, 2, 5), torch.randn(4, 2, 5)",
        arguments="x, h, c",
    ),
    "lstm_projected": module_text("return self.net(x)[0]", "self.net = nn.LSTM(8, 5, proj_size=3)"),
    "gru": module_text("return self.net(x)", "self.net = nn.GRU(8, 5, 2, bias=False)"),
    "rnn_relu": module_text("return self.net(x)", "self.net = nn.RNN(8, 5, nonlinearity='relu')"),
    "cells": module_text(
        "return self.a(x), self.b(x), self.c(x)",
        "self.a = nn.LSTMCell(8, 5)\nself.b = nn.GRUCell(8, 5)\nself.c = nn.RNNCell(8, 5)",
    ),
    "instance_norm_running": module_text(
        "return self.n(x[None])", "self.n = nn.InstanceNorm1d(4, affine=True, track_running_stats=True)"
    ),
    "batch_norm_3d": module_text("return self.n(x.reshape(2, 2, 2, 2, 2))", "self.n = nn.BatchNorm3d(2)"),
    "attention": module_text(
        "return self.net(x, x, x)[0]", "self.net = nn.MultiheadAttention(8, 2)", inputs="torch.randn(4, 2, 8)"
    ),
    "encoder_masks": module_text(
        "return self.net(x, mask=m), self.net(x, src_key_padding_mask=p)",
        "self.net = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 1)",
        inputs="torch.randn(2, 4, 8), torch.ones(4, 4, dtype=torch.bool).triu(1), torch.arange(4) >= torch.tensor([[2], [4]])",
        arguments="x, m, p",
    )
    + 'MODE = "eval"\n',
    "names_of_torch": module_text(
        "self.meta += x[0]\nreturn self.graph(x) * self.code",
        "self.graph, self.code = nn.Linear(8, 8), nn.Parameter(torch.ones(8))\nself.register_buffer('meta', torch.zeros(8))",
    ),
    "inferred_shapes": module_text(
        "y = F.ctc_loss(x[:, None].log_softmax(-1), z, (4,), (2,))\nreturn y, torch.linalg.lstsq(x.mT, x.mT[:, :3]).solution",
        inputs="torch.randn(4, 8), torch.ones(1, 3, dtype=torch.int64)",
        arguments="x, z",
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
