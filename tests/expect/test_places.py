"""Entries that say the same of several places: each with a condition, flows and bugs of its own, one id for all."""

import pytest

from nettests.cli.catalogue_commands import why
from nettests.errors import ManifestError
from nettests.expect import lint, read_manifest, resolve, unused
from nettests.expect.lint import cover
from nettests.expect.resolve import expectation, explain
from nettests.model.expectation import Expected
from nettests.model.words import Outcome, Protocol
from nettests.session.survey import read_catalogue
from tests.expect.entries import check, manifest, text
from tests.facts import cluster_facts

FACTS = cluster_facts("win2019-l2bridge")
TWO = """
when: {source: {os: linux}}
expected: {outcome: [timed_out, refused]}
also:
  - when: {target: {os: windows, build: ">=17763 <17764"}}
    flows: [some-flow]
    protocols: [udp]
"""
FAILS = Expected(outcome=Outcome.REFUSED, alternatives=(Outcome.TIMED_OUT,))


def test_each_place_holds_by_itself() -> None:
    """A check meets the entry in the one place or in the other, and in neither where both deny it."""
    shipped = [manifest(one=TWO)]
    here = check("linux-1", "linux-1")
    there = check("win-1", "win-1", protocol=Protocol.UDP)
    neither = check("win-1", "win-1")
    found = resolve([here, there], FACTS, shipped)
    assert [found[one.id].expected for one in (here, there)] == [FAILS, FAILS]
    assert {one.limitation.id for one in found.values() if one.limitation} == {"one"}
    assert resolve([neither], FACTS, shipped)[neither.id].expected == neither.claim


def test_an_entry_that_holds_in_two_places_is_named_once() -> None:
    """It does not agree with itself, is used if any of its places is, and holds because of the facts of both."""
    shipped = [manifest(one=TWO)]
    both = check("linux-1", "win-1", protocol=Protocol.UDP)
    found = resolve([both], FACTS, shipped)
    one = found[both.id]
    assert one.entries == ("one",)
    assert one.limitation is not None
    assert not any("expects the same" in sentence for sentence in one.limitation.because)
    assert unused(shipped, found) == ()
    facts = [said.partition(":")[0] for said in one.limitation.because]
    assert any("source runs linux" in said for said in facts)
    assert any("target build in >=17763 <17764" in said for said in facts)
    assert len(facts) == len(set(facts))
    assert [entry.id for entry in unused(shipped, {})] == ["one"]


def test_each_place_is_explained_with_its_own_condition() -> None:
    """``explain`` shows both places, and which of them holds."""
    told = explain(check("linux-1", "win-1", protocol=Protocol.UDP), FACTS, [manifest(one=TWO)])
    assert [one.limitation.part for one in told.considered] == [0, 1]
    assert all(one.limitation.id == "one" for one in told.considered)
    assert told.considered[0].findings != told.considered[1].findings


OPEN = """
when: {source: {os: windows}}
expected: unspecified
settled_by: a test
when_present: {outcome: [timed_out, refused]}
also:
  - when: {source: {os: linux}}
    flows: [some-flow]
    when_present: {outcome: [nxdomain, servfail]}
"""


def test_a_bug_may_show_otherwise_in_another_place() -> None:
    """A place without ``when_present`` shows it as the entry does."""
    bug = read_manifest(text(one=OPEN).replace("platform", "bug"), "base.yaml")
    entries = list(bug.limitations)
    shown = {
        source: expectation(check(source, "win-1"), FACTS, entries).known_bugs[0].shows.outcomes
        for source in ("win-1", "linux-1")
    }
    assert shown["win-1"] == (Outcome.REFUSED, Outcome.TIMED_OUT)
    assert shown["linux-1"] == (Outcome.NXDOMAIN, Outcome.SERVFAIL)
    plain = OPEN.replace("    when_present: {outcome: [nxdomain, servfail]}\n", "")
    entries = list(read_manifest(text(one=plain).replace("platform", "bug"), "b.yaml").limitations)
    (same,) = expectation(check("linux-1", "win-1"), FACTS, entries).known_bugs
    assert same.shows.outcomes == (Outcome.REFUSED, Outcome.TIMED_OUT)


def test_a_place_overrides_for_itself() -> None:
    """What the entry replaces in one place stands in the others, unless they say so too."""
    lower = manifest(low="expected: {outcome: [timed_out, unreachable]}")
    higher = manifest(
        "cni",
        high=(
            "when: {source: {os: linux}}\nexpected: unspecified\noverrides: [low]\n"
            "also: [{when: {source: {os: windows}}, flows: [some-flow]}]"
        ),
    )
    linux, windows = check("linux-1", "win-1"), check("win-1", "win-1")
    assert resolve([linux], FACTS, [lower, higher])[linux.id].expected is None
    with pytest.raises(ManifestError, match="both apply to"):
        resolve([windows], FACTS, [lower, higher])


def test_two_entries_of_one_id_are_still_an_error() -> None:
    """Places are no licence to define an id twice, in one file or in two."""
    with pytest.raises(ManifestError, match="one is defined twice, first in line 5"):
        read_manifest(text(one=TWO) + text(one=TWO).split("limitations:\n")[1], "base.yaml")
    other = read_manifest(text("cni", one=TWO), "cni.yaml")
    assert any("defined twice" in said for said in lint([manifest(one=TWO), other]))


def test_mistakes_in_a_place_are_told_with_its_own_line() -> None:
    """A key that is not one, a range that is none, a flow that is not declared."""
    with pytest.raises(ManifestError, match=r"base.yaml:11: .*also.0.when.target.build"):
        read_manifest(text(one=TWO.replace(">=17763 <17764", "newest")), "base.yaml")
    with pytest.raises(ManifestError, match="protocol"):
        read_manifest(text(one=TWO.replace("    protocols: [udp]", "    protocol: udp")), "b.yaml")
    misspelt = TWO.replace("    flows: [some-flow]", "    flows: [some-flaw]")
    (said,) = lint([manifest(one=misspelt)], flows=["some-flow"])
    assert said.startswith("base.yaml:11: one covers the flow some-flaw")


def test_a_release_may_be_bounded_in_any_place() -> None:
    """A source that was picked to patch releases fits where one of the places ends there."""
    whole = text(
        one=(
            'when: {source: {kube_proxy: "<1.22"}}\nexpected: {outcome: [timed_out, refused]}\n'
            'also: [{when: {source: {kube_proxy: ">=1.24 <1.24.10"}}, flows: [some-flow]}]'
        )
    ).replace("section: Limitations", 'section: "", picked: ["1.24.10"]')
    whole = whole.replace("A page", "kubernetes/kubernetes pull request 1")
    assert lint([read_manifest(whole, "base.yaml")]) == ()
    (said,) = lint([read_manifest(whole.replace('1.24.10"]', '1.25.6"]'), "base.yaml")])
    assert "picked to 1.25.6" in said


def test_the_catalogue_names_the_entry_once() -> None:
    """However many places it has."""
    catalogue = read_catalogue()
    fact = next(iter(catalogue.facts))
    entries = manifest(one=f"facts: [{fact}]\n{TWO.strip()}").limitations
    covered = {one.fact.id: one for one in cover(catalogue, {"some-flow": ()}, entries)}
    assert covered[fact].entries == ("one",)
    assert why(covered[fact]).startswith("flows some-flow; limitations one")
    assert "one, one" not in why(covered[fact])
