"""IPv6-only clusters, where Windows nodes are not supported and get no Pods of a run. Pure."""

from dataclasses import replace

from nettests.model.check import Action
from nettests.model.facts import ClusterFacts
from nettests.model.words import OS, Family, Question, VantageKind
from nettests.plan.node_pools import NodePools

SOURCE = "Kubernetes documentation, IPv4/IPv6 dual-stack, Windows support"


def ipv6_alone(facts: ClusterFacts) -> bool:
    """Whether the cluster has only IPv6."""
    return facts.families == (Family.IPV6,)


def of_use(node_pools: NodePools, facts: ClusterFacts) -> NodePools:
    """Return the node pools that get Pods: only Linux ones in an IPv6-only cluster."""
    if not ipv6_alone(facts):
        return node_pools
    return replace(
        node_pools, pools=tuple(pool for pool in node_pools.pools if pool.os is not OS.WINDOWS)
    )


def why_not_on_windows(action: Action, facts: ClusterFacts) -> str:
    """Return why an action that involves a Windows node cannot run in this cluster, or nothing."""
    if not ipv6_alone(facts) or not _needs_windows(action, facts):
        return ""
    return f"the cluster has IPv6 alone, which is documented as unsupported on Windows ({SOURCE})"


def _needs_windows(action: Action, facts: ClusterFacts) -> bool:
    """Whether a Windows node must run a source, target or backend Pod; dry runs need none."""
    source, target = action.source, action.target
    if source.kind is VantageKind.API and action.question is not Question.START:
        return False
    nodes = {name for name in (source.node, target.node) if name}
    systems = {source.os, target.os, *(facts.node(name).os for name in nodes)}
    return OS.WINDOWS in systems or any(f"-{OS.WINDOWS}-" in name for name in target.backends)
