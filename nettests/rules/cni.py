"""Rules about the CNI configuration of a Windows node: its version, its address management, what its plugins give.

Read from the files in the folders where installers put them, and from what a plugin prints of itself when it
is called with nothing. Sources: "Networking on Windows" (IPAM, limitations), containernetworking/plugins,
microsoft/windows-container-networking ``cni/cni.go``.
"""

import ipaddress
import json
import re
from collections.abc import Iterator

from nettests.rules.evidence import (
    Evidence,
    Finding,
    NothingThereError,
    Object,
    UnreadableError,
    finding,
)
from nettests.rules.hns import NETWORKS
from nettests.rules.kube_proxy import PODS
from nettests.rules.plugin import pod_addresses

CNI = "cni-configuration"
ABOUT = {"win-bridge": "win-bridge-about", "win-overlay": "win-overlay-about"}
"""What these plugins print of themselves, which names the versions that their release supports."""
FIRST_VERSION = "0.1.0"
"""What a configuration without a version means (CNI specification)."""
EVERY_RELEASE = frozenset({"0.1.0", "0.2.0", "0.3.0"})
"""Versions that win-bridge and win-overlay take in every release; later ones only from 1.0.1 on."""
SDN = frozenset({"sdnbridge", "sdnoverlay"})
SDN_VERSIONS = frozenset({"0.2.0", "0.3.0", "0.4.0", "1.0.0"})
WINDOWS_IPAM = "Windows' own"
HOST_LOCAL = "host-local"
IPAM_OF = {"azure-vnet-ipam": "azure-vnet", "azure-cns": "azure-vnet", "calico-ipam": "calico"}
"""Address management that one plugin alone has."""


def cni_version(evidence: Evidence) -> Finding:
    """Every plugin that is called takes the version in which its configuration is written."""
    refused, taken = [], []
    for one in configurations(evidence):
        version = str(one.get("cniVersion") or FIRST_VERSION)
        for plugin in sorted(_plugins(one)):
            supported = _supported(evidence, plugin, version)
            if supported is None:
                continue
            told = f"{plugin} with CNI {version}"
            if version in supported:
                taken.append(told)
            else:
                refused.append(f"{told}, of which it takes {', '.join(sorted(supported))}")
    if not refused and not taken:
        raise NothingThereError("the CNI configuration calls no plugin that the documents speak of")
    found = "; ".join(refused or taken)
    demand = (
        "win-bridge and win-overlay with CNI 0.3.0 at most unless their release takes later ones "
        f"(1.0.1 on), sdnbridge and sdnoverlay with one of {', '.join(sorted(SDN_VERSIONS))}"
    )
    return finding(not refused, found, demand, of=len(refused) + len(taken))


def cni_ipam(evidence: Evidence) -> Finding:
    """Addresses come from host-local, from the plugin's own manager, or from Windows itself."""
    found: list[str] = []
    wrong: list[str] = []
    for one in configurations(evidence):
        plugins = _plugins(one)
        if plugins == {"loopback"}:
            continue
        for kind in sorted(_managers(one, plugins)):
            fits = kind in {HOST_LOCAL, WINDOWS_IPAM} or IPAM_OF.get(kind) in plugins
            (found if fits else wrong).append(f"{kind} with {', '.join(sorted(plugins))}")
    if not found and not wrong:
        raise NothingThereError("the CNI configuration calls no plugin that gives addresses")
    elsewhere = _outside(evidence) if any(one.startswith(HOST_LOCAL) for one in found) else []
    wrong += [f"{address} outside the node's range" for address in elsewhere]
    return finding(
        not wrong,
        "; ".join(wrong or found),
        "host-local within the node's range, azure-vnet-ipam or azure-cns with Azure CNI alone, "
        "calico-ipam with Calico alone, or none, which is Windows' own",
        of=len(found) + len(wrong),
    )


def sdnbridge_dual_stack(evidence: Evidence) -> Finding:
    """sdnbridge with enableDualStack has an l2bridge network of its name that was there before."""
    asked = [
        str(one.get("name"))
        for one in configurations(evidence)
        if "sdnbridge" in _plugins(one)
        and (one.get("optionalFlags") or {}).get("enableDualStack") is True
    ]
    # sample: "Name":  "cbr0", "Type":  "L2Bridge"
    bridges = sorted(
        str(one.get("Name"))
        for one in evidence.rows(NETWORKS)
        if str(one.get("Type")).lower() == "l2bridge"
    )
    there = bool(asked) and {name.lower() for name in asked} <= {one.lower() for one in bridges}
    found = ", ".join(asked) or "no configuration of sdnbridge with enableDualStack"
    return finding(
        there,
        f"{found}; networks of type L2Bridge: {', '.join(bridges) or 'none'}",
        "enableDualStack, and an HNS network of type L2Bridge by the configuration's name",
        of=len(asked),
    )


def win_bridge_pods_ipv4(evidence: Evidence) -> Finding:
    """win-bridge and win-overlay give Pods IPv4 only, and so do Microsoft's plugins unless told otherwise."""
    called = [pair for one in configurations(evidence) for pair in _givers(one)]
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


def configurations(evidence: Evidence) -> list[Object]:
    """Return the CNI configurations, printed one after the other."""
    text, decoder = evidence.text(CNI).replace("\r", ""), json.JSONDecoder()
    found: list[Object] = []
    position = 0
    while start := re.compile(r"\S").search(text, position):
        try:
            value, position = decoder.raw_decode(text, start.start())
        except ValueError as error:
            raise UnreadableError("a CNI configuration on the node is no JSON") from error
        found += [value] if isinstance(value, dict) else []
    if not found:
        raise UnreadableError("there is no CNI configuration in the folders that were read")
    return found


def _parts(one: Object) -> Iterator[Object]:
    """Yield a configuration, or those of its list, and what each delegates to."""
    for part in one.get("plugins") or [one]:
        yield part
        if isinstance(part.get("delegate"), dict):
            yield part["delegate"]


def _plugins(one: Object) -> set[str]:
    # samples: "type": "win-bridge", and of Windows' own names "type": "azure-vnet.exe"
    types = {str(part["type"]) for part in _parts(one) if part.get("type")}
    return {name.lower().removesuffix(".exe") for name in types}


def _givers(one: Object) -> Iterator[tuple[str, bool]]:
    """Yield the plugins that are called and of whose families documents speak, and whether they give both.

    sdnbridge gives a second family only with enableDualStack, which sdnoverlay takes but refuses, as no Pod
    starts with it on a network that is no l2bridge.
    """
    for part in _parts(one):
        name = str(part.get("type") or "").lower().removesuffix(".exe")
        asked = (part.get("optionalFlags") or {}).get("enableDualStack") is True
        if name in ABOUT or name in SDN:
            yield name, name == "sdnbridge" and asked


def _managers(one: Object, plugins: set[str]) -> set[str]:
    """Return who gives the addresses; Flannel's plugin writes host-local into what it delegates."""
    named = {str((part.get("ipam") or {}).get("type") or "") for part in _parts(one)} - {""}
    if named:
        return {name.removesuffix(".exe") for name in named}
    return {HOST_LOCAL if "flannel" in plugins else WINDOWS_IPAM}


def _outside(evidence: Evidence) -> list[str]:
    """Return addresses of Pods that are not in the node's own range."""
    own = evidence.networks("node-pod-cidrs")
    return [
        str(address)
        for address in pod_addresses(evidence.items(PODS))
        if not any(ipaddress.ip_address(address) in network for network in own)
    ]


def _supported(evidence: Evidence, plugin: str, version: str) -> frozenset[str] | None:
    """Return the versions that a plugin takes, ``None`` of plugins that no rule is about."""
    if plugin in SDN:
        return SDN_VERSIONS
    if plugin not in ABOUT:
        return None
    if version in EVERY_RELEASE:
        return EVERY_RELEASE
    # sample: CNI win-bridge plugin v1.1.1
    #         CNI protocol versions supported: 0.1.0, 0.2.0, 0.3.0, 0.3.1, 0.4.0, 1.0.0
    told = re.search(r"versions supported: ([\d., ]+)", evidence.text(ABOUT[plugin]))
    if told is None:
        raise UnreadableError(f"{plugin} does not say which versions it supports")
    return frozenset(part.strip() for part in told[1].split(","))
