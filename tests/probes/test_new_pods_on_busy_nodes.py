"""A new Pod whose node was too busy to tell anything of its network: another one is started, and both are kept."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace

import pytest

from nettests.model.check import Action, Check
from nettests.model.words import Outcome, Question, TargetKind, VantageKind
from nettests.plan import pods
from nettests.probes.examine import Examination
from tests.probes.conftest import Bench
from tests.probes.made import action, check

AT_ONCE = "host\nfirst-packets 200 0.004\n" * 15
SLOW = "host\nfirst-packets 200 0.7\n" * 15
NEVER = "curl: (28) Resolving timed out after 1105 milliseconds\n\nfirst-packets 000 1.1\n" * 15


def record(pod: str, name: str) -> str:
    """Return what is written down of a Pod by the logs of its containers."""
    logs = {"pod": pod, "service": pod, "name": name}
    return json.dumps({"status": {"phase": "Failed"}, "then": {"logs": logs}})


BUSY, READY, BROKEN = record(SLOW, NEVER), record(AT_ONCE, AT_ONCE), record(AT_ONCE, NEVER)


@dataclass(slots=True)
class Pods:
    """Starts Pods whose records are these, one after the other."""

    records: Iterator[str]

    def examine(self, action: Action) -> Examination:
        """Return the next one."""
        assert action.case is not None
        context = {"then": "first", "reasons": ""}
        return Examination(tool="start", words=(), stdout=next(self.records), context=context)


def new_pod() -> Check:
    """Return the check of a new Pod."""
    started = replace(
        action("probe-windows-1-1", TargetKind.POD_IP, question=Question.START),
        case=pods.reaching("each-path"),
    )
    source = replace(started.source, kind=VantageKind.API, probe="")
    return replace(check(replace(started, source=source)), controls=())


@pytest.mark.parametrize(
    ("records", "attempts", "outcome", "trusted"),
    [
        ([READY], 1, Outcome.CONFORMS, True),
        ([BROKEN], 1, Outcome.DEVIATES, True),
        ([BUSY, READY], 2, Outcome.CONFORMS, True),
        ([BUSY, BROKEN], 2, Outcome.DEVIATES, True),
        ([BUSY, BUSY], 2, Outcome.PROBE_FAILED, False),
    ],
    ids=["ready", "broken", "busy and ready", "busy and broken", "busy twice"],
)
def test_a_new_pod_on_a_busy_node_is_followed_by_another(
    bench: Bench, records: list[str], attempts: int, outcome: Outcome, trusted: bool
) -> None:
    """The second Pod tells what the first could not; where its node is as busy, nothing is known."""
    one = new_pod()
    observer = bench.observer([one])
    examiners = {Question.START: Pods(iter(records))}
    observer = replace(observer, sender=replace(observer.sender, examiners=examiners))
    observer.run()
    seen = bench.seen(one)
    assert len(seen.attempts) == attempts
    assert (seen.outcome, seen.trusted, seen.agreed) == (outcome, trusted, True)
