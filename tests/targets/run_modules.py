"""Runs printed modules: `run_modules.py cpu|cuda|ahead FOLDER` reads FOLDER/request.json, a list of {text, inputs}, and
writes FOLDER/reply.json, a list of {outputs}, how many numbers each has, or {failure}. The numbers themselves are doubles in
moduleN.inputs and moduleN.outputs: as text they took longer than what they are for. `cpu` is Triton's interpreter; `ahead` launches nothing and
compiles every kernel that would be launched for sm_90 and, in turns, for an older or a newer GPU. All cores work."""

import importlib
import importlib.util
import inspect
import json
import math
import multiprocessing
import os
import random
import re
import sys
import traceback
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import torch

DTYPES = {
    "b1": torch.bool, "u8": torch.uint8, "i8": torch.int8, "i16": torch.int16, "i32": torch.int32, "i64": torch.int64,
    "f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64,
}  # fmt: skip
OTHERS = (80, 100)
SHARED_BYTES = 232448  # that a block may have on sm_90


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(module, inputs, device):
    file = Path(module.__file__)
    numbers = torch.from_numpy(np.fromfile(file.with_suffix(".inputs")))
    parts = numbers.split([math.prod(one["shape"]) for one in inputs])
    tensors = [part.to(DTYPES[one["dtype"]]).reshape(one["shape"]) for one, part in zip(inputs, parts, strict=True)]
    values = [value.double().reshape(-1).cpu() for value in module.ModelNew()(*[x.to(device) for x in tensors])]
    torch.cat(values).numpy().tofile(file.with_suffix(".outputs"))
    return {"outputs": [value.numel() for value in values]}


def compile_ahead(module, inputs):
    """Every launch is recorded instead of made; then its kernel is compiled from the types of its arguments."""
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource, compile
    from triton.language import constexpr
    from triton.runtime.jit import JITFunction

    launches = []

    def record(self, *args, grid, warmup=False, **options):
        launches.append((self, args, options))

    original, JITFunction.run = JITFunction.run, record
    module._DEVICE = "cpu"
    try:
        module.ModelNew()(*[torch.zeros(one["shape"], dtype=DTYPES[one["dtype"]]) for one in inputs])
    finally:
        JITFunction.run = original
    first = int(module.__name__.removeprefix("module"))
    for number, (function, args, options) in enumerate(launches, first):
        signature = {name: kind(arg) for name, arg in zip(function.arg_names, args, strict=True)}
        aligned = {(i,): [["tt.divisibility", 16]] for i, arg in enumerate(args) if isinstance(arg, torch.Tensor)}
        for capability in (90, OTHERS[number % 2]):
            module._OVERLAPS = constexpr(capability >= 90)
            module._FROM_REGISTERS = constexpr(capability // 10 == 9)
            source = ASTSource(function, signature, {}, aligned)
            made = compile(source, target=GPUTarget("cuda", capability, 32), options=dict(options))
            # A product that the program waits for does not go on beside what follows (triton/helpers.cpp).
            settles = "_settled(" in inspect.getsource(function.fn)
            if capability == 90 and settles and re.search("pendings = [1-9]", made.asm["ttgir"]):
                raise ValueError(f"{function.__name__} computes operands while products are read from registers")
            # Both parts of log2(e) are in fused multiplications (triton/helpers.cpp).
            exact = "_exp(" in inspect.getsource(function.fn) and ".f64" not in made.asm["ptx"] and capability == 90
            if exact and len(re.findall(r"fma\.rn\.f32[^;]*0f[3B](?:FB8AA3B|2A57060)", made.asm["ptx"])) < 2:
                raise ValueError(f"{function.__name__} has no exponential in two parts")
            if capability == 90 and made.metadata.shared > SHARED_BYTES:
                raise ValueError(
                    f"{function.__name__} needs {made.metadata.shared} bytes of shared memory of {SHARED_BYTES}"
                )
    return {"outputs": [], "launches": len(launches)}


def kind(arg):
    if isinstance(arg, torch.Tensor):
        return "*" + letter(arg.dtype)
    if isinstance(arg, int):
        return "i32"
    return f"tensordesc<{letter(arg.base.dtype)}[{', '.join(map(str, arg.block_shape))}]>"


def letter(dtype):
    names = {torch.bool: "i1", torch.uint8: "u8", torch.float16: "fp16", torch.bfloat16: "bf16", torch.float32: "fp32"}
    names |= {torch.int8: "i8", torch.int16: "i16", torch.int32: "i32", torch.int64: "i64", torch.float64: "fp64"}
    return names[dtype]


def reduce_by_halves(self, input):
    """In place of the interpreter's own for functions that it does not know: that one calls them once for every element, which
    took most of these tests' time. Extents are powers of two."""
    parts, axis = self.unravel(input, self.axis)
    data = [part.handle.data for part in parts]
    while data[0].shape[axis] > 1:
        halves = [np.split(d, 2, axis) for d in data]
        given = [
            self.to_tensor(pair[side], part.dtype) for side in (0, 1) for pair, part in zip(halves, parts, strict=True)
        ]
        found = self.combine_fn.fn(*given)
        data = [one.handle.data for one in (found if isinstance(found, tuple) else (found,))]
    if not self.keep_dims:
        data = [d.squeeze(axis) for d in data]
    elif self.axis is None:
        data = [d.reshape([1] * len(input[0].shape)) for d in data]
    return [self.to_tensor(d if d.shape else d.item(), part.dtype) for d, part in zip(data, parts, strict=True)]


def in_any_order(seed):
    """Programs of a launch run one after the other here, and at the same time on a GPU: what depends on who is first shows when
    the order is another one."""
    from triton.runtime import interpreter

    builder, orders = interpreter.interpreter_builder, {}

    def set_grid_idx(x, y, z):
        count = builder.grid_dim[0]
        if count not in orders:
            orders[count] = random.Random(seed).sample(range(count), count)
        type(builder).set_grid_idx(builder, orders[count][x], y, z)

    builder.set_grid_idx = set_grid_idx


def reply(job):
    device, path, inputs = job
    if device == "cpu":
        from triton.runtime.interpreter import ReduceOps

        ReduceOps.generic_reduce = reduce_by_halves
        if "atomic" not in path.read_text():  # else programs wait for each other
            in_any_order(path.name)
    try:
        module = load(path)
        return compile_ahead(module, inputs) if device == "ahead" else run(module, inputs, device)
    except Exception:  # whatever it is, it belongs to this module
        return {"failure": traceback.format_exc()[-3000:]}


def main():
    device, folder = sys.argv[1], Path(sys.argv[2])
    jobs = []
    for number, one in enumerate(json.loads((folder / "request.json").read_text())):
        jobs.append((device, folder / f"module{number}.py", one["inputs"]))
        jobs[-1][1].write_text(one["text"])
    workers = min(len(os.sched_getaffinity(0)), 12, len(jobs))
    importlib.import_module("triton")  # once, for all workers
    # Whoever writes beside its tensors may end a worker: then this ends, too.
    forked = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(workers, mp_context=forked, initializer=torch.set_num_threads, initargs=(1,)) as pool:
        replies = list(pool.map(reply, jobs))
    (folder / "reply.json").write_text(json.dumps(replies))


if __name__ == "__main__":
    main()
