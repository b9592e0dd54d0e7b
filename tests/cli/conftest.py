import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[1] / "support/cuda_on_cpu"))


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "recipes: docs/ADDING.md carried out on a copy of the tree")
    config.addinivalue_line("markers", "gpu: what needs an NVIDIA GPU")
