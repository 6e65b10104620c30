"""Deploy what a plan needs, for a run or for one command, and reach the deployed objects.

The first stage of a run. The created objects belong to a ``RunObjects``, which removes them;
``Standing`` is what was deployed, with the channels to it, and a watch uses it again in each round.
``nettests diagnose --hosts``, ``nettests calibrate`` and ``nettests trace`` deploy for one command
only: leftovers become a remark; for the first two, so do Pods that are refused or do not start.
"""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from nettests import probes
from nettests.capture.tracer import Tracer
from nettests.capture.witnessing import Witnessing
from nettests.cluster.access import Access
from nettests.errors import NettestsError
from nettests.model.check import Plan
from nettests.model.cluster_profile import ClusterProfile, Timing
from nettests.model.facts import ClusterFacts
from nettests.model.journal_records import Pulled
from nettests.model.words import Question
from nettests.session.journal import Journal
from nettests.session.judging import Judging
from nettests.session.prepare import Prepared, blank_of
from nettests.session.run_objects import RunObjects
from nettests.session.run_options import Keep
from nettests.session.run_state import RunState


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What a run has deployed, the access that created it, and what its objects have in common."""

    access: Access
    blank: probes.Blank
    deployment: probes.Deployment

    def directory(self, facts: ClusterFacts) -> probes.Directory:
        """Return the addresses of the deployed targets."""
        return probes.Directory(facts=facts, deployment=self.deployment)

    def witnessing(self, facts: ClusterFacts, profile: ClusterProfile) -> Witnessing:
        """Return the examiner that captures connections among the Pods; the caller closes it."""
        return Witnessing.among(self.access, self.directory(facts), self.blank, profile.timing)

    def tracer(
        self,
        facts: ClusterFacts,
        timing: Timing,
        tell: Callable[[str], None] = lambda _stage: None,
    ) -> Tracer:
        """Return the tracer of checks among the Pods."""
        return Tracer(
            access=self.access,
            directory=self.directory(facts),
            blank=self.blank,
            timing=timing,
            tell=tell,
        )

    def sender(
        self,
        facts: ClusterFacts,
        profile: ClusterProfile,
        opened: Mapping[str, probes.Probe],
        witnessing: Witnessing,
        judging: Judging,
        *,
        began: float,
        stopped: threading.Event,
        plan: Plan,
    ) -> probes.Sender:
        """Return the sender of a plan's checks through ``opened`` probes; ``judging`` records the answers."""
        examiners = probes.examiners(
            self.access,
            self.blank,
            facts,
            opened,
            profile.timing,
            standing=self.deployment.pods,
            services=self.deployment.services,
            stopped=stopped,
            plan=plan,
        )
        return probes.Sender(
            directory=self.directory(facts),
            probes=opened,
            external=_external(profile),
            recorder=judging,
            carried=judging.carried,
            timing=profile.timing,
            began=began,
            stopped=stopped,
            examiners=examiners | {Question.WITNESS: witnessing},
        )

    def churn(self, facts: ClusterFacts, profile: ClusterProfile) -> probes.Churn:
        """Return what changes the run's Services and replaces the Pods behind them."""
        replacing = probes.Replacing(
            pods=self.access,
            blank=self.blank,
            facts=facts,
            standing=self.deployment.pods,
            timing=profile.timing,
        )
        return probes.Churn(
            services=self.access, namespace=self.blank.namespace, replacing=replacing
        )

    def arrivals(self) -> probes.Arrivals:
        """Return the reader of servers' logs, which show what arrived."""
        return probes.Arrivals(logs=self.access, namespace=self.blank.namespace)


def _external(profile: ClusterProfile) -> probes.External | None:
    match profile.external_vantage:
        case "proxy":
            return probes.External(
                proxy=profile.external_proxy, udp_proxy=profile.external_udp_proxy
            )
        case "direct":
            return probes.External(proxy=None)
        case _:
            return None


def deploy(
    prepared: Prepared,
    plan: Plan,
    run_objects: RunObjects,
    *,
    lost: Callable[[str], None],
    pull: Callable[[Access, probes.Blank], None] = lambda _access, _blank: None,
    on_progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> Standing:
    """Deploy what a plan needs; ``NettestsError`` if the cluster refuses it.

    ``lost`` is called if another run takes the namespace; ``pull`` before any probe is created.
    """
    facts, profile = prepared.blueprint.facts, prepared.profile
    access, marks = run_objects.begin(touches=probes.in_cluster(plan))
    blank = blank_of(marks.labels, profile, facts, run_objects.namespace)
    deployment = probes.deploy(
        access,
        plan,
        facts,
        blank=blank,
        timing=profile.timing,
        on_namespace=lambda: run_objects.guard(marks, lost),
        pull=lambda: pull(access, blank),
        on_progress=on_progress,
    )
    return Standing(access=access, blank=blank, deployment=deployment)


def deploy_and_pull(
    prepared: Prepared, plan: Plan, run_objects: RunObjects, state: RunState, journal: Journal
) -> Standing:
    """Deploy for a run, with progress and events; pull images first if the options say so."""

    def pull(access: Access, blank: probes.Blank) -> None:
        if not blank.images.pre_pull or not probes.in_cluster(plan):
            return
        for image in probes.pull_images(
            access,
            plan,
            prepared.blueprint.facts,
            blank=blank,
            timing=prepared.profile.timing,
            on_progress=lambda done, total: state.coming_up("pull", done, total),
        ):
            journal.write(Pulled(pull=image))
            if image.problem:
                journal.event(f"{image.image} did not come to {image.node}: {image.problem}")

    standing = deploy(
        prepared,
        plan,
        run_objects,
        lost=state.lost,
        pull=pull,
        on_progress=lambda done, total: state.coming_up("deploy", done, total),
    )
    for remark in standing.deployment.remarks:
        journal.event(remark)
    return standing


@contextmanager
def temporary_objects(prepared: Prepared, remarks: list[str]) -> Iterator[RunObjects]:
    """Yield the objects that a command creates; they are removed after the block."""
    run_objects = RunObjects.of(prepared, Keep.NEVER)
    try:
        yield run_objects
    finally:
        run_objects.end(0)
        if run_objects.left_behind:
            remarks.append(f"left behind: {run_objects.left_behind}")


@contextmanager
def standing_for_a_while(
    prepared: Prepared, plan: Plan, remarks: list[str]
) -> Iterator[Standing | None]:
    """Yield the deployed Pods of a plan, ``None`` if refused; all are removed after the block."""
    with temporary_objects(prepared, remarks) as run_objects:
        standing = None
        try:
            standing = deploy(prepared, plan, run_objects, lost=remarks.append)
        except NettestsError as error:
            remarks.append(error.message)
        else:
            remarks += standing.deployment.problems.values()
        yield standing
