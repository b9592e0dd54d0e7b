import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SUPPORT = Path(__file__).resolve().parents[1] / "support"
sys.path += [str(SUPPORT), str(SUPPORT / "cuda_on_cpu")]

from scripted_world import World  # noqa: E402
from small_task import SMALL_TASK  # noqa: E402
from warm_python import client  # noqa: E402


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "recipes: docs/ADDING.md carried out on a copy of the tree")
    config.addinivalue_line("markers", "gpu: needs an NVIDIA GPU")


@pytest.fixture(scope="session")
def python_of_tracers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("python")
    place, program = folder / "door", folder / "python"
    argv = [sys.executable, str(SUPPORT / "warm_python.py"), str(place)]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
        program.write_text(client(str(place)))
        program.chmod(0o755)
        yield program
        process.communicate()


@pytest.fixture
def warm_python(python_of_tracers: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The program's tracers need not import torch."""
    monkeypatch.setenv("MTMC_PYTHON", str(python_of_tracers))


@pytest.fixture
def world(tmp_path: Path, warm_python: None) -> Iterator[World]:
    made = World(tmp_path)
    (tmp_path / "small.py").write_text(SMALL_TASK)
    yield made
    made.stop()
    assert made.leaks() == []
