"""Which nodes a check depends on: if one of them fails, missing answers say nothing about the network. Pure.

Used by ``session`` together with nodes' readiness. Controls are left out: a failed control makes its check
``unknown`` anyway.
"""

from collections.abc import Iterable, Mapping

from nettests.model.check import Check, ProbePod
from nettests.model.facts import ClusterFacts


def nodes_of(check: Check, pods: Mapping[str, str], facts: ClusterFacts) -> frozenset[str]:
    """Return the nodes of source, target and backends, and of the cluster's DNS if it is involved.

    ``pods`` are the nodes of a run's Pods, by the Pods' names (``nodes_by_pod``).
    """
    named = {check.source.node, check.target.node}
    behind = {pods.get(name) for name in (*check.target.backends, check.target.pod or "")}
    names = _of_dns(facts) if check.queries_dns else set()
    return frozenset(name for name in (*named, *behind, *names) if name)


def nodes_by_pod(pods: Iterable[ProbePod]) -> dict[str, str]:
    """Return the node of each Pod of a plan."""
    return {pod.name: pod.node for pod in pods}


def _of_dns(facts: ClusterFacts) -> set[str]:
    """Return the nodes whose pod networks contain the DNS's Pods, as far as nodes name theirs."""
    return {
        node.name
        for node in facts.nodes
        for address in facts.dns_pods.value or ()
        if any(address in network for network in node.pod_cidrs)
    }
