"""A package `ray` of which everything runs in the process that asks: what we use of it, for one cluster called `cluster`."""

from __future__ import annotations

from pathlib import Path

import pytest

PYTHON = Path(__file__).resolve().parents[2] / "python"
RAY = """
def init(address, **_):
    if address != "cluster":
        raise ConnectionError("nobody there")


def cluster_resources():
    return {"CPU": 2.0}


def get(value):
    return value


class remote:
    def __init__(self, kind):
        self.kind = kind

    def options(self, num_cpus):
        return self

    def remote(self, *arguments):
        return Actor(self.kind(*arguments))


class Actor:
    def __init__(self, inner):
        self.inner = inner

    def __getattr__(self, name):
        return type("Method", (), {"remote": staticmethod(getattr(self.inner, name))})
"""


def install_ray(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "ray").mkdir()
    (folder / "ray" / "__init__.py").write_text(RAY)
    monkeypatch.setenv("PYTHONPATH", f"{PYTHON}:{folder}")
