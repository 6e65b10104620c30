"""Runs that baselines are tested with: real plans and judgements, one path broken, one outcome left open."""

from dataclasses import replace
from datetime import date
from functools import cache

from nettests.baseline.accepting import accepted
from nettests.baseline.entries import Baseline, Entry
from nettests.compare.recorded import Member, RecordedCheck, RecordedRun
from nettests.model.facts import ClusterFacts, known
from nettests.model.versions import WindowsBuild
from nettests.model.words import Outcome, Verdict
from tests.compare.runs import as_expected, but, recorded, results
from tests.facts import cluster_facts, with_windows

FLOWS = ("pod-to-pod-ip", "node-to-service-clusterip", "icmp-egress")
FACTS = with_windows(cluster_facts("win2019-l2bridge"), kube_proxy={"dsr": known(True, "test")})
"""With DSR the documents leave open whether nodes reach ClusterIPs."""
OTHER = with_windows(FACTS, build=known(WindowsBuild.parse("17763.6532"), "test"))
BROKEN = "pod-to-pod-ip/linux-1/windows-1/other-node/tcp"
OPEN = "node-to-service-clusterip/windows-1/linux-1/other-node/tcp"
TODAY = date(2026, 11, 25)
LAST_DAY = date(2026, 12, 31)


@cache
def run(facts: ClusterFacts = FACTS, broken: str = BROKEN, outcome: Outcome = Outcome.TIMED_OUT) -> RecordedRun:  # fmt: skip
    """Return a run in which the checks whose ids begin so have an outcome; of none where it is empty."""
    flow = broken.partition("/")[0]
    does = but(flow, outcome, broken) if broken else as_expected
    return recorded(results(facts, does, flows=FLOWS))


def entries(of: RecordedRun, *patterns: str) -> tuple[Entry, ...]:
    found = accepted([of], patterns, reason="ticket 4711", expires=LAST_DAY)
    return tuple(one.entry for one in found)


def baseline(of: RecordedRun, *patterns: str) -> Baseline:
    return Baseline(file="baseline.yaml", entries=entries(of, *patterns))


def with_check(of: RecordedRun, check: RecordedCheck) -> RecordedRun:
    """Return a run with one check in the place of the one of its id, or beside the others."""
    rest = [one for one in of.checks if one.id != check.id]
    return replace(of, checks=(*rest, check))


def of_members(verdict: Verdict, **members: Verdict) -> RecordedCheck:
    """Return a check of the sweep with members that deviate."""
    each = {name: Member(verdict=one) for name, one in members.items()}
    return RecordedCheck(id="fleet/a", flow="fleet", verdict=verdict, members=each)
