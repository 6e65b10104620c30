"""Nodes and directions that packets cross behind a Service proxy: from translation to the backends.

Beside ``traits``, which covers the ends of a check: the target node of a NodePort is not the node
that answers. Pods' nodes come from the checks themselves.

Beside ``find``: silence looks the same for a lost request and a lost reply. If servers' logs show
that a datagram arrived, its reply was lost; if not, the datagram itself. If all logs agree, an
incident of a node pair becomes one of that direction. Pure.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from nettests.model.check import Check, Target
from nettests.model.facts import ClusterFacts
from nettests.model.words import Placement, Question, TargetKind, VantageKind
from nettests.parse.arrival import arrived
from nettests.report.incidents.search import Explanation
from nettests.report.incidents.traits import Kind, Trait, pod_route
from nettests.report.results import CheckResult


def nodes_of_pods(checks: Sequence[Check], facts: ClusterFacts | None) -> Mapping[str, str]:
    """Map each Pod that may answer a check or control to its node.

    For Pods that no check targets, the name decides: it ends with the node's pool and number.
    """
    every = {pod for check in checks for pod in check.target.backends}
    ends = {f"-{node.pool}-{node.member}": node.name for node in (facts.nodes if facts else ())}
    named = {pod: node for pod in every for end, node in ends.items() if pod.endswith(end)}
    return named | _probed_themselves(checks)


def _probed_themselves(checks: Iterable[Check]) -> dict[str, str]:
    targets = (
        target
        for check in checks
        for target in (check.target, *(control.action.target for control in check.controls))
        if target.descriptor.holds_pod and target.node
    )
    return {
        pod: target.node
        for target in targets
        if target.node and len(target.backends) <= 1
        for pod in target.backends or (target.pod or "",)
    }


def node_of_dns(facts: ClusterFacts | None) -> str | None:
    """Return the node with all Pods of the cluster DNS, by their addresses; ``None`` if several."""
    nodes = {
        node.name
        for address in (facts.dns_pods.value or () if facts else ())
        for node in (facts.nodes if facts else ())
        if any(address in network for network in node.pod_cidrs)
    }
    return nodes.pop() if len(nodes) == 1 else None


def nodes_of_target(target: Target, nodes: Mapping[str, str]) -> Iterator[str]:
    """Yield the node of a target, and those of the Pods that answer for it."""
    if target.node:
        yield target.node
    yield from (nodes[pod] for pod in (target.pod or "", *target.backends) if pod in nodes)


def hops(
    check: Check, traits: Iterable[Trait], backends: Iterable[str], nodes: Mapping[str, str]
) -> Iterator[Trait]:
    """Yield the traits of a check behind the Service proxy that translates for it."""
    proxies = [trait.value for trait in traits if trait.kind is Kind.PROXY_NODE]
    settings = check.target.settings
    on_hosts = settings is not None and settings.behind == "node"
    for proxy in proxies:
        for node in {nodes[pod] for pod in backends if pod in nodes}:
            yield Trait(Kind.NODE, node)
            if not on_hosts and (check.source.kind, check.source.node) != (VantageKind.NODE, node):
                yield Trait(Kind.FORWARDED, node)
            if node == proxy:
                continue
            yield Trait(Kind.FORWARDS, proxy)
            yield Trait(Kind.PLACEMENT, Placement.OTHER_NODE.value)
            yield Trait(Kind.REMOTE_NODE, node)
            yield Trait(Kind.REMOTE_NODE, proxy)
            yield Trait(Kind.DIRECTION, f"{proxy} → {node}")
            yield Trait(Kind.LINK, " ↔ ".join(sorted((proxy, node))))
            if not on_hosts:
                yield from pod_route(proxy, node)


def replies(check: Check, backends: Iterable[str], nodes: Mapping[str, str]) -> Iterator[Trait]:
    """Yield the routes that replies may take to the source Pod, from the target or backends.

    A node that rewrites source addresses gets the replies itself: they surely go to the Pod only if
    its own address was seen.
    """
    source, target, home = check.source, check.target, check.source.node
    if not home or source.kind is not VantageKind.POD or check.action.question is Question.RESOLVE:
        return
    behind = () if target.kind is TargetKind.NODEPORT else backends
    for node in {target.node, *(nodes.get(pod) for pod in behind)} - {None, home}:
        yield from pod_route(str(node), home)


_OF_PAIRS = {
    Kind.LINK: Kind.DIRECTION,
    Kind.DIRECTION: Kind.DIRECTION,
    Kind.POD_PAIR: Kind.POD_ROUTE,
    Kind.POD_ROUTE: Kind.POD_ROUTE,
}
"""Traits of a node pair, each with the matching trait of a direction."""


def lost_directions(results: Sequence[CheckResult]) -> frozenset[str]:
    """Return the directions in which datagrams were lost, from servers' logs: ``a → b``."""
    return frozenset(_lost(results))


def directed(explanation: Explanation, results: Sequence[CheckResult]) -> Explanation:
    """Narrow an explanation by a node pair to the direction that fails, if known."""
    ways = lost_directions(results)
    if len(ways) != 1:
        return explanation
    (way,) = ways
    traits = tuple(
        Trait(_OF_PAIRS[trait.kind], way) if trait.kind in _OF_PAIRS else trait
        for trait in explanation.traits
    )
    return replace(explanation, traits=traits)


def _lost(results: Sequence[CheckResult]) -> Iterator[str]:
    for result in results:
        has_arrived = arrived(result.raws)
        if has_arrived is None:
            continue
        start, end = result.planned.source.node, result.planned.target.node
        yield f"{end} → {start}" if has_arrived else f"{start} → {end}"
