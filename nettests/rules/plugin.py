"""Rules about network plugins on Windows: required releases, Calico's pools, Amazon's VPC plugin.

Sources: Calico's requirements and limitations for Windows (VXLAN everywhere or no encapsulation);
Antrea's ``windows.md``; Flannel's pull request 1096; the handbook of Kubernetes 1.5 to 1.15; Amazon
EKS user guide ("Deploy Windows nodes"), aws/amazon-vpc-cni-plugins ``plugins/vpc-bridge``,
aws/amazon-vpc-resource-controller-k8s ``pkg/condition`` (a ConfigMap that is missing or says nothing
that Go's ``ParseBool`` takes for true switches the addresses of Windows nodes off). Pools are Calico's own objects (``crd.projectcalico.org``), absent if an installation keeps them in etcd.
"""

import ipaddress
import re
from collections.abc import Iterator

from nettests.model.json_text import Object
from nettests.model.permission import LIST_IP_POOLS, LIST_IPAM_CONFIGS, config_map
from nettests.model.versions import KubernetesVersion
from nettests.rules import reduction
from nettests.rules.evidence import (
    Evidence,
    Finding,
    NothingThereError,
    UnreadableError,
    finding,
    rule,
)
from nettests.rules.families import pods_ipv4
from nettests.rules.hns import networks, shown
from nettests.rules.hns_networks import NETWORKS
from nettests.rules.pods import PODS, pod_addresses
from nettests.rules.readings import ApiObjects, Request
from nettests.rules.reduction import KEPT
from nettests.rules.subjects import ANTREA, CALICO, FLANNEL, VPC

ANTREA_ALONE = KubernetesVersion(1, 13)
"""From this release on, Antrea serves all Services itself, and kube-proxy must not run."""
FIRST_FLANNEL = KubernetesVersion(0, 10)
FLANNEL_HOST_ROUTE = KubernetesVersion(0, 12)
"""First release with policy HostRoute on overlay; Windows VXLAN came one release earlier."""
CALICO_CARRIES = KubernetesVersion(3, 16)
"""From this release on, Calico provides Pod networks on Windows; before, only policies."""


@rule(about=(CALICO,), reads=(PODS,))
def calico_networking(evidence: Evidence) -> Finding:
    """Calico provides the Pod network only in releases that support it on Windows."""
    backend = evidence.fact("backend")
    release = _release(evidence.items(PODS), "calico")
    return finding(
        backend == "none" or release >= CALICO_CARRIES,
        f"Calico {release} with backend {backend}",
        f"{CALICO_CARRIES} or later where Calico carries Pods itself",
        of=1,
    )


@rule(about=(CALICO,), reads=(PODS, NETWORKS))
def calico_kept_addresses(evidence: Evidence) -> Finding:
    """No Pod has one of the four addresses per block that Calico reserves on Windows."""
    blocks = [
        ipaddress.ip_network(subnet.prefix)
        for network in networks(evidence, NETWORKS)
        if network.name.lower().startswith("calico")
        for subnet in network.subnets
    ]
    if not blocks:
        raise NothingThereError("HNS shows no network of Calico's own on the node")
    kept = {str(block[place]) for block in blocks for place in (0, 1, 2, -1)}
    addresses = [
        str(address)
        for address in pod_addresses(evidence.items(PODS))
        if any(address in block for block in blocks)
    ]
    wrong = sorted(kept.intersection(addresses))
    ranges = ", ".join(map(str, blocks))
    return finding(
        not wrong,
        f"Pods at {', '.join(wrong)}" if wrong else f"{len(addresses)} addresses of {ranges}",
        f"none of the first three addresses and the last of {ranges}",
        of=len(addresses),
    )


@rule(about=(FLANNEL,), reads=(PODS,))
def flannel_release(evidence: Evidence) -> Finding:
    """Flannel's release supports Windows and, on overlay, routes from nodes to their own Pods."""
    listed = [image for pod in evidence.items(PODS) for image in _images(pod)]
    images = [image for image in listed if re.search(r"flannel[\w-]*[:@]", image)]
    # samples: docker.io/sigwindowstools/flannel:v0.21.5-hostprocess, rancher/mirrored-flannel-flannel:v0.26.1
    tags = [re.search(r"(?:^|/)(?:[\w-]+-)?flannel:v?(\d[\d.]*)", image) for image in images]
    if not any(tags):
        raise NothingThereError(
            f"no image on the node tells Flannel's release: {', '.join(images) or 'no Pod of Flannel runs there'}"
        )
    release = min(KubernetesVersion.parse(match[1]) for match in tags if match)
    overlay = evidence.facts.get("driver") == "overlay"
    needed = FLANNEL_HOST_ROUTE if overlay else FIRST_FLANNEL
    return finding(
        release >= needed,
        f"Flannel {release}",
        f"{needed} or later on {'overlay' if overlay else 'Windows'}",
        of=1,
    )


@rule(about=(ANTREA,), reads=(PODS,))
def antrea_alone(evidence: Evidence) -> Finding:
    """No kube-proxy Pod runs beside Antrea; ``antrea-alone-on-host`` checks the host."""
    pods = evidence.items(PODS)
    if not pods:
        raise NothingThereError("no Pod runs on the node")
    proxies = [name for name in map(_name, pods) if name.startswith("kube-proxy")]
    demand = f"no kube-proxy on a Windows node with Antrea {ANTREA_ALONE} or later"
    if not proxies:
        return finding(True, "no Pod of kube-proxy", demand, of=len(pods))  # noqa: FBT003
    version = antrea_release(pods)
    return finding(
        version < ANTREA_ALONE, f"Pod {proxies[0]} beside Antrea {version}", demand, of=len(pods)
    )


def antrea_release(pods: list[Object]) -> KubernetesVersion:
    """Return the release of Antrea on a node."""
    return _release(pods, "antrea")


def _release(pods: list[Object], plugin: str) -> KubernetesVersion:
    for pod in pods:
        for container in pod["spec"]["containers"]:
            # samples: antrea/antrea-agent-windows:v2.2.0, quay.io/calico/node-windows:v3.29.1
            image = str(container.get("image", ""))
            match = re.search(rf"(?:^|/){plugin}[\w/-]*:(v\d[\d.]*)", image)
            if match:
                return KubernetesVersion.parse(match[1])
    raise UnreadableError(f"no image on the node tells the release of {plugin}")


def _images(pod: Object) -> list[str]:
    return [str(container.get("image", "")) for container in pod["spec"]["containers"]]


def _name(pod: Object) -> str:
    return str(pod["metadata"]["name"])


BRIDGE = "vpcbr"
"""The plugin's prefix for an interface's network, followed by the interface's MAC address."""
DNS = "coredns"


@rule(about=(VPC,), reads=(NETWORKS,))
def vpc_interface(evidence: Evidence) -> Finding:
    """All Pods are on one L2Bridge network: the plugin uses only the node's primary interface."""
    # sample: "Name":  "vpcbr0a1b2c3d4e5f", "Type":  "L2Bridge"
    vpc_networks = [
        network
        for network in networks(evidence, NETWORKS)
        if network.name.lower().startswith(BRIDGE)
    ]
    names = sorted(f"{network.name} ({network.kind})" for network in vpc_networks)
    bridges = [network for network in vpc_networks if network.is_of("l2bridge")]
    return finding(
        len(vpc_networks) == len(bridges) == 1,
        f"networks {', '.join(names) or 'of other names alone'}",
        f"one network {BRIDGE}<MAC address> of type L2Bridge",
        of=1,
    )


@rule(about=(VPC,), reads=(PODS,), beside_pod=True)
def vpc_pods_ipv4(evidence: Evidence) -> Finding:
    """Pods in the network of Amazon's plugin on Windows have IPv4 addresses only."""
    return pods_ipv4(evidence)


@rule(about=(VPC,), reads=(PODS,))
def vpc_dns_elsewhere(evidence: Evidence) -> Finding:
    """No cluster DNS Pod is on a Windows node: it needs Linux nodes in the cluster."""
    names = [str(pod["metadata"]["name"]) for pod in evidence.items(PODS)]
    if not names:
        raise NothingThereError("no Pod runs on the node")
    dns_pods = sorted(name for name in names if name.startswith(DNS))
    return finding(
        not dns_pods,
        f"Pod {', '.join(dns_pods)}" if dns_pods else f"{len(names)} Pods, none of them {DNS}",
        f"{DNS} on Linux nodes alone",
        of=len(names),
    )


_WINDOWS_IPAM, _TRUE = "enable-windows-ipam", frozenset({"1", "t", "T", "TRUE", "true", "True"})
VPC_SETTINGS = ApiObjects(
    name="vpc-settings",
    request=lambda _facts, _node: Request(
        path="/api/v1/namespaces/kube-system/configmaps/amazon-vpc-cni"
    ),
    permission=config_map("kube-system/amazon-vpc-cni"),
    keep=reduction.one_object({"data": {_WINDOWS_IPAM: True}}),
)


@rule(about=(VPC,), reads=(VPC_SETTINGS,))
def vpc_windows_ipam(evidence: Evidence) -> Finding:
    """Amazon's controller gives Windows nodes the addresses of their Pods."""
    if evidence.problems.get(VPC_SETTINGS.name, "").endswith("status 404"):
        switch = "in no ConfigMap"
    else:
        switch = str(
            (evidence.object(VPC_SETTINGS).get("data") or {}).get(_WINDOWS_IPAM, "not set")
        )
    demand = f'{_WINDOWS_IPAM} "true" in the ConfigMap kube-system/amazon-vpc-cni'
    return finding(switch in _TRUE, f"{_WINDOWS_IPAM} {switch}", demand, of=1)


NEVER, CROSS_SUBNET = "Never", "CrossSubnet"
IP_POOLS = ApiObjects(
    name="calico-ip-pools",
    request=lambda _facts, _node: Request(path="/apis/crd.projectcalico.org/v1/ippools"),
    permission=LIST_IP_POOLS,
    keep=reduction.items(KEPT["ip-pool"]),
)
IPAM_CONFIGS = ApiObjects(
    name="calico-ipam-configs",
    request=lambda _facts, _node: Request(path="/apis/crd.projectcalico.org/v1/ipamconfigs"),
    permission=LIST_IPAM_CONFIGS,
    keep=reduction.items(KEPT["ipam-config"]),
)
# samples: all(), !all(), kubernetes.io/os == 'windows', kubernetes.io/os != "linux"
_OF_SYSTEM = re.compile(r"kubernetes\.io/os\s*(?P<sign>==|!=)\s*['\"](?P<os>\w+)['\"]")


@rule(about=(CALICO,), reads=(IPAM_CONFIGS,))
def calico_strict_affinity(evidence: Evidence) -> Finding:
    """No node takes addresses of a Windows node's block: ``strictAffinity`` is set."""
    settings = [bool(item["spec"].get("strictAffinity")) for item in _own(evidence, IPAM_CONFIGS)]
    if not settings:
        raise NothingThereError("there is no IPAMConfig: Calico has not given an address yet")
    return finding(
        all(settings),
        f"strictAffinity {'true' if all(settings) else 'false'}",
        "strictAffinity true, so that Linux nodes borrow no addresses from Windows nodes",
        of=len(settings),
    )


def _own(evidence: Evidence, reading: ApiObjects) -> list[Object]:
    """Return Calico's own objects, if it provides the Pod network and keeps them in the API."""
    if evidence.facts.get("backend") == "none":
        raise NothingThereError(
            "Calico is a policy engine here: another plugin gives the addresses"
        )
    if evidence.problems.get(reading.name, "").endswith("status 404"):
        raise NothingThereError("the API server has no such objects: Calico keeps them elsewhere")
    return evidence.items(reading)


@rule(about=(CALICO,), reads=(IP_POOLS,))
def calico_pools(evidence: Evidence) -> Finding:
    """No pool for Windows nodes uses IP in IP, or VXLAN only between subnets."""
    pools = [pool for pool in _own(evidence, IP_POOLS) if _serves_windows(pool["spec"])]
    if not pools:
        raise NothingThereError(
            "no IPv4 pool of Calico says that Windows nodes take addresses from it"
        )
    wrong = [problem for pool in pools for problem in _wrong(pool)]
    names = ", ".join(f"{_pool_name(pool)} ({_modes(pool['spec'])})" for pool in pools)
    return finding(
        not wrong,
        shown(wrong) or f"pool {names}",
        "no IP in IP, and VXLAN everywhere or not at all, where Windows nodes take addresses",
        of=len(pools),
    )


def _serves_windows(spec: Object) -> bool:
    """Whether Windows nodes use an IPv4 pool, if its selector is only about operating systems."""
    if spec.get("disabled") or ":" in str(spec.get("cidr")):
        return False
    selector = str(spec.get("nodeSelector") or "all()").strip()
    if selector == "all()":
        return True
    match = _OF_SYSTEM.fullmatch(selector)
    return match is not None and (match["os"] == "windows") is (match["sign"] == "==")


def _wrong(pool: Object) -> Iterator[str]:
    spec = pool["spec"]
    if (mode := spec.get("ipipMode") or NEVER) != NEVER:
        yield f"pool {_pool_name(pool)} with ipipMode {mode}"
    if spec.get("vxlanMode") == CROSS_SUBNET:
        yield f"pool {_pool_name(pool)} with vxlanMode {CROSS_SUBNET}"


def _modes(spec: Object) -> str:
    modes = (("ipipMode", spec.get("ipipMode")), ("vxlanMode", spec.get("vxlanMode")))
    return ", ".join(f"{key} {value or NEVER}" for key, value in modes)


def _pool_name(pool: Object) -> str:
    return f"{pool['metadata']['name']} {pool['spec'].get('cidr')}"
