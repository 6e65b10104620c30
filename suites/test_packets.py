"""Packets: captures on the nodes of a connection's path confirm what its server and the cluster's facts say.

Of class ``packets``: each check captures one marked connection with the node's own tool, while no other check runs.
"""

from nettests.model.expectation import Source
from nettests.model.words import (
    CheckClass,
    Protocol,
    Question,
    SourceSeen,
    TargetKind,
    VantageKind,
)
from nettests.plan import Matrix, Members, ServiceSettings, flow

NETWORK_MODEL = Source(
    document="Kubernetes documentation, Services, Load Balancing, and Networking",
    section="The Kubernetes network model",
)
MODES = Source(document="Kubernetes documentation, Networking on Windows", section="Network modes")
DSR = Source(
    document="Kubernetes documentation, Networking on Windows",
    section="Load balancing and Services",
)
PRESERVED = Source(
    document="Kubernetes documentation 1.21, Intro to Windows support in Kubernetes",
    section="Supported Functionality and Limitations",
    address="https://github.com/kubernetes/website/blob/release-1.21/content/en/docs/setup/production-environment/windows/intro-windows-in-kubernetes.md",
)
VSPHERE = Source(
    document="Microsoft, Troubleshooting Kubernetes: common problems",
    section="Pod-to-pod connectivity between hosts is broken on my Kubernetes cluster running on vSphere",
    address="https://learn.microsoft.com/virtualization/windowscontainers/kubernetes/common-problems",
)
DRIVERS = Source(
    document="Microsoft, Windows container network drivers",
    section="L2bridge network driver",
    address="https://learn.microsoft.com/virtualization/windowscontainers/container-networking/network-drivers-topologies",
)


@flow(
    "witnessed-pod-to-pod",
    source=VantageKind.POD,
    target=TargetKind.POD_IP,
    matrix=Matrix.ELSEWHERE,
    protocols=(Protocol.TCP,),
    question=Question.WITNESS,
    source_seen=SourceSeen.CLIENT_POD,
    check_class=CheckClass.PACKETS,
    alike="pod-to-pod-ip",
    facts=(
        "flow-pod-pod-ip-cross-node",
        "cni-l2bridge-model",
        "cni-overlay-model",
        "flow-vsphere-4789",
    ),
    sources=(NETWORK_MODEL, MODES, DRIVERS, VSPHERE),
)
def test_witnessed_pod_to_pod() -> None:
    """Between pods of two nodes, the wire shows the source that the server saw, and the configured encapsulation."""


@flow(
    "witnessed-service",
    source=VantageKind.POD,
    target=TargetKind.SERVICE_CLUSTERIP,
    matrix=Matrix.ELSEWHERE,
    protocols=(Protocol.TCP,),
    question=Question.WITNESS,
    source_seen=SourceSeen.CLIENT_POD,
    check_class=CheckClass.PACKETS,
    alike="dsr-source-address",
    facts=("dsr-source-ip-clusterip", "dsr-source-ip-non-dsr"),
    sources=(DSR, MODES),
)
def test_witnessed_service() -> None:
    """Behind a ClusterIP, the wire shows the source that the backend saw, and the reply goes to it."""


@flow(
    "witnessed-outbound-nat",
    source=VantageKind.POD,
    target=TargetKind.EXTERNAL_IP,
    matrix=Matrix.WINDOWS_SOURCES,
    protocols=(Protocol.TCP,),
    question=Question.WITNESS,
    source_seen=SourceSeen.CLIENT_NODE,
    check_class=CheckClass.PACKETS,
    alike="pod-to-external-source-address",
    facts=("flow-pod-external-ip",),
    sources=(MODES,),
)
def test_witnessed_outbound_nat() -> None:
    """A Windows pod's packets leave its node with the address that a server outside the cluster sees."""


@flow(
    "witnessed-preserve-destination",
    source=VantageKind.POD,
    target=TargetKind.LOADBALANCER,
    matrix=Matrix.NEAREST,
    members=Members.FEW,
    protocols=(Protocol.TCP,),
    question=Question.WITNESS,
    service=ServiceSettings(label="lb-preserve", type="LoadBalancer", preserve_destination=True),
    check_class=CheckClass.PACKETS,
    alike="loadbalancer-preserve-destination",
    facts=("preserve-dest-annotation", "preserve-dest-client-ip"),
    sources=(PRESERVED, DSR),
)
def test_witnessed_preserve_destination() -> None:
    """With the annotation preserve-destination, packets reach a backend that cannot answer them as the client sent them."""
