"""Network plugins and address families: what they require of Windows nodes, as API objects show it."""

from nettests.model.expectation import Source
from nettests.model.words import Question, TargetKind, VantageKind
from nettests.plan import Matrix, cases, flow

CALICO = Source(
    document="Calico documentation, Requirements for Windows nodes",
    section="Windows platform requirements",
    address="https://docs.tigera.io/calico/latest/getting-started/kubernetes/windows-calico/requirements",
)
CALICO_LIMITS = Source(
    document="Calico documentation, Limitations and known issues of Windows",
    section="Calico for Windows feature limitations",
    address="https://docs.tigera.io/calico/latest/getting-started/kubernetes/windows-calico/limitations",
)
ANTREA = Source(
    document="Antrea documentation, Deploying Antrea on Windows",
    section="Components that run on Windows",
    address="https://github.com/antrea-io/antrea/blob/main/docs/windows.md",
)
EKS = Source(
    document="Amazon EKS user guide, Deploy Windows nodes",
    section="Considerations",
    address="https://github.com/awsdocs/amazon-eks-user-guide",
)
VPC_CONTROLLER = Source(
    document="aws/amazon-vpc-resource-controller-k8s, pkg/condition/conditions.go",
    section="IsWindowsIPAMEnabled",
    address="https://github.com/aws/amazon-vpc-resource-controller-k8s/blob/master/pkg/condition/conditions.go",
)
VPC_BRIDGE = Source(
    document="aws/amazon-vpc-cni-plugins, plugins/vpc-bridge",
    section="network/bridge_windows.go",
    address="https://github.com/aws/amazon-vpc-cni-plugins/tree/main/plugins/vpc-bridge",
)
HOST_ROUTE = Source(
    document="flannel-io/flannel pull request 1096",
    section="HostRoute",
    address="https://github.com/flannel-io/flannel/pull/1096",
)
HANDBOOK = Source(
    document="Kubernetes handbook, Windows containers (Kubernetes 1.5 to 1.15)",
    section="Other known issues",
)
DUAL_STACK = Source(
    document="Kubernetes documentation, IPv4/IPv6 dual-stack",
    section="Windows support",
    address="https://kubernetes.io/docs/concepts/services-networking/dual-stack/",
)
LIMITATIONS = Source(
    document="Kubernetes documentation, Networking on Windows",
    section="Limitations",
    address="https://kubernetes.io/docs/concepts/services-networking/windows-networking/",
)


@flow(
    "windows-plugin-demands",
    source=VantageKind.API,
    target=TargetKind.CONFIGURATION,
    matrix=Matrix.EACH_WINDOWS,
    question=Question.INSPECT,
    cases=(
        cases.rule("plugin-for-windows"),
        cases.rule("calico-build"),
        cases.rule("calico-networking"),
        cases.rule("calico-pools"),
        cases.rule("calico-strict-affinity"),
        cases.rule("flannel-release"),
        cases.rule("antrea-alone"),
        cases.rule("vpc-dns-elsewhere"),
        cases.rule("vpc-windows-ipam"),
    ),
    facts=(
        "cni-calico-min-os",
        "cni-calico-policy-only",
        "cni-calico-limits",
        "cni-calico-strict-affinity",
        "flow-node-local-pod",
        "cni-antrea",
        "cni-cilium",
        "cni-weave",
        "cni-azure-no-kubenet",
        "cni-azure-cilium",
        "cni-eks",
        "cni-eks-ipam",
    ),
    sources=(CALICO, CALICO_LIMITS, ANTREA, HOST_ROUTE, HANDBOOK, EKS, VPC_CONTROLLER),
)
def test_windows_plugin_demands() -> None:
    """A Windows node meets the requirements of its network plugin, which has an agent for Windows."""


@flow(
    "windows-address-families",
    source=VantageKind.API,
    target=TargetKind.CONFIGURATION,
    matrix=Matrix.EACH_WINDOWS,
    question=Question.INSPECT,
    cases=(cases.rule("ipv4-address"),),
    facts=("v6-single-stack",),
    sources=(DUAL_STACK,),
)
def test_windows_address_families() -> None:
    """A Windows node has an IPv4 address."""


@flow(
    "windows-pod-families",
    source=VantageKind.API,
    target=TargetKind.CONFIGURATION,
    matrix=Matrix.EACH_WINDOWS,
    question=Question.INSPECT,
    cases=(
        cases.rule("overlay-pods-ipv4"),
        cases.rule("calico-pods-ipv4"),
        cases.rule("vpc-pods-ipv4"),
    ),
    facts=("v6-overlay", "v6-calico-eks", "cni-eks"),
    sources=(LIMITATIONS, CALICO_LIMITS, EKS),
)
def test_windows_pod_families() -> None:
    """Windows Pods have no IPv6 address with an overlay network, Calico or Amazon's plugin."""


@flow(
    "windows-plugin-networks",
    source=VantageKind.NODE,
    target=TargetKind.CONFIGURATION,
    matrix=Matrix.EACH_WINDOWS,
    question=Question.INSPECT,
    cases=(
        cases.rule("calico-kept-addresses"),
        cases.rule("vpc-interface"),
    ),
    facts=("cni-calico-limits", "cni-eks"),
    sources=(CALICO_LIMITS, EKS, VPC_BRIDGE),
)
def test_windows_plugin_networks() -> None:
    """A network created by Calico or Amazon's plugin is as their documents describe it."""
