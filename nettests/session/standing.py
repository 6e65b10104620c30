"""The deployed objects of a run, and the channels to them.

Created once, after deployment; a watch uses it again in each round. Opens and closes nothing.
"""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from nettests import probes
from nettests.capture.tracer import Tracer
from nettests.capture.witnessing import Witnessing
from nettests.cluster.access import Access
from nettests.model.cluster_profile import ClusterProfile, Timing
from nettests.model.facts import ClusterFacts
from nettests.model.words import Question
from nettests.session.watch import Watch


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
        watch: Watch,
        *,
        began: float,
        stopped: threading.Event,
    ) -> probes.Sender:
        """Return the sender of requests through ``opened`` probes; ``watch`` records the answers."""
        examiners = probes.examiners(
            self.access,
            self.blank,
            facts,
            opened,
            profile.timing,
            standing=self.deployment.pods,
            services=self.deployment.services,
            stopped=stopped,
        )
        return probes.Sender(
            directory=self.directory(facts),
            probes=opened,
            external=_external(profile),
            recorder=watch,
            carried=watch.carried,
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
