"""One word for each thing: the glossary is the code's own, and words that were replaced stay out."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import pytest

from nettests.model.words import CheckClass, Question, VantageKind, Verdict
from tests.docs.documents import ROOT, text_of

GLOSSARY = "docs/reference/glossary.md"

REPLACED = {
    r"ask(s|ed|ing)?": "run a check, probe a target, query a server, request an object",
    r"unasked": "by default, by itself",
    r"who reaches whom": "connectivity matrix",
    r"(checks?|questions?|not|was|were|is|are) due": "planned",
    r"cast|players|nodes? that plays?|can play": "node pools, probe nodes",
    r"silent for a while": "idle",
    r"nobody (backs|kept)": "no endpoints, idle",
    r"address(es)? of nobody": "documentation (TEST-NET) addresses",
    r"two numbers|different numbers": "mixed target ports",
    r"(came|comes?|made) again|made anew": "recreated",
    r"takes? turns|by turns": "round-robin",
    r"in vain": "failed, without an answer",
    r"worn out": "expired",
    r"vantage outside|outside vantage": "external vantage point",
    r"role-based|(source|target|each|every) role": "node pool",
}
"""What nothing says any more, and what is said instead."""

ALLOWED = (
    r"[Ff]requently asked questions",  # the title of a document
    r"[\"']ask(ed)?[\"']",  # a key of journals and of results.json
    r"# sample: .*",  # the text of a recording
    r"from typing import .*\bcast\b|\bcast\(\"",  # Python's own
    r"route-missing-unasked",  # the id of a fault
    r"= \"two-numbers\"",  # a value in journals
    r"due to ",  # because of
)
"""Contexts in which such a word is somebody else's."""

PLACES = (
    "*.md",
    "docs/**/*.md",
    "nettests/**/*.py",
    "nettests/**/*.j2",
    "nettests/**/*.txt",
    "suites/*.py",
    "manifests/**/*.yaml",
    "ci/*",
)
LEFT_OUT = (
    "CHANGELOG.md",  # says what things were called
    "docs/decisions/",  # are history
    "docs/reference/glossary.md",
    "docs/reference/selftest.md",  # shows recorded runs
    "docs/reference/assumptions.md",
    "nettests/_bundled/",
    "nettests/lab/programs/agnhost/help/",  # agnhost's own
    "nettests/lab/programs/windows/powershell/",  # casts are PowerShell's
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """A line of the glossary."""

    name: str
    meaning: str
    place: str


@cache
def terms() -> tuple[Term, ...]:
    """Return the lines of the glossary, in their order."""
    # sample: "| action | One test step: source, target … | `nettests/model/check.py` |"
    lines = re.findall(
        r"^\| ([a-zA-Z][^|]*?) \| (.*?) \| `([^`]+)` \|$", text_of(GLOSSARY), re.MULTILINE
    )
    return tuple(Term(name=name, meaning=meaning, place=place) for name, meaning, place in lines)


def lines_of_the_project() -> Iterator[tuple[str, str]]:
    """Yield every line that people read, with its place."""
    for path in sorted({path for place in PLACES for path in ROOT.glob(place)}):
        name = str(path.relative_to(ROOT))
        if not name.startswith(LEFT_OUT):
            for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
                yield f"{name}:{number}", line


def replaced_words(line: str) -> list[str]:
    """Return the words of a line that were replaced, each with what is said instead."""
    for context in ALLOWED:
        line = re.sub(context, "", line)
    return [
        f"{found.group()} → {instead}"
        for pattern, instead in REPLACED.items()
        if (found := re.search(rf"(?<![\w`-])({pattern})(?![\w-])", line, re.IGNORECASE))
    ]


def test_words_that_were_replaced_stay_out() -> None:
    """Code, messages, help, page and documents use one word for each thing."""
    found = {
        place: words for place, line in lines_of_the_project() if (words := replaced_words(line))
    }
    assert not found


@pytest.mark.parametrize(
    "line",
    [
        "717 checks due, 596 ran",
        "# a Service that nobody backs",
        "Asked by dry run: nothing is stored.",
        "every node that plays holds probes",
        "the Pod came again under its name",
        "2 of them in vain",
    ],
)
def test_such_a_word_is_found(line: str) -> None:
    """The table of replaced words finds what it names."""
    assert replaced_words(line)


@pytest.mark.parametrize(
    "line",
    [
        "Frequently asked questions for Windows Server",
        "it fails due to a timeout",
        "a task is masked",
    ],
)
def test_words_of_others_are_left_alone(line: str) -> None:
    """Titles of documents and other words that hold such a word are no finding."""
    assert not replaced_words(line)


def test_the_glossary_is_in_order() -> None:
    """A term is found by its first letter, and stands there once."""
    names = [term.name.lower().replace("-", " ") for term in terms()]
    assert len(names) > 30
    assert names == sorted(set(names))


@pytest.mark.parametrize("term", terms(), ids=lambda term: term.name)
def test_each_term_is_used_where_the_glossary_says(term: Term) -> None:
    """The named file exists and uses the word, in prose or as a name."""
    text = (ROOT / term.place).read_text("utf-8").lower()
    spellings = {
        term.name.lower(),
        term.name.lower().replace(" ", "_"),
        term.name.lower().replace(" ", ""),
    }
    assert any(spelling in text for spelling in spellings), term.place


@pytest.mark.parametrize("words", [CheckClass, Question, VantageKind, Verdict])
def test_closed_sets_are_explained(
    words: type[CheckClass | Question | VantageKind | Verdict],
) -> None:
    """Each word of a set that reports and options show stands in the glossary."""
    text = text_of(GLOSSARY)
    missing = [word.value for word in words if not re.search(rf"\b{word.value}\b", text)]
    assert missing in ([], [VantageKind.API.value])
