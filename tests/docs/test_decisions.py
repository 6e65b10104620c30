"""Decisions: their form, their index, how many have files of their own, and that each named one can be found."""

import re
from pathlib import Path

import pytest

from tests.docs.documents import ROOT

FOLDER = ROOT / "docs" / "decisions"
DECISIONS = sorted(FOLDER.glob("0*.md"))


@pytest.mark.parametrize("path", DECISIONS, ids=lambda path: path.name)
def test_decisions_have_one_form(path: Path) -> None:
    """A decision has a number, a status, context, decision and consequences, and a line in the index."""
    text = path.read_text("utf-8")
    title = text.splitlines()[0].removeprefix("# ")
    number, _, name = title.partition(" ")
    assert path.name.startswith(f"{number}-")
    assert re.findall(r"^(?:## .*|Status: \w+)", text, re.MULTILINE) == [
        "Status: accepted",
        "## Context",
        "## Decision",
        "## Consequences",
    ]
    index = (path.parent / "README.md").read_text("utf-8")
    assert f"| [{number}]({path.name}) | {name} |" in index


def test_no_decision_is_without_a_number() -> None:
    """Every file beside the index and the archive is a numbered decision."""
    assert {*FOLDER.glob("*.md")} - {*DECISIONS} == {FOLDER / "README.md", FOLDER / "archive.md"}


def test_decisions_stay_few_and_short() -> None:
    """At most forty decisions have files of their own, none longer than sixty lines."""
    assert len(DECISIONS) <= 40
    long = {path.name for path in DECISIONS if len(path.read_text("utf-8").splitlines()) > 60}
    assert long == set()


def test_every_decision_that_the_code_names_can_be_found() -> None:
    """A number of a decision in a docstring or a document has its file or its section in the archive."""
    archive = (FOLDER / "archive.md").read_text("utf-8")
    kept = {path.name[:4] for path in DECISIONS} | {*re.findall(r"^## (\d{4})$", archive, re.M)}
    texts = [path.read_text("utf-8") for path in (ROOT / "nettests").rglob("*.py")]
    named = {number for text in texts for number in re.findall(r"decision (\d{4})", text)}
    assert named
    assert named - kept == set()
