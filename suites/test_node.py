"""Nodes: they reach pods and Services, and pods reach them.

A node's vantage is a hostNetwork pod on Linux and a HostProcess container on Windows.
"""

from nettests.model.expectation import Source
from nettests.model.words import Outcome, Protocol, TargetKind, VantageKind
from nettests.plan import Matrix, Members, flow

NETWORKING = Source(
    document="Kubernetes documentation, Networking on Windows", section="Network modes"
)
RESETS = Source(
    document="RFC 9293, Transmission Control Protocol", section="3.5.2 Reset Generation"
)
VIRTUAL_IPS = Source(
    document="Kubernetes documentation, Virtual IPs and Service Proxies",
    section="Virtual IP addressing mechanism",
)


@flow(
    "node-to-pod",
    source=VantageKind.NODE,
    target=TargetKind.POD_IP,
    matrix=Matrix.PAIRS,
    members=Members.EACH_PAIR,
    each_family=True,
    facts=(
        "flow-node-local-pod",
        "flow-node-remote-pod-l2bridge",
        "flow-node-remote-pod-overlay",
        "flow-linuxnode-remote-winpod-overlay",
        "flow-hostprocess-pod-net",
        "flow-hostprocess-remote-pod-overlay",
    ),
    sources=(NETWORKING,),
)
def test_node_to_pod() -> None:
    """A node reaches the pods of every node by IP address."""


@flow(
    "pod-to-node",
    source=VantageKind.POD,
    target=TargetKind.NODE_IP,
    matrix=Matrix.PAIRS,
    members=Members.EACH_PAIR,
    each_family=True,
    facts=("flow-pod-own-node", "flow-pod-other-node"),
    sources=(NETWORKING,),
)
def test_pod_to_node() -> None:
    """A pod reaches its own node and other nodes by IP address."""


@flow(
    "node-to-service-clusterip",
    source=VantageKind.NODE,
    target=TargetKind.SERVICE_CLUSTERIP,
    matrix=Matrix.PAIRS,
    each_family=True,
    facts=(
        "node-svc-vip-docs",
        "node-svc-vip-dsr-host-rules",
        "node-svc-vip-ovs",
        "cni-transparent-model",
        "flow-hostprocess-pod-net",
    ),
    sources=(VIRTUAL_IPS,),
)
def test_node_to_service_clusterip() -> None:
    """A node reaches a Service by ClusterIP, wherever its backend runs."""


@flow(
    "pod-to-node-closed-port",
    source=VantageKind.POD,
    target=TargetKind.NODE_CLOSED_PORT,
    matrix=Matrix.PAIRS,
    protocols=(Protocol.TCP,),
    outcome=Outcome.REFUSED,
    facts=("flow-closed-port-node",),
    sources=(RESETS,),
)
def test_pod_to_node_closed_port() -> None:
    """A port of a node on which nothing listens refuses connections, and does not drop them silently."""
