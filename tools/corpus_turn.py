"""corpus_turn.py: the files of the judge's corpora whose turn it is, one a line, as MTMC_CORPUS=@FILE wants them. A sixth by a hash
of their names and the number of commits, so that each comes within six; what the last commits changed or none has yet, with all
files of a changed task; and at least one for each reason to refuse. Says on standard error how many stay for the next turns."""

import hashlib
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("tests/exploits", "tests/honest")
TURNS = 6
RECENT = 6 * 3600  # seconds before the last commit: what lands together


def git(*words):
    """What git says; nothing where there is no git."""
    try:
        done = subprocess.run(["git", "-C", ROOT, *words], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return done.stdout.strip()


def number_of(name):
    return int(hashlib.sha256(name.encode()).hexdigest(), 16)


def turn_now():
    """The number of commits; of a shallow clone, which knows few of them, a number that the last one decides."""
    if git("rev-parse", "--is-shallow-repository") == "true":
        return int(git("rev-parse", "HEAD") or "0", 16)
    return int(git("rev-list", "--count", "HEAD") or 0)


def line_of(path, key):
    found = re.search(rf"^{key}: (.+)$", path.read_text(), re.MULTILINE)
    return found[1].strip() if found else ""


def changed():
    """Paths below the checkout that the last commits changed, or none has yet."""
    begin = int(git("show", "-s", "--format=%ct", "HEAD") or 0) - RECENT
    recent = git("log", f"--since={begin}", "--format=", "--name-only", "--relative")
    working = git("diff", "--name-only", "--relative", "HEAD")
    added = git("ls-files", "--others", "--exclude-standard", *FOLDERS)
    return {path for paths in (recent, working, added) for path in paths.splitlines()}


def turn(files, commits, new):
    """The files whose turn it is, after so many commits of which the last changed the paths `new`."""
    chosen = {path for path in files if (number_of(path.stem) + commits) % TURNS == 0}
    chosen |= {path for path in files if {str(path.relative_to(ROOT)), line_of(path, "task").partition(":")[0]} & new}
    reasons = {path: line_of(path, "refused").partition(",")[0] for path in files}
    for reason in sorted({*reasons.values()} - {reasons[path] for path in chosen}):
        chosen.add(min((path for path in files if reasons[path] == reason), key=lambda path: number_of(path.stem)))
    return chosen


def every_third(names, path):
    """Of tests that take long those whose turn it is, at least one; all where none take turns, or the last commits changed `path`."""
    if not os.environ.get("MTMC_CORPUS", "").startswith("@") or path in changed():
        return names
    now = turn_now()
    return [name for name in names if (number_of(name) + now) % 3 == 0] or names[:1]


def main():
    files = sorted(path for folder in FOLDERS for path in (ROOT / folder).glob("*.py") if not line_of(path, "needs"))
    chosen = turn(files, turn_now(), changed())
    print("\n".join(path.stem for path in sorted(chosen)))
    left = len(files) - len(chosen)
    print(
        f"corpus: {len(chosen)} of {len(files)} files are judged now, {left} stay for the next turns (./test corpus judges all); "
        "examples of prompts, recorded steps and recipes of ADDING take turns, too",
        file=sys.stderr,
    )


if __name__ == "__main__":
    main()
