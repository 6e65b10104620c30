"""Closed word lists of the vocabulary: operating systems, kinds of flows, outcomes.

The words appear in check ids, reports and limitation manifests. They have no behaviour: properties
are defined for every word of a set, so that a new word is a type error here and at each ``match``
elsewhere until it is handled. Properties of target kinds are in ``target_kinds``.
"""

from enum import StrEnum
from typing import assert_never

from nettests.model.question import Question as Question  # noqa: PLC0414 - one of the words


class OS(StrEnum):
    """Operating system of a node, spelled as the ``kubernetes.io/os`` label spells it."""

    LINUX = "linux"
    WINDOWS = "windows"

    @property
    def words(self) -> str:
        """The name as people write it."""
        return self.value.capitalize()


class Protocol(StrEnum):
    """The protocol of a flow."""

    TCP = "tcp"
    UDP = "udp"
    ICMP = "icmp"

    @property
    def retransmitted(self) -> bool:
        """Whether the sender's kernel retransmits packets that were lost while a connection opens (RFC 9293, 3.8.1)."""
        match self:
            case Protocol.TCP:
                return True
            case Protocol.UDP | Protocol.ICMP:
                return False
            case _:
                assert_never(self)

    @property
    def echoed(self) -> bool:
        """Whether ``ping`` is used, which sends several echoes in a row."""
        match self:
            case Protocol.ICMP:
                return True
            case Protocol.TCP | Protocol.UDP:
                return False
            case _:
                assert_never(self)

    @property
    def refused_by_icmp(self) -> bool:
        """Whether a port without a listener is reported only by ICMP, which kernels rate-limit."""
        match self:
            case Protocol.UDP:
                return True
            case Protocol.TCP | Protocol.ICMP:
                return False
            case _:
                assert_never(self)


class Family(StrEnum):
    """IP family, spelled as ``spec.ipFamilies`` spells it."""

    IPV4 = "IPv4"
    IPV6 = "IPv6"

    @property
    def version(self) -> int:
        """The version number, as in ``ipaddress``."""
        match self:
            case Family.IPV4:
                return 4
            case Family.IPV6:
                return 6
            case _:
                assert_never(self)


class VantageKind(StrEnum):
    """Where a probe runs."""

    POD = "pod"
    NODE = "node"
    EXTERNAL = "external"
    API = "api"
    """The harness itself, as a client of the API server."""

    @property
    def has_pod(self) -> bool:
        """Whether a Pod of the run is the source."""
        match self:
            case VantageKind.POD | VantageKind.NODE:
                return True
            case VantageKind.EXTERNAL | VantageKind.API:
                return False
            case _:
                assert_never(self)


class TargetKind(StrEnum):
    """What a probe reaches."""

    POD_IP = "pod-ip"
    POD_NAME = "pod-name"
    SERVICE_CLUSTERIP = "service-clusterip"
    SERVICE_PQDN = "service-pqdn"
    SERVICE_PARTIAL_NAME = "service-partial-name"
    SERVICE_FQDN = "service-fqdn"
    NODEPORT = "nodeport"
    NODEPORT_LOCALHOST = "nodeport-localhost"
    """A NodePort at the loopback address of the source node."""
    HOSTPORT = "hostport"
    """A node's address at a port that a container claims as its ``hostPort``."""
    HOSTPORT_BOUND = "hostport-bound"
    """The same address at a ``hostPort`` whose ``hostIP`` is loopback."""
    HOSTPORT_LOCALHOST = "hostport-localhost"
    """That port at the loopback address of the source node."""
    LOADBALANCER = "loadbalancer"
    """A Service at the address that a load balancer was assigned."""
    SERVICE_EXTERNAL_IP = "service-external-ip"
    """A Service at one of its ``externalIPs``."""
    HEALTH_CHECK_PORT = "health-check-port"
    """The port at which a node reports whether it has backends of a Service (``spec.healthCheckNodePort``)."""
    NODE_IP = "node-ip"
    EXTERNAL_IP = "external-ip"
    EXTERNAL_NAME = "external-name"
    OWN_IP = "own-ip"
    """The source pod's own address."""
    POD_CLOSED_PORT = "pod-closed-port"
    NODE_CLOSED_PORT = "node-closed-port"
    HEADLESS_NAME = "headless-name"
    KUBERNETES_SERVICE = "kubernetes-service"
    """The Service ``kubernetes`` of namespace ``default``, by a name: every cluster has it."""
    NO_NAME = "no-name"
    """A name that does not exist."""
    EXISTING_SERVICE = "existing-service"
    """An existing Service of the cluster, at its ClusterIP."""
    DNS_SERVICE = "dns-service"
    """The cluster's DNS, probed at the address of its Service."""
    DNS_POD = "dns-pod"
    """The cluster's DNS, probed at the address of one of its Pods."""
    API_SERVER = "api-server"
    """The API server's decision about an object."""
    CONFIGURATION = "configuration"
    """The configuration of a node, its plugin or its kube-proxy."""
    POD = "pod"
    """The check's own Pod, from its creation on."""


class Placement(StrEnum):
    """Where the target's node is relative to the source's node."""

    SAME_NODE = "same-node"
    OTHER_NODE = "other-node"
    OUTSIDE = "outside"
    NOWHERE = "nowhere"
    """The target is on no node, or only on the source's: a Service without backends, and everything
    without a path (``Question.has_path``). Ids then contain no target."""


class NatException(StrEnum):
    """Whether an address is in the exception list of ``OutBoundNAT``, and so not translated."""

    INSIDE = "inside"
    OUTSIDE = "outside"
    UNKNOWN = "unknown"
    """The list is unknown, or the target has no single address."""


class SuffixList(StrEnum):
    """The DNS suffixes of a node's Pods, as conditions name them."""

    WHOLE = "whole"
    """The kubelet's own: those of the namespace, of all Services, and the cluster domain."""
    PART = "part"
    """One of the last two."""
    OWN = "own"
    """None of these: they do not complete names of other namespaces."""
    UNKNOWN = "unknown"


class Setting(StrEnum):
    """A setting, as conditions name it; unknown is a value too."""

    ON = "on"
    OFF = "off"
    UNKNOWN = "unknown"


class CheckClass(StrEnum):
    """What running a check costs or affects. A user enables all but ``default``."""

    DEFAULT = "default"
    COSTLY = "costly"
    """Many backends, many connections, or long waits."""
    EXPOSED = "exposed"
    """Objects reachable from outside the cluster: load balancers, external IPs."""
    DISRUPTIVE = "disruptive"
    """Many created and deleted objects, which every node's proxy must follow."""
    PACKETS = "packets"
    """Captures of single flows on nodes, by Pods that see the node's packets."""


class Resolver(StrEnum):
    """The client that resolves a name: Windows' resolvers differ from each other."""

    SYSTEM = "system"
    NSLOOKUP = "nslookup"
    RESOLVE_DNSNAME = "resolve-dnsname"
    """PowerShell's ``Resolve-DnsName``, the Windows DNS client itself; Windows only."""

    @property
    def is_process(self) -> bool:
        """Whether a separate program is started; the system's resolver is used by dialling a name."""
        match self:
            case Resolver.NSLOOKUP | Resolver.RESOLVE_DNSNAME:
                return True
            case Resolver.SYSTEM:
                return False
            case _:
                assert_never(self)


class Outcome(StrEnum):
    """What happened, as an observation says it (never a verdict)."""

    CONNECTED = "connected"
    REPLIED = "replied"
    REFUSED = "refused"
    TIMED_OUT = "timed_out"
    UNREACHABLE = "unreachable"
    NXDOMAIN = "nxdomain"
    SERVFAIL = "servfail"
    """A name server failed to resolve: for external names, because its upstream is silent."""
    RESOLVED = "resolved"
    NO_PORT = "no_port"
    """The client's own system had no free port for another connection."""
    LOST = "lost"
    """An established connection no longer carries data: sends time out or are reset."""
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    CONFORMS = "conforms"
    DEVIATES = "deviates"
    STARTED = "started"
    FAILS_TO_START = "fails_to_start"
    HEALTHY = "healthy"
    """A health check port reported local backends."""
    UNHEALTHY = "unhealthy"
    """A health check port reported that there are none."""
    CUT_SHORT = "cut_short"
    """A terminating server was killed before its time, within its grace period."""
    PROBE_FAILED = "probe_failed"

    @property
    def positive(self) -> bool:
        """Whether the target answered or the tested setting works; else controls are needed."""
        return self in _POSITIVE


_POSITIVE = frozenset(
    {
        *(Outcome.CONNECTED, Outcome.REPLIED, Outcome.RESOLVED, Outcome.ACCEPTED),
        *(Outcome.CONFORMS, Outcome.STARTED, Outcome.HEALTHY, Outcome.UNHEALTHY),
    }
)


class SourceSeen(StrEnum):
    """Whose address the server saw as the source of the flow."""

    CLIENT_POD = "client-pod"
    CLIENT_NODE = "client-node"
    TARGET_NODE = "target-node"
    SOURCE_VIP = "source-vip"
    EXTERNAL_CLIENT = "external-client"
    OTHER = "other"


class Distribution(StrEnum):
    """Which backends answered many new connections from one client."""

    ONE_BACKEND = "one-backend"
    SEVERAL_BACKENDS = "several-backends"
    SOME_REFUSED = "some-refused"
    """Some connections were answered and some refused, as if they went to ports without a listener."""


class Category(StrEnum):
    """Why a limitation exists."""

    PLATFORM = "platform"
    BY_DESIGN = "by-design"
    BUG = "bug"
    ENVIRONMENT = "environment"


class Verdict(StrEnum):
    """The judgement of one check."""

    PASS = "pass"  # noqa: S105 - a verdict, not a password
    LIMITED = "limited"
    KNOWN_BUG = "known-bug"
    """The documents leave the outcome open because of a known bug, and the bug shows."""
    FAIL = "fail"
    LIFTED = "lifted"
    FLAKY = "flaky"
    RECORDED = "recorded"
    UNKNOWN = "unknown"
    SKIPPED = "skipped"


class FailOn(StrEnum):
    """Values of ``--fail-on``: which results end a run with exit code 1."""

    KNOWN_BUGS = "known-bugs"
    NEW = "new"
    """Only deviations not in the site's baseline: ``of_run`` gets only those."""
