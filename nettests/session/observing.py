"""Observe: open the probes, calibrate instruments, complete the facts, run every check, close the probes.

The stage between deployment and diagnosis. ``Once`` does this once, for a run; ``rounds`` does it
in each round of a watch. Judges nothing: answers go to ``judging``. Calibrations run in the
background while Services converge, and verdicts wait for those that they need; each answer is
written to the journal before it is read.
"""

import threading
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Protocol

from nettests import probes
from nettests.bounds import Bounds
from nettests.model.calibration import Calibration
from nettests.model.check import Check, Plan
from nettests.model.cluster_profile import Timing
from nettests.model.journal_records import Calibrated
from nettests.model.observation import NodeReading
from nettests.model.words import Question, TargetKind, VantageKind
from nettests.parse.doubts import Doubts, State, known_answers, of_words
from nettests.session.blueprint import Blueprint, documented, learn
from nettests.session.deploying import Standing
from nettests.session.diagnosis import Failing
from nettests.session.journal import Journal
from nettests.session.judging import Judging
from nettests.session.pod_monitor import PodMonitor
from nettests.session.prepare import Prepared
from nettests.session.run_objects import RunObjects
from nettests.session.run_state import RunState

MISSING = "exec/missing-program"
"""Run once for each kind of vantage on a node: kubelet and runtime answer, whatever the Pod."""
SHARED = "shared"
"""The key in ``Calibration.context`` for the probe that ran it."""


@dataclass(slots=True, kw_only=True)
class Calibrating:
    """The calibrations of one run. Thread-safe."""

    write: Callable[[Calibrated], None]
    timing: Timing
    stopped: threading.Event
    """Set when the run is stopped: no further calibration begins."""
    made: list[Calibration] = field(default_factory=list)
    _doubts: Doubts = field(default_factory=Doubts)
    _pending: dict[str, Future[None]] = field(default_factory=dict)
    """By probe."""
    _first: dict[tuple[VantageKind, str | None], str] = field(default_factory=dict)
    """A probe of each kind on each node: one Pod's calibration holds for other Pods on the node."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def begin(self, places: Iterable[probes.Place], opened: Mapping[str, probes.Probe]) -> None:
        """Begin to calibrate these places, each once in a run."""
        pool = ThreadPoolExecutor(Bounds.of(self.timing).calibrations, "calibrate")
        for place in places:
            if place.probe not in self._pending:
                first = self._first.setdefault((place.vantage, place.node), place.probe)
                submitted = pool.submit(self._calibrate, place, opened[place.probe], first)
                self._pending[place.probe] = submitted
        pool.shutdown(wait=False)

    def _calibrate(self, place: probes.Place, probe: probes.Probe, first: str) -> None:
        alone = first == place.probe
        for calibration in probes.calibrate(place, probe, self.timing, self.stopped, alone=alone):
            self._keep(calibration)
        if not alone:
            self._wait(first)
            for calibration in [each for each in self.made if each.probe == first]:
                if any(question.name == MISSING for question in calibration.questions):
                    context = {**calibration.context, SHARED: first}
                    self._keep(replace(calibration, probe=place.probe, context=context))

    def _keep(self, calibration: Calibration) -> None:
        self.write(Calibrated(calibration=calibration))
        with self._lock:
            self._doubts.add(calibration)
            self.made.append(calibration)

    def works(self, probe: str, need: str) -> bool:
        """Whether a calibration has shown that a probe has a program."""
        self._wait(probe)
        return any(
            answer.instrument.value == need and answer.state is State.UNDERSTOOD
            for calibration in self.made
            if calibration.probe == probe
            for answer in known_answers(calibration)
        )

    def wait(self) -> None:
        """Wait for all calibrations that were begun."""
        for pending in self._pending.values():
            pending.result()

    def doubts_about(self, check: Check) -> Doubts:
        """Return the doubts once all probes of a check are calibrated."""
        for action in check.actions:
            self._wait(action.source.probe)
            if action.question is Question.START:
                self._wait(self._first.get((VantageKind.POD, action.target.node), ""))
            if action.target.kind is TargetKind.NODE_IP:
                self._wait(self._first.get((VantageKind.NODE, action.target.node), ""))
            for pod in action.target.backends:
                self._wait(pod)
        return self._doubts

    def doubted(self, reading: NodeReading) -> NodeReading:
        """Return a reading, with an error if its instrument is distrusted, so as not to count."""
        self._wait(reading.probe)
        why = self._doubts.why(of_words(reading.command), reading.probe)
        return replace(reading, error=why) if why and reading.error is None else reading

    def _wait(self, probe: str) -> None:
        if (pending := self._pending.get(probe)) is not None:
            pending.result()


Diagnose = Callable[[Plan, Failing], None]
"""Collects diagnostics of failing checks."""


@dataclass(slots=True, kw_only=True)
class Observing:
    """Observes for one run; ``blueprint`` is completed by facts that are read on nodes."""

    prepared: Prepared
    state: RunState
    journal: Journal
    run_objects: RunObjects
    judging: Judging
    blueprint: Blueprint = field(init=False)
    _calibrating: Calibrating = field(init=False)
    _learned: bool = False

    def __post_init__(self) -> None:
        self.blueprint = self.prepared.blueprint
        self._calibrating = Calibrating(
            write=self.journal.write,
            timing=self.prepared.profile.timing,
            stopped=self.state.stopped,
        )

    def run(self, plan: Plan, standing: Standing, judging: Judging) -> None:
        """Open the probes, run every check of the plan, and close the probes."""
        profile, deployment = self.prepared.profile, standing.deployment
        self.state.stages.begin("open channels")
        opened, problems = probes.open_probes(
            standing.access, deployment, self.blueprint.facts, profile.timing, judging
        )
        judging.doubts_about = self._calibrating.doubts_about
        if not self._learned:  # once for all rounds of a watch
            self._learn(plan, opened, deployment)
        judging.expectations = self.blueprint.expectations
        self.state.stages.begin("observe")
        facts = self.blueprint.facts
        witnessing = standing.witnessing(facts, profile)
        sender = standing.sender(
            facts,
            profile,
            opened,
            witnessing,
            judging,
            began=self.state.began,
            stopped=self.state.stopped,
            plan=plan,
        )
        try:
            probes.Observer(
                sender,
                tuple(plan.each),
                problems,
                self.state.tell,
                standing.churn(facts, profile),
                documented(self.blueprint.plan.checks, self.blueprint.expectations),
                arrivals=standing.arrivals(),
                works=self._calibrating.works,
            ).run()
        finally:
            for remark in witnessing.close():
                self.journal.event(remark)
            probes.close_probes(opened)

    def _learn(
        self, plan: Plan, opened: Mapping[str, probes.Probe], deployment: probes.Deployment
    ) -> None:
        """Calibrate instruments, read the nodes' own settings, and resolve expectations again."""
        facts = self.blueprint.facts
        lacking = probes.lacking_facts(opened, deployment, facts)
        self._calibrating.begin(probes.places(plan.each, lacking, opened, facts), opened)
        readings = probes.read_host_facts(lacking, self.prepared.profile.timing)
        self.blueprint = learn(
            self.blueprint, plan, readings, self.journal, self._calibrating.doubted
        )
        self.judging.expectations = self.blueprint.expectations
        self._learned = True


class Observation(Protocol):
    """How often the checks of a run are run while its objects exist."""

    @property
    def outlasts_outages(self) -> bool:
        """Whether it continues when the API server has not answered for a while."""

    def observe(
        self, plan: Plan, standing: Standing, observing: Observing, diagnose: Diagnose
    ) -> None:
        """Observe the checks of a plan."""


class Once:
    """Run every check once, as a run does."""

    outlasts_outages = False

    def observe(
        self, plan: Plan, standing: Standing, observing: Observing, _diagnose: Diagnose
    ) -> None:
        """Run every check once, and look whether the Pods of failing checks still exist."""

        def tell(event: str) -> None:
            if not observing.run_objects.ending:  # otherwise the run itself removes them
                observing.journal.event(event, notable=True)

        observing.judging.pods = PodMonitor(
            deployed=standing.deployment,
            read=lambda: probes.still_standing(
                standing.access, standing.deployment, standing.blank.labels
            ),
            tell=tell,
            began=observing.state.began,
        )
        observing.run(plan, standing, observing.judging)
