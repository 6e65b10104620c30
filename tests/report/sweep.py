"""A sweep over a fleet of twelve nodes as its journal tells it, with whatever does not answer."""

import json
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace

from nettests.judge import judge_run
from nettests.model.check import FIRST_PACKETS, Action, Check
from nettests.model.expectation import Expectation
from nettests.model.facts import ClusterFacts
from nettests.model.journal_records import (
    Answer,
    Begin,
    Discovered,
    Done,
    End,
    Judged,
    Planned,
    Record,
)
from nettests.model.observation import Observation, Raw
from nettests.model.words import Protocol, Question
from nettests.parse import observation_of
from nettests.plan import Backing, Flow, build, load
from nettests.report import Results, build_results
from nettests.resources import suites_path
from tests.plan.clusters import cluster, node

Silent = Callable[[Action], bool]
FLOWS = (
    "pod-to-pod-ip",
    "pod-to-service-clusterip",
    "nodeport-from-pod-other-node",
    "pod-to-external-ip",
)


def twelve() -> ClusterFacts:
    """Return four Linux and eight Windows nodes by names that people give them."""
    nodes = [
        *(replace(node("linux-1", number), name=f"linux-{number}") for number in range(1, 5)),
        *(replace(node("windows-1", number), name=f"win-{number}") for number in range(1, 9)),
    ]
    return cluster(*nodes)


def swept(
    silent: Silent = lambda _: False,
    facts: ClusterFacts | None = None,
    flows: Collection[str] = FLOWS,
) -> Results:
    """Return the results of a sweep in which the questions that ``silent`` names get no answer."""
    return build_results([*records(silent, facts or twelve(), flows)])


def records(
    silent: Silent, facts: ClusterFacts, flows: Collection[str] = FLOWS
) -> Iterator[Record]:
    """Yield the records of such a run."""
    declared = [_plain(one) for one in load([suites_path()]).flows if one.name in flows]
    checks = build(facts, declared).checks
    yield Begin(run_id="20261124-090000-ab12", started="2026-11-24T09:00:00+00:00")
    yield Discovered(facts=facts)
    observations: dict[str, Observation] = {}
    expectations: dict[str, Expectation] = {}
    for check in checks:
        claim = Expectation(claim=check.claim, expected=check.claim)
        yield Planned(check=check, expectation=claim)
        expectations[check.id] = claim
        for member in check.each:
            raws = list(_answers(member, silent))
            yield from (Answer(raw=raw) for raw in raws)
            done = Done(check=member.id, answers=len(raws))
            yield done
            observations[member.id] = observation_of(member, done, raws)
            expectations[member.id] = claim
    for told in judge_run(checks, expectations, observations):
        yield Done(check=told.check, answers=0, judgement=told)
        yield Judged(judgement=told)
    yield End(finished="2026-11-24T09:01:00+00:00", exit_code=0)


def _plain(flow: Flow) -> Flow:
    """Return a flow with one question a path: whom servers see, where backends are and what nslookup says are other stories."""
    names = tuple(replace(name, resolvers=()) for name in flow.names)
    resolves = flow.question is Question.RESOLVE
    return replace(
        flow,
        source_seen=None,
        backing=Backing.LOCAL if "nodeport" in flow.name else flow.backing,
        names=flow.names if resolves else names,
    )


def _answers(member: Check, silent: Silent) -> Iterator[Raw]:
    lost = silent(member.action)
    if member.action.question is Question.DISTRIBUTE:
        yield from _connections(member, sticks=not lost)
        return
    if member.action.question is Question.START:
        alone = silent(replace(member.action, question=Question.REACH))
        paths = {"pod": alone, "service": alone, "name": alone or lost}
        yield _first_packets(member, {name for name, is_lost in paths.items() if is_lost})
        return
    yield _dial(member, "check", member.action, well=not lost)
    if lost:
        for control in member.controls:
            well = not silent(control.action)
            yield _dial(member, f"control:{control.proves}", control.action, well=well)


def _first_packets(member: Check, lost: Collection[str]) -> Raw:
    """Return what the containers of a new Pod logged, which got through at once or never."""
    well, never = "\nfirst-packets 200 0.003417\n", "\nfirst-packets 000 1.001222\n"
    paths = ("pod", "service", "name")
    logs = {path: (never if path in lost else well) * 15 for path in paths}
    made = _dial(member, "check", member.action, well=True)
    record = {"status": {"phase": "Succeeded"}, "then": {"logs": logs}}
    return replace(made, tool="start", stdout=json.dumps(record), context={"then": FIRST_PACKETS})


def _connections(member: Check, *, sticks: bool) -> Iterator[Raw]:
    """Yield new connections of a client that keeps its backend, or does not; its controls meet both backends."""
    action = member.action
    for number in range(action.connections):
        yield _dial(member, "check", action, well=True, backend=0 if sticks else number % 2)
    port = _dial(member, "check", action, well=True)
    yield replace(
        port,
        stdout=json.dumps({"responses": ["10.1.1.1:40001"]}),
        context={"request": "clientip"},
    )
    for control in member.controls:
        for backend in range(len(control.action.target.backends)):
            purpose = f"control:{control.proves}"
            yield _dial(member, purpose, control.action, well=True, backend=backend)


def _dial(member: Check, purpose: str, action: Action, *, well: bool, backend: int = 0) -> Raw:
    named = action.target.backends[backend] if action.target.backends else "outside"
    told = {"responses": [named]} if well else {"errors": ["dial tcp 10.1.1.1:80: i/o timeout"]}
    return Raw(
        check=member.id,
        purpose=purpose,
        attempt=1,
        tool="dial",
        client_os=str(action.source.os),
        probe=action.source.probe,
        channel="port-forward",
        command=("GET", f"/dial?protocol={'udp' if action.protocol is Protocol.UDP else 'http'}"),
        started=1.0,
        elapsed=0.02 if well else 5.0,
        status=200,
        stdout=json.dumps(told),
        context={"request": "hostname"},
    )
