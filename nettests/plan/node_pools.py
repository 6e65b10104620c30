"""Node pools: their probe nodes, and the names of their Pods and Services.

First stage of planning. Every usable node that the user chose is a member of its node pool, and of
the checks of each flow. With many node pools, each has only some of them as targets, so that the
cost grows with nodes only. Names consist of node pool and ordinal.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import islice

from nettests.model.check import Action, Vantage
from nettests.model.facts import ALL, SAMPLE, ClusterFacts, FleetScope, NodeFacts
from nettests.model.words import OS, Family, Question, VantageKind

HEADLESS = "servers"
"""The headless Service whose subdomain names the server pods."""

MANY_BACKENDS = "backends"
"""The name of pods and Services for tests with many backends."""

EXTERNAL_PROBE = "external"
API_PROBE = "api"

FEW = 2
"""How many nodes of each pool back a Service with several backends, or have a flow's own
Services."""
NAMES = 24
"""How many addresses fit into a DNS answer of 512 bytes with a long name."""
_TARGETS = 6
"""Up to this many pools, every pair is tested; of more, each source has this many targets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodePool:
    """A node pool with its probe nodes: every usable node that was chosen."""

    name: str
    os: OS
    members: tuple[NodeFacts, ...]

    @property
    def first(self) -> NodeFacts:
        """The member that represents the node pool."""
        return self.members[0]

    @property
    def few(self) -> tuple[NodeFacts, ...]:
        """The members that represent the pool where not every node can be tested."""
        return self.members[:FEW]

    @property
    def servers(self) -> tuple[str, ...]:
        """The server Pods of the node pool, at least two: a single node runs both."""
        if len(self.members) > 1:
            return tuple(server(node) for node in self.few)
        return (server(self.first), second_server(self.first))

    @property
    def kind(self) -> tuple[object, ...]:
        """What conditions distinguish nodes by: pools of one kind can represent each other."""
        return tuple(
            (
                node.os,
                node.build.value,
                node.kubelet.value,
                node.runtime.value,
                node.cni_driver.value,
                node.kube_proxy.version.value,
                node.kube_proxy.mode.value,
                node.kube_proxy.dsr.value,
                node.kube_proxy.source_vip.known,
            )
            for node in self.members
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class NodePools:
    """The node pools that have probe nodes, by name, and the absent ones with the reason."""

    pools: tuple[NodePool, ...]
    absent: tuple[tuple[str, str], ...]
    seed: int = 0
    """Selects the tested pairs of a large cluster."""
    empty: tuple[NodeFacts, ...] = ()
    """For each pool, the first cordoned Windows node known to run no Pod of the pod network."""

    @property
    def nodes(self) -> tuple[NodeFacts, ...]:
        """All probe nodes: Linux first, which controls prefer, then by node pool and member."""
        return tuple(
            node
            for pool in sorted(self.pools, key=lambda pool: (pool.os is OS.WINDOWS, pool.name))
            for node in pool.members
        )

    def met_by(self, source: NodePool) -> tuple[NodePool, ...]:
        """Return the node pools that ``source`` is tested against, by name: all, or some of many.

        Of many, these are itself and one of each kind. If there are too many kinds, each source
        takes those that follow it, so that every kind is a target of some source.
        """
        if len(self.pools) <= _TARGETS:
            return self.pools
        place = self.pools.index(source)
        first: dict[tuple[object, ...], NodePool] = {}
        for pool in self.pools:
            first.setdefault(pool.kind, pool)
        after = sorted(first.values(), key=lambda pool: (self.pools.index(pool) < place, pool.name))
        met = [source, *(pool for pool in after if pool is not source)][:_TARGETS]
        return tuple(pool for pool in self.pools if pool in met)

    def named(self, name: str) -> NodePool:
        """Return the node pool of that name."""
        return next(pool for pool in self.pools if pool.name == name)

    @property
    def named_servers(self) -> tuple[NodeFacts, ...]:
        """The nodes whose server Pods have DNS names, as many as fit into an answer."""
        most = max(FEW, NAMES // len(self.pools)) if self.pools else 0
        return tuple(node for pool in self.pools for node in pool.members[:most])

    @property
    def many_backends(self) -> NodePool:
        """The node pool that runs many Pods: a Linux one if possible, as Linux Pods are small."""
        return min(self.pools, key=lambda pool: (pool.os is OS.WINDOWS, pool.name))


def many_backend_pods(pool: NodePool, count: int) -> dict[str, NodeFacts]:
    """Return the names of ``count`` server pods, each with its node: the node pool's members round-robin."""
    return {
        f"{MANY_BACKENDS}-{number + 1:03}": pool.members[number % len(pool.members)]
        for number in range(count)
    }


def choose_pools(facts: ClusterFacts) -> NodePools:
    """Choose the probe nodes; a pool or system without a usable node is absent, with the reason."""
    pools = []
    absent = []
    for name in sorted({node.pool for node in facts.nodes}):
        group = sorted((n for n in facts.nodes if n.pool == name), key=lambda node: node.member)
        usable = [node for node in group if not unusable(node)]
        chosen = tuple(_chosen(usable, facts.fleet))
        if chosen:
            pools.append(NodePool(name=name, os=group[0].os, members=chosen))
        elif usable:
            absent.append((name, f"none of its nodes was chosen ({facts.fleet.chosen})"))
        else:
            absent.append((name, "no usable node: " + ", ".join(map(_why_unusable, group))))
    absent += [
        (os.value, f"the cluster has no {os.value.capitalize()} node")
        for os in OS
        if not any(node.os is os for node in facts.nodes)
    ]
    return NodePools(
        pools=tuple(pools),
        absent=tuple(absent),
        seed=facts.fleet.seed,
        empty=_empty(facts),
    )


def _empty(facts: ClusterFacts) -> tuple[NodeFacts, ...]:
    first: dict[str, NodeFacts] = {}
    for node in sorted(facts.nodes, key=lambda node: node.member):
        if node.ready and node.empty.value and not node.left_out:
            first.setdefault(node.pool, node)
    return tuple(first[name] for name in sorted(first))


def _chosen(usable: Iterable[NodeFacts], scope: FleetScope) -> Iterable[NodeFacts]:
    """Return the nodes of a pool that are tested: all, two, or the selected ones."""
    if scope.chosen == SAMPLE:
        return islice(usable, FEW)
    return (node for node in usable if scope.chosen == ALL or node.name in scope.nodes)


def unusable(node: NodeFacts) -> str:
    """Return why no probe can run on ``node``, or nothing."""
    if not node.ready:
        return "not Ready"
    return node.left_out if node.schedulable else "cordoned"


def _why_unusable(node: NodeFacts) -> str:
    return f"{node.name} is {unusable(node)}"


def server(node: NodeFacts) -> str:
    """Return the name of the server pod on ``node``."""
    return f"server-{_slot(node)}"


def second_server(node: NodeFacts) -> str:
    """Return the name of the second server pod on ``node``."""
    return f"server-{_slot(node)}-b"


def probe(node: NodeFacts) -> str:
    """Return the name of the probe pod on ``node``."""
    return f"probe-{_slot(node)}"


def host_probe(node: NodeFacts) -> str:
    """Return the name of the Pod in the host network of ``node``."""
    return f"node-{_slot(node)}"


def unready(node: NodeFacts) -> str:
    """Return the name of the server pod on ``node`` that is never Ready."""
    return f"unready-{_slot(node)}"


def host_port(node: NodeFacts) -> str:
    """Return the name of the server pod on ``node`` that claims ports of its node."""
    return f"hostport-{_slot(node)}"


def service(pod: str, label: str = "svc") -> str:
    """Return the name of the Service in front of one pod; without settings it is labelled ``svc``."""
    return f"{label}-{pod}"


def pod_vantage(node: NodeFacts, dns_policy: str = "") -> Vantage:
    """Return the vantage of the probe pod on ``node``, or of the one with this ``dnsPolicy``."""
    return _vantage(node, VantageKind.POD, probe(node), dns_policy)


def node_vantage(node: NodeFacts, dns_policy: str = "") -> Vantage:
    """Return the vantage of ``node`` itself: hostNetwork on Linux, HostProcess on Windows."""
    return _vantage(node, VantageKind.NODE, host_probe(node), dns_policy)


def external_vantage() -> Vantage:
    """Return the vantage point outside the cluster."""
    return Vantage(kind=VantageKind.EXTERNAL, probe=EXTERNAL_PROBE)


def api_vantage(node: NodeFacts | None = None) -> Vantage:
    """Return the harness as a client of the API server; for checks of ``node`` if there is one."""
    if node is None:
        return Vantage(kind=VantageKind.API, probe=API_PROBE)
    return _vantage(node, VantageKind.API, API_PROBE)


def _vantage(node: NodeFacts, kind: VantageKind, probe: str, dns_policy: str = "") -> Vantage:
    return Vantage(
        kind=kind,
        probe=f"{probe}-{dns_policy.lower()}" if dns_policy else probe,
        pool=node.pool,
        os=node.os,
        node=node.name,
        build=node.build.value,
        dns_policy=dns_policy,
    )


def _slot(node: NodeFacts) -> str:
    return f"{node.pool}-{node.member}"


IPV6_SOURCE = "Kubernetes documentation, IPv4/IPv6 dual-stack, Windows support"


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
    return (
        f"the cluster has IPv6 alone, which is documented as unsupported on Windows ({IPV6_SOURCE})"
    )


def _needs_windows(action: Action, facts: ClusterFacts) -> bool:
    """Whether a Windows node must run a source, target or backend Pod; dry runs need none."""
    source, target = action.source, action.target
    if source.kind is VantageKind.API and action.question is not Question.START:
        return False
    nodes = {name for name in (source.node, target.node) if name}
    systems = {source.os, target.os, *(facts.node(name).os for name in nodes)}
    return OS.WINDOWS in systems or any(f"-{OS.WINDOWS}-" in name for name in target.backends)
