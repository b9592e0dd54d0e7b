"""For tests of what the judge does when processes of its own die: in PYTHONPATH, it ends the one that the variable names.

MTMC_TEST_LOSES: `compile FOLDER`: a baseline that is to be compiled, as often as there are files in the folder, each of which
is removed; `timing FOLDER`: the same when the compiled baseline is called for the fifth time; `memory FOLDER`: a baseline that is
to be compiled does not end, but finds no memory; `zeros`: the referee when it reads an answer that is zero everywhere; `timed`: the
referee raises on what a timed call must return. `state FOLDER`: none does; the compiled baseline notes with what sum of its buffers each
call begins, one a line, in a file of that folder.
"""

import os
import sys
import types
from pathlib import Path

import torch

import mtmc.rivals.inductor
from mtmc.referee.kept_draws import KeptDraws
from mtmc.referee.lending import Lender

what, _, folder = os.environ["MTMC_TEST_LOSES"].partition(" ")


def lose() -> None:
    if deaths := sorted(Path(folder).iterdir()):
        deaths[0].unlink()
        if what == "memory":
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 GiB.")
        os._exit(3)


def compiled(model, mode=None):
    if what in ("compile", "memory"):
        lose()
    calls = iter(range(1000))

    def call(*arguments):
        if what == "timing" and next(calls) == 5:
            lose()
        if what == "state":
            with Path(folder, "sums").open("a") as file:
                file.write(f"{sum(float(buffer.sum()) for buffer in model.buffers())}\n")
        return model(*arguments)

    return call


def seen_but_zeros(*arguments):
    value = seen(*arguments)
    if what == "zeros" and isinstance(value, list) and isinstance(value[0], torch.Tensor) and not value[0].any():
        os._exit(3)
    return value


def drawn_but_timed(self, name, must=False):
    if what == "timed" and name.startswith("timed"):
        raise RuntimeError("value cannot be converted")
    return drawn(self, name, must)


seen, Lender.seen = Lender.seen, seen_but_zeros
drawn, KeptDraws.draw = KeptDraws.draw, drawn_but_timed
torch.compile = compiled
if "mtmc.rivals.baseline" in sys.orig_argv:  # nothing is compiled in them: that spares an import as long as torch's own
    for name in ("torch._dynamo", "torch._inductor", "torch._inductor.compile_fx"):
        sys.modules[name] = types.ModuleType(name)
    torch._dynamo = sys.modules["torch._dynamo"]
    torch._dynamo.reset = lambda: None
    mtmc.rivals.inductor.shared = lambda: False  # it would look into torch's compiler
