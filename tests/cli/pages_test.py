"""What the documents name is there: files and headings that they link to, and the options that they give the program."""

from __future__ import annotations

import os
import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BINARY = Path(os.environ.get("MTMC_BINARY", ROOT / "build/release/mtmc"))
FOLDERS = (".", "docs", "docs/results", "policies", "datasets", "tests/exploits")
PAGES = sorted(page for folder in FOLDERS for page in (ROOT / folder).glob("*.md"))
FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:)([^)\s#]*)#?([^)\s]*)\)")
COMMAND = re.compile(r"\bmtmc ([a-z]+)\b([^`|;&#\n]*)")
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
OTHER_PROGRAM = ("lm", "train")  # mtmc-lm


def heading_names(page: Path) -> set[str]:
    """As links to this page name its headings."""
    headings = re.findall(r"^#+ (.*)$", FENCED.sub("", page.read_text()), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@cache
def help_of(*words: str) -> str:
    return subprocess.run([BINARY, *words, "--help"], capture_output=True, text=True, timeout=60, check=True).stdout


def verbs() -> list[str]:
    return re.findall(r"^  ([a-z]+) {2,}", help_of().partition("Subcommands:")[2], re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for path, heading in LINK.findall(FENCED.sub("", page.read_text())):
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{page.name} links to {path}"
        assert not heading or heading in heading_names(target), f"{page.name} links to {path}#{heading}"


def test_readme_links_to_every_page() -> None:
    linked = (ROOT / "README.md").read_text()
    assert not [page.name for page in (ROOT / "docs").glob("*.md") if f"docs/{page.name}" not in linked]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_have_options_that_there_are(page: Path) -> None:
    for verb, rest in COMMAND.findall(page.read_text().replace("\\\n", " ")):
        if verb in OTHER_PROGRAM or verb not in verbs():
            continue  # "mtmc" is also a word of sentences
        unknown = set(OPTION.findall(rest)) - set(OPTION.findall(help_of(verb))) - {"--python"}
        assert not unknown, f"{page.name}: mtmc {verb} has no {' '.join(unknown)}"


def test_words_stand_in_order_each_once() -> None:
    words = re.findall(r"^\| (?!-|word \|)(.+?) \|", (ROOT / "docs/WORDS.md").read_text(), re.MULTILINE)
    assert words == sorted(set(words), key=str.lower)


def test_help_says_what_an_option_is_by_itself_once() -> None:
    for verb in verbs():
        assert re.search(r"\(([^()]+)\) \(\1\)", help_of(verb)) is None, verb
