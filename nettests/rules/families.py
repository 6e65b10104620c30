"""Rules about address families: those of nodes, and those that plugins give to Windows Pods.

Sources: "IPv4/IPv6 dual-stack" (Windows support), "Networking on Windows" (limitations), Calico's
limitations for Windows, microsoft/windows-container-networking.
"""

import ipaddress
from collections.abc import Iterator

from nettests.model.json_text import Object
from nettests.rules.cni import ABOUT, SDN, parts_of, plugins_of
from nettests.rules.cni_files import CNI_READINGS, configurations
from nettests.rules.evidence import (
    Evidence,
    Finding,
    NothingThereError,
    UnreadableError,
    finding,
    rule,
)
from nettests.rules.hns import networks
from nettests.rules.hns_networks import NETWORKS
from nettests.rules.node import NODE
from nettests.rules.pods import PODS, pod_addresses
from nettests.rules.subjects import CALICO, FLANNEL, OVERLAY, SDNBRIDGE


@rule(about=(), reads=(NODE,))
def ipv4_address(evidence: Evidence) -> Finding:
    """A Windows node has an IPv4 address: its components do not work with IPv6 alone."""
    status = evidence.object(NODE).get("status", {})
    addresses = [
        item["address"]
        for item in status.get("addresses") or []
        if item.get("type") in {"InternalIP", "ExternalIP"}
    ]
    if not addresses:
        raise UnreadableError("the node's status has no address")
    has_ipv4 = any(ipaddress.ip_address(address).version == 4 for address in addresses)
    return finding(
        has_ipv4,
        ", ".join(addresses),
        "an IPv4 address: IPv6 alone is not supported",
        of=len(addresses),
    )


@rule(about=(), reads=(PODS,), beside_pod=True)
def pod_families(evidence: Evidence) -> Finding:
    """Every Pod has an address of each family in which the cluster has a Pod network."""
    versions = sorted({network.version for network in evidence.networks("pod-cidrs")})
    pods = {
        str(pod["metadata"]["name"]): {address.version for address in pod_addresses([pod])}
        for pod in evidence.items(PODS)
    }
    addressed = {name: families for name, families in pods.items() if families}
    if not addressed:
        raise NothingThereError("no Pod on the node has an address of the Pod network")
    lacking = [
        f"{name} without IPv{version}"
        for name, families in sorted(addressed.items())
        for version in versions
        if version not in families
    ]
    demand = " and ".join(f"IPv{version}" for version in versions)
    observed = ", ".join(lacking) or f"{len(addressed)} Pods with {demand}"
    return finding(
        not lacking,
        observed,
        f"an address of {demand} for every Pod of a dual-stack node",
        of=len(addressed) * len(versions),
    )


@rule(about=(OVERLAY,), reads=(PODS,), beside_pod=True)
def overlay_pods_ipv4(evidence: Evidence) -> Finding:
    """Pods on overlay networks have IPv4 addresses only."""
    return pods_ipv4(evidence)


@rule(about=(CALICO,), reads=(PODS,), beside_pod=True)
def calico_pods_ipv4(evidence: Evidence) -> Finding:
    """Pods in Calico's networks on Windows have IPv4 addresses only."""
    return pods_ipv4(evidence)


@rule(about=(FLANNEL,), reads=(*CNI_READINGS, PODS))
def win_bridge_pods_ipv4(evidence: Evidence) -> Finding:
    """win-bridge and win-overlay give Pods IPv4 only, as do Microsoft's plugins by default."""
    called = [pair for configuration in configurations(evidence) for pair in _givers(configuration)]
    if not called:
        raise NothingThereError(
            f"none of {', '.join(sorted(ABOUT.keys() | SDN))} is in the CNI configuration"
        )
    addresses = list(pod_addresses(evidence.items(PODS)))
    if not addresses:
        raise NothingThereError("no Pod on the node has an address of the Pod network")
    both = [name for name, gives_both in called if gives_both]
    ipv6 = [str(address) for address in addresses if address.version == 6]
    if both:
        return finding(
            True,  # noqa: FBT003
            f"{', '.join(both)} with enableDualStack, {len(ipv6)} IPv6 addresses",
            "nothing of Pods' families there: with enableDualStack Pods may have both",
            of=len(addresses),
        )
    names = ", ".join(sorted({name for name, _ in called}))
    return finding(
        not ipv6,
        ", ".join(ipv6) or f"{len(addresses)} IPv4 addresses with {names}",
        f"no IPv6 address of a Pod: {names} gives none",
        of=len(addresses),
    )


@rule(about=(SDNBRIDGE,), reads=(*CNI_READINGS, NETWORKS))
def sdnbridge_dual_stack(evidence: Evidence) -> Finding:
    """For sdnbridge with enableDualStack, an l2bridge network of its name already exists."""
    dual_stack = [
        str(configuration.get("name"))
        for configuration in configurations(evidence)
        if "sdnbridge" in plugins_of(configuration)
        and (configuration.get("optionalFlags") or {}).get("enableDualStack") is True
    ]
    # sample: "Name":  "cbr0", "Type":  "L2Bridge"
    bridges = sorted(
        network.name for network in networks(evidence, NETWORKS) if network.is_of("l2bridge")
    )
    exists = bool(dual_stack) and {name.lower() for name in dual_stack} <= {
        bridge.lower() for bridge in bridges
    }
    configured = ", ".join(dual_stack) or "no configuration of sdnbridge with enableDualStack"
    return finding(
        exists,
        f"{configured}; networks of type L2Bridge: {', '.join(bridges) or 'none'}",
        "enableDualStack, and an HNS network of type L2Bridge by the configuration's name",
        of=len(dual_stack),
    )


def pods_ipv4(evidence: Evidence) -> Finding:
    """Find whether Pods have only IPv4, as with overlay networks, Calico and Amazon's plugin."""
    addresses = list(pod_addresses(evidence.items(PODS)))
    if not addresses:
        raise NothingThereError("no Pod on the node has an address of the Pod network")
    ipv6 = [str(address) for address in addresses if address.version == 6]
    observed = ", ".join(ipv6) or f"{len(addresses)} IPv4 addresses"
    return finding(
        not ipv6,
        observed,
        "no IPv6 address of a Pod: this network has no IPv6 on Windows",
        of=len(addresses),
    )


def _givers(configuration: Object) -> Iterator[tuple[str, bool]]:
    """Yield the plugins with documented families, and whether they give both.

    sdnbridge does only with enableDualStack. sdnoverlay accepts that option, but no Pod starts with
    it, as the network is not l2bridge.
    """
    for part in parts_of(configuration):
        name = str(part.get("type") or "").lower().removesuffix(".exe")
        dual_stack = (part.get("optionalFlags") or {}).get("enableDualStack") is True
        if name in ABOUT or name in SDN:
            yield name, name == "sdnbridge" and dual_stack
