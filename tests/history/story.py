"""Thirty nights of one cluster without a cluster: two real changes and one flaky path, derived from one recorded run.

Plans, expectations and judgements are the real ones (``tests.compare.runs``); each run went through ``results.json`` and
back. The nights differ in the fixture's facts and in what the story says of a path.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache

from nettests.compare.recorded import RecordedRun
from nettests.history.trends import ClusterHistory, ReadRun, history_of
from nettests.model.check import Check
from nettests.model.expectation import Expectation, Expected
from nettests.model.facts import ClusterFacts, known
from nettests.model.versions import WindowsBuild
from nettests.model.words import Outcome, SourceSeen
from nettests.report import Results
from tests.compare.runs import as_expected, recorded, results
from tests.facts import cluster_facts, with_windows

NIGHTS = 30
PATCHED, DSR_ON, REPAIRED = 9, 18, 24
"""The first night after a Windows update, with DSR, and with DSR in effect."""
SWINGS = frozenset({3, 7, 15, 22})
"""The nights on which the flaky path was red."""
FLOWS = (
    "pod-to-pod-ip",
    "pod-to-service-clusterip",
    "dsr-source-address",
    "path-mtu",
)
LOST = "pod-to-pod-ip/linux-1/windows-1/other-node/"
"""What is red since the update."""
SWINGING = "pod-to-service-clusterip/linux-1/windows-1/other-node/udp"
NOT_IN_EFFECT = "dsr-source-address/windows-1/"
"""What showed the node as the source although DSR was on."""
BEFORE = cluster_facts("win2019-l2bridge")
FIRST = datetime(2026, 10, 27, 2, 30, tzinfo=UTC)


def facts_of(night: int) -> ClusterFacts:
    """Return the facts: an update of Windows comes, then DSR is turned on."""
    facts = BEFORE
    if night >= PATCHED:
        facts = with_windows(facts, build=known(WindowsBuild.parse("17763.6532"), "test"))
    if night >= DSR_ON:
        facts = with_windows(facts, kube_proxy={"dsr": known(True, "test")})
    return facts


def behaves(night: int) -> Callable[[Check, Expectation], Expected]:
    """Return what the cluster does on a night."""

    def does(check: Check, expectation: Expectation) -> Expected:
        if night >= PATCHED and check.id.startswith(LOST):
            return Expected(outcome=Outcome.TIMED_OUT)
        if night in SWINGS and check.id.startswith(f"{SWINGING}#linux-1"):
            return Expected(outcome=Outcome.TIMED_OUT)
        if DSR_ON <= night < REPAIRED and check.id.startswith(NOT_IN_EFFECT):
            return replace(check.claim, source_seen=SourceSeen.CLIENT_NODE)
        return as_expected(check, expectation)

    return does


@cache
def _made(night: int) -> Results:
    return results(facts_of(night), behaves(night), flows=FLOWS)


def _like(night: int) -> int:
    """Return the first night that was like this one: each of them is made once."""
    stage = max(one for one in (0, PATCHED, DSR_ON, REPAIRED) if one <= night)
    return (
        night if night in SWINGS else next(at for at in range(stage, night + 1) if at not in SWINGS)
    )


def made(night: int) -> Results:
    """Return the results of a night's run."""
    began = FIRST + timedelta(days=night)
    found = _made(_like(night))
    info = replace(
        found.run,
        run_id=f"{began:%Y%m%d-%H%M%S}-{night:04x}",
        started=began.isoformat(),
        seconds=31.0 + night % 4 + (9 if night >= PATCHED else 0),
        server="https://api.staging.test:6443",
    )
    return replace(found, run=info)


@cache
def night(number: int) -> ReadRun:
    """Return a night's run as it is read again."""
    run = recorded(made(number))
    return ReadRun(name=run.run.run_id, run=run)


def nights(numbers: Iterable[int] = range(NIGHTS)) -> list[ReadRun]:
    """Return some nights' runs, all by default."""
    return [night(one) for one in numbers]


def altered(one: ReadRun, name: str = "", **info: object) -> ReadRun:
    """Return a run with another name of its folder, and other words about itself."""
    run: RecordedRun = replace(one.run, run=replace(one.run.run, **info))  # type: ignore[arg-type]
    return replace(one, name=name or one.name, run=run)


@cache
def whole() -> ClusterHistory:
    """Return the history of all thirty nights."""
    (found,) = history_of(nights()).clusters
    return found
