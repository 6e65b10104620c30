"""The objects a cluster has before any user comes: kubeadm's, sig-windows-tools', the plugin's.

Pure: profile in, (path, object) pairs out, in the order in which they must be created. Names, labels and
contents follow what those installers write, because tools read settings there. The workloads among
them become real pods; what their containers run is in ``node.system``.
"""

from collections.abc import Callable, Iterator

from nettests.lab.client import Json
from nettests.lab.installers import plugin_objects
from nettests.lab.installers.daemons import node_name
from nettests.lab.installers.hns_network import network_name
from nettests.lab.topology import LINUX_MODE, OS, Driver, Network, Plugin, Profile, ProxyMode

API_PORT = 6443
COREDNS_IMAGE = "registry.k8s.io/coredns/coredns:v1.11.1"

_CORE = "/api/v1"
_EVERYWHERE: list[Json] = [{"operator": "Exists"}]
_COREFILE = """.:53 {{
    errors
    health {{
       lameduck 5s
    }}
    ready
    kubernetes {domain} in-addr.arpa ip6.arpa {{
       pods insecure
       fallthrough in-addr.arpa ip6.arpa
       ttl 30
    }}
    forward . /etc/resolv.conf {{
       max_concurrent 1000
    }}
    cache 30
    loop
    reload
    loadbalance
}}
"""


def runtime_classes(profile: Profile) -> Iterator[tuple[str, Json]]:
    """Return one RuntimeClass for each Windows build, as the documents tell administrators to make them."""
    for build in sorted({node.build for node in profile.nodes if node.build}):
        selector = {
            "kubernetes.io/os": "windows",
            "kubernetes.io/arch": "amd64",
            "node.kubernetes.io/windows-build": f"10.0.{build}",
        }
        taint = {"effect": "NoSchedule", "key": "os", "operator": "Equal", "value": "windows"}
        item = {
            "apiVersion": "node.k8s.io/v1",
            "kind": "RuntimeClass",
            "metadata": {"name": f"windows-{build}"},
            "handler": "runhcs-wcow-process",
            "scheduling": {"nodeSelector": selector, "tolerations": [taint]},
        }
        yield "/apis/node.k8s.io/v1/runtimeclasses", item


def objects(profile: Profile) -> Iterator[tuple[str, Json]]:
    """Return (collection path, object) of everything; the API server has made its own already."""
    for name in plugin_objects.namespaces(profile):
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
        yield f"{_CORE}/namespaces", namespace
    yield from _kubernetes_endpoints(profile)
    yield _config_map("kube-system", "kubeadm-config", _kubeadm_config(profile))
    if OS.LINUX not in profile.kube_proxy.service_on:
        yield _config_map("kube-system", "kube-proxy", {"config.conf": _kube_proxy_config(profile)})
    corefile = _COREFILE.format(domain=profile.cluster_domain)
    yield _config_map("kube-system", "coredns", {"Corefile": corefile})
    for item in plugin_objects.settings(profile):
        yield _config_map(item.namespace, item.name, item.data)
    yield from plugin_objects.ip_pools(profile)
    yield from runtime_classes(profile)
    yield _dns_service(profile)
    yield _coredns()
    yield from _kube_proxies(profile)
    for daemon in plugin_objects.daemons(profile):
        yield _daemon(daemon.namespace, daemon.name, daemon.labels, daemon.container, daemon.os)


def control_plane_address(profile: Profile) -> str:
    """Return the address at which pods reach the API: that of the control plane's node."""
    return next(str(node.address) for node in profile.nodes if node.control_plane)


def _kubernetes_endpoints(profile: Profile) -> Iterator[tuple[str, Json]]:
    address = control_plane_address(profile)
    yield (
        f"{_CORE}/namespaces/default/endpoints",
        {
            "apiVersion": "v1",
            "kind": "Endpoints",
            "metadata": {"name": "kubernetes", "namespace": "default"},
            "subsets": [
                {
                    "addresses": [{"ip": address}],
                    "ports": [{"name": "https", "port": API_PORT, "protocol": "TCP"}],
                }
            ],
        },
    )
    yield (
        "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices",
        {
            "apiVersion": "discovery.k8s.io/v1",
            "kind": "EndpointSlice",
            "metadata": {
                "name": "kubernetes",
                "namespace": "default",
                "labels": {"kubernetes.io/service-name": "kubernetes"},
            },
            "addressType": "IPv4",
            "endpoints": [{"addresses": [address], "conditions": {"ready": True}}],
            "ports": [{"name": "https", "port": API_PORT, "protocol": "TCP"}],
        },
    )


def _config_map(namespace: str, name: str, data: dict[str, str]) -> tuple[str, Json]:
    return (
        f"{_CORE}/namespaces/{namespace}/configmaps",
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": name, "namespace": namespace},
            "data": data,
        },
    )


def _kubeadm_config(profile: Profile) -> dict[str, str]:
    return {
        "ClusterConfiguration": "\n".join(
            (
                "apiVersion: kubeadm.k8s.io/v1beta3",
                "clusterName: lab",
                f"controlPlaneEndpoint: {control_plane_address(profile)}:{API_PORT}",
                "imageRepository: registry.k8s.io",
                "kind: ClusterConfiguration",
                f"kubernetesVersion: {profile.kubernetes_version}",
                "networking:",
                f"  dnsDomain: {profile.cluster_domain}",
                f"  podSubnet: {_both(profile, lambda family: family.cluster_cidr)}",
                f"  serviceSubnet: {_both(profile, lambda family: family.service_cidr)}",
                "",
            )
        )
    }


def _both(profile: Profile, network: Callable[[Profile], Network]) -> str:
    """Return a network of the cluster in each of its families, as settings of both are written."""
    return ",".join(str(network(family)) for family in profile.by_family)


def _kube_proxy_config(profile: Profile) -> str:
    """Return the configuration of Linux nodes; Windows nodes are configured by flags."""
    return "\n".join(
        (
            "apiVersion: kubeproxy.config.k8s.io/v1alpha1",
            "bindAddress: 0.0.0.0",
            f"clusterCIDR: {_both(profile, lambda family: family.cluster_cidr)}",
            "healthzBindAddress: 0.0.0.0:10256",
            "kind: KubeProxyConfiguration",
            f"mode: {LINUX_MODE}",
            "",
        )
    )


def _dns_service(profile: Profile) -> tuple[str, Json]:
    labels = {"k8s-app": "kube-dns", "kubernetes.io/name": "CoreDNS"}
    ports = [
        {"name": "dns", "port": 53, "protocol": "UDP", "targetPort": 53},
        {"name": "dns-tcp", "port": 53, "protocol": "TCP", "targetPort": 53},
    ]
    return (
        f"{_CORE}/namespaces/kube-system/services",
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": "kube-dns", "namespace": "kube-system", "labels": labels},
            "spec": {
                "type": "ClusterIP",
                "clusterIP": str(profile.dns_address),
                "selector": {"k8s-app": "kube-dns"},
                "ports": ports,
            },
        },
    )


def _coredns() -> tuple[str, Json]:
    container = {
        "name": "coredns",
        "image": COREDNS_IMAGE,
        "args": ["-conf", "/etc/coredns/Corefile"],
        "ports": [
            {"name": "dns", "containerPort": 53, "protocol": "UDP"},
            {"name": "dns-tcp", "containerPort": 53, "protocol": "TCP"},
        ],
        "readinessProbe": {
            "httpGet": {"path": "/ready", "port": 8181, "scheme": "HTTP"},
            "timeoutSeconds": 5,  # a busy machine must not stop the cluster's DNS
        },
    }
    spec = {
        "nodeSelector": {"kubernetes.io/os": "linux"},
        "tolerations": [{"key": "node-role.kubernetes.io/control-plane", "operator": "Exists"}],
        "dnsPolicy": "Default",
        "priorityClassName": "system-cluster-critical",
        "containers": [container],
    }
    return _workload("Deployment", "kube-system", "coredns", {"k8s-app": "kube-dns"}, spec)


def _kube_proxies(profile: Profile) -> Iterator[tuple[str, Json]]:
    linux = {
        "name": "kube-proxy",
        "image": f"registry.k8s.io/kube-proxy:{profile.kubernetes_version}",
        "command": [
            "/usr/local/bin/kube-proxy",
            "--config=/var/lib/kube-proxy/config.conf",
            "--hostname-override=$(NODE_NAME)",
        ],
        "env": [node_name()],
    }
    if OS.LINUX not in profile.kube_proxy.service_on:
        yield _kube_proxy("kube-proxy", linux, OS.LINUX)
    windows = any(node.os is OS.WINDOWS for node in profile.nodes)
    replaced = profile.kube_proxy.mode is ProxyMode.NONE
    if windows and not replaced and OS.WINDOWS not in profile.kube_proxy.service_on:
        yield _kube_proxy("kube-proxy-windows", _windows_kube_proxy(profile), OS.WINDOWS)


def _kube_proxy(name: str, container: Json, os: OS) -> tuple[str, Json]:
    return _daemon("kube-system", name, {"k8s-app": name}, container, os)


def _windows_kube_proxy(profile: Profile) -> Json:
    """Return the container; its start script adds ``--source-vip`` on overlay networks."""
    made_for = "calico" if profile.cni.plugin is Plugin.CALICO else "flannel"
    return {
        "name": "kube-proxy",
        "image": f"docker.io/sigwindowstools/kube-proxy:{profile.kubernetes_version}"
        f"-{made_for}-hostprocess",
        "args": ["--hostname-override=$(NODE_NAME)", *kube_proxy_flags(profile)],
        "env": [
            node_name(),
            *_kube_network(profile),
        ],
    }


def _kube_network(profile: Profile) -> list[Json]:
    """Return the variable; Calico's start script sets it itself, and with Amazon's plugin each node has another name."""
    if profile.cni.plugin in {Plugin.CALICO, Plugin.VPC}:
        return []
    return [{"name": "KUBE_NETWORK", "value": network_name(profile.cni)}]


def kube_proxy_flags(profile: Profile) -> list[str]:
    """Return the flags of kube-proxy on every Windows node."""
    dsr = str(profile.kube_proxy.dsr).lower()
    overlay = str(profile.cni.driver is Driver.OVERLAY).lower()
    return [
        "--v=6",
        *_mode(profile),
        f"--enable-dsr={dsr}",
        f"--feature-gates=WinOverlay={overlay},WinDSR={dsr}",
    ]


def _mode(profile: Profile) -> list[str]:
    """Return the flag; without one kube-proxy up to 1.25 runs the userspace proxy on Windows."""
    mode = profile.kube_proxy.mode
    return [] if mode is ProxyMode.USERSPACE else [f"--proxy-mode={mode}"]


def _daemon(
    namespace: str, name: str, labels: dict[str, str], container: Json, os: OS
) -> tuple[str, Json]:
    spec: Json = {
        "hostNetwork": True,
        "nodeSelector": {"kubernetes.io/os": os.value},
        "tolerations": _EVERYWHERE,
        "priorityClassName": "system-node-critical",
        "containers": [container],
    }
    if os is OS.WINDOWS:
        spec["os"] = {"name": "windows"}
        spec["securityContext"] = {
            "windowsOptions": {"hostProcess": True, "runAsUserName": "NT AUTHORITY\\system"}
        }
    return _workload("DaemonSet", namespace, name, labels, spec)


def _workload(
    kind: str, namespace: str, name: str, labels: dict[str, str], spec: Json
) -> tuple[str, Json]:
    spec = {"automountServiceAccountToken": False, "terminationGracePeriodSeconds": 1, **spec}
    body: Json = {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": name, "namespace": namespace, "labels": labels},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": spec},
        },
    }
    if kind == "Deployment":
        body["spec"]["replicas"] = 1
    return f"/apis/apps/v1/namespaces/{namespace}/{kind.lower()}s", body
