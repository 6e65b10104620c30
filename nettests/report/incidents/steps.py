"""The next step after an incident, worded for the cluster.

Beside ``phrases``, which words the cause: it mentions encapsulation only where packets are
encapsulated, HNS only on Windows nodes. Sources: Kubernetes documentation, "Windows debugging tips"
and "Debug Services"; Microsoft, "Common Kubernetes problems".
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from nettests.judge.advice import after_calibration
from nettests.model.facts import ClusterFacts, NodeFacts
from nettests.model.network_drivers import TUNNELS
from nettests.model.target_kinds import Location, descriptor
from nettests.model.words import OS, Protocol, SourceSeen, TargetKind
from nettests.report.incidents.large_amounts import limits_of
from nettests.report.incidents.traits import MEBIBYTE, Kind, Trait
from nettests.report.incidents.untrusted import distrusted
from nettests.report.results import CheckResult
from nettests.resources import lines_of

_ADVICE, _STEPS = (
    dict(line.split(": ", 1) for line in lines_of(package, name))
    for package, name in (
        ("nettests.judge", "advice.txt"),
        ("nettests.report.incidents", "steps.txt"),
    )
)
_WHATEVER_ELSE = {
    Kind[name]: _ADVICE.get(step.removeprefix("="), step)
    for name, step in _STEPS.items()
    if name.isupper()
}
"""Steps that depend on a single trait, whatever the others are."""
VXLAN = 50
"""Bytes that VXLAN adds to a Pod's IPv4 packet: IPv4, UDP, VXLAN and Ethernet headers (RFC 7348, 5.)."""
_NODEPORT, _CLOSED_PORT = (
    descriptor(kind).noun for kind in (TargetKind.NODEPORT, TargetKind.NODE_CLOSED_PORT)
)
_OVERLAY = "overlay"
"""The network driver that encapsulates."""


def next_step_of(
    traits: Sequence[Trait], results: Sequence[CheckResult], facts: ClusterFacts | None
) -> str:
    """Return the trait's own next step, else the one that most of the checks have."""
    of = {trait.kind: trait.value for trait in traits}
    if (
        lacking := next(filter(None, map(distrusted, results)), None)
        if Kind.INSTRUMENT in of
        else None
    ):
        return after_calibration(lacking)
    for kind, step in _WHATEVER_ELSE.items():
        if kind in of:
            return step
    if step := _at_dns(of, facts) or _to_dns_pods(of, results) or _at_node(of, facts):
        return step
    if Kind.SEARCH_LIST in of:
        return _at_search_list(facts, of[Kind.SEARCH_LIST])
    if route := of.get(Kind.POD_ROUTE) or of.get(Kind.POD_PAIR):
        return "; ".join(_at_route(facts, way) for way in _each_way(route))
    if Kind.SIZE in of:
        return _at_size(of[Kind.SIZE], results, facts)
    crosses = {Kind.LINK, Kind.DIRECTION, Kind.REMOTE_NODE, Kind.POD_NETWORK} & of.keys()
    crosses |= {Kind.ENTERED} & of.keys() if Kind.PROTOCOL in of else set()
    if Kind.PROPERTY not in of and (crosses or of.get(Kind.PLACEMENT) == "other-node"):
        return between_nodes(facts, of.get(Kind.PROTOCOL))
    if Kind.BACKEND in of:
        return _STEPS["backend"].format(of[Kind.BACKEND])
    if Kind.SERVICE in of:
        return f"compare the EndpointSlices of Service {of[Kind.SERVICE]} with its Pods and with each node's rules"
    steps = Counter(result.next_step for result in results if result.next_step)
    return steps.most_common(1)[0][0] if steps else "read the evidence of the first check"


def _at_size(size: str, results: Sequence[CheckResult], facts: ClusterFacts | None) -> str:
    """Return the step about sizes: the MTU, if found, and the overhead of encapsulation; of long transfers, the rate."""
    if size == MEBIBYTE:
        return _STEPS["long-transfers"]
    limits = limits_of(results)
    if not limits:
        return _STEPS["sizes"]
    largest = min(limits)
    on_wire = ""
    if _encapsulates(facts):
        on_wire = f" (the path between nodes carries {largest + VXLAN:,} bytes, of which VXLAN takes {VXLAN})"
    return (
        f"let the plugin give Pods an MTU of {largest:,} bytes{on_wire}, or make the path carry more; and see "
        'whether ICMP "fragmentation needed" is let through'
    )


def _named(facts: ClusterFacts | None, name: str | None) -> NodeFacts | None:
    return next((node for node in facts.nodes if node.name == name), None) if facts else None


def _at_node(of: Mapping[Kind, str], facts: ClusterFacts | None) -> str:
    """Return where to look on the node that forwards or translates packets, or that has their destination as its address."""
    if Kind.FORWARDS in of:
        return f"{_at_proxy(facts, of[Kind.FORWARDS])}; and see whether replies to the node's own address come back to it"
    if Kind.PROXY_NODE in of or (Kind.DNS in of and _named(facts, of.get(Kind.SOURCE_NODE))):
        return _at_proxy(facts, of.get(Kind.PROXY_NODE) or of[Kind.SOURCE_NODE])
    if of.get(Kind.TARGET) == _CLOSED_PORT:
        return _STEPS["refusal"]
    if of.get(Kind.TARGET) == _NODEPORT and Kind.ENTERED in of:
        return _STEPS["nodeport"].format(of[Kind.ENTERED])
    if way := of.get(Kind.ADDRESSED_BY) or of.get(Kind.ADDRESSED):
        return _STEPS["own-address"].format(way.rpartition(" → ")[2])
    source = of.get(Kind.LEFT) or of.get(Kind.SOURCE_NODE, "")
    left = Kind.VANTAGE in of and of.get(Kind.PLACEMENT) == "outside"
    hidden = of.get(Kind.SEEN_AS) == SourceSeen.CLIENT_POD.value and _is_windows(facts, source)
    what, name = (
        ("forwarding", of[Kind.FORWARDED])
        if Kind.FORWARDED in of
        else ("source-nat" if left or hidden else "", source)
    )
    system = "-on-windows" if _is_windows(facts, name) else ""
    return _STEPS[f"{what}{system}"].format(name) if what and name else ""


def _is_windows(facts: ClusterFacts | None, name: str) -> bool:
    node = _named(facts, name)
    return node is not None and node.os is OS.WINDOWS


def _at_proxy(facts: ClusterFacts | None, name: str) -> str:
    node = _named(facts, name)
    if facts is not None and node is not None and node.kube_proxy.replaced:
        return _STEPS["proxy-replaced"].format(name, facts.cni.plugin.value or "the network plugin")
    if node is not None and node.os is OS.WINDOWS:
        return _STEPS["proxy-on-windows"].format(name)
    return _STEPS["proxy"].format(name)


def _at_dns(of: Mapping[Kind, str], facts: ClusterFacts | None) -> str:
    """Return where to look at cluster DNS or a node's part in it; empty without DNS traits."""
    if of.get(Kind.QUERIES_OVER) == Protocol.TCP:
        return _STEPS["dns-over-tcp"]
    if Kind.DNS_SERVICE in of:
        return _at_dns_service(facts, of[Kind.DNS_SERVICE])
    if Kind.DNS in of and Kind.SOURCE_NODE not in of:
        return "look at the cluster DNS: its Pods, their logs, and the EndpointSlice of its Service"
    return ""


def _to_dns_pods(of: Mapping[Kind, str], results: Sequence[CheckResult]) -> str:
    """Return where to look if a node's queries fail without a Service proxy too; else empty."""
    pods = any(r.check and r.check.target.descriptor.location is Location.DNS_POD for r in results)
    if not pods or Kind.DNS not in of or Kind.SOURCE_NODE not in of:
        return ""
    return _STEPS["dns-pods"].format(
        name=of[Kind.SOURCE_NODE], port=f"{of.get(Kind.QUERIES_OVER, '').upper()} port 53".lstrip()
    )


def _at_dns_service(facts: ClusterFacts | None, name: str) -> str:
    address = facts.dns_address.value if facts else None
    service = f"the cluster DNS ({address})" if address else "the cluster DNS"
    node = _named(facts, name)
    rules = "its rules"
    if node is not None and node.os is OS.WINDOWS and not node.kube_proxy.replaced:
        rules = "its HNS load balancers (Get-HnsPolicyList)"
    return _STEPS["dns-service"].format(name=name, rules=rules, service=service)


def _at_search_list(facts: ClusterFacts | None, name: str) -> str:
    tool = "ipconfig /all" if _is_windows(facts, name) else "/etc/resolv.conf"
    domain = facts.cluster_domain.value if facts else None
    return (
        f"look at the search domains in a Pod on {name} ({tool}), and compare clusterDomain of its kubelet "
        f"with the cluster's domain{f' ({domain})' if domain else ''}"
    )


def _each_way(route: str) -> tuple[str, ...]:
    first, both, second = route.partition(" ↔ ")
    return (f"{first} → {second}", f"{second} → {first}") if both else (route,)


def _at_route(facts: ClusterFacts | None, route: str) -> str:
    start, _, end = route.partition(" → ")
    target = _named(facts, end)
    networks = " and ".join(map(str, target.pod_cidrs)) if target else ""
    network = f"the Pod network of {end}" + (f" ({networks})" if networks else "")
    windows = _is_windows(facts, start)
    if _encapsulates(facts):
        tool = "RemoteSubnetRoute policies, Get-HnsNetwork" if windows else "ip route, bridge fdb"
        return f"on {start}, look for the route into the tunnel for {network}: {tool}"
    tool = "Get-NetRoute" if windows else "ip route"
    return f"on {start}, look for the route to {network}: {tool}"


def _encapsulates(facts: ClusterFacts | None) -> bool:
    if facts is None:
        return False
    by_driver = any((node.cni_driver.value or "").lower() == _OVERLAY for node in facts.nodes)
    return by_driver or (facts.cni.backend.value or "").lower() in TUNNELS


def between_nodes(facts: ClusterFacts | None, protocol: str | None = None) -> str:
    """Return where to look if packets do not cross nodes; encapsulation only if there is any.

    Those of one ``protocol`` alone have a way (rancher/rke2 issue 6307: echoes pass, their checksums are right).
    """
    if protocol is not None:
        inside = protocol != Protocol.ICMP.value and _encapsulates(facts)
        return _STEPS["one-protocol"].format(_STEPS["checksums"] if inside else "")
    if _encapsulates(facts):
        port = facts.cni.vxlan_port.value if facts else None
        at = f"UDP {port}" if port else "its UDP port"
        return _STEPS["encapsulated"].format(at)
    return _STEPS["routed"]


def step_after_loss(scope: Sequence[Trait], facts: ClusterFacts | None) -> str:
    """Return where to look for intermittent packet loss."""
    of = {trait.kind: trait.value for trait in scope}
    if Kind.DNS_SERVICE in of:
        return f"{_at_dns_service(facts, of[Kind.DNS_SERVICE])}: one of its backends may have gone"
    if Kind.PROXY_NODE in of:
        step = _at_proxy(facts, of[Kind.PROXY_NODE])
        return f"{step}: one of several backends may have gone"
    if Kind.DNS in of:
        return "look at each replica of the cluster DNS: one of several may not answer"
    return f"{_STEPS['drops']}; {between_nodes(facts)}"
