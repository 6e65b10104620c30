"""Configuration of the cluster: its control plane, what runs on its nodes, and its overlay."""

from nettests.model.expectation import Source
from nettests.model.words import Question, TargetKind, VantageKind
from nettests.plan import Matrix, cases, flow

WINDOWS = Source(
    document="Kubernetes documentation, Windows containers in Kubernetes",
    section="Windows nodes in Kubernetes",
    address="https://kubernetes.io/docs/concepts/windows/intro/",
)
NODES = Source(
    document="Kubernetes documentation, Node Status",
    section="Conditions",
    address="https://kubernetes.io/docs/reference/node/node-status/",
)
DAEMON_SETS = Source(
    document="Kubernetes documentation, DaemonSet",
    section="How Daemon Pods are scheduled",
    address="https://kubernetes.io/docs/concepts/workloads/controllers/daemonset/",
)
FLANNEL = Source(
    document="Flannel documentation, Backends",
    section="VXLAN",
    address="https://github.com/flannel-io/flannel/blob/master/Documentation/backends.md",
)


@flow(
    "control-plane-system",
    source=VantageKind.API,
    target=TargetKind.CONFIGURATION,
    matrix=Matrix.CLUSTER,
    question=Question.INSPECT,
    cases=(cases.rule("control-plane-on-linux"),),
    facts=("plat-control-plane-linux-only",),
    sources=(WINDOWS,),
)
def test_control_plane_system() -> None:
    """The control plane runs on Linux; Windows nodes are workers only."""


@flow(
    "cluster-readiness",
    source=VantageKind.API,
    target=TargetKind.CONFIGURATION,
    matrix=Matrix.CLUSTER,
    question=Question.INSPECT,
    cases=(cases.rule("nodes-ready"), cases.rule("agents-ready")),
    facts=("node-ready", "node-agents"),
    sources=(NODES, DAEMON_SETS),
)
def test_cluster_readiness() -> None:
    """Every node that is not cordoned is Ready, and Service proxy and network plugin run on each."""


@flow(
    "flannel-vxlan-configuration",
    source=VantageKind.API,
    target=TargetKind.CONFIGURATION,
    matrix=Matrix.CLUSTER,
    question=Question.INSPECT,
    cases=(
        cases.rule("vxlan-network-id"),
        cases.rule("vxlan-port"),
        cases.rule("vxlan-options"),
    ),
    facts=("cni-flannel-vxlan-vni", "cni-flannel-options"),
    sources=(FLANNEL,),
)
def test_flannel_vxlan_configuration() -> None:
    """Flannel's VXLAN has a network id of 4096 or more, UDP port 4789, and no option that Windows refuses."""
