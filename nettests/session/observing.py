"""Observe: open the probes, complete the facts, run every check, close the probes.

The stage between deployment and diagnosis. ``Once`` does this once, for a run; ``rounds`` does it
in each round of a watch. Judges nothing: answers go to ``watch``.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from nettests import probes
from nettests.model.check import Plan
from nettests.session.blueprint import Blueprint, documented, learn
from nettests.session.calibrating import Calibrating
from nettests.session.course import Course
from nettests.session.diagnosis import Failing
from nettests.session.holding import Holding
from nettests.session.journal import Journal
from nettests.session.pod_watch import PodWatch
from nettests.session.prepare import Prepared
from nettests.session.standing import Standing
from nettests.session.watch import Watch

Diagnose = Callable[[Plan, Failing], None]
"""Collects diagnostics of failing checks."""


@dataclass(slots=True, kw_only=True)
class Observing:
    """Observes for one run; ``blueprint`` is completed by facts that are read on nodes."""

    prepared: Prepared
    course: Course
    journal: Journal
    holding: Holding
    watch: Watch
    blueprint: Blueprint = field(init=False)
    _calibrating: Calibrating = field(init=False)
    _learned: bool = False

    def __post_init__(self) -> None:
        self.blueprint = self.prepared.blueprint
        self._calibrating = Calibrating(
            write=self.journal.write,
            timing=self.prepared.profile.timing,
            stopped=self.course.stopped,
        )

    def run(self, plan: Plan, standing: Standing, watch: Watch) -> None:
        """Open the probes, run every check of the plan, and close the probes."""
        profile, deployment = self.prepared.profile, standing.deployment
        self.course.stages.begin("open channels")
        opened, problems = probes.open_probes(
            standing.access, deployment, self.blueprint.facts, profile.timing, watch
        )
        watch.doubts_about = self._calibrating.doubts_about
        if not self._learned:  # once for all rounds of a watch
            self._learn(plan, opened, deployment)
        watch.expectations = self.blueprint.expectations
        self.course.stages.begin("observe")
        facts = self.blueprint.facts
        witnessing = standing.witnessing(facts, profile)
        sender = standing.sender(
            facts,
            profile,
            opened,
            witnessing,
            watch,
            began=self.course.began,
            stopped=self.course.stopped,
        )
        try:
            probes.Observer(
                sender,
                tuple(plan.each),
                problems,
                self.course.tell,
                standing.churn(facts, profile),
                documented(self.blueprint.plan.checks, self.blueprint.expectations),
                arrivals=standing.arrivals(),
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
        self._calibrating.begin(probes.places(plan.checks, lacking, opened, facts), opened)
        readings = probes.read_host_facts(lacking, self.prepared.profile.timing)
        self.blueprint = learn(
            self.blueprint, plan, readings, self.journal, self._calibrating.doubted
        )
        self.watch.expectations = self.blueprint.expectations
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
            if not observing.holding.ending:  # otherwise the run itself removes them
                observing.journal.event(event, notable=True)

        observing.watch.pods = PodWatch(
            deployed=standing.deployment,
            read=lambda: probes.still_standing(
                standing.access, standing.deployment, standing.blank.labels
            ),
            tell=tell,
            began=observing.course.began,
        )
        observing.run(plan, standing, observing.watch)
