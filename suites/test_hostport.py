"""hostPorts: a container's port at its node's address, from elsewhere, from the node, and at loopback."""

from nettests.model.expectation import Source
from nettests.model.words import Outcome, Protocol, TargetKind, VantageKind
from nettests.plan import Backing, Matrix, flow

PORTS = Source(
    document="Kubernetes documentation, Network Plugins",
    section="Support hostPort",
    address="https://kubernetes.io/docs/concepts/extend-kubernetes/compute-storage-net/network-plugins/#support-hostport",
)
HOST_IP = Source(
    document="Kubernetes API reference, Pod v1",
    section="ContainerPort, hostIP",
    address="https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/",
)
PORTMAP = Source(
    document="containernetworking/plugins, plugins/meta/portmap",
    section="Rule structure",
    address="https://www.cni.dev/plugins/current/meta/portmap/",
)


@flow(
    "hostport-from-other-node",
    source=VantageKind.POD,
    target=TargetKind.HOSTPORT,
    matrix=Matrix.ELSEWHERE,
    each_family=True,
    facts=("hostport-basic", "hostport-ipv6"),
    sources=(PORTS,),
)
def test_hostport_from_other_node() -> None:
    """A pod reaches a container on another node by its hostPort at that node's address."""


@flow(
    "hostport-from-external",
    source=VantageKind.EXTERNAL,
    target=TargetKind.HOSTPORT,
    matrix=Matrix.NODES,
    backing=Backing.NOWHERE,  # no Service stands before it
    protocols=(Protocol.TCP,),
    facts=("hostport-basic",),
    sources=(PORTS,),
)
def test_hostport_from_external() -> None:
    """A client outside the cluster reaches a container by its hostPort at its node's address."""


@flow(
    "hostport-from-own-node",
    source=VantageKind.NODE,
    target=TargetKind.HOSTPORT,
    matrix=Matrix.NEAREST,
    protocols=(Protocol.TCP,),
    facts=("hostport-local",),
    sources=(PORTMAP,),
)
def test_hostport_from_own_node() -> None:
    """A node reaches one of its own containers by its hostPort at the node's address."""


@flow(
    "hostport-bound-to-loopback",
    source=VantageKind.NODE,
    target=TargetKind.HOSTPORT_LOCALHOST,
    matrix=Matrix.NEAREST,
    protocols=(Protocol.TCP,),
    facts=("hostport-hostip",),
    sources=(HOST_IP, PORTMAP),
)
def test_hostport_bound_to_loopback() -> None:
    """A node reaches one of its own containers at 127.0.0.1 by a hostPort whose hostIP is that address."""


@flow(
    "hostport-bound-elsewhere",
    source=VantageKind.POD,
    target=TargetKind.HOSTPORT_BOUND,
    matrix=Matrix.ELSEWHERE,
    protocols=(Protocol.TCP,),
    outcome=Outcome.REFUSED,
    facts=("hostport-hostip",),
    sources=(HOST_IP,),
)
def test_hostport_bound_elsewhere() -> None:
    """A hostPort whose hostIP is 127.0.0.1 is refused at its node's address."""
