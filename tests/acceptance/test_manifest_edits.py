"""Manifest edits on one finished run, judged again from its journal: exactly the decided checks move."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from nettests.expect import Limitation, Manifest, resolve
from nettests.expect.manifest import Deviation
from nettests.model.check_id import parent_of
from nettests.model.words import OS, Outcome, Verdict
from nettests.session.blueprint import read_manifests
from nettests.session.rejudge import Recorded, rejudged
from tests.acceptance.runs import PROFILES, Runs
from tests.session.recorded_journal import read_recorded

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.xdist_group("whole-runs"),
    pytest.mark.timeout(1800),
]
WINDOWS = tuple(profile for profile in PROFILES if profile != "linux")
SHIPPED = read_manifests()[0]


@pytest.fixture(params=WINDOWS)
def recorded(request: pytest.FixtureRequest, finished_runs: Runs) -> Recorded:
    """The journal of a clean run of one profile."""
    return read_recorded(finished_runs[request.param].directory / "journal.jsonl")


def verdicts(recorded: Recorded, manifests: tuple[Manifest, ...]) -> dict[str, Verdict]:
    """Verdict by check id under other manifests."""
    return {told.check: told.verdict for told in rejudged(recorded, manifests)}


def moved(before: Mapping[str, Verdict], after: Mapping[str, Verdict]) -> dict[str, Verdict]:
    """The checks whose verdict differs, with the new one."""
    return {check: verdict for check, verdict in after.items() if before[check] is not verdict}


def edited(
    manifests: tuple[Manifest, ...], entry: Limitation, *new: Limitation
) -> tuple[Manifest, ...]:
    """The manifests with one entry replaced, or removed with all that refers to it."""
    names = {limitation.id for limitation in new}

    def kept(old: Limitation) -> tuple[Limitation, ...]:
        if old.id == entry.id:
            return new
        if entry.id in names:
            return (old,)
        without = tuple(name for name in old.overrides if name != entry.id)
        return (replace(old, overrides=without),)

    return tuple(
        replace(m, limitations=tuple(one for old in m.limitations for one in kept(old)))
        for m in manifests
    )


def decided(recorded: Recorded) -> dict[str, set[str]]:
    """The checks that each limitation decided, or of which it decided a member, by its id."""
    found: dict[str, set[str]] = {}
    for check, expectation in resolve(recorded.checks, recorded.facts, SHIPPED).items():
        if expectation.limitation:
            found.setdefault(expectation.limitation.id, set()).add(parent_of(check))
    return found


def deciding(recorded: Recorded) -> list[Limitation]:
    """The entries that decided a check of this run with an exact expectation."""
    used = decided(recorded)
    entries = [entry for manifest in SHIPPED for entry in manifest.limitations]
    return [entry for entry in entries if entry.id in used and entry.deviation]


def observed_silence(deviation: Deviation) -> bool:
    """Whether a time-out satisfies it, alone or beside other failures."""
    return Outcome.TIMED_OUT in {deviation.outcome, *deviation.alternatives}


def test_judging_again_gives_the_verdicts_of_the_run(recorded: Recorded) -> None:
    """Verdicts recomputed offline are those that the run itself wrote."""
    assert verdicts(recorded, SHIPPED) == recorded.verdicts


def test_removing_an_entry_fails_exactly_what_it_decided(recorded: Recorded) -> None:
    """Without its entry, each check that a limitation decided fails, and no other verdict moves."""
    before = verdicts(recorded, SHIPPED)
    assert deciding(recorded)
    for entry in deciding(recorded):
        after = verdicts(recorded, edited(SHIPPED, entry))
        assert moved(before, after) == dict.fromkeys(decided(recorded)[entry.id], Verdict.FAIL)


def test_changing_an_outcome_fails_exactly_what_it_decided(recorded: Recorded) -> None:
    """A limitation that expects a name to be unknown where the flow times out is not satisfied."""
    before = verdicts(recorded, SHIPPED)
    silent = [e for e in deciding(recorded) if e.deviation and observed_silence(e.deviation)]
    assert silent
    for entry in silent:
        other = replace(entry, deviation=Deviation(outcome=Outcome.NXDOMAIN))
        after = verdicts(recorded, edited(SHIPPED, entry, other))
        assert moved(before, after) == dict.fromkeys(decided(recorded)[entry.id], Verdict.FAIL)


def test_expecting_a_failure_where_the_flow_works_is_lifted(recorded: Recorded) -> None:
    """An added entry that expects a time-out of a working flow makes its checks lifted, and those of flows alike."""
    before = verdicts(recorded, SHIPPED)
    # Its condition is on the source alone: every flow of a Windows pod meets it.
    silent = next(entry for entry in deciding(recorded) if entry.id == "icmp-pod-external")
    added = replace(silent, id="added-by-a-test", flows=("pod-to-pod-ip",), protocols=())
    manifests = (*SHIPPED, replace(SHIPPED[0], limitations=(added,)))
    after = verdicts(recorded, manifests)
    of_windows = [check for check in recorded.checks if check.source.os is OS.WINDOWS]
    own = {check.id for check in of_windows if check.flow == "pod-to-pod-ip"}
    alike = {check.id for check in of_windows if check.alike == "pod-to-pod-ip"}
    assert own
    assert alike
    assert moved(before, after) == dict.fromkeys(own | alike, Verdict.LIFTED)
