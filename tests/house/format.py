"""clang-format and ruff, in the versions whose layout the house keeps, leave every file as it is. `--fix` writes it."""

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SKIPPED = 77
CLANG_FORMAT, RUFF = "14.0.6", "0.17.5"


def find(wheel, names, version):
    """The command of a tool in that version: the wheel's, else the system's."""
    for command in (wheel, *([name] for name in names)):
        if command is wheel or shutil.which(command[0]):
            asked = subprocess.run([*command, "--version"], capture_output=True, text=True, check=False)
            if asked.returncode == 0 and f" {version}" in asked.stdout:
                return command
    return None


def clang_format(fix):
    wheel = [sys.executable, "-c", "import clang_format; clang_format.clang_format()"]
    command = find(wheel, ["clang-format-14", "clang-format"], "14.")
    if command is None:
        return f"no clang-format 14 (pip install clang-format=={CLANG_FORMAT})"
    folders = [ROOT / folder for folder in ("src", "tests", "bench")]
    files = [str(path) for folder in folders for path in sorted(folder.rglob("*")) if path.suffix in {".h", ".cpp"}]
    mode = ["-i"] if fix else ["--dry-run", "-Werror"]
    return subprocess.run([*command, "--style=file", *mode, *files], cwd=ROOT, check=False).returncode == 0


def ruff(fix):
    command = find([sys.executable, "-m", "ruff"], ["ruff"], RUFF)
    if command is None:
        return f"no ruff {RUFF} (pip install ruff=={RUFF})"
    lint = ["check", "--no-cache", *(["--fix"] if fix else [])]
    layout = ["format", "--no-cache", *([] if fix else ["--check"])]
    done = [subprocess.run([*command, *mode, "--quiet", "."], cwd=ROOT, check=False) for mode in (lint, layout)]
    return all(run.returncode == 0 for run in done)


def main():
    results = [tool("--fix" in sys.argv[1:]) for tool in (clang_format, ruff)]
    missing = [result for result in results if isinstance(result, str)]
    if missing:
        print("skipped: " + "; ".join(missing))
    return 1 if False in results else SKIPPED if missing else 0


if __name__ == "__main__":
    sys.exit(main())
