"""The guest that calls a script's functions at one of the benchmark's sizes, as its file that measures calls them. One step at a time,
under command of side_by_side.py. What is said from here is the script's word: it may have changed all that lies in this process.
"""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import ShapeEnv
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

from mtmc.device.device import device_named, made_on
from mtmc.task.task import seed_everything
from mtmc.tritonbench.dispatch import tensors_of
from mtmc.tritonbench.performance import CLASS, SHARE, count_of, memory_of
from mtmc.tritonbench.record import kept
from mtmc.tritonbench.task_file import TaskFile, run_script
from mtmc.wire.blobs import same_bits
from mtmc.wire.line import Message
from mtmc.wire.task_error import first_line

WARM_UPS = 3  # calls; the first one compiles and tunes
OTHER = 1 << 20  # added to a seed: the rehearsal's values are not those of the call that is timed
MOST_BYTES = 2 << 30  # of arguments: what a call gives is kept in a file, of 4 GiB at most
EMPTY = ("empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided")
SHOWN = 120  # characters of a size in words


class Filled(TorchDispatchMode):
    """Memory that is handed out without values holds zeros: what a function leaves there is the same in two processes."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        return result.zero_() if func._opname in EMPTY else result


class Sized:
    def __init__(self, task: TaskFile, code: str, file: Path, results: Path, device: str) -> None:
        """`task`: its tests are the file that measures, see performance.script_of; `file`: where both stand."""
        self.task, self.code, self.file, self.results, self.on = task, code, file, results, device
        self.metrics: Any = None
        self.made: Any = None  # the arguments of the call to come, or of the last one
        self.result: Any = None

    def handle(self, request: Message) -> Message:
        """`failed`: what the script, or the benchmark's file, raised."""
        try:
            return getattr(self, "on_" + request["op"])(request)
        except BaseException as error:
            return {"failed": first_line(error)}

    def on_load(self, _: Message) -> Message:
        self.device = device_named(self.on)
        self.device.confine()
        self.timed = self.device.timed  # bound: its class may be changed
        self.namespace = run_script(self.task, self.code, self.file, None, 0)
        self.metrics = self.namespace[CLASS]()
        return {}

    def on_sizes(self, _: Message) -> Message:
        """Bytes of each size's arguments, without making any; 0 where that takes values. `limit`: of what fits."""
        found = []
        for place in range(count_of(self.metrics)):
            try:
                with FakeTensorMode(shape_env=ShapeEnv()):
                    made = self.listed(place)
                found.append(sum(tensor.numel() * tensor.itemsize for tensor in tensors_of(made)))
            except Exception:  # to make it with values will say what is wrong, if anything is
                found.append(0)
        return {"bytes": found, "limit": min(memory_of(self.on) // SHARE, MOST_BYTES)}

    def listed(self, place: int) -> Any:
        self.metrics.input_tensors, self.metrics.place = [], place
        self.metrics.get_input_tensors()
        return self.metrics.input_tensors[0]

    def drawn(self, request: Message, seed: int) -> Any:
        """The arguments, drawn on the device where that can be."""
        self.made = self.result = None
        seed_everything(seed)
        with Filled():
            return self.metrics.to_cuda(made_on(self.device.where, lambda: self.listed(request["place"])))

    def on_warm(self, request: Message) -> Message:
        """`changed`: which of the tensors among the arguments a call writes to; `size`: the arguments in words."""
        self.made = self.result = None
        gc.collect()
        for _ in range(WARM_UPS):
            made = self.drawn(request, request["seed"])
            tensors = tensors_of(made)
            before = [tensor.detach().clone() for tensor in tensors]
            self.metrics.call_op(made)
            self.device.synchronize()
        pairs = enumerate(zip(tensors, before, strict=True))
        changed = [at for at, (one, other) in pairs if one.shape != other.shape or not same_bits(one, other)]
        shapes = [list(leaf.shape) if isinstance(leaf, torch.Tensor) else leaf for leaf in pytree.tree_leaves(made)]
        return {"changed": changed, "size": ", ".join(map(str, shapes))[:SHOWN]}

    def on_arm(self, request: Message) -> Message:
        """Ready for a call that is timed: what it computes with is new, the caches hold something else, the host's way to it is warm."""
        self.metrics.call_op(self.drawn(request, request["seed"] + OTHER))
        self.made = self.drawn(request, request["seed"])
        gc.disable()
        self.device.flush()
        self.device.wake()
        return {}

    def on_go(self, _: Message) -> Message:
        metrics, made = self.metrics, self.made
        self.result, elapsed = self.timed(lambda: metrics.call_op(made))
        gc.enable()
        return {"ns": elapsed}

    def on_keep(self, request: Message) -> Message:
        """What the last call gave goes into the file: its result, and the arguments that a call writes to."""
        tensors = tensors_of(self.made)
        leaves, spec = pytree.tree_flatten((self.result, [tensors[place] for place in request["changed"]]))
        torch.save([{"name": "the result", "structure": str(spec), "leaves": list(map(kept, leaves))}], self.results)
        return {}

    def on_figures(self, request: Message) -> Message:
        """What the benchmark's file makes of times (ms) at the size of the last call: its GB/s and TFLOP/s."""
        found = {}
        for name in ("gbps", "tflops"):
            rates = [getattr(self.metrics, "get_" + name)(self.made, ms) for ms in request["ms"]]
            found[name] = [float(rate) for rate in rates]
        return found
