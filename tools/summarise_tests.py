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


def main(folder):
    passed, failed, skipped = 0, [], Counter()
    for path in sorted(Path(folder).glob("*.xml")):
        for case in ElementTree.parse(path).getroot().iter("testcase"):
            of_pytest = path.stem.startswith("pytest")
            name = f"{case.get('classname', '')}.{case.get('name')}" if of_pytest else case.get("name")
            if case.find("failure") is not None or case.find("error") is not None or case.get("status") == "fail":
                failed.append(name)
            elif case.find("skipped") is not None:
                skipped[skip_reason(case)] += 1
            elif of_pytest or not name.startswith("python."):  # those hold pytest's
                passed += 1
    for reason, count in skipped.most_common():
        print(f"skipped {count}: {reason}")
    for name in failed:
        print(f"failed: {name}")
    print(f"{passed} passed, {len(failed)} failed, {sum(skipped.values())} skipped")
    return 1 if failed or not passed or "no reason given" in skipped else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
