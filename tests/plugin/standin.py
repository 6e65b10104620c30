"""A pytest plugin for tests of ours: the session without a cluster.

Everything is the real thing (plan, manifests, journal, judging, reports) but the two ends that touch a
cluster: ``prepare`` takes facts that are stated here, and observing writes canned answers, in the
probes' own words, instead of testing; nothing is diagnosed. ``NETTESTS_ANSWERS`` holds them as JSON: parts of check ids to
words of ``ANSWERS``; where nothing is said a check is answered as it is expected. With ``NETTESTS_ROOM`` the disk is full
once the journal has grown by so many bytes since the first answer; ``NETTESTS_WITHOUT`` is a library that is not installed.
"""

import json
import os
import resource
from collections.abc import Iterable
from dataclasses import dataclass, replace
from importlib.util import find_spec

import pytest

from nettests.capture import captures
from nettests.cluster.retries import Sent, UnderWay
from nettests.errors import ClusterError
from nettests.model.check import Action, Check, Plan
from nettests.model.cluster_profile import ClusterProfile
from nettests.model.expectation import Expected
from nettests.model.observation import Raw
from nettests.model.words import Distribution, Outcome, Protocol, SourceSeen
from nettests.plan import Flow
from nettests.plugin import controller
from nettests.redaction import register
from nettests.session.blueprint import blueprint, read_manifests
from nettests.session.diagnosis import Failing
from nettests.session.journal import Journal
from nettests.session.prepare import Prepared
from nettests.session.report_dir import new_run_id
from nettests.session.run import Run
from nettests.session.run_objects import RunObjects
from nettests.session.run_options import RunOptions
from tests.plan.clusters import mixed, without

ANSWERS = {
    "timed out": Expected(outcome=Outcome.TIMED_OUT),
    "refused": Expected(outcome=Outcome.REFUSED),
    "connected": Expected(outcome=Outcome.CONNECTED, source_seen=SourceSeen.CLIENT_POD),
    "replied": Expected(outcome=Outcome.REPLIED, source_seen=SourceSeen.CLIENT_POD),
}

_ERRORS = {
    Outcome.TIMED_OUT: "dial tcp 10.96.0.9:80: i/o timeout",
    Outcome.REFUSED: "dial tcp 10.96.0.9:80: connect: connection refused",
    Outcome.NXDOMAIN: "lookup web.demo: no such host",
}
_POD, _NODE = "10.244.1.7", "172.30.0.3"


HELD = "words-of-a-kubeconfig"


class StatedConnection:
    """A connection that is only named in the journal."""

    context = "stated"
    server = "https://127.0.0.1"
    sent = Sent()
    under_way = UnderWay()

    def close(self) -> None:
        """Close nothing."""


def prepare(options: RunOptions, flows: Iterable[Flow]) -> Prepared:
    """Prepare on stated facts; ``NETTESTS_FACTS`` may be ``linux`` or an error for people."""
    register(HELD)
    stated = os.environ.get("NETTESTS_FACTS", "mixed")
    facts = {"mixed": mixed(), "linux": without(mixed(), "windows-1")}.get(stated)
    if stated == "interrupt":
        raise KeyboardInterrupt
    if facts is None:
        raise ClusterError(stated, hint="state other facts")
    run_id = new_run_id()
    return Prepared(
        options=options,
        run_id=run_id,
        directory=options.report_dir / run_id,
        connection=StatedConnection(),  # type: ignore[arg-type] # nothing is asked through it
        profile=ClusterProfile(),
        blueprint=blueprint(
            facts, flows, read_manifests(options.manifests), options.enabled, options.choice
        ),
    )


@dataclass(slots=True, kw_only=True)
class NoObjects(RunObjects):
    """Removes nothing and says so."""

    journal: Journal

    def _remove(self) -> None:
        self.gone = True
        self.left_behind = os.environ.get("NETTESTS_LEFT", "")
        self.journal.event("everything was removed")


class CannedRun(Run):
    """A run whose observation writes canned answers."""

    def _observe(self, plan: Plan) -> None:
        self.run_objects = NoObjects(
            connection=self.prepared.connection,
            run_id=self.run_id,
            namespace="nettests-stated",
            timing=self.prepared.profile.timing,
            keep=self.prepared.options.keep,
            journal=self.journal,
            touched=True,
        )
        self.judging.nodes = None  # whether they are Ready takes a cluster
        if room := os.environ.get("NETTESTS_ROOM"):
            most = self.journal.path.stat().st_size + int(room)
            resource.setrlimit(resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY))
        answers: dict[str, str] = json.loads(os.environ.get("NETTESTS_ANSWERS", "{}"))
        members = list(plan.each)
        for number, check in enumerate(members):
            word = next((w for part, w in answers.items() if part in check.id), "")
            self._answer(check, word)
            self.state.tell("observe", number + 1, len(members))

    def _diagnose(self, plan: Plan, failing: Failing) -> None:
        """Collect nothing: there is no cluster to read."""

    def _answer(self, check: Check, word: str) -> None:
        expectation = self.prepared.blueprint.expectations[check.id]
        seen = ANSWERS.get(word) or expectation.expected or expectation.claim
        if word == "hang":
            while not self.state.stopped.wait(0.05):
                pass
            return
        if word == "skip":
            self.judging.done(check.id, skip="the probe has no ping")
            return
        error = "the exec lost its exit code" if word == "channel" else None
        for raw in _raws(check, check.action, "check", seen):
            self.judging.raw(replace(raw, error=error))
        for control in check.controls:
            works = Expected(
                outcome=_works(control.action), distribution=Distribution.SEVERAL_BACKENDS
            )
            for raw in _raws(check, control.action, f"control:{control.proves}", works):
                self.judging.raw(raw)
        self.judging.done(check.id)


def _works(action: Action) -> Outcome:
    return Outcome.CONNECTED if action.protocol is Protocol.TCP else Outcome.REPLIED


def _raws(check: Check, action: Action, purpose: str, seen: Expected) -> list[Raw]:
    """Return the records of an action that was answered as ``seen``: who answered, and whom it saw."""
    backends = list(action.target.backends) or ["server"]
    if seen.distribution is Distribution.ONE_BACKEND or action.connections == 1:
        backends = backends[:1]
    names = [backends[turn % len(backends)] for turn in range(max(1, action.connections))]
    source = _POD if seen.source_seen in {None, SourceSeen.CLIENT_POD} else _NODE
    told = [("hostname", name) for name in names] + [("clientip", f"{source}:40000")]
    if action.connections > 1:
        told = told[:-1]
    kind = "udp" if _works(action) is Outcome.REPLIED else "http"
    error = _ERRORS.get(seen.outcome)
    return [
        Raw(
            check=check.id,
            purpose=purpose,
            attempt=number,
            tool="dial",
            client_os="linux",
            probe=action.source.probe,
            channel="canned",
            command=("GET", f"/dial?protocol={kind}&request={request}"),
            started=0.0,
            elapsed=0.0,
            status=200,
            stdout=json.dumps({"errors": [error]} if error else {"responses": [text]}),
            context={"request": request, "client-pod": _POD, "client-node": _NODE},
        )
        for number, (request, text) in enumerate(told)
    ]


def _interrupted(*_arguments: object, **_more: object) -> int:
    raise KeyboardInterrupt


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Put the stand-ins in place before the plugin is told to prepare."""
    vars(controller).update(prepare=prepare, Run=CannedRun)
    if os.environ.get("NETTESTS_DIE") == "at the end":
        vars(controller).update(of_run=_interrupted)
    if absent := os.environ.get("NETTESTS_WITHOUT"):
        vars(captures)["find_spec"] = lambda name: None if name == absent else find_spec(name)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Let a worker die, or the run be interrupted, where ``NETTESTS_DIE`` says so."""
    place = os.environ.get("NETTESTS_DIE")
    if place and place in item.nodeid:
        if hasattr(item.config, "workerinput"):
            os._exit(9)
        raise KeyboardInterrupt
