"""Rules about releases of network plugins: what Calico, Antrea and Flannel demand of Windows nodes.

Sources: Calico's requirements and limitations for Windows, Antrea's ``windows.md``, Flannel's pull request 1096, the
handbook of Kubernetes 1.5 to 1.15.
"""

import ipaddress
import re

from nettests.model.versions import KubernetesVersion
from nettests.rules.evidence import (
    Evidence,
    Finding,
    NothingThereError,
    Object,
    UnreadableError,
    finding,
)
from nettests.rules.hns import networks
from nettests.rules.hns_networks import NETWORKS
from nettests.rules.pods import PODS, pod_addresses
from nettests.rules.rule import rule
from nettests.rules.subjects import ANTREA, CALICO, FLANNEL

ANTREA_ALONE = KubernetesVersion(1, 13)
"""From this release on Antrea serves all Services itself, and kube-proxy must not run."""
FIRST_FLANNEL = KubernetesVersion(0, 10)
FLANNEL_HOST_ROUTE = KubernetesVersion(0, 12)
"""The first release that gives endpoints on overlay the policy HostRoute; VXLAN on Windows came one release earlier."""
CALICO_CARRIES = KubernetesVersion(3, 16)
"""From this release on Calico carries Pods on Windows; before, it was only a policy engine."""


@rule(
    "calico-networking",
    about=(CALICO,),
    reads=(PODS,),
    remedy="install Calico 3.16 or later, or give it CALICO_NETWORKING_BACKEND=none beside another "
    "network plugin",
)
def calico_networking(evidence: Evidence) -> Finding:
    """Calico carries Pods itself only in releases that have networks on Windows."""
    backend = evidence.fact("backend")
    release = _release(evidence.items(PODS), "calico")
    return finding(
        backend == "none" or release >= CALICO_CARRIES,
        f"Calico {release} with backend {backend}",
        f"{CALICO_CARRIES} or later where Calico carries Pods itself",
        of=1,
    )


@rule(
    "calico-kept-addresses",
    about=(CALICO,),
    reads=(PODS, NETWORKS),
    remedy="see which Pod was given an address by hand (annotation cni.projectcalico.org/ipAddrs) and take it back: Windows, "
    "the host's endpoint and the network use the first three of each block and its last",
)
def calico_kept_addresses(evidence: Evidence) -> Finding:
    """No Pod has one of the four addresses of its block that Calico keeps on Windows."""
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


@rule(
    "flannel-release",
    about=(FLANNEL,),
    reads=(PODS,),
    remedy=f"bring Flannel's image on Windows nodes to v{FLANNEL_HOST_ROUTE} or later: earlier releases carry no VXLAN there, or "
    "leave a node on overlay without a way to its own Pods",
)
def flannel_release(evidence: Evidence) -> Finding:
    """Flannel is a release that carries Pods on Windows, and on overlay one that gives nodes a way to their own Pods."""
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


@rule(
    "antrea-alone",
    about=(ANTREA,),
    reads=(PODS,),
    remedy="remove kube-proxy from Windows nodes: AntreaProxy serves all Services (proxyAll)",
)
def antrea_alone(evidence: Evidence) -> Finding:
    """No kube-proxy runs beside Antrea as a Pod; ``antrea-alone-on-host`` looks for one on the host."""
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
    """Return a plugin's release, from the image of one of its Pods on the node."""
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
