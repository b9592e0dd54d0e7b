"""The candidates of tests/exploits and tests/honest say what they are: header lines, known reasons, known rows."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WANTED = {"exploits": {"known as", "task", "tier", "refused"}, "honest": {"task", "tier"}}
MAY = {
    "accuracy": {"strict", "tf32"},
    "weights": {"frozen"},
    "needs": {"cuda"},
    "at most": {"1.25"},
    "own kernels at most": {"0.3"},
    "open": {"yes"},
}  # line -> what it may say
LEAST = {"exploits": 200, "honest": 70}


def read_header(text):
    """{key: value} of the `key: value` lines that end a file's docstring."""
    docstring = re.match(r'"""(.*?)"""', text, re.DOTALL)
    return (
        dict(re.findall(r"^([a-z ]+): (.+)$", docstring[1].strip().split("\n\n")[-1], re.MULTILINE))
        if docstring
        else {}
    )


def wrong_header(folder, header, reasons, rows):
    wrong = [f"no line `{key}:`" for key in sorted(WANTED[folder] - set(header))]
    wrong += [f"unknown line `{key}:`" for key in sorted(set(header) - WANTED[folder] - set(MAY))]
    for key in sorted(set(MAY) & set(header)):
        if header[key] not in MAY[key]:
            wrong.append(f"{key}: got {header[key]}, wanted {sorted(MAY[key])}")
    if "task" in header and not (ROOT / header["task"].partition(":")[0]).is_file():
        wrong.append(f"no such task: {header['task']}")
    if header.get("tier", "screen") not in ("screen", "certify"):
        wrong.append(f"tier: got {header['tier']}, wanted screen or certify")
    wrong += [f"{word} is no reason of docs/JUDGE.md" for word in listed(header, "refused") if word not in reasons]
    wrong += [f"{row} is no row of tests/exploits/README.md" for row in listed(header, "known as") if row not in rows]
    return wrong


def listed(header, key):
    return [word.strip() for word in header.get(key, "").split(",") if word.strip()]


def uncovered_rows(table, headers):
    """Rows whose files do not name them back, and rows with neither a file nor a word on why there is none."""
    wrong = []
    for row, here in table.items():
        files = {name for name, header in headers.items() if row in listed(header, "known as")}
        if not files and "`" in here and not re.search(r"GPU only|no file can|not a candidate", here):
            wrong.append(f"README.md: no file is known as {row}")
        for pattern in re.findall(r"`([a-z0-9_*]+)`", here):
            if not any(re.fullmatch(pattern.replace("*", ".*"), name) for name in headers):
                wrong.append(f"README.md: row {row} names {pattern}, which is no file")
    return wrong


def main():
    reasons = set(re.findall(r"^\| `([A-Za-z-]+)` \|", (ROOT / "docs/JUDGE.md").read_text(), re.MULTILINE))
    readme = (ROOT / "tests/exploits/README.md").read_text()
    table = dict(re.findall(r"^\| ([TCHN]\d+) \|[^|]+\| (.+) \|$", readme, re.MULTILINE))
    wrong, headers = [], {}
    for folder in WANTED:
        files = sorted((ROOT / "tests" / folder).glob("*.py"))
        if len(files) < LEAST[folder]:
            wrong.append(f"tests/{folder}: {len(files)} files, wanted {LEAST[folder]}")
        for path in files:
            header = read_header(path.read_text())
            wrong += [f"tests/{folder}/{path.name}: {line}" for line in wrong_header(folder, header, reasons, table)]
            if folder == "exploits":
                headers[path.stem] = header
        print(f"{len(files)} files in tests/{folder}")
    wrong += uncovered_rows(table, headers)
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
