"""The reference page of facts and flows: what stands in it, of a catalogue of three facts."""

import pytest

from nettests.cli.catalogue_commands import totals, why
from nettests.expect import Catalogue, Coverage, catalogue, cover, read_section
from nettests.model.expectation import Source
from nettests.model.words import Question, TargetKind, VantageKind
from nettests.plan import Flow, Matrix, flow, flow_of
from scripts.reference_pages import render_catalogue
from tests.expect.entries import manifest

SECTION = """apiVersion: nettests.dev/v1alpha1
kind: FactCatalogue
section: B
title: A section | of two
facts:
- id: asked-by-a-flow
  statement: Pods reach Pods.
  note: IPv6 is left out.
  sources: [{document: A page, section: Limitations}]
- id: decided-by-an-entry
  statement: Some do not.
  sources: [{document: A page}]
- id: the-same
  statement: Pods reach Pods | again.
  sources: [{document: A page}]
  reason: {kind: duplicate, of: asked-by-a-flow, text: It says the same.}
- id: never-asked
  statement: Nobody probes.
  sources: [{document: A page}]
"""
CATALOGUE: Catalogue = catalogue([read_section(SECTION, "b.yaml")])


def declared() -> Flow:
    """Return the one flow."""

    @flow(
        "some-flow",
        source=VantageKind.POD,
        target=TargetKind.POD_IP,
        matrix=Matrix.PAIRS,
        question=Question.REACH,
        facts=("asked-by-a-flow",),
        sources=(Source(document="A page", section="Pods", address="https://example.test/pods"),),
    )
    def test_declared() -> None:
        """Pods reach each other | everywhere."""

    found = flow_of(test_declared)
    assert found is not None
    return found


@pytest.fixture
def coverages() -> tuple[Coverage, ...]:
    """Each fact with the flow and the limitation that exercise it."""
    entry = manifest(decided_by_an_entry="expected: {outcome: timed_out}").limitations
    return cover(CATALOGUE, {"some-flow": ("asked-by-a-flow",)}, entry)


def test_totals_count_every_fact_once(coverages: tuple[Coverage, ...]) -> None:
    """Exercised, left out by kind of reason, and forgotten."""
    assert totals(coverages) == (
        "4 facts: 2 exercised by checks, 1 duplicate, 1 without check or reason"
    )
    assert totals(coverages[:1]) == "1 fact: 1 exercised by checks"


def test_why_says_who_exercises_a_fact_or_why_nobody_does(coverages: tuple[Coverage, ...]) -> None:
    """In plain words for the terminal."""
    assert [why(one) for one in coverages] == [
        "flows some-flow; IPv6 is left out.",
        "flows some-flow; limitations decided-by-an-entry",
        "duplicate of asked-by-a-flow: It says the same.",
        "nothing, and no reason is given",
    ]


def test_the_page_has_a_row_for_each_fact_and_flow(coverages: tuple[Coverage, ...]) -> None:
    """Facts link to flows, flows name the limitations that decide on them, and no text breaks a table."""
    page = render_catalogue(CATALOGUE, coverages, [declared()])
    lines = page.splitlines()
    assert "4 facts: 2 exercised by checks, 1 duplicate, 1 without check or reason." in lines
    rows = [line for line in lines if line.startswith("| `") and "-" in line.split("`")[1]]
    facts = {line.split("`")[1]: line for line in rows}
    assert "[`some-flow`](#some-flow)<br>IPv6 is left out." in facts["asked-by-a-flow"]
    assert "decided by `decided-by-an-entry` |" in facts["decided-by-an-entry"]
    assert "*duplicate* of `asked-by-a-flow`: It says the same. |" in facts["the-same"]
    assert facts["never-asked"].endswith("Nobody probes. |  |")
    assert "### B. A section" in page
    assert "Pods reach Pods | again" not in page
    shown = next(line for line in lines if line.startswith('| <a id="some-flow"></a>'))
    assert "[A page §Pods](https://example.test/pods)" in shown
    assert shown.endswith("| `decided-by-an-entry` |")
    assert "everywhere" in shown
    assert shown.count(" | ") == 4
    assert page.endswith("|\n")
