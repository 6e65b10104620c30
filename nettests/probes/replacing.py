"""Put another server Pod into the place of one behind a Service: part of what ``churn`` does before its questions.

The Pods are a check's own, beside the server in question and made like it. Who is behind the Service is up to its selector.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

from nettests.errors import ClusterError
from nettests.model.channel import ChannelError
from nettests.model.cluster_profile import Timing
from nettests.model.facts import ClusterFacts
from nettests.parse import start
from nettests.probes.deployment import StandingPod
from nettests.probes.objects import Blank, server_beside
from nettests.probes.seams import Pods


class NotReplacedError(ClusterError):
    """The other Pod did not start."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replacing:
    """Makes Pods and removes them; safe for threads."""

    pods: Pods
    blank: Blank
    facts: ClusterFacts
    standing: Mapping[str, StandingPod]
    timing: Timing

    def replace(self, gone: str, comes: str, group: str, *, beside: str) -> None:
        """Delete a Pod, start another one on the node of ``beside``, and wait until it is Ready; either may be none."""
        if gone:
            self.pods.delete_pod(self.blank.namespace, gone)
        if not comes:
            return
        self.pods.create(server_beside(self.standing[beside], comes, group, self.facts, self.blank))
        try:
            found = self.pods.follow_pod(
                self.blank.namespace,
                comes,
                settled=lambda now: start.settled(now, ()),
                seconds=self.timing.ready,
                stuck=self.timing.stuck,
            )
        except ChannelError as error:
            raise NotReplacedError(error.message) from error
        if not start.started(found):
            self.remove(comes)
            phase = found.get("status", {}).get("phase", "unknown")
            raise NotReplacedError(f"Pod {comes} did not become Ready: it is {phase}")

    def remove(self, name: str) -> None:
        """Remove a Pod that was made; what stays is left to the end of the run."""
        with suppress(ClusterError):
            self.pods.delete_pod(self.blank.namespace, name)
