"""Suite G's harness: a script and its tests in a locked room, with Triton's interpreter, on a task of our own."""

from __future__ import annotations

from pathlib import Path

import pytest
from script_server import GOLDEN, asked, request, written

from mtmc.tritonbench.room import names_of
from mtmc.tritonbench.serve import forks_have_gpus, in_a_process
from mtmc.tritonbench.task_file import SEPARATOR

TORCH = "import torch\n\ndef double(x):\n    return x + x\n"


# The golden code in a variable of whoever called: its kernel's name is written so that this text is not found.
CLIMBS = """
found, frame = [], sys._getframe()
while frame:
    found += [name for name, value in frame.f_locals.items() if 'double_' + 'kernel' in repr(value)]
    frame = frame.f_back
"""
REMEMBERED = "sum(isinstance(o, dict) and o.get('name') == 'result_gold' for o in gc.get_objects())"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return written(tmp_path)


def test_scripts_are_held_to_the_golden_one(file: Path) -> None:
    spy = f"open({str(file)!r}).read() or 1 / 0\n"
    codes = {
        "itself": None,
        "torch": TORCH,
        "wrong": TORCH.replace("x + x", "x + 1"),
        "broken": TORCH.replace("x + x", "y"),
        "shape": TORCH.replace("x + x", "(x + x)[None]"),
        "leaves": "import os\nos._exit(0)\n",
        "says": TORCH + "print('hello')\n",
        "spies": TORCH + spy,
        "links": "import os\nos.symlink('../golden.pt', 'kept.pt')\nos._exit(0)\n",
        "takes": "import torch\nprint(len(torch.load('../golden.pt')))\n" + TORCH,
        "climbs": f"import sys\n{CLIMBS}assert not found, found\n" + TORCH,
        "looks": "import os\nassert set(os.listdir('..')) == {'golden.pt', 'candidate'}, os.listdir('..')\n" + TORCH,
        "remembers": f"import gc\nassert {REMEMBERED} <= 1\n" + TORCH,  # its own of the first seed
        "writes": TORCH + f"open({str(file.parent / 'mark')!r}, 'w')\n",
        "scratch": "import tempfile\ntempfile.TemporaryFile()\n" + TORCH,
    }
    tries = [request("attempt_script", file, code=code) for code in codes.values()]
    golden, *verdicts = asked(request("golden", file), *tries)
    assert golden == {"failed": "", "excluded": "", "output": ""}
    found = dict(zip(codes, verdicts, strict=True))
    shown = {name: [one["called"], one["executed"], one["strict"]] for name, one in found.items()}
    assert shown == {
        "itself": [True, True, True],
        "torch": [True, True, True],
        "wrong": [True, True, False],
        "broken": [False, False, False],
        "shape": [True, True, False],
        "leaves": [True, True, False],
        "says": [True, False, True],
        "spies": [False, False, False],
        "links": [True, True, False],
        "takes": [False, False, False],
        "climbs": [True, True, True],
        "looks": [True, True, True],
        "remembers": [True, True, True],
        "writes": [False, False, False],
        "scratch": [True, True, True],
    }, found
    assert "result_gold, leaf 0: " in found["wrong"]["reason"] and "elements differ" in found["wrong"]["reason"]
    assert "NameError" in found["broken"]["reason"]
    assert found["leaves"]["reason"] == "result_gold is missing"
    assert "cannot be read" in found["links"]["reason"]
    assert "ZeroDivisionError" in found["spies"]["reason"], "the golden file is empty for a candidate"
    assert not (file.parent / "mark").exists()


def test_goldens_that_prove_nothing_are_named(file: Path) -> None:
    chance, silent, broken = (file.with_name(f"{name}.py") for name in ("chance", "silent", "broken"))
    chance.write_text(f"{GOLDEN}\nimport os\n{SEPARATOR}\nresult = os.urandom(4)[0] + 1000 * os.urandom(4)[0]\n")
    silent.write_text(f"{GOLDEN}\n{SEPARATOR}\ndef test():\n    return double\n")
    broken.write_text(f"{GOLDEN}\n{SEPARATOR}\nassert 1 == 2, 'no'\n")
    of_chance, of_silent, of_broken = asked(*[request("golden", one) for one in (chance, silent, broken)])
    assert "the golden code differs from itself: result, leaf 0: " in of_chance["excluded"]
    assert of_silent["excluded"] == "its tests keep no result"
    assert of_broken["failed"] == "AssertionError: no"


def test_where_forks_have_no_gpu_a_process_is_begun_anew(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    assert in_a_process(request("golden", file), forks=False) == {"failed": "", "excluded": "", "output": ""}
    for bad in (False, True):  # torch's own answer depends on what this process asked before
        monkeypatch.setattr("torch.cuda._is_in_bad_fork", lambda bad=bad: bad)
        assert forks_have_gpus() != bad


def test_what_tests_keep_are_their_own_variables() -> None:
    text = "a = 1\ndef f():\n    b = 2\nfor c in [1]:\n    d, e = c, [g for g in [1]]\nwith open(1) as h:\n    pass\nif a: i: int = 3"
    assert names_of(text) == ["a", "c", "d", "e", "h", "i"]
