"""The descriptor of a target kind, and the closed sets of words in it.

``kinds.yaml`` has one descriptor for each kind.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import assert_never


class Owner(StrEnum):
    """The owner of a target, which decides which objects must exist, and on which node."""

    POD = "pod"
    """A server pod of the target's node."""
    PODS = "pods"
    """The first server pod of every probe node."""
    SOURCE = "source"
    """The source pod."""
    SERVICE = "service"
    NODE = "node"
    NODE_PORT = "node-port"
    """The node, at a port that belongs to a Service."""
    HOST_PORT = "host-port"
    """The node, at a port that a pod on it claims."""
    CLUSTER = "cluster"
    """The cluster: the target is on no probe node."""
    OUTSIDE = "outside"
    """The external target of the cluster profile."""
    CHECK = "check"
    """The check itself, which creates it."""
    NOTHING = "nothing"
    """Nothing is reached: the API server or a node is inspected."""


class Location(StrEnum):
    """How the target's host and ports are found."""

    POD_ADDRESS = "pod-address"
    POD_NAME = "pod-name"
    POD_CLOSED_PORT = "pod-closed-port"
    NODE_ADDRESS = "node-address"
    NODE_CLOSED_PORT = "node-closed-port"
    NODE_PORT = "node-port"
    HEALTH_CHECK_PORT = "health-check-port"
    HOST_PORT = "host-port"
    HOST_PORT_BOUND = "host-port-bound"
    CLUSTER_IP = "cluster-ip"
    SERVICE_NAME = "service-name"
    LOAD_BALANCER = "load-balancer"
    SERVICE_EXTERNAL_IP = "service-external-ip"
    HEADLESS_NAME = "headless-name"
    KUBERNETES_NAME = "kubernetes-name"
    NO_NAME = "no-name"
    EXISTING_SERVICE = "existing-service"
    DNS_SERVICE = "dns-service"
    DNS_POD = "dns-pod"
    EXTERNAL_ADDRESS = "external-address"
    EXTERNAL_NAME = "external-name"
    NOWHERE = "nowhere"


class Naming(StrEnum):
    """The kind of name that is resolved before anything is sent."""

    NONE = "none"
    CLUSTER = "cluster"
    ABSENT = "absent"
    """The name does not exist."""
    OUTSIDE = "outside"


class Proxy(StrEnum):
    """The node whose Service proxy is involved."""

    NONE = "none"
    SOURCE = "source"
    TARGET = "target"


class ShownBy(StrEnum):
    """The positive control that proves a target for a negative result."""

    NOTHING = "nothing"
    OTHER_VANTAGE = "other-vantage"
    """It answers the same action from elsewhere."""
    OTHER_NODE = "other-node"
    """The same, with a source on a node or outside."""
    FULL_NAME = "full-name"
    """The same resolver finds it by its fully qualified name."""
    KUBERNETES_NAME = "kubernetes-name"
    """The same resolver finds the Service ``kubernetes`` by its fully qualified name."""
    SERVICE_PORT = "service-port"
    """For a ping, it answers at its port; otherwise like ``OTHER_VANTAGE``."""
    POD_PORT = "pod-port"
    """Its pod answers at a port with a listener."""
    NODE_LISTENER = "node-listener"
    """Its node answers at a port with a listener."""
    POD_ITSELF = "pod-itself"
    """The pod behind it answers at its own address."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Descriptor:
    """The properties of all targets of one kind."""

    owner: Owner
    location: Location
    shown_by: ShownBy
    noun: str
    """The target's name in incidents; empty if it cannot cause a failure."""
    heading: str = ""
    """The column heading in reports for targets on no probe node."""
    naming: Naming = Naming.NONE
    name_server: bool = False
    """It is the cluster DNS itself, queried over both protocols."""
    loopback: bool = False
    """Probed at the loopback address of its node."""
    translated: bool = False
    """A Service proxy must translate a check's packets."""
    proxy: Proxy = Proxy.NONE
    holds_pod: bool = False
    """The target's node is that of its only Pod."""
    awaited_itself: bool = False
    """The wait before a check polls the target itself, not a backend's address or name."""

    @property
    def has_path(self) -> bool:
        """Whether packets are sent to it, like ``Question.has_path`` for the questions about it."""
        return self.location is not Location.NOWHERE

    @property
    def by_name(self) -> bool:
        """Whether a resolver is queried first."""
        return self.naming is not Naming.NONE

    @property
    def of_pod(self) -> bool:
        """Whether packets are sent to a Pod's own address, also by name."""
        match self.owner:
            case Owner.POD | Owner.PODS | Owner.SOURCE:
                return True
            case Owner.SERVICE | Owner.NODE | Owner.NODE_PORT | Owner.HOST_PORT:
                return False
            case Owner.CLUSTER | Owner.OUTSIDE | Owner.CHECK | Owner.NOTHING:
                return False
            case _:
                assert_never(self.owner)

    @property
    def of_node(self) -> bool:
        """Whether packets are sent to a node's own address."""
        match self.owner:
            case Owner.NODE | Owner.NODE_PORT | Owner.HOST_PORT:
                return True
            case Owner.POD | Owner.PODS | Owner.SOURCE | Owner.SERVICE:
                return False
            case Owner.CLUSTER | Owner.OUTSIDE | Owner.CHECK | Owner.NOTHING:
                return False
            case _:
                assert_never(self.owner)

    @property
    def named_by_headless(self) -> bool:
        """Whether its name comes from the headless Service over the server pods."""
        return self.by_name and self.of_pod

    @property
    def on_node_network(self) -> bool:
        """Whether the node itself must answer at a port with a listener."""
        return self.location is Location.NODE_ADDRESS
