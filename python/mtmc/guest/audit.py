"""What a candidate tries to do outside its room, noted by Python's own audit events: the hook cannot be taken out.

The walls are the kernel's (see sandbox.py); this names the attempt, and ends it early with an error.
"""

from __future__ import annotations

import os
import socket
import sys
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

# Installers, packages of ready-made kernels, and the judge itself.
FORBIDDEN_IMPORTS = frozenset(
    (
        "pip ensurepip uv conda flash_attn xformers liger_kernel flag_gems apex kernels vllm sgl_kernel bitsandbytes fla "
        "mamba_ssm causal_conv1d kernelbench mtmc"
    ).split()
)
INSTALLERS = frozenset(["pip", "pip3", "uv", "conda", "curl", "wget", "apt", "apt-get", "npm", "git"])
CONNECTS = frozenset(["socket.connect", "socket.bind", "socket.sendto", "socket.getaddrinfo", "urllib.Request"])
CHANGES = {  # event -> positions of the paths that it would change
    "os.remove": (0,),
    "os.rename": (0, 1),
    "os.rmdir": (0,),
    "os.mkdir": (0,),
    "os.truncate": (0,),
    "os.chmod": (0,),
    "os.link": (1,),
    "os.symlink": (1,),
    "shutil.rmtree": (0,),
}


class Audit:
    """Notes `(reason, detail)` for each forbidden attempt since `start`."""

    __slots__ = ("found", "writable", "secret", "asked", "installed")

    def __init__(self, writable: list[str], secret: list[str], asked: list[str]) -> None:
        """`asked`: packages that the task's own code asks for, too."""
        self.found: list[tuple[str, str]] = []
        self.writable = tuple(os.path.realpath(path) for path in writable)
        self.secret = frozenset(os.path.realpath(path) for path in secret)
        self.asked = frozenset(asked)
        self.installed = tuple(path + os.sep for path in sys.path if path and not path.startswith(self.writable))
        sys.addaudithook(self._hook)
        sys.meta_path.insert(0, self)  # importlib.import_module raises no event

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        """Asked by Python's import for every module that is not loaded yet; finds none."""
        package = name.partition(".")[0]
        if package in FORBIDDEN_IMPORTS and not (package in self.asked and self._harmless(package)):
            self._refuse("forbidden-import", f"import {name}")

    def _harmless(self, package: str) -> bool:
        """Is it missing, so that asking for it brings nothing, or asked for by an installed package, as for the task?"""
        if PathFinder.find_spec(package) is None:
            return True
        frame = sys._getframe(2)
        while frame is not None and ("importlib" in frame.f_code.co_filename or frame.f_code.co_filename == __file__):
            frame = frame.f_back
        return frame is not None and frame.f_code.co_filename.startswith(self.installed)

    def _hook(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "import":
            self.find_spec(str(arguments[0]))
        elif event == "open":
            self._open(arguments[0], arguments[1], arguments[2])
        elif event == "subprocess.Popen":
            words = (
                [str(word) for word in arguments[1]] if isinstance(arguments[1], (list, tuple)) else [str(arguments[1])]
            )
            tools = {
                Path(word).name for word in words[:1] + [w for a, w in zip(words, words[1:], strict=False) if a == "-m"]
            }
            if tools & INSTALLERS:
                self._refuse("forbidden-import", "starts " + " ".join(words)[:80])
        elif event == "socket.__new__" and arguments[1] != socket.AF_UNIX:
            self._refuse("network", "makes a socket")
        elif event in CONNECTS:
            self._refuse("network", event)
        elif event == "os.mkdir" and os.path.isdir(arguments[0]):
            pass  # changes nothing
        elif event in CHANGES:
            for position in CHANGES[event]:
                self._write(arguments[position])

    def _open(self, path: Any, mode: Any, flags: Any) -> None:
        if not isinstance(path, (str, bytes, os.PathLike)):
            return
        if isinstance(mode, str):
            writes = any(letter in mode for letter in "wax+")
        else:
            writes = bool(int(flags or 0) & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC))
        if writes:
            self._write(path)
        elif self.secret and os.path.realpath(os.fsdecode(path)) in self.secret:
            self._refuse("forbidden-import", "reads the task's own file")

    def _write(self, path: Any) -> None:
        if not isinstance(path, (str, bytes, os.PathLike)):
            return
        real = os.path.realpath(os.fsdecode(path))
        if real != os.devnull and not any(real == root or real.startswith(root + os.sep) for root in self.writable):
            self._refuse("forbidden-write", f"writes {real}")

    def _refuse(self, reason: str, detail: str) -> None:
        self.found.append((reason, detail))
        raise PermissionError(f"{reason}: {detail}")
