"""Rules about network plugins and address families that API objects tell: Calico, Antrea, IPv6.

Sources: Calico's requirements and limitations for Windows, Antrea's ``windows.md``, "IPv4/IPv6 dual-stack"
(Windows support) and "Networking on Windows" (limitations).
"""

import ipaddress
import re
from collections.abc import Iterable, Iterator

from nettests.model.facts import Network
from nettests.model.versions import KubernetesVersion, WindowsBuild
from nettests.rules.evidence import (
    Evidence,
    Finding,
    NothingThereError,
    Object,
    UnreadableError,
    finding,
)
from nettests.rules.kube_proxy import PODS
from nettests.rules.node import NODE, build_of

FIRST_CALICO = {
    17763: WindowsBuild(17763, 1432),
    20348: WindowsBuild(20348, 169),
}
ANTREA_ALONE = KubernetesVersion(1, 13)
"""From this release on Antrea serves all Services itself, and kube-proxy must not run."""
CALICO_CARRIES = KubernetesVersion(3, 16)
"""From this release on Calico carries Pods on Windows; before it was a policy engine alone."""


def calico_build(evidence: Evidence) -> Finding:
    """Calico needs an update of Windows Server 2019 and one of Windows Server 2022."""
    build = build_of(evidence)
    needed = FIRST_CALICO.get(build.build, FIRST_CALICO[17763])
    return finding(build >= needed, str(build), f"{needed} or later for Calico", of=1)


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


def antrea_alone(evidence: Evidence) -> Finding:
    """No kube-proxy runs beside Antrea."""
    pods = evidence.items(PODS)
    if not pods:
        raise NothingThereError("no Pod runs on the node")
    proxies = [name for name in map(_name, pods) if name.startswith("kube-proxy")]
    demand = f"no kube-proxy on a Windows node with Antrea {ANTREA_ALONE} or later"
    if not proxies:
        return finding(True, "no Pod of kube-proxy", demand, of=len(pods))  # noqa: FBT003
    version = _release(pods, "antrea")
    return finding(
        version < ANTREA_ALONE, f"Pod {proxies[0]} beside Antrea {version}", demand, of=len(pods)
    )


def ipv4_address(evidence: Evidence) -> Finding:
    """A Windows node has an IPv4 address: its components do not work with IPv6 alone."""
    status = evidence.object(NODE).get("status", {})
    addresses = [item["address"] for item in status.get("addresses") or [] if _is_ip(item)]
    if not addresses:
        raise UnreadableError("the node's status has no address")
    found = any(ipaddress.ip_address(address).version == 4 for address in addresses)
    return finding(
        found,
        ", ".join(addresses),
        "an IPv4 address: IPv6 alone is not supported",
        of=len(addresses),
    )


def pods_ipv4(evidence: Evidence) -> Finding:
    """Pods have IPv4 addresses only, as overlay networks and Calico leave it on Windows."""
    addresses = list(pod_addresses(evidence.items(PODS)))
    if not addresses:
        raise NothingThereError("no Pod on the node has an address of the Pod network")
    ipv6 = [str(address) for address in addresses if address.version == 6]
    found = ", ".join(ipv6) or f"{len(addresses)} IPv4 addresses"
    return finding(
        not ipv6,
        found,
        "no IPv6 address of a Pod: this network has no IPv6 on Windows",
        of=len(addresses),
    )


def pod_families(evidence: Evidence) -> Finding:
    """Every Pod has an address of each family in which the cluster has a Pod network."""
    versions = sorted({network.version for network in evidence.networks("pod-cidrs")})
    pods = {
        _name(pod): {address.version for address in pod_addresses([pod])}
        for pod in evidence.items(PODS)
    }
    addressed = {name: found for name, found in pods.items() if found}
    if not addressed:
        raise NothingThereError("no Pod on the node has an address of the Pod network")
    lacking = [
        f"{name} without IPv{version}"
        for name, found in sorted(addressed.items())
        for version in versions
        if version not in found
    ]
    demand = " and ".join(f"IPv{version}" for version in versions)
    found = ", ".join(lacking) or f"{len(addressed)} Pods with {demand}"
    return finding(
        not lacking,
        found,
        f"an address of {demand} for every Pod of a dual-stack node",
        of=len(addressed) * len(versions),
    )


def pod_addresses(
    pods: list[Object],
) -> Iterator[ipaddress.IPv4Address | ipaddress.IPv6Address]:
    """Yield the addresses of Pods that are in the Pod network."""
    for pod in pods:
        if not pod.get("spec", {}).get("hostNetwork"):
            for entry in pod.get("status", {}).get("podIPs") or []:
                yield ipaddress.ip_address(entry["ip"])


def of_pod_families(evidence: Evidence, networks: Iterable[Network]) -> tuple[Network, ...]:
    """Return the networks of families in which Pods of the node have addresses.

    In a dual-stack cluster plugins may give Windows Pods one family alone; settings for the other then serve
    nobody. That Pods lack a family is asked by ``pod_families``, not by every rule about settings.
    """
    given = tuple(networks)
    if len({network.version for network in given}) < 2:
        return given
    versions = {address.version for address in pod_addresses(evidence.items(PODS))}
    if not versions:
        raise UnreadableError("no Pod on the node tells by its addresses which families Pods have")
    return tuple(network for network in given if network.version in versions)


def _release(pods: list[Object], plugin: str) -> KubernetesVersion:
    """Return a plugin's release, as the image of one of its Pods on the node names it."""
    for pod in pods:
        for container in pod["spec"]["containers"]:
            # samples: antrea/antrea-agent-windows:v2.2.0, quay.io/calico/node-windows:v3.29.1
            image = str(container.get("image", ""))
            found = re.search(rf"(?:^|/){plugin}[\w/-]*:(v\d[\d.]*)", image)
            if found:
                return KubernetesVersion.parse(found[1])
    raise UnreadableError(f"no image on the node tells the release of {plugin}")


def _is_ip(address: Object) -> bool:
    return address.get("type") in {"InternalIP", "ExternalIP"}


def _name(pod: Object) -> str:
    return str(pod["metadata"]["name"])
