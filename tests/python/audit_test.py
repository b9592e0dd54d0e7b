"""What a candidate imports is held against it, unless the task's own code asks for it, too."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from mtmc.task.asked import Asked, imported_by

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = """
import importlib.util, sys
from mtmc.guest.audit import Audit
audit = Audit([], [], sys.argv[2:])
spec = importlib.util.spec_from_file_location("candidate", sys.argv[1])
try:
    spec.loader.exec_module(importlib.util.module_from_spec(spec))
except PermissionError:
    pass
print(audit.found)
"""


def found(folder: Path, text: str, asked: list[str], **installed: str) -> str:
    """What the audit notes of a candidate; `installed`: packages beside torch, by name."""
    (folder / "site").mkdir(exist_ok=True)
    for name, source in installed.items():
        (folder / "site" / f"{name}.py").write_text(source)
    (folder / "candidate.py").write_text(text)
    path = os.pathsep.join([str(ROOT / "python"), str(folder / "site")])
    argv = [sys.executable, "-P", "-B", "-c", SCRIPT, str(folder / "candidate.py"), *asked]
    done = subprocess.run(argv, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=True)
    return done.stdout.strip()


OPTIONAL = "try:\n    import flash_attn\nexcept ImportError:\n    flash_attn = None\n"
REFUSED = "[('forbidden-import', 'import flash_attn')]"


@pytest.mark.parametrize(("asked", "answer"), [([], REFUSED), (["apex"], REFUSED), (["apex", "flash_attn"], "[]")])
def test_a_missing_package_that_the_task_tries_too(tmp_path: Path, asked: list[str], answer: str) -> None:
    assert found(tmp_path, OPTIONAL, asked) == answer
    assert found(tmp_path, "import library", asked, library=OPTIONAL) == answer


def test_an_installed_package_is_for_the_task_s_libraries_only(tmp_path: Path) -> None:
    packages = {"flash_attn": "", "library": OPTIONAL}
    assert found(tmp_path, "import library", ["flash_attn"], **packages) == "[]"
    for text in (OPTIONAL, "import importlib\nimportlib.import_module('flash_attn')"):
        assert found(tmp_path, text, ["flash_attn"], **packages) == REFUSED


def test_what_is_installed_is_told_from_the_users_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {
        "site-packages/package_of_all": "def function(): ...",
        "site-packages/another_of_all": "class Class: ...",
        "project/module_of_mine": "from another_of_all import Class",
        "project/task_of_mine": "import json, os\nimport torch, module_of_mine\nfrom package_of_all import function",
    }
    for name, text in texts.items():
        file = tmp_path / f"{name}.py"
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
        monkeypatch.syspath_prepend(file.parent)
        monkeypatch.delitem(sys.modules, file.stem, raising=False)
    assert imported_by(importlib.import_module("task_of_mine")) == ["another_of_all", "package_of_all"]


def test_what_the_task_asks_for_is_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    asked = Asked()
    with pytest.raises(ImportError):
        import no_such_package.inside  # noqa: F401
    assert asked.packages == {"no_such_package"}
