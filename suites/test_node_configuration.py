"""Windows nodes as their API objects show them: kube-proxy, labels, updates, versions.

Nothing is changed: objects and logs are read and compared with what the documents require.
"""

from nettests.model.expectation import Source
from nettests.model.words import Question, TargetKind, VantageKind
from nettests.plan import Matrix, cases, flow

DEBUGGING = Source(
    document="Kubernetes documentation, Windows debugging tips",
    section="Network troubleshooting",
    address="https://kubernetes.io/docs/tasks/debug/debug-cluster/windows/",
)
NETWORKING = Source(
    document="Kubernetes documentation, Networking on Windows",
    section="Load balancing and Services",
    address="https://kubernetes.io/docs/concepts/services-networking/windows-networking/",
)
DSR = Source(document="KEP-5100, Windows DSR and overlay support", section="Design Details")
GUIDE = Source(
    document="Kubernetes documentation, Guide for running Windows containers in Kubernetes",
    section="Ensuring OS-specific workloads land on the appropriate container host",
    address="https://kubernetes.io/docs/concepts/windows/user-guide/",
)
SUPPORT = Source(
    document="Kubernetes documentation, Windows containers in Kubernetes",
    section="Windows OS version compatibility",
    address="https://kubernetes.io/docs/concepts/windows/intro/",
)
NODEPORT_ADDRESSES = Source(
    document="kubernetes/kubernetes, cmd/kube-proxy/app/server_windows.go at release-1.36",
    address="https://github.com/kubernetes/kubernetes/blob/release-1.36/cmd/kube-proxy/app/server_windows.go",
    section="NodePortAddresses",
)
SKEW = Source(
    document="Kubernetes documentation, Version skew policy",
    section="Supported version skew",
    address="https://kubernetes.io/releases/version-skew-policy/",
)


@flow(
    "kube-proxy-mode",
    source=VantageKind.API,
    target=TargetKind.CONFIGURATION,
    matrix=Matrix.EACH_WINDOWS,
    question=Question.INSPECT,
    cases=(cases.rule("proxy-mode"),),
    facts=("svc-userspace-default",),
    sources=(
        Source(document="Kubernetes, CHANGELOG-1.26", section="Urgent upgrade notes"),
        NETWORKING,
    ),
)
def test_kube_proxy_mode() -> None:
    """kube-proxy runs in kernelspace mode on Windows: set explicitly before 1.26, the only mode since."""


@flow(
    "kube-proxy-configuration",
    source=VantageKind.API,
    target=TargetKind.CONFIGURATION,
    matrix=Matrix.EACH_WINDOWS,
    question=Question.INSPECT,
    cases=(
        cases.rule("hostname-override"),
        cases.rule("network-name"),
        cases.rule("source-vip"),
        cases.rule("dsr-gate"),
        cases.rule("overlay-gate"),
        cases.rule("kube-proxy-skew"),
        cases.rule("nodeport-addresses"),
    ),
    facts=(
        "kp-hostname-override",
        "kp-network-name",
        "kp-source-vip-overlay",
        "cni-flannel-rejoin",
        "dsr-enable",
        "plat-version-skew",
        "svc-nodeport-addresses",
    ),
    sources=(DEBUGGING, DSR, SKEW, NODEPORT_ADDRESSES),
)
def test_kube_proxy_configuration() -> None:
    """kube-proxy on Windows has its node name, HNS network, source VIP and feature gates, and restricts no NodePorts."""


@flow(
    "windows-node-configuration",
    source=VantageKind.API,
    target=TargetKind.CONFIGURATION,
    matrix=Matrix.EACH_WINDOWS,
    question=Question.INSPECT,
    cases=(
        cases.rule("windows-build-label"),
        cases.rule("kubelet-skew"),
        cases.rule("build-supported"),
        cases.rule("runtime-version"),
        cases.rule("update-not-broken"),
        cases.rule("overlay-update"),
        cases.rule("dsr-update"),
    ),
    facts=(
        "plat-label-windows-build",
        "plat-version-skew",
        "plat-os-support",
        "plat-runtime-version",
        "cni-kb5040437",
        "cni-overlay-model",
        "dsr-min-os",
    ),
    sources=(GUIDE, SKEW, SUPPORT, DSR),
)
def test_windows_node_configuration() -> None:
    """A Windows node has its build label, supported versions, and the updates that its network needs."""


@flow(
    "windows-node-taint",
    source=VantageKind.API,
    target=TargetKind.CONFIGURATION,
    matrix=Matrix.EACH_WINDOWS,
    question=Question.INSPECT,
    cases=(cases.rule("windows-taint"),),
    facts=("plat-taint-convention",),
    sources=(GUIDE,),
)
def test_windows_node_taint() -> None:
    """A Windows node has the conventional taint, os=windows:NoSchedule."""
