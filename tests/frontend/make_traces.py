"""Writes the traces that the import tests read: `PYTHONPATH=python python tests/frontend/make_traces.py`.

traces.json holds {name: {"source": the module's file, "trace": what python -m mtmc.trace.trace writes for it}}. The programs
made of them are in golden/: `test_frontend --update-golden` after this script.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "tests" / "python")]

from mtmc.task.task import load_task  # noqa: E402
from mtmc.trace.trace import trace  # noqa: E402
from traced_modules import CALLS, MODULES, module_text  # noqa: E402


def main() -> None:
    made: dict[str, Any] = {}
    sources = {path.stem: path.read_text() for path in sorted((ROOT / "examples").glob("*.py"))}
    sources |= MODULES | {f"call_{index}": module_text(f"return {call}") for index, (call, _) in enumerate(CALLS)}
    with tempfile.TemporaryDirectory() as folder:
        for name, text in sources.items():
            path = Path(folder, f"{name}.py")
            path.write_text(text)
            attr = "score" if "def score(" in text else "Model"
            data = trace(load_task({"name": name, "file": str(path), "attr": attr}))
            data["file"] = data["torch"] = ""
            made[name] = {"source": text, "trace": data}
            print(name, len(data["nodes"]))
    lines = [f"{json.dumps(name)}: {json.dumps(entry, separators=(',', ':'))}" for name, entry in made.items()]
    (HERE / "traces.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
