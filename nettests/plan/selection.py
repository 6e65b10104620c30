"""Part of a plan: the selected checks and skips, and the objects that they need.

``build`` and ``select`` derive objects in the same way: selecting everything gives the plan itself,
and nothing is deployed that no selected check needs.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from nettests.model.check import Check, Plan, ProbePod, ServiceObject
from nettests.model.facts import ClusterFacts
from nettests.plan.needs import pods_for, services_for
from nettests.plan.node_pools import NodePools, choose_pools
from nettests.plan.permits import may_look_on_hosts, may_stand


def nodes_of(check: Check, pods: Mapping[str, str], facts: ClusterFacts) -> frozenset[str]:
    """Return the nodes of source, target and backends, and of the cluster's DNS if it is used.

    ``pods`` are the nodes of a run's Pods, by Pod name (``nodes_by_pod``).
    """
    named = {check.source.node, check.target.node}
    behind = {pods.get(name) for name in (*check.target.backends, check.target.pod or "")}
    names = _of_dns(facts) if check.queries_dns else set()
    return frozenset(name for name in (*named, *behind, *names) if name)


def nodes_by_pod(pods: Iterable[ProbePod]) -> dict[str, str]:
    """Return the node of each Pod of a plan."""
    return {pod.name: pod.node for pod in pods}


def _of_dns(facts: ClusterFacts) -> set[str]:
    """Return the nodes whose Pod CIDRs contain the DNS Pods, if nodes have Pod CIDRs."""
    return {
        node.name
        for node in facts.nodes
        for address in facts.dns_pods.value or ()
        if any(address in network for network in node.pod_cidrs)
    }


def select(plan: Plan, facts: ClusterFacts, ids: Collection[str]) -> Plan:
    """Return the part of a plan with these ids and what it needs; unknown ids are ignored.

    ``facts`` are those that the plan was built from.
    """
    checks = tuple(check for check in plan.checks if check.id in ids)
    pods, services = objects_of(checks, choose_pools(facts), facts)
    return replace(
        plan,
        checks=checks,
        skips=tuple(skip for skip in plan.skips if skip.id in ids),
        pods=pods,
        services=services,
    )


def objects_of(
    checks: Iterable[Check], node_pools: NodePools, facts: ClusterFacts
) -> tuple[tuple[ProbePod, ...], tuple[ServiceObject, ...]]:
    """Return the Pods and Services that checks and their controls need, each by name."""
    actions = [action for check in checks for action in check.actions]
    pods = pods_for(
        actions, node_pools, may_stand=may_stand(facts), on_hosts=may_look_on_hosts(facts)
    )
    return pods, services_for(actions)
