"""Settings of a Service other than its name and its backends.

Declared by flows, carried by targets, written into objects by ``probes``. Policies and types are spelled as the API
spells them. Flows and limitations say what a setting is documented to do.
"""

from dataclasses import dataclass
from enum import StrEnum

from nettests.model.words import Family

CLUSTER = "Cluster"
LOCAL = "Local"
LOAD_BALANCER = "LoadBalancer"
"""The Service type that carries only TCP: not every balancer takes two protocols."""


class ByHand(StrEnum):
    """How EndpointSlices that the run creates differ from a controller's."""

    PLAIN = "plain"
    """Not at all: they are like the controller's."""
    MIXED_TARGET_PORTS = "two-numbers"
    """Backends have mixed target ports for the same Service port, as named target ports allow."""
    HINTED = "hinted"
    """The first backend has hints for the zones of all probe nodes, the others for a zone without nodes."""
    TERMINATING = "terminating"
    """All backends are terminating and serving, as may happen in a rolling update."""


class Change(StrEnum):
    """For ``CHURN``: what happens to a Service, or beside it, before it is tested."""

    RECREATED = "recreated"
    """It is deleted and recreated, each time in front of another backend."""
    ENDPOINTS = "endpoints"
    """Its endpoints change while it stays."""
    SIBLING = "sibling"
    """Another Service over the same endpoints is deleted and recreated, while it stays unchanged."""
    POD = "pod"
    """The Pod behind it is deleted, and another one replaces it at another address."""
    SAME_ADDRESS = "same-address"
    """The Pod behind it is deleted, and another one replaces it at the same address, if the network assigns it."""
    PORT_NAME = "port-name"
    """Its ports get new names, while it and the port numbers stay."""


class Crowd(StrEnum):
    """For ``SCALE``: what is tested while many Services are created and deleted."""

    SERVED = "served"
    """The last of these Services."""
    BESIDE = "beside"
    """The Service itself, which existed before."""
    REMOVED = "removed"
    """Rules left over from them."""


def sibling_of(service: str) -> str:
    """Return the name of a Service's sibling over the same endpoints, which is recreated."""
    return f"{service}-twin"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceSettings:
    """Settings of a Service; the defaults are those of the API.

    ``label`` is a prefix of the Service's name, so that several Services can share backends; it
    names the tested setting, but is in no check id. Flows with the same label share settings.
    """

    label: str
    behind: str = "server"
    """Purpose of the Pods that it selects: ``server``, ``probe``, ``node`` or ``unready``."""
    type: str = "ClusterIP"
    headless: bool = False
    session_affinity: bool = False
    affinity_seconds: int | None = None
    """``sessionAffinityConfig.clientIP.timeoutSeconds``."""
    external_traffic_policy: str = CLUSTER
    internal_traffic_policy: str = CLUSTER
    publish_not_ready: bool = False
    no_endpoints: bool = False
    """The selector matches no Pod."""
    named_ports: bool = False
    """Target ports are the port names of the backends' containers."""
    ip_family_policy: str = ""
    """``SingleStack``, ``PreferDualStack`` or ``RequireDualStack``; empty leaves it to the API."""
    ip_families: tuple[Family, ...] = ()
    """``ipFamilies``, in their order; empty leaves them to the API."""
    by_hand: ByHand | None = None
    """It has no selector; the run creates its EndpointSlices."""
    external_ip: bool = False
    """It has one of ``spec.externalIPs``, from the range in the cluster profile."""
    source_ranges: tuple[str, ...] = ()
    """``spec.loadBalancerSourceRanges``."""
    preserve_destination: bool = False
    """The annotation ``preserve-destination``."""
    change: Change = Change.RECREATED
    """For ``CHURN``: what happens before it is tested."""
    crowd: Crowd | None = None
    """For ``SCALE``: what is tested."""
    idle_ports: bool = False
    """It has ports for idle connections in addition to the usual ones."""
    sctp: bool = False
    """It has an SCTP port, without a listener, in addition to the usual ones."""
    external_name: bool = False
    """It has type ExternalName and refers to the declared external target."""

    @property
    def external_local(self) -> bool:
        """Whether traffic from outside goes to backends on the target node only."""
        return self.external_traffic_policy == LOCAL

    @property
    def internal_local(self) -> bool:
        """Whether traffic from inside goes to backends on the client's node only."""
        return self.internal_traffic_policy == LOCAL
