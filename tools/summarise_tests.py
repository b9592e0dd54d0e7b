"""Sums up the JUnit files of a test run: why tests were skipped, which failed, and `N passed, N failed, N skipped`."""

import re
import sys
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path


def skip_reason(case):
    """The reason a test gave: pytest's message, GTEST_SKIP's text, or the line `skipped: ...` of a script."""
    message = case.find("skipped").get("message", "")
    output = case.findtext("system-out", "")
    said = re.search(r"^skipped: (.*)$", output, re.MULTILINE) or re.search(r": Skipped\n(.*)$", output, re.MULTILINE)
    if said:
        return said.group(1).strip()
    return message.strip() or "no reason given"


def read(folder):
    """What became of each test by its name: `passed`, `failed`, or why it was skipped."""
    found = {}
    for path in sorted(Path(folder).glob("*.xml")):
        for case in ElementTree.parse(path).getroot().iter("testcase"):
            of_pytest = path.stem.startswith("pytest")
            name = f"{case.get('classname', '')}.{case.get('name')}" if of_pytest else case.get("name")
            if case.find("failure") is not None or case.find("error") is not None or case.get("status") == "fail":
                found[name] = "failed"
            elif case.find("skipped") is not None:
                found[name] = skip_reason(case)
            else:
                found[name] = "passed"
    return found


def main(folder, again=None):
    """Sums up the results in `folder`; those in `again` are of a second run of what failed, alone."""
    first, second = read(folder), read(again) if again else {}
    all_failed = [name for name, outcome in first.items() if outcome == "failed"]
    unsteady = [name for name in all_failed if second.get(name) == "passed"]
    failed = [name for name in all_failed if name not in unsteady]
    # What is called python holds tests of pytest, which are counted.
    passed = [name for name, outcome in first.items() if outcome == "passed" and not name.startswith("python.")]
    skipped = Counter(outcome for outcome in first.values() if outcome not in ("passed", "failed"))
    for reason, count in skipped.most_common():
        print(f"skipped {count}: {reason}")
    for name in unsteady:
        print(f"unsteady: {name} failed beside other tests, and passed alone")
    for name in failed:
        print(f"failed: {name}")
    counts = f"{len(passed)} passed, {len(failed)} failed, {sum(skipped.values())} skipped"
    print(counts + (f", {len(unsteady)} passed only when run again" if unsteady else ""))
    return 1 if failed or not passed or "no reason given" in skipped else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
