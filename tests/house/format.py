"""clang-format (14, the version whose layout the house keeps) leaves every C++ file as it is. `--fix` writes the layout."""

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SKIPPED = 77


def find_clang_format():
    """The command of a clang-format 14: the wheel's, else the system's."""
    wheel = [sys.executable, "-c", "import clang_format; clang_format.clang_format()"]
    for command in (wheel, ["clang-format-14"], ["clang-format"]):
        if command is wheel or shutil.which(command[0]):
            version = subprocess.run([*command, "--version"], capture_output=True, text=True, check=False)
            if version.returncode == 0 and "version 14." in version.stdout:
                return command
    return None


def main():
    command = find_clang_format()
    if command is None:
        print("skipped: no clang-format 14 (pip install clang-format==14.0.6)")
        return SKIPPED
    files = [str(path) for folder in ("src", "tests", "bench") for path in sorted((ROOT / folder).rglob("*"))
             if path.suffix in {".h", ".cpp"}]
    mode = ["-i"] if "--fix" in sys.argv[1:] else ["--dry-run", "-Werror"]
    done = subprocess.run([*command, "--style=file", *mode, *files], cwd=ROOT, check=False)
    return 1 if done.returncode else 0


if __name__ == "__main__":
    sys.exit(main())
