"""A member of a crew on another machine, through Ray (docs.ray.io): begins its command there and carries its lines.

  python -m mtmc.crew.remote ADDRESS -- COMMAND...    descriptors 3 and 4 are those of the command, as src/workbench/crew.h says
  python -m mtmc.crew.remote ADDRESS --count          how many GPUs the cluster has

One member holds one GPU where the cluster has any, else one processor; Ray chooses where and sets CUDA_VISIBLE_DEVICES there. The
command's words are paths of this machine: the checkout, the suite and the output folder must lie at the same places on all.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

CARRIED = ("MTMC_PYTHON", "PYTHONPATH", "MTMC_STORE", "MTMC_TRACE")
PR_SET_PDEATHSIG, SIGKILL = 1, 9


# The pipes of a process become its descriptors 3 and 4; what it prints goes where its complaints go.
WIRED = ("bash", "-c", 'exec "$@" 3<&0 4>&1 </dev/null >&2', "bash")


def end_with_parent() -> None:
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, SIGKILL)


class Member:
    """Lives where the command does. `environment` is added to what that machine has."""

    def __init__(self, command: Sequence[str], environment: dict[str, str]) -> None:
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            [*WIRED, *command],
            env=os.environ | environment,
            stdin=pipe,
            stdout=pipe,
            text=True,
            preexec_fn=end_with_parent,
        )

    def hear(self) -> str | None:
        """The command's next line; None: it has ended."""
        assert self.process.stdout is not None
        return self.process.stdout.readline().rstrip("\n") or None

    def ask(self, line: str) -> str | None:
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            return None
        return self.hear()


def connected(address: str) -> Any:
    """Ray. Exits where it is missing, or nobody answers at the address."""
    try:
        import ray
    except ImportError:
        raise SystemExit("mtmc: using --ray: Python has no package ray: wanted `pip install ray`") from None
    try:
        ray.init(address=address, log_to_driver=True, logging_level="error")
    except (ConnectionError, ValueError) as error:
        raise SystemExit(f"mtmc: using --ray: no cluster answers: got '{address}': {error}") from None
    return ray


def main(words: Sequence[str]) -> int:
    address, rest = words[0], list(words[1:])
    ray = connected(address)
    gpus = int(ray.cluster_resources().get("GPU", 0))
    if rest == ["--count"]:
        print(gpus)
        return 0
    needs = {"num_gpus": 1} if gpus else {"num_cpus": 1}
    environment = {name: os.environ[name] for name in CARRIED if name in os.environ}
    member = ray.remote(Member).options(**needs).remote(rest[1:], environment)
    with os.fdopen(3) as requests, os.fdopen(4, "w", buffering=1) as replies:
        line = ray.get(member.hear.remote())
        while line is not None:
            replies.write(line + "\n")
            request = requests.readline()
            if not request:
                return 0
            line = ray.get(member.ask.remote(request.rstrip("\n")))
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
