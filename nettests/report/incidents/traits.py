"""What a check involves: nodes, pair, direction, protocol, a node's Service proxy, cluster DNS …

The first step. Pure, and from the check alone: what was observed decides which checks are red,
never which traits they have. A check that reads configuration or queries the API server has no path
and none of a path's traits: it neither explains nor contradicts what happens to packets.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import assert_never

from nettests.model.check import FIRST_PACKETS, Check
from nettests.model.payload import SIXTY_FOUR_KIB
from nettests.model.target_kinds import Location, Naming, Proxy
from nettests.model.words import OS, Placement, Protocol, Question, TargetKind, VantageKind
from nettests.report.incidents.large_amounts import much_of


class Kind(StrEnum):
    """What a trait is about; the values are keys of ``traits`` in ``results.json``."""

    DNS = "dns"
    """The answer depends on cluster DNS."""
    DNS_SERVICE = "dns-service"
    """The node whose Service proxy translates queries to cluster DNS."""
    QUERIES_OVER = "query-protocol"
    """Protocol of queries to cluster DNS: UDP, unless a check of cluster DNS sets it."""
    NAMES_OUTSIDE = "names-outside"
    """Names that cluster DNS, or a node's own servers, must forward to servers outside."""
    SEARCH_LIST = "search-list"
    """The node whose kubelet gives Pods the search domains."""
    PROXY_NODE = "service-proxy"
    """The node whose Service proxy must translate the packet."""
    FORWARDS = "forwards"
    """A node whose Service proxy must forward to a backend on another node."""
    MUCH = "much"
    """Many connections or Services, or their neighbours or leftovers."""
    CHANGED = "changed"
    """Services that the run changed before it tested them."""
    LATE_RULES = "late-rules"
    """A node whose Service proxy did not serve the run's last Service in time."""
    SERVICE = "service"
    """The Service that is probed, by whatever address or name."""
    TARGET = "target"
    """The kind of target: ``ClusterIP``, ``NodePort``, ``Pod`` …"""
    NODE = "node"
    """A node at either end."""
    REMOTE_NODE = "remote-node"
    """A node at either end of traffic between nodes."""
    SOURCE_NODE = "source-node"
    TARGET_NODE = "target-node"
    LINK = "link"
    """Two nodes, whichever is the source."""
    DIRECTION = "direction"
    """Two nodes, source first."""
    POD_ROUTE = "pod-route"
    """Two nodes: the first sends to Pod addresses on the second."""
    POD_PAIR = "pod-pair"
    """The same, if it is unknown which of them."""
    SOME_PODS = "some-pods"
    """Pods of the run: what other evidence reaches on their nodes, such as the cluster DNS, is another Pod or the node."""
    FORWARDED = "forwarded"
    """A node that has to pass packets on: between its Pods and whatever is beyond them, or to a backend of a NodePort."""
    POD_NETWORK = "pod-network"
    """A node that sends to Pods of other nodes, or whose Pods other nodes send to."""
    HOST = "host"
    """A node that itself exchanges packets with Pods of other nodes, at its own address."""
    HOST_SENDS = "host-sends"
    """A node that itself sends first to Pods of other nodes; what they send first may be translated on the way."""
    HOST_PAIR = "host-pair"
    """Two nodes: one that itself exchanges packets with Pods of the other."""
    ADDRESSED = "addressed"
    """A node at whose own address others send packets, whichever port or Service it stands for."""
    ADDRESSED_BY = "addressed-by"
    """Two nodes: the first sends to the second's own address."""
    OUTSIDE = "outside"
    """The node at the cluster's end of external traffic."""
    LEFT = "left"
    """The source node of traffic to other nodes or outside."""
    ENTERED = "entered"
    """The target node of traffic from other nodes or outside."""
    PLACEMENT = "placement"
    SYSTEMS = "systems"
    """OSes of both ends, source first."""
    SOURCE_OS = "source-os"
    PROTOCOL = "protocol"
    FAMILY = "family"
    """IPv4 or IPv6, where checks of both ran: what is broken for one alone is not cleared by the other."""
    VANTAGE = "vantage"
    BACKEND = "backend"
    """The only Pod that can answer."""
    PROPERTY = "property"
    """What is asserted besides an answer: source address, session affinity, distribution."""
    SEEN_AS = "seen-as"
    """The node whose source NAT decides which address servers see."""
    SIZE = "payload-size"
    PROBE = "probe"
    UNDECIDED = "undecided"
    """An unknown fact on which the expectation depends."""
    INSTRUMENT = "instrument"
    """A tool whose known answers were not understood on a node pool."""
    OVERLOADED = "overloaded"
    """Probes that were overloaded while their checks ran."""
    UNREADY = "unready-node"
    """A node that was not Ready while its checks ran, so that none of their results is trusted."""
    GONE_POD = "gone-pod"
    """A Pod of the run, with its node, that was deleted or restarted while its checks ran."""
    GONE_PODS = "gone-pods"
    """A node with such Pods."""
    MISSING_PROGRAM = "missing-program"
    """A program that cannot be run on a node."""
    LOST_API = "lost-api-server"
    """The API server, which carries control channels, was not reached while checks ran."""
    LOST_PROBE = "lost-probe"
    """A probe, with its node, whose control channel failed."""
    LOST_PROBES = "lost-probes"
    """A node whose probes were lost."""
    ADDRESSES = "node-addresses"
    """A node that is not found at the addresses in its status."""
    WRONG_ANSWER = "wrong-answer"
    """An address that names resolve to although no target has it."""
    DENIAL = "denial"
    """Cluster DNS denies names that exist."""
    UNCOMPLETED = "uncompleted-names"
    """A tool in Windows Pods that does not append DNS suffixes to names with a dot."""
    DNS_ERRORS = "dns-errors"
    """Cluster DNS answers SERVFAIL for the cluster's own names."""
    SETTINGS = "settings"
    """Owner of deviating configuration: a node, or the cluster."""
    NEW_PODS = "new-pods"
    """A node whose new Pods must reach something from their first moment on."""
    MANY_PODS = "many-new-pods"
    """The same for many new Pods created at once."""
    NOT_STARTED = "not-started"
    """A node on which Pods of the run did not become Ready."""
    NOT_CREATED = "not-created"
    """Why the API server refused to create Pods of the run, as in its message."""
    LIMITATION = "limitation"
    RULE = "rule"
    FLOW = "flow"
    ON_NODE = "on-node"
    """A node with several red checks of one flow that have no path (own Pods, readings)."""


@dataclass(frozen=True, slots=True, order=True)
class Trait:
    """One thing that checks share."""

    kind: Kind
    value: str


TRANSPORTS = "tcp and udp"
"""The protocol of what is lost where echoes of ICMP pass."""
WITNESSED = "packets on the wire"
"""The property of captured connections that they match what servers and configurations say."""
DISTRIBUTED = "distribution"
"""The property of new connections that they reach all backends."""
LARGE = "large"
"""The size of what takes packets as large as they may be."""
MEBIBYTE = "1 MiB"
"""The size of what takes hundreds of them: a way that is narrow ends it late, and passes each of them."""
_OWN_SERVERS = {"Default"}
"""``dnsPolicy`` values that bypass cluster DNS; with ``None``, probes get its address."""


def traits_of(check: Check) -> frozenset[Trait]:
    """Return all traits of a check that ran."""
    return frozenset(Trait(kind, value) for kind, value in _all(check) if value)


def _all(check: Check) -> Iterator[tuple[Kind, str]]:
    yield Kind.FLOW, check.flow
    if not check.action.question.has_path:
        yield Kind.RULE, check.action.case.label if check.action.case else check.flow
        if looks_names_up(check) or speaks_of_first_packets(check):
            yield Kind.DNS, "cluster DNS"
            yield Kind.QUERIES_OVER, Protocol.UDP.value
        if speaks_of_first_packets(check):
            yield Kind.NEW_PODS, check.source.node or ""
            yield Kind.MANY_PODS, (check.source.node or "") if check.action.makes_many_pods else ""
            yield Kind.PROXY_NODE, check.source.node or ""
            yield Kind.FORWARDED, check.source.node or ""
            yield Kind.SERVICE, check.target.service or ""
            away = check.target.node not in {None, check.source.node}
            yield Kind.FORWARDS, (check.source.node or "") if away else ""
        return
    yield Kind.PROBE, check.source.probe
    yield Kind.VANTAGE, check.source.kind.value
    yield Kind.TARGET, check.target.descriptor.noun
    yield Kind.FAMILY, check.action.family.value
    sends_queries = check.action.question is Question.RESOLVE or check.target.descriptor.name_server
    if queries_cluster_dns(check):
        yield Kind.DNS, "cluster DNS"
        yield Kind.QUERIES_OVER, (check.action.protocol if sends_queries else Protocol.UDP).value
        if check.target.descriptor.location is not Location.DNS_POD:
            yield Kind.DNS_SERVICE, check.source.node or ""
        if _is_completed(check):
            yield Kind.SEARCH_LIST, check.source.node or ""
    if is_named_outside(check):
        yield Kind.NAMES_OUTSIDE, "names outside the cluster"
    if not sends_queries:
        yield Kind.PROTOCOL, check.action.protocol.value
        yield Kind.PROTOCOL, "" if check.action.protocol.echoed else TRANSPORTS
    yield Kind.SOME_PODS, "" if check.target.existing else "(some are reached)"
    yield from ((Kind.FORWARDED, node) for node in _forwarding(check))
    yield from _ends(check)
    yield from _service(check)
    yield from _asserted(check)
    yield Kind.MUCH, much_of(check)


def looks_names_up(check: Check) -> bool:
    """Whether a check's own Pod must be found by name, as a StatefulSet's Pod keeps its name."""
    then = check.action.case.then if check.action.case else None
    return then is not None and then.how == "renew"


def speaks_of_first_packets(check: Check) -> bool:
    """Whether a check's own Pod logs when it first reached something."""
    then = check.action.case.then if check.action.case else None
    return then is not None and then.how == FIRST_PACKETS


def queries_cluster_dns(check: Check) -> bool:
    """Whether cluster DNS must answer before the check can succeed.

    On its node's network, a Pod queries the node's servers unless its ``dnsPolicy`` says otherwise
    (Kubernetes documentation, "Pod's DNS Policy"); a check of cluster DNS names its server itself.
    """
    policy = check.source.dns_policy
    if check.target.descriptor.name_server:
        return True
    if check.source.kind is VantageKind.NODE and not policy:
        return False
    return check.queries_dns and policy not in _OWN_SERVERS


def is_named_outside(check: Check) -> bool:
    """Whether the queried name belongs to nothing in the cluster, itself or by ExternalName."""
    settings = check.target.settings
    behind = settings is not None and bool(settings.external_name)
    return check.queries_dns and (behind or check.target.descriptor.naming is Naming.OUTSIDE)


def _is_completed(check: Check) -> bool:
    """Whether a name resolves only by the search list from kubelet, as its last domain is left out.

    Windows takes a name with a dot as it is (Kubernetes documentation, "DNS resolution on Windows
    nodes").
    """
    form, source = check.target.name_form or "", check.source
    if not form or "{domain}" in form or ("." in form and source.os is OS.WINDOWS):
        return False
    return check.target.descriptor.naming is Naming.CLUSTER and not source.dns_policy


def targets_service(check: Check) -> bool:
    """Whether a Service proxy translates the check's own packets, not only those to cluster DNS.

    None does for a name that is only resolved, a headless Service or an ExternalName.
    """
    settings = check.target.settings
    named = settings is not None and (settings.headless or settings.external_name)
    probed = check.action.question is not Question.RESOLVE and not named
    return probed and check.target.descriptor.translated


def _ends(check: Check) -> Iterator[tuple[Kind, str]]:
    """Yield the nodes between which packets pass; none are sent to a name that is only resolved."""
    source, target = check.source, check.target
    if check.action.question is Question.RESOLVE:
        yield Kind.SOURCE_NODE, source.node or ""
        yield Kind.NODE, source.node or ""
        yield Kind.SOURCE_OS, source.os.value if source.os else ""
        if check.placement is Placement.OUTSIDE and not queries_cluster_dns(check):
            yield Kind.PLACEMENT, check.placement.value
            yield Kind.OUTSIDE, source.node or ""
            yield Kind.LEFT, source.node or ""
        return
    yield Kind.PLACEMENT, "" if check.placement is Placement.NOWHERE else check.placement.value
    yield Kind.SOURCE_NODE, source.node or ""
    yield Kind.TARGET_NODE, target.node or ""
    yield Kind.SOURCE_OS, source.os.value if source.os else ""
    if source.os and target.os:
        yield Kind.SYSTEMS, f"{source.os.value} → {target.os.value}"
    for node in {source.node, target.node} - {None}:
        yield Kind.NODE, str(node)
        if check.placement is Placement.OUTSIDE:
            yield Kind.OUTSIDE, str(node)
        if source.node != target.node:
            yield Kind.REMOTE_NODE, str(node)
    if target.node and source.node != target.node:
        yield Kind.ENTERED, target.node
    if source.node and source.node != target.node:
        yield Kind.LEFT, source.node
    if source.node and target.node and source.node != target.node:
        yield Kind.DIRECTION, f"{source.node} → {target.node}"
        yield Kind.LINK, " ↔ ".join(sorted((source.node, target.node)))
        if _at_own_address(check):
            yield Kind.ADDRESSED, target.node
            yield Kind.ADDRESSED_BY, f"{source.node} → {target.node}"
        yield Kind.HOST, _host(check)
        yield Kind.HOST_PAIR, _host_and_pods(check)
        yield Kind.HOST_SENDS, _host(check) if source.kind is VantageKind.NODE else ""
        if _dials_pods(check):
            yield from ((trait.kind, trait.value) for trait in pod_route(source.node, target.node))


def _forwarding(check: Check) -> Iterator[str]:
    """Yield the nodes at the ends whose Pods' packets leave them for something else than a neighbour or their host."""
    source, target = check.source, check.target
    near = source.node == target.node and check.action.question is not Question.RESOLVE
    on_host = target.settings is not None and target.settings.behind == "node"
    beyond = (targets_service(check) and not on_host) or queries_cluster_dns(check)
    if source.kind is VantageKind.POD and (not near or beyond):
        yield source.node or ""
    translated = target.descriptor.proxy is Proxy.TARGET or target.kind is TargetKind.HOSTPORT
    resolves = check.action.question is Question.RESOLVE
    if not (near or resolves or on_host) and (_dials_pods(check) or translated):
        yield target.node or ""


def _at_own_address(check: Check) -> bool:
    """Whether packets reach the target's node under its own address, or under that of a Service with its host behind."""
    settings = check.target.settings
    on_host = settings is not None and settings.behind == "node"
    return check.target.descriptor.of_node or (on_host and targets_service(check))


def _host(check: Check) -> str:
    if check.source.kind is VantageKind.NODE and _dials_pods(check):
        return check.source.node or ""
    reached = check.source.kind is VantageKind.POD and check.target.kind is TargetKind.NODE_IP
    return (check.target.node or "") if reached else ""


def _host_and_pods(check: Check) -> str:
    host, pods = check.source.node, check.target.node
    if check.source.kind is VantageKind.NODE and _dials_pods(check):
        return f"{host} itself and Pods of {pods}"
    reached = check.source.kind is VantageKind.POD and _at_own_address(check)
    return f"{pods} itself and Pods of {host}" if reached else ""


def pod_route(start: str, end: str) -> Iterator[Trait]:
    """Yield the traits of everything that one node sends to Pods of another."""
    yield Trait(Kind.POD_PAIR, " ↔ ".join(sorted((start, end))))
    yield Trait(Kind.POD_ROUTE, f"{start} → {end}")
    yield Trait(Kind.POD_NETWORK, start)
    yield Trait(Kind.POD_NETWORK, end)


def _dials_pods(check: Check) -> bool:
    """Whether packets leave the source addressed to a Pod, as nothing behind a proxy is."""
    settings = check.target.settings
    headless = settings is not None and settings.headless
    return headless or check.target.descriptor.of_pod


def _service(check: Check) -> Iterator[tuple[Kind, str]]:
    """Yield the Service proxies involved; cluster DNS is a Service unless its Pod is probed."""
    source, target = check.source, check.target
    match target.descriptor.proxy:
        case Proxy.TARGET:
            yield Kind.PROXY_NODE, target.node or ""
        case Proxy.SOURCE if targets_service(check):
            yield Kind.PROXY_NODE, source.node or ""
        case Proxy.SOURCE | Proxy.NONE:
            if queries_cluster_dns(check) and target.descriptor.location is not Location.DNS_POD:
                yield Kind.PROXY_NODE, source.node or ""
        case proxy:
            assert_never(proxy)
    if check.action.question.changes_services:
        yield Kind.CHANGED, "Services"
    if check.action.question is Question.RESOLVE:
        return  # nothing is sent to what the name belongs to
    yield Kind.SERVICE, target.service or (target.existing.name if target.existing else "")
    if len(target.backends) == 1:
        yield Kind.BACKEND, target.backends[0]
    elif target.pod and not target.backends:
        yield Kind.BACKEND, target.pod


def _asserted(check: Check) -> Iterator[tuple[Kind, str]]:
    claim, settings = check.claim, check.target.settings
    if check.action.question is Question.WITNESS:
        yield Kind.PROPERTY, WITNESSED
    to_itself = check.target.backends == (check.source.probe,)  # nobody translates it as the others
    if claim.source_seen is not None and not to_itself:
        yield Kind.PROPERTY, "source address"
        yield Kind.SEEN_AS, claim.source_seen.value
    if claim.distribution is not None:
        sticky = settings is not None and settings.session_affinity
        yield Kind.PROPERTY, "session affinity" if sticky else DISTRIBUTED
    if check.action.size is not None or check.action.question is Question.PATH_MTU:
        yield Kind.SIZE, LARGE
    if (check.action.size or 0) > SIXTY_FOUR_KIB:
        yield Kind.SIZE, MEBIBYTE
