"""Replace a server Pod behind a Service by another one, for ``churn``.

The Pods belong to a single check and are made like the server that they replace. The Service's
selector decides which Pod backs it.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from nettests.errors import ClusterError
from nettests.model.channel import ChannelError
from nettests.model.cluster_profile import Timing
from nettests.model.facts import ClusterFacts
from nettests.model.pod_problem import problem_of
from nettests.parse import start
from nettests.probes.addresses import NotOfferedError
from nettests.probes.deployment import StandingPod
from nettests.probes.objects import Blank, server_beside
from nettests.probes.seams import Pods

ADDRESS_TRIES = 3
"""How often a Pod is created to get the previous one's address: a plugin that takes the first free address gives it at
once, and one that walks through a range gives another one each time."""


class NotReplacedError(ClusterError):
    """The other Pod did not start."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replacing:
    """Creates and removes Pods; thread-safe."""

    pods: Pods
    blank: Blank
    facts: ClusterFacts
    standing: Mapping[str, StandingPod]
    timing: Timing
    _addresses: dict[str, str] = field(default_factory=dict)
    """The address of each Pod that was created."""

    def replace(
        self, gone: str, comes: str, group: str, *, beside: str, keeping_address: bool = False
    ) -> None:
        """Delete Pod ``gone`` and start ``comes`` on the node of ``beside``; either may be empty.

        Most networks assign addresses, so the new Pod is created repeatedly until it has the old
        one's.
        """
        if gone:
            self.pods.delete_pod(self.blank.namespace, gone)
        if not comes:
            return
        if not keeping_address:
            self._start(comes, group, beside)
            return
        wanted = self._addresses[gone]
        self._wait_until_gone(gone)
        had = []
        for _ in range(ADDRESS_TRIES):
            address = self._start(comes, group, beside, wanted)
            if address == wanted:
                return
            had.append(address)
            self.remove(comes)
            self._wait_until_gone(comes)
        raise NotOfferedError(
            f"no new Pod on {self.standing[beside].node} got {wanted}, the address of the one before it; "
            f"they got {', '.join(dict.fromkeys(had))}"
        )

    def _wait_until_gone(self, name: str) -> None:
        with suppress(ChannelError):
            self.pods.wait_gone(self.blank.namespace, name, seconds=self.timing.clean_up)

    def _start(self, comes: str, group: str, beside: str, wanted: str = "") -> str:
        """Start a Pod and return its address; raises ``NotReplacedError`` if it is not Ready."""
        like = self.standing[beside]
        self.pods.create(server_beside(like, comes, group, self.facts, self.blank, address=wanted))
        try:
            pod = self.pods.follow_pod(
                self.blank.namespace,
                comes,
                settled=lambda now: start.settled(now, ()),
                seconds=self.timing.ready,
                stuck=self.timing.stuck,
            )
        except ChannelError as error:
            raise NotReplacedError(error.message) from error
        if not start.started(pod):
            why = problem_of(pod, self.pods.events_of(self.blank.namespace, comes))
            self.remove(comes)
            raise NotReplacedError(f"Pod {comes} did not become Ready: {why}")
        self._addresses[comes] = str(pod["status"].get("podIP", ""))
        return self._addresses[comes]

    def remove(self, name: str) -> None:
        """Remove a Pod; if that fails, the run's clean-up removes it."""
        with suppress(ClusterError):
            self.pods.delete_pod(self.blank.namespace, name)
