"""The catalogue of documented facts: read, held against flows and limitations, mistakes found."""

import re

import pytest

from nettests.errors import ManifestError
from nettests.expect import Catalogue, catalogue, cover, gaps, read_section, unknown_facts
from nettests.expect.catalogue import Fact, Reason, ReasonKind
from nettests.model.expectation import Source
from tests.expect.entries import manifest

SOURCES = "sources: [{document: A page, section: Limitations}]"
PENDING = "reason: {kind: pending, text: It could be tested.}"


def text(letter: str = "A", **bodies: str) -> str:
    """Return a catalogue file with one fact a keyword; ``_`` in a name stands for ``-``."""
    facts = "".join(
        f"- id: {name.replace('_', '-')}\n  statement: It is so.\n"
        + "".join(f"  {line}\n" for line in (body or SOURCES).splitlines())
        for name, body in bodies.items()
    )
    head = "apiVersion: nettests.dev/v1alpha1\nkind: FactCatalogue\n"
    return f"{head}section: {letter}\ntitle: A section\nfacts:\n{facts}"


def made(**bodies: str) -> Catalogue:
    """Return a catalogue of one section."""
    return catalogue([read_section(text(**bodies), "a.yaml")])


def test_a_fact_becomes_a_value_with_its_place() -> None:
    """Statement, source, reason and line are read."""
    facts = made(one="", two=f"{SOURCES}\n{PENDING}").facts
    assert list(facts) == ["one", "two"]
    fact = facts["two"]
    assert (fact.statement, str(fact.sources[0])) == ("It is so.", "A page §Limitations")
    assert fact.reason is not None
    assert fact.reason.kind is ReasonKind.PENDING
    assert text(one="", two=PENDING).splitlines()[fact.line - 1] == "- id: two"


@pytest.mark.parametrize(
    ("body", "line", "said"),
    [
        ("source: []", "source", "unknown key 'source'.*did you mean 'sources'"),
        ("note: It has none.", "- id: bad", "sources is missing"),
        (f"{SOURCES}\nreason: {{kind: pendng, text: x}}", "reason", "did you mean 'pending'"),
        (f"{SOURCES}\nreason: {{kind: duplicate, text: x}}", "reason", "of is missing"),
        (f"{SOURCES}\nreason: {{kind: vendor, text: x, of: good}}", "reason", "reason"),
        (f"{SOURCES}\nreason: {{text: x}}", "reason", "kind is missing"),
    ],
)
def test_mistakes_are_found_where_they_are(body: str, line: str, said: str) -> None:
    """The message has file and line of the mistake, and names what was meant."""
    written = text(good="", bad=body)
    with pytest.raises(ManifestError) as caught:
        read_section(written, "mine.yaml")
    told = str(caught.value)
    assert re.search(said, told, re.DOTALL), told
    shown = [written.splitlines()[int(n) - 1] for n in re.findall(r"mine\.yaml:(\d+): ", told)]
    assert any(line in one for one in shown), told


def test_a_fact_is_told_once() -> None:
    """The same id in two files is an error that names both places."""
    sections = [read_section(text(letter, one=""), f"{letter}.yaml") for letter in "AB"]
    with pytest.raises(ManifestError, match=r"B\.yaml:6: one is stated twice, first in A\.yaml:6"):
        catalogue(sections)


@pytest.mark.parametrize("original", ["tow", "one"])
def test_a_duplicate_repeats_another_fact(original: str) -> None:
    """A duplicate of nothing, or of itself, is an error with the nearest fact."""
    body = f"{SOURCES}\nreason: {{kind: duplicate, of: {original}, text: The same.}}"
    with pytest.raises(ManifestError, match=f"one repeats '{original}'; .*two"):
        made(one=body, two="")


def test_sections_come_in_the_order_of_their_letters() -> None:
    """The order of files does not matter."""
    sections = [read_section(text("B", two=""), "1"), read_section(text("A", one=""), "2")]
    assert list(catalogue(sections).facts) == ["one", "two"]


ENTRIES = manifest(
    one="expected: unspecified", another="expected: unspecified\nfacts: [two, nosuch]"
).limitations


def test_flows_and_limitations_cover_facts() -> None:
    """A flow covers what it names; an entry its own id and what it names."""
    found = {
        one.fact.id: (one.flows, tuple(entry.id for entry in one.limitations), one.covered)
        for one in cover(
            made(one="", two="", three="", four=""),
            {"some-flow": ("three",), "a-flow": ("three",)},
            ENTRIES,
        )
    }
    assert found == {
        "one": ((), ("one",), True),
        "two": ((), ("another",), True),
        "three": (("a-flow", "some-flow"), (), True),
        "four": ((), (), False),
    }


def test_a_fact_that_only_limitations_serve_is_tested_by_their_flows() -> None:
    """Flows that name a fact come first; without any, those that its entries cover."""
    found = cover(made(one="", two=""), {"some-flow": (), "a-flow": ("two",)}, ENTRIES)
    assert [one.exercised_by for one in found] == [("some-flow",), ("a-flow",)]


def test_an_entry_for_flows_that_nobody_declares_covers_nothing() -> None:
    """Without a check there is nothing that a limitation could decide."""
    assert not cover(made(one=""), {"other-flow": ()}, ENTRIES)[0].covered


def test_unknown_facts_are_found_with_near_misses() -> None:
    """Flow and entry are named, with place and the nearest fact."""
    told = tuple(unknown_facts(made(one="", two=""), {"some-flow": ("tow",)}, ENTRIES))
    assert told[0] == "the flow some-flow names the unknown fact tow; did you mean 'two'?"
    assert told[1].startswith("base.yaml:13: another names the unknown fact nosuch; ")


@pytest.mark.parametrize(
    ("body", "flows", "said"),
    [
        ("", (), "one is exercised by no flow and no limitation"),
        ("", ("one",), None),
        (f"{SOURCES}\n{PENDING}", (), None),
        (f"{SOURCES}\n{PENDING}", ("one",), "one has a reason but is exercised by a-flow"),
        (f"{SOURCES}\nnote: In part.", ("one",), None),
        (f"{SOURCES}\n{PENDING}\nnote: In part.", (), "one has a note on checks"),
    ],
)
def test_a_fact_has_a_check_or_a_reason(
    body: str, flows: tuple[str, ...], said: str | None
) -> None:
    """Neither and both are findings with the fact's place; a note belongs to checks."""
    found = tuple(gaps(cover(made(one=body), {"a-flow": flows}, ())))
    assert [said in one and one.startswith("a.yaml:6: ") for one in found if said] == (
        [True] if said else []
    )
    assert bool(found) == bool(said)


WHOLE = """apiVersion: nettests.dev/v1alpha1
kind: FactCatalogue
section: C
title: A title
facts:
- id: whole
  statement: >-
    It is
    so.
  inferred: From
    another.
  note: Of one
    family.
  sources: [{document: A page, section: A part, address: "https://example.test/"}, {document: Another}]
  reason: {kind: duplicate, of: bare, text: "The\\n same."}
- id: bare
  statement: It is.
  inferred: From that.
"""


def test_every_key_of_a_fact_is_read() -> None:
    """Texts on one line; what is left out is empty."""
    section = read_section(WHOLE, "c.yaml")
    assert (section.letter, section.title, section.file) == ("C", "A title", "c.yaml")
    whole, bare = section.facts
    assert whole == Fact(
        id="whole",
        statement="It is so.",
        sources=(
            Source(document="A page", section="A part", address="https://example.test/"),
            Source(document="Another"),
        ),
        inferred="From another.",
        note="Of one family.",
        reason=Reason(kind=ReasonKind.DUPLICATE, text="The same.", of="bare"),
        file="c.yaml",
        line=6,
    )
    assert bare == Fact(
        id="bare",
        statement="It is.",
        sources=(),
        inferred="From that.",
        file="c.yaml",
        line=WHOLE.splitlines().index("- id: bare") + 1,
    )


def test_what_is_wrong_with_facts_is_told() -> None:
    """All of it at once, each with its place and what to do."""
    entry = manifest(one="expected: {outcome: timed_out}\nfacts: [exercise]").limitations
    facts = made(exercised=PENDING_WITH, left="", noted=f"{SOURCES}\nnote: n\n{PENDING}")
    flows = {"some-flow": ("exercised",), "other-flow": ("exercised", "lef")}
    told = [*gaps(cover(facts, flows, entry)), *unknown_facts(facts, flows, entry)]
    places = {fact.id: fact.place for fact in facts.facts.values()}
    assert told == [
        f"{places['exercised']}: exercised has a reason but is exercised by other-flow, some-flow: remove the reason",
        f"{places['left']}: left is exercised by no flow and no limitation: name it in a flow's facts, or give a reason",
        f"{places['noted']}: noted has a note on checks, and no check exercises it",
        "the flow other-flow names the unknown fact lef; did you mean 'left'?",
        f"{entry[0].place}: one names the unknown fact exercise; did you mean 'exercised'?",
    ]


PENDING_WITH = f"{SOURCES}\n{PENDING}"


def test_a_reason_that_repeats_nothing_names_nothing() -> None:
    """Only a duplicate is of another fact."""
    assert (made(one="").facts["one"].inferred, made(one="").facts["one"].note) == ("", "")
    assert made(one=PENDING_WITH).facts["one"].reason == Reason(
        kind=ReasonKind.PENDING, text="It could be tested."
    )


def test_all_mistakes_of_a_catalogue_are_told_at_once() -> None:
    """A line each: what is told twice, and what repeats nothing."""
    body = f"{SOURCES}\nreason: {{kind: duplicate, of: gone, text: x}}"
    sections = [
        read_section(text(one="", two=body), "a.yaml"),
        read_section(text("B", one=""), "b.yaml"),
    ]
    with pytest.raises(ManifestError) as caught:
        catalogue(sections)
    first, second = caught.value.message.splitlines()
    assert first == "b.yaml:6: one is stated twice, first in a.yaml:6"
    assert second.startswith("a.yaml:9: two repeats 'gone'; ")
