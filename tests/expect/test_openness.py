"""Entries that leave an outcome open: what would settle them, and how a bug among the reasons shows."""

import pytest

from nettests.errors import ManifestError
from nettests.expect import lint, read_manifest, resolve
from nettests.model.expectation import Expected
from nettests.model.words import Outcome, SourceSeen
from tests.expect.entries import check, text
from tests.facts import cluster_facts

OPEN = "expected: unspecified\nsettled_by: {}"


def said(body: str, category: str = "platform") -> tuple[str, ...]:
    """Return what lint says of an entry with this body."""
    whole = text(one=body).replace("category: platform", f"category: {category}")
    return lint([read_manifest(whole, "base.yaml")])


def test_an_open_entry_says_what_would_settle_it() -> None:
    """Unspecified without settled_by is told; with it nothing is."""
    bare = text(one="expected: unspecified").replace("  settled_by: a test\n", "")
    (told,) = lint([read_manifest(bare, "base.yaml")])
    assert told.startswith("base.yaml:5: one is unspecified and does not say what would settle it")
    assert said(OPEN.format("a test")) == ()


def test_what_is_settled_needs_nothing_to_settle_it() -> None:
    """settled_by beside an expectation is a leftover."""
    (told,) = said("expected: {outcome: [timed_out, refused]}\nsettled_by: a test")
    assert "what it expects is settled; take it out" in told


def test_an_open_bug_says_how_it_shows() -> None:
    """Of category bug an open entry has when_present, and others have none."""
    (told,) = said(OPEN.format("an update"), "bug")
    assert "does not say how the bug shows" in told
    shown = OPEN.format("an update") + "\nwhen_present: {outcome: [timed_out, refused]}"
    assert said(shown, "bug") == ()
    (told,) = said(shown, "by-design")
    assert "this one is of category by-design" in told
    (told,) = said(
        "expected: {outcome: deviates}\nwhen_present: {outcome: [timed_out, refused]}", "bug"
    )
    assert "belongs to entries that are unspecified and of category bug" in told


def test_how_a_bug_shows_is_as_exact_as_its_source() -> None:
    """A single way to fail needs a source that names it, as an expectation does."""
    shown = OPEN.format("an update") + "\nwhen_present: {outcome: timed_out}"
    assert said(shown, "bug") == ()
    whole = text(one=shown).replace("category: platform", "category: bug")
    (told,) = lint([read_manifest(whole.replace(", names: timed_out", ""), "base.yaml")])
    assert "one expects timed_out alone" in told


def test_a_bugs_outcomes_are_read_as_an_expectation_is() -> None:
    """Failures and answers do not stand in one list; the error names the key."""
    body = OPEN.format("an update") + "\nwhen_present: {outcome: [timed_out, connected]}"
    with pytest.raises(ManifestError, match=r"when_present\.outcome: one list holds failures"):
        read_manifest(text(one=body), "base.yaml")


def expectation_of(claim: Expected, *entries: tuple[str, str]) -> tuple[str, ...]:
    """Return the known bugs of a check whose outcome these entries leave open, each as it shows."""
    found = []
    for number, (category, when) in enumerate(entries):
        whole = text(**{f"entry_{number}": OPEN.format("a test") + when})
        found.append(
            read_manifest(
                whole.replace("category: platform", f"category: {category}"), f"{number}.yaml"
            )
        )
    one = check(claim=claim)
    made = resolve([one], cluster_facts("win2019-l2bridge"), found)[one.id]
    assert made.expected is None
    return tuple(f"{bug.id}: {bug.shows}" for bug in made.known_bugs)


def test_an_open_expectation_names_its_bugs() -> None:
    """Beside documents that differ, each bug that applies is named with what is seen where it is there."""
    assert expectation_of(
        Expected(outcome=Outcome.CONNECTED),
        ("platform", ""),
        ("bug", "\nwhen_present: {outcome: [timed_out, refused]}"),
        ("bug", "\nwhen_present: {source: other}"),
    ) == ("entry-1: refused or timed_out", "entry-2: connected, source = other")
    assert expectation_of(Expected(outcome=Outcome.CONNECTED), ("by-design", "")) == ()


def test_what_a_flow_claims_shows_no_bug() -> None:
    """A closed port refuses, with the bug or without: there only the silence tells it."""
    claim = Expected(outcome=Outcome.REFUSED)
    assert expectation_of(claim, ("bug", "\nwhen_present: {outcome: [timed_out, refused]}")) == (
        "entry-0: timed_out",
    )
    assert expectation_of(claim, ("bug", "\nwhen_present: {outcome: refused}")) == ()
    seen = Expected(outcome=Outcome.CONNECTED, source_seen=SourceSeen.CLIENT_POD)
    assert expectation_of(seen, ("bug", "\nwhen_present: {source: client-pod}")) == ()
    assert expectation_of(seen, ("bug", "\nwhen_present: {source: client-node}")) == (
        "entry-0: connected, source = client-node",
    )


@pytest.mark.parametrize(
    ("body", "category", "among"),
    [
        ("", "platform", ()),
        ("\namong: [connected]", "platform", (Outcome.CONNECTED,)),
        ("\namong: [refused]", "platform", (Outcome.REFUSED, Outcome.CONNECTED)),
        (
            "\nwhen_present: {outcome: timed_out}",
            "bug",
            (Outcome.CONNECTED, Outcome.TIMED_OUT),
        ),
    ],
)
def test_an_open_entry_says_among_which_outcomes(
    body: str, category: str, among: tuple[Outcome, ...]
) -> None:
    """Any outcome, the listed ones, or of a bug the claim's and its own."""
    whole = text(one=OPEN.format("a test") + body)
    whole = whole.replace("category: platform", f"category: {category}")
    (told,) = resolve(
        [check()], cluster_facts("win2019-l2bridge"), [read_manifest(whole, "base.yaml")]
    ).values()
    assert told.among == among
