"""What a run would create and send: members, Pods, Services, requests. Contacts nothing.

Objects are counted exactly. Requests and seconds are scaled from a default run on a lab of two
Linux and two Windows nodes, without pulls (``reports/sample``: 1,287 members, 317 objects, 1,257
requests, 42 s).
"""

from collections import Counter
from dataclasses import dataclass

from nettests import probes
from nettests.model.check import Plan
from nettests.model.cluster_profile import ClusterProfile
from nettests.model.facts import ClusterFacts
from nettests.model.visible import plural
from nettests.session.prepare import blank_of

REQUESTS, REQUESTS_AN_OBJECT, REQUESTS_A_PROCESS = 100, 2, 3
SECONDS, SECONDS_A_MEMBER = 15, 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """The size of a run."""

    checks: int
    flows: int
    members: int
    skips: int
    nodes: int
    probes: int
    pods: int
    services: int
    objects: int
    processes: int
    """Members that start a program on a node or in a Pod, by exec."""

    @property
    def requests(self) -> int:
        """The approximate number of API requests, streams included."""
        needed = REQUESTS_AN_OBJECT * self.objects + REQUESTS_A_PROCESS * self.processes
        return int(round(REQUESTS + needed, -2))

    @property
    def seconds(self) -> int:
        """The approximate duration on a lab."""
        return int(round(SECONDS + SECONDS_A_MEMBER * self.members, -1))

    @property
    def lines(self) -> tuple[str, ...]:
        """The estimate in words."""
        checks, flows = plural(self.checks, "check"), plural(self.flows, "flow")
        nodes = plural(self.nodes, "node")
        execs = REQUESTS_A_PROCESS * self.processes
        requests = f"about {self.requests:,} API requests, of which {execs:,} execs"
        return (
            f"{checks} of {flows}, run {self.members:,} times on {nodes}; {self.skips} skipped",
            f"{plural(self.probes, 'probe Pod')}, {plural(self.pods, 'Pod')} in all, {plural(self.services, 'Service')}",
            f"{requests}; about {self.seconds} s on a lab, and the time in which nodes pull images",
        )


def estimate(plan: Plan, facts: ClusterFacts, profile: ClusterProfile) -> Estimate:
    """Count what a run of this plan would create and send."""
    blank = blank_of({}, profile, facts, facts.namespace or "nettests")
    objects = Counter(item["kind"] for item in probes.rendered(plan, facts, blank))
    each = [member for check in plan.checks for member in check.each]
    return Estimate(
        checks=len(plan.checks),
        flows=len({check.flow for check in plan.checks}),
        members=len(each),
        skips=len(plan.skips),
        nodes=len({pod.node for pod in plan.pods if pod.node}),
        probes=len(plan.pods),
        pods=objects["Pod"],
        services=objects["Service"],
        objects=objects.total(),
        processes=sum(member.action.is_process for member in each),
    )
