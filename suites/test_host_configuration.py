"""Windows nodes as their own tools show them: HNS, CNI configuration, ports, processes.

HostProcess containers run the commands that the documents name; nothing is changed. Where a node cannot run
HostProcess containers, the checks are skipped with that reason.
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
    section="Network modes",
    address="https://kubernetes.io/docs/concepts/services-networking/windows-networking/",
)
PROBLEMS = Source(
    document="Microsoft, Troubleshooting Kubernetes: common problems",
    section="Load balancers are plumbed inconsistently across the cluster nodes",
    address="https://learn.microsoft.com/virtualization/windowscontainers/kubernetes/common-problems",
)
ADDRESSES = Source(
    document="Kubernetes documentation, Networking on Windows",
    section="IP address management (IPAM)",
    address="https://kubernetes.io/docs/concepts/services-networking/windows-networking/",
)
PLUGINS = Source(
    document="containernetworking/plugins, plugins/main/windows",
    section="PluginMainFuncs",
    address="https://github.com/containernetworking/plugins/tree/main/plugins/main/windows",
)
SDN_PLUGINS = Source(
    document="microsoft/windows-container-networking, cni/cni.go",
    section="VersionsSupported",
    address="https://github.com/microsoft/windows-container-networking/blob/master/cni/cni.go",
)
SDN_POLICIES = Source(
    document="kubernetes-sigs/sig-windows-tools, hostprocess/flannel",
    section="cni-conf-containerd.json",
    address="https://github.com/kubernetes-sigs/sig-windows-tools/tree/master/hostprocess/flannel",
)
HYBRID_OVERLAY = Source(
    document="ovn-org/ovn-kubernetes, go-controller/hybrid-overlay/pkg/types",
    section="HybridOverlayVNI",
    address="https://github.com/ovn-org/ovn-kubernetes/tree/master/go-controller/hybrid-overlay/pkg/types",
)
SERVICES = Source(
    document="Kubernetes documentation, Intro to Windows support in Kubernetes (release 1.19)",
    section="Getting Help and Troubleshooting",
)
KUBELET_DNS = Source(
    document="Kubernetes documentation, DNS for Services and Pods",
    section="DNS resolution on Windows nodes",
    address="https://kubernetes.io/docs/concepts/services-networking/dns-pod-service/",
)
PAUSE = Source(
    document="kubernetes/kubernetes, build/pause/CHANGELOG.md",
    section="3.4 to 3.7",
    address="https://github.com/kubernetes/kubernetes/blob/master/build/pause/CHANGELOG.md",
)
DSR = Source(document="KEP-5100, Windows DSR and overlay support", section="Design Details")
SKEW = Source(
    document="Kubernetes documentation, Version skew policy",
    section="Supported version skew",
    address="https://kubernetes.io/releases/version-skew-policy/",
)
ANTREA = Source(
    document="Antrea documentation, Deploying Antrea on Windows",
    section="Components that run on Windows",
    address="https://github.com/antrea-io/antrea/blob/main/docs/windows.md",
)
HEALTH = Source(document="microsoft/SDN, networkhealth.ps1", section="Test set")


@flow(
    "hns-configuration",
    source=VantageKind.NODE,
    target=TargetKind.CONFIGURATION,
    matrix=Matrix.EACH_WINDOWS,
    question=Question.INSPECT,
    cases=(
        cases.rule("hns-network"),
        cases.rule("hns-network-type"),
        cases.rule("hns-network-subnet"),
        cases.rule("hns-network-adapter"),
        cases.rule("pod-endpoints"),
        cases.rule("outbound-nat"),
        cases.rule("nat-unused"),
        cases.rule("pod-gateway"),
        cases.rule("pod-dns-settings"),
        cases.rule("overlay-network-id"),
        cases.rule("hybrid-overlay-id"),
    ),
    facts=(
        "cni-l2bridge-model",
        "cni-l2tunnel-model",
        "cni-overlay-model",
        "cni-nat-unused",
        "kp-network-name",
        "cni-hns-network-missing",
        "cni-flannel-rejoin",
        "cni-wrong-adapter",
        "cni-exceptionlist",
        "svc-local-ep-wrong-network",
        "flow-pod-no-outboundnat",
        "cni-win-bridge-gateway",
        "cni-flannel-vxlan-vni",
        "cni-ovn-hybrid",
        "kp-wait-network",
        "cni-azure-overlay",
        "dns-one-suffix",
        "diag-dns-plugin",
    ),
    sources=(DEBUGGING, NETWORKING, PLUGINS, HYBRID_OVERLAY, KUBELET_DNS),
)
def test_hns_configuration() -> None:
    """HNS has the network that kube-proxy is configured with, and on it an endpoint with OutBoundNAT for every pod."""


@flow(
    "hns-load-balancers",
    source=VantageKind.NODE,
    target=TargetKind.CONFIGURATION,
    matrix=Matrix.EACH_WINDOWS,
    question=Question.INSPECT,
    cases=(
        cases.rule("load-balancers"),
        cases.rule("load-balancer-backends"),
        cases.rule("local-policy-load-balancers"),
        cases.rule("stale-load-balancers"),
        cases.rule("empty-source-vip"),
        cases.rule("sctp-load-balancers"),
    ),
    facts=(
        "svc-stale-vip-leak",
        "svc-clusterip-missing-etp-local",
        "kp-source-vip-l2bridge",
        "svc-hns-restart-dup",
        "svc-stale-1-34-no-resync",
        "kp-network-recreated",
        "svc-sctp",
    ),
    sources=(HEALTH, PROBLEMS),
)
def test_hns_load_balancers() -> None:
    """HNS has a load balancer for every Service port with backends, and none that belongs to no Service."""


@flow(
    "windows-host-configuration",
    source=VantageKind.NODE,
    target=TargetKind.CONFIGURATION,
    matrix=Matrix.EACH_WINDOWS,
    question=Question.INSPECT,
    cases=(
        cases.rule("running-build"),
        cases.rule("virtual-adapter"),
        cases.rule("node-ports-free"),
        cases.rule("port-pools-left"),
        cases.rule("like-its-peers"),
    ),
    facts=("plat-label-windows-build", "cni-hns-network-missing", "svc-max-count-port-exhaustion"),
    sources=(DEBUGGING, PROBLEMS, HEALTH),
)
def test_windows_host_configuration() -> None:
    """A Windows node runs the build that its Node object shows, and has a virtual adapter and ports left for Services."""


@flow(
    "flannel-host-configuration",
    source=VantageKind.NODE,
    target=TargetKind.CONFIGURATION,
    matrix=Matrix.EACH_WINDOWS,
    question=Question.INSPECT,
    cases=(
        cases.rule("processes-running"),
        cases.rule("subnet-file"),
        cases.rule("source-vip-files"),
        cases.rule("flannel-network-made"),
        cases.rule("cni-network"),
        cases.rule("cni-exceptions"),
        cases.rule("cni-routes"),
        cases.rule("loopback-dsr-update"),
    ),
    facts=(
        "diag-three-processes",
        "cni-flannel-subnet-env",
        "cni-flannel-rejoin",
        "cni-flannel-waiting",
        "cni-exceptionlist",
        "cni-route-needencap",
        "cni-sdn-loopbackdsr",
    ),
    sources=(
        DEBUGGING,
        Source(document="microsoft/SDN, Kubernetes/flannel", section="cni.conf samples"),
    ),
)
def test_flannel_host_configuration() -> None:
    """On a Windows node with Flannel, kubelet, kube-proxy and flanneld run, and Flannel's files name the actual networks."""


@flow(
    "windows-cni-configuration",
    source=VantageKind.NODE,
    target=TargetKind.CONFIGURATION,
    matrix=Matrix.EACH_WINDOWS,
    question=Question.INSPECT,
    cases=(
        cases.rule("cni-version"),
        cases.rule("policy-form"),
        cases.rule("cni-ipam"),
        cases.rule("win-bridge-pods-ipv4"),
    ),
    facts=(
        "cni-check-spec",
        "cni-sdn-versions",
        "cni-policy-schema",
        "cni-ipam",
        "v6-win-bridge-ipv4-only",
    ),
    sources=(ADDRESSES, PLUGINS, SDN_PLUGINS, SDN_POLICIES),
)
def test_windows_cni_configuration() -> None:
    """The plugins of a Windows node accept the version and policies in their configuration; they assign addresses as documented."""


@flow(
    "kube-proxy-on-host",
    source=VantageKind.NODE,
    target=TargetKind.CONFIGURATION,
    matrix=Matrix.EACH_WINDOWS,
    question=Question.INSPECT,
    cases=(
        cases.rule("host-proxy-mode"),
        cases.rule("host-proxy-name"),
        cases.rule("host-proxy-source-vip"),
        cases.rule("host-proxy-dsr-gate"),
        cases.rule("host-proxy-overlay-gate"),
        cases.rule("host-proxy-skew"),
        cases.rule("kube-proxy-restarts"),
        cases.rule("antrea-alone-on-host"),
    ),
    facts=(
        "svc-userspace-default",
        "kp-hostname-override",
        "kp-source-vip-overlay",
        "dsr-enable",
        "plat-version-skew",
        "cni-antrea",
        "node-services-restart",
    ),
    sources=(SERVICES, DEBUGGING, DSR, SKEW, ANTREA),
)
def test_kube_proxy_on_host() -> None:
    """kube-proxy that runs as a Windows service is configured as its Pod would have to be, and is restarted when it fails."""


@flow(
    "windows-component-configuration",
    source=VantageKind.NODE,
    target=TargetKind.CONFIGURATION,
    matrix=Matrix.EACH_WINDOWS,
    question=Question.INSPECT,
    cases=(
        cases.rule("kubelet-restarts"),
        cases.rule("kubelet-cluster-dns"),
        cases.rule("kubelet-cluster-domain"),
        cases.rule("kubelet-resolv-conf"),
        cases.rule("pause-image"),
        cases.rule("proxy-variables"),
    ),
    facts=(
        "node-services-restart",
        "dns-kubelet-settings",
        "plat-pause-image-match",
        "node-proxy-env",
    ),
    sources=(SERVICES, KUBELET_DNS, PAUSE),
)
def test_windows_component_configuration() -> None:
    """Kubelet and runtime of a Windows node are configured as Windows, its build and the cluster require."""
