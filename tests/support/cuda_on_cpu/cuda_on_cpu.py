"""The class `Cuda` of files for the target cuda, in a test's process without a GPU: kernels are compiled by g++ and run on the
CPU. `in_place_of_nvrtc` makes a kernel file use it.
"""

from __future__ import annotations

import ctypes
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import torch

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
KERNEL = re.compile(r"__global__\s+void\s+(?:__launch_bounds__\s*\([^)]*\)\s*)?(\w+)")
DYNAMIC = re.compile(r"extern\s+__shared__\s+(\w+)\s+(\w+)\[\];")


def runner() -> str:
    """The class as the target's rules have it: what every file holds word for word."""
    guide = (ROOT / "src/coder/guides/cuda.md").read_text()
    found = re.search(r"```python\n(.*?)```", guide, re.DOTALL)
    assert found is not None
    return found[1].strip()


def in_place_of_nvrtc(code: str) -> str:
    assert runner() in code, "the file's class Cuda is not the one of src/coder/guides/cuda.md"
    here = f'exec(open("{__file__}").read(), names := {{"__file__": "{__file__}"}})\nCuda = names["Cuda"]'
    return code.replace(runner(), here)


class Cuda:
    def __init__(self, source: str) -> None:
        self.source, self.library = source, None

    def __call__(self, name: str, blocks: Any, threads: Any, *arguments: Any, shared: int = 0) -> None:
        if self.library is None:
            self.library = self.build()
        values = [x.data_ptr() if isinstance(x, torch.Tensor) else x for x in arguments]
        values = [ctypes.c_float(x) if isinstance(x, float) else ctypes.c_longlong(x) for x in values]
        places = (ctypes.c_void_p * len(values))(*map(ctypes.addressof, values))
        sizes = (ctypes.c_uint * 7)(*(*blocks, 1, 1)[:3], *(*threads, 1, 1)[:3], shared)
        if (sizes[3] * sizes[4] * sizes[5]) > 1024:
            raise RuntimeError("CUDA error: invalid argument (1)")
        getattr(self.library, f"launch_{name}")(sizes, places)

    def build(self) -> ctypes.CDLL:
        entries = "".join(
            f'extern "C" void launch_{name}(const unsigned* sizes, void** given)'
            f" {{ fibers::launch(fibers::Body<{name}>::run, sizes, given); }}\n"
            for name in KERNEL.findall(self.source)
        )
        text = DYNAMIC.sub(r"\1* \2 = reinterpret_cast<\1*>(fibers::dynamic_shared);", self.source)
        folder = Path(tempfile.mkdtemp())
        (folder / "kernels.cpp").write_text(f'#include "{HERE}/cuda_on_cpu.h"\n{text}\n{entries}')
        argv = ["g++", "-std=c++20", "-O2", "-w", "-shared", "-fPIC", "kernels.cpp", "-o", "kernels.so"]
        done = subprocess.run(argv, cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError("compiling the kernels of this file failed:\n" + done.stderr)
        return ctypes.CDLL(str(folder / "kernels.so"))


def find_nvrtc() -> Path | None:
    """A libnvrtc.so that pip installed (nvidia-cuda-nvrtc); it needs no GPU."""
    found = [file for folder in sys.path for file in Path(folder).glob("nvidia/*/lib/libnvrtc.so.*")]
    return next((file for file in found if file.suffix[1:].isdigit()), None)


def compile_by_nvrtc(code: str, library: Path, monkeypatch: Any) -> None:
    """Has the file's own class compile its kernels for an H100. RuntimeError: NVRTC refuses them."""
    ctypes.CDLL(str(library))  # whoever asks for it by name is given it
    monkeypatch.setattr(torch.version, "cuda", f"{library.suffix[1:]}.0")
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda: (9, 0))
    names: dict[str, Any] = {}
    exec(compile(code, "kernel.py", "exec"), names)
    assert names["CUDA"].compile().raw[1:4] == b"ELF"
