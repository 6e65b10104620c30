"""Seed documents: read, held against facts and flows, mistakes found."""

import pytest

from nettests.errors import ManifestError
from nettests.expect.catalogue import Fact, Reason, ReasonKind
from nettests.expect.lint import Coverage
from scripts.seeds import (
    SeedDocument,
    Shown,
    Statement,
    mistakes_in_seeds,
    read_seed,
    reasons_of,
    shown,
)

HEAD = """apiVersion: nettests.dev/v1alpha1
kind: SeedDocument
document: A page
read: >-
  In
  English.
sections:
  - title: Limits
    rows:
"""
FLOWS = {"pod-to-pod-ip": (), "windows-node-configuration": ("overlay-update", "dsr-update")}


def fact(name: str, *, flows: tuple[str, ...] = (), reason: Reason | None = None) -> Coverage:
    """Return a fact with what exercises it."""
    one = Fact(id=name, statement="It is so.", sources=(), reason=reason)
    return Coverage(fact=one, flows=flows, limitations=())


def because(kind: ReasonKind) -> Reason:
    """Return a reason of a kind."""
    return Reason(kind=kind, text=f"It is {kind}.")


FACTS = {
    one.fact.id: one
    for one in (
        fact("covered", flows=("pod-to-pod-ip",)),
        fact("bare"),
        fact("again", reason=Reason(kind=ReasonKind.DUPLICATE, text="The same.", of="covered")),
        *(fact(str(kind), reason=because(kind)) for kind in ReasonKind if kind != "duplicate"),
    )
}


def seed(*statements: Statement) -> SeedDocument:
    """Return the document that ``read_seed`` reads, with these statements in place of its own."""
    document = read_seed(f"{HEAD}      - {{says: It is., lacks: All.}}\n", "a.yaml")
    (section,) = document.sections
    section = type(section)(title=section.title, statements=statements)
    return SeedDocument(
        document=document.document, address="", read=document.read, sections=(section,)
    )


def mistakes(**parts: object) -> list[str]:
    """Return what is wrong with one row of these parts."""
    one = Statement(says="It is.", place="a.yaml:10", **parts)  # type: ignore[arg-type]
    return list(mistakes_in_seeds([seed(one)], FACTS, FLOWS))


def test_a_document_becomes_a_value_with_places() -> None:
    """Title, sections, sentences, ids, reasons and lines are read; folded texts become one line."""
    rows = (
        "      - {says: It is so., facts: [covered], checks: [pod-to-pod-ip], lacks: A part.}\n"
        "      - says: It is gone.\n"
        "        reason: {kind: historic, text: It went.}\n"
    )
    read = read_seed(HEAD + rows, "manifests/seeds/a.yaml")
    assert (read.document, read.read, read.address) == ("A page", "In English.", "")
    assert [section.title for section in read.sections] == ["Limits"]
    first, second = read.statements
    assert (first.says, first.facts, first.checks) == (
        "It is so.",
        ("covered",),
        ("pod-to-pod-ip",),
    )
    assert (first.lacks, first.reason) == ("A part.", None)
    assert second.reason == Reason(kind=ReasonKind.HISTORIC, text="It went.")
    assert second.place == "manifests/seeds/a.yaml:11"


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("{says: It is., fact: [covered]}", "did you mean 'facts'"),
        ("{facts: [covered]}", "says is missing"),
        ("{says: It is., checks: [Pod to Pod]}", "checks"),
        ("{says: It is., reason: {kind: historik, text: x}}", "did you mean 'historic'"),
        ("{says: It is., reason: {kind: pending, text: x}}", "kind"),
        ("{says: It is., reason: {kind: duplicate, text: x}}", "kind"),
    ],
)
def test_mistakes_are_found_where_they_are(row: str, said: str) -> None:
    """A key, a kind and an id that cannot be are told with file and line; open rows say what is lacking."""
    with pytest.raises(ManifestError, match=said) as caught:
        read_seed(f"{HEAD}      - {row}\n", "mine.yaml")
    assert "mine.yaml:10" in str(caught.value)


def test_a_row_that_names_nothing_is_an_error() -> None:
    """It has to have a fact, a check, what is lacking, or a reason."""
    with pytest.raises(ManifestError, match=r"mine\.yaml:10"):
        read_seed(f"{HEAD}      - {{says: It is.}}\n", "mine.yaml")


def test_a_section_without_rows_is_an_error() -> None:
    """A heading alone would look as if it had been gone through."""
    with pytest.raises(ManifestError, match=r"mine\.yaml:9.*rows"):
        read_seed(f"{HEAD}      []\n", "mine.yaml")


@pytest.mark.parametrize(
    ("statement", "word"),
    [
        (Statement(says="", facts=("covered",)), Shown.WHOLE),
        (Statement(says="", checks=("pod-to-pod-ip",)), Shown.WHOLE),
        (Statement(says="", facts=("covered",), lacks="A part."), Shown.PART),
        (Statement(says="", facts=("covered", "vendor")), Shown.PART),
        (Statement(says="", facts=("vendor",), checks=("pod-to-pod-ip",)), Shown.PART),
        (Statement(says="", lacks="All."), Shown.OPEN),
        (Statement(says="", facts=("vendor",), lacks="All."), Shown.OPEN),
        (Statement(says="", facts=("pending",)), Shown.OPEN),
        (Statement(says="", facts=("not-network",)), Shown.BESIDE),
        (Statement(says="", facts=("out-of-scope",)), Shown.BESIDE),
        (Statement(says="", facts=("not-network", "vendor")), Shown.NEVER),
        (Statement(says="", reason=because(ReasonKind.NOT_NETWORK)), Shown.BESIDE),
        *(
            (Statement(says="", reason=because(kind)), Shown.NEVER)
            for kind in ReasonKind
            if kind not in {"pending", "not-network", "out-of-scope"}
        ),
    ],
)
def test_what_is_shown_follows_from_facts_checks_and_reasons(
    statement: Statement, word: Shown
) -> None:
    """Whole where all of it is exercised; in part, open, not about networks or never otherwise."""
    assert shown(statement, FACTS) is word


def test_reasons_are_the_rows_own_or_those_of_facts_that_nothing_exercises() -> None:
    """Each is told once."""
    twice = {**FACTS, "other": fact("other", reason=because(ReasonKind.VENDOR))}
    named = Statement(says="", facts=("covered", "vendor", "other", "historic"))
    kinds = [reason.kind for reason in reasons_of(named, twice)]
    assert kinds == [ReasonKind.VENDOR, ReasonKind.HISTORIC]
    own = because(ReasonKind.DOCUMENTS)
    assert reasons_of(Statement(says="", reason=own), FACTS) == (own,)


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ({"facts": ("coverd",)}, "the unknown fact coverd; did you mean 'covered'"),
        ({"facts": ("again",)}, "again repeats covered: name that"),
        ({"checks": ("pod-to-pod-id",)}, "the unknown flow pod-to-pod-id; did you mean"),
        (
            {"checks": ("windows-node-configuration#dsr-updat",)},
            "windows-node-configuration has no case dsr-updat; did you mean 'dsr-update'",
        ),
        ({"checks": ("pod-to-pod-ip#some",)}, "pod-to-pod-ip has no case some"),
        ({"facts": ("bare",)}, "is exercised by nothing, and gives no reason"),
        (
            {"facts": ("vendor",), "reason": because(ReasonKind.VENDOR)},
            "has a reason beside facts, checks or what is lacking",
        ),
        ({"lacks": "All.", "reason": because(ReasonKind.VENDOR)}, "has a reason beside"),
    ],
)
def test_what_does_not_exist_or_gives_no_reason_is_told(
    parts: dict[str, object], said: str
) -> None:
    """One sentence for each, with its place and what was meant."""
    (told,) = mistakes(**parts)
    assert told.startswith("a.yaml:10: ")
    assert said in told


@pytest.mark.parametrize(
    "parts",
    [
        {"facts": ("covered",)},
        {"facts": ("covered", "bare")},
        {"checks": ("windows-node-configuration#dsr-update",), "lacks": "A part."},
        {"facts": ("pending",)},
        {"reason": because(ReasonKind.DOCUMENTS)},
        {"lacks": "All."},
    ],
)
def test_rows_in_order_have_no_mistakes(parts: dict[str, object]) -> None:
    """What is exercised, lacking, or has a reason is told of no more."""
    assert mistakes(**parts) == []
