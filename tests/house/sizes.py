"""No source file is over 600 lines, and the median of a language is under 200."""

import statistics
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ["src", "python", "tests", "tools", "examples", "bench"]
LONGEST, MEDIAN = 600, 200


def main():
    wrong = []
    for suffixes in ({".h", ".cpp"}, {".py"}):
        files = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*")) if path.suffix in suffixes]
        lines = {path: path.read_text().count("\n") for path in files}
        wrong += [f"{path.relative_to(ROOT)}: {n} lines, at most {LONGEST}" for path, n in lines.items() if n > LONGEST]
        median = statistics.median(lines.values())
        if median >= MEDIAN:
            wrong.append(
                f"the median of {'/'.join(sorted(suffixes))} files is {median:.0f} lines, wanted under {MEDIAN}"
            )
        print(f"{len(files)} {'/'.join(sorted(suffixes))} files, {sum(lines.values())} lines, median {median:.0f}")
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
