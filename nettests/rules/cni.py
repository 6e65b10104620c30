"""Rules about the CNI configuration of a Windows node: version, IPAM, network and policies.

Read from the file that the container runtime uses (``cni_files``), and from what a plugin prints
about itself when called without input. Docker's nodes use HNS' first schema (``ExceptionList``
beside ``Type``), containerd's the second (``Settings``). Sources: "Networking on Windows" (IPAM),
"Windows debugging tips", containernetworking/plugins (``pkg/hns``: ``apiVersion``),
microsoft/windows-container-networking ``cni/cni.go`` and ``network/policy.go``, samples of
microsoft/SDN, sig-windows-tools' configuration for containerd.
"""

import ipaddress
import re
from collections.abc import Iterator
from typing import Any

from nettests.model.json_text import Object
from nettests.model.windows_programs import CMD, node_argv
from nettests.rules import reduction
from nettests.rules.cni_files import CNI_READINGS, LISTS, configurations
from nettests.rules.evidence import (
    Evidence,
    Finding,
    NothingThereError,
    UnreadableError,
    finding,
    rule,
)
from nettests.rules.kube_proxy import NETWORK_GIVEN, PROXY_LOG, network_of
from nettests.rules.nat import excepted, exceptions_of, extra, management_of, uncovered
from nettests.rules.node import FIRST_DSR, NODE, build_of
from nettests.rules.pods import PODS, of_pod_families, pod_addresses
from nettests.rules.readings import ToolOutput
from nettests.rules.subjects import FLANNEL, HNS, KERNELSPACE, KUBE_PROXY

FIRST_VERSION = "0.1.0"
"""The version of a configuration without one (CNI specification)."""
EVERY_RELEASE = frozenset({"0.1.0", "0.2.0", "0.3.0"})
"""Versions that every release of win-bridge and win-overlay supports; later ones need 1.0.1."""
SDN = frozenset({"sdnbridge", "sdnoverlay"})
SDN_VERSIONS = frozenset({"0.2.0", "0.3.0", "0.4.0", "1.0.0"})
WINDOWS_IPAM = "Windows' own"
VPC_PLUGINS = frozenset({"vpc-bridge", "vpc-shared-eni"})
"""Amazon's plugin, new and old name: Pod addresses are annotations (plugins/vpc-bridge/config)."""
HOST_LOCAL = "host-local"
VPC_ADDRESSES = "the VPC resource controller"
IPAM_OF = {"azure-vnet-ipam": "azure-vnet", "azure-cns": "azure-vnet", "calico-ipam": "calico"}
"""IPAM that only one plugin uses."""


ABOUT = {
    plugin: ToolOutput(
        name=f"{plugin}-about",
        words=node_argv(*CMD, rf"C:\opt\cni\bin\{plugin}.exe", "2>&1"),
        keep=reduction.lines(r"(?m)^CNI [\w-]+ plugin .{0,40}$|versions supported: [\d., ]+"),
    )
    for plugin in ("win-bridge", "win-overlay")
}
"""What these plugins print about themselves, including the CNI versions of their release."""


@rule(about=(HNS,), reads=(*CNI_READINGS, *ABOUT.values()))
def cni_version(evidence: Evidence) -> Finding:
    """Every plugin supports the CNI version of its configuration."""
    refused, accepted = [], []
    for configuration in configurations(evidence):
        version = str(configuration.get("cniVersion") or FIRST_VERSION)
        for plugin in sorted(plugins_of(configuration)):
            supported = _supported(evidence, plugin, version)
            if supported is None:
                continue
            plugin_version = f"{plugin} with CNI {version}"
            if version in supported:
                accepted.append(plugin_version)
            else:
                refused.append(
                    f"{plugin_version}, of which it takes {', '.join(sorted(supported))}"
                )
    if not refused and not accepted:
        raise NothingThereError("the CNI configuration calls no plugin that the documents speak of")
    observed = "; ".join(refused or accepted)
    demand = (
        "win-bridge and win-overlay with CNI 0.3.0 at most unless their release takes later ones "
        f"(1.0.1 on), sdnbridge and sdnoverlay with one of {', '.join(sorted(SDN_VERSIONS))}"
    )
    return finding(not refused, observed, demand, of=len(refused) + len(accepted))


@rule(about=(HNS,), reads=(*CNI_READINGS, PODS))
def cni_ipam(evidence: Evidence) -> Finding:
    """Addresses come from host-local, from the plugin's own manager, or from Windows itself."""
    managers: list[str] = []
    wrong: list[str] = []
    for configuration in configurations(evidence):
        plugins = plugins_of(configuration)
        if plugins == {"loopback"}:
            continue
        for kind in sorted(_managers(configuration, plugins)):
            fits = kind in {HOST_LOCAL, WINDOWS_IPAM, VPC_ADDRESSES} or IPAM_OF.get(kind) in plugins
            (managers if fits else wrong).append(f"{kind} with {', '.join(sorted(plugins))}")
    if not managers and not wrong:
        raise NothingThereError("the CNI configuration calls no plugin that gives addresses")
    elsewhere = (
        _outside(evidence) if any(manager.startswith(HOST_LOCAL) for manager in managers) else []
    )
    wrong += [f"{address} outside the node's range" for address in elsewhere]
    return finding(
        not wrong,
        "; ".join(wrong or managers),
        "host-local within the node's range, azure-vnet-ipam or azure-cns with Azure CNI alone, "
        "calico-ipam with Calico alone, or none, which is Windows' own or, with vpc-bridge, Amazon's",
        of=len(managers) + len(wrong),
    )


@rule(
    about=(FLANNEL, KUBE_PROXY, KERNELSPACE), reads=(PODS, PROXY_LOG, *NETWORK_GIVEN, *CNI_READINGS)
)
def cni_network(evidence: Evidence) -> Finding:
    """The plugin attaches Pods to the network that kube-proxy uses."""
    names = [
        str(configuration["name"])
        for configuration in configurations(evidence)
        if configuration.get("name")
    ]
    wanted = network_of(evidence)
    return finding(
        wanted.lower() in {name.lower() for name in names},
        f"CNI networks {', '.join(names) or 'none'}",
        f"kube-proxy's, {wanted or 'which is none'}",
        of=1,
    )


def parts_of(configuration: Object) -> Iterator[Object]:
    """Yield a configuration or the parts of its list, each with the one that it delegates to."""
    for part in configuration.get("plugins") or [configuration]:
        yield part
        if isinstance(part.get("delegate"), dict):
            yield part["delegate"]


def plugins_of(configuration: Object) -> set[str]:
    """Return the plugins that a configuration calls."""
    # samples: "type": "win-bridge", and of Windows' own names "type": "azure-vnet.exe"
    types = {str(part["type"]) for part in parts_of(configuration) if part.get("type")}
    return {name.lower().removesuffix(".exe") for name in types}


def _managers(configuration: Object, plugins: set[str]) -> set[str]:
    """Return the IPAM plugins; Flannel's plugin delegates to host-local, Amazon's has none."""
    named = {
        str((part.get("ipam") or {}).get("type") or "") for part in parts_of(configuration)
    } - {""}
    if named:
        return {name.removesuffix(".exe") for name in named}
    if plugins & VPC_PLUGINS:
        return {VPC_ADDRESSES}
    return {HOST_LOCAL if "flannel" in plugins else WINDOWS_IPAM}


def _outside(evidence: Evidence) -> list[str]:
    pod_cidrs = evidence.networks("node-pod-cidrs")
    return [
        str(address)
        for address in pod_addresses(evidence.items(PODS))
        if not any(ipaddress.ip_address(address) in network for network in pod_cidrs)
    ]


def _supported(evidence: Evidence, plugin: str, version: str) -> frozenset[str] | None:
    """Return the CNI versions that a plugin supports; ``None`` for plugins without a rule."""
    if plugin in SDN:
        return SDN_VERSIONS
    if plugin not in ABOUT:
        return None
    if version in EVERY_RELEASE:
        return EVERY_RELEASE
    # sample: CNI win-bridge plugin v1.1.1
    #         CNI protocol versions supported: 0.1.0, 0.2.0, 0.3.0, 0.3.1, 0.4.0, 1.0.0
    match = re.search(r"versions supported: ([\d., ]+)", evidence.text(ABOUT[plugin]))
    if match is None:
        raise UnreadableError(f"{plugin} does not say which versions it supports")
    return frozenset(part.strip() for part in match[1].split(","))


OWN = "management-address"
REFERENCE = frozenset({"win-bridge", "win-overlay"})
"""The plugins of containernetworking, which use either schema: the second if ``apiVersion`` is 2."""
SECOND = 2


@rule(about=(FLANNEL,), reads=(*CNI_READINGS, PODS))
def cni_exceptions(evidence: Evidence) -> Finding:
    """The configuration excepts cluster networks from OutBoundNAT, and no external address."""
    needed = excepted(evidence)
    listed = [
        entry
        for policy in policies_in_files(evidence, {"outboundnat"})
        for entry in exceptions_of(policy)
    ]
    missing, foreign = uncovered(needed, listed), extra(evidence, listed)
    observed = f"ExceptionList {', '.join(listed) or 'empty'}"
    if missing:
        observed += f", which lacks {', '.join(missing)}"
    if foreign:
        observed += f", where {', '.join(foreign)} holds outside addresses"
    return finding(
        not missing and not foreign,
        observed,
        f"{', '.join(map(str, needed))} in it, and no outside address",
        of=len(needed),
    )


@rule(about=(FLANNEL,), reads=(*CNI_READINGS, PODS))
def cni_routes(evidence: Evidence) -> Finding:
    """The configuration routes Services, and on l2bridge the node's address, to the host."""
    needed = evidence.networks("service-cidrs")
    if evidence.facts.get("driver") == "l2bridge":
        needed += management_of(evidence, OWN)
    needed = of_pod_families(evidence, needed)
    prefixes = [
        str(policy.get("DestinationPrefix"))
        for policy in policies_in_files(evidence, {"route", "sdnroute"})
        if policy.get("NeedEncap") and policy.get("DestinationPrefix")
    ]
    missing = uncovered(needed, prefixes)
    return finding(
        not missing,
        f"ROUTE policies for {', '.join(prefixes) or 'nothing'}",
        f"one with NeedEncap for each of {', '.join(map(str, needed))}",
        of=len(needed),
    )


@rule(about=(FLANNEL,), reads=(NODE, *CNI_READINGS))
def loopback_dsr_update(evidence: Evidence) -> Finding:
    """The plugin's option loopbackDSR is an error where HNS has no DSR."""
    given = any(part.get("loopbackDSR") for part in _objects(configurations(evidence)))
    build = build_of(evidence)
    return finding(
        not given or build >= FIRST_DSR,
        f"loopbackDSR {'set' if given else 'not set'} on {build}",
        f"it only from {FIRST_DSR} on",
        of=1,
    )


@rule(about=(HNS,), reads=CNI_READINGS)
def policy_form(evidence: Evidence) -> Finding:
    """Every policy uses the schema of the plugin and of the container runtime."""
    runtime = evidence.fact("runtime").partition("://")[0]
    wrong: list[str] = []
    good = 0
    for part in (
        each for configuration in configurations(evidence) for each in parts_of(configuration)
    ):
        plugin = str(part.get("type") or "").lower().removesuffix(".exe")
        if plugin not in SDN | REFERENCE:
            continue
        problems = list(_wrong(plugin, part, runtime))
        wrong += problems
        good += not problems
    if not good and not wrong:
        raise NothingThereError("the CNI configuration calls no plugin that the documents speak of")
    return finding(
        not wrong,
        "; ".join(dict.fromkeys(wrong)) or f"policies as the plugin takes them with {runtime}",
        "policies with Settings for sdnbridge and sdnoverlay; for win-bridge and win-overlay with containerd "
        "apiVersion 2 and Settings, with Docker neither",
        of=good + len(wrong),
    )


def _wrong(plugin: str, part: Object, runtime: str) -> Iterator[str]:
    second = plugin in SDN
    if plugin in REFERENCE:
        api_version = part.get("apiVersion", part.get("ApiVersion"))
        second = api_version == SECOND
        if runtime == "containerd" and not second:
            yield (
                f"{plugin} without apiVersion: 2, which uses HNS' first schema for containers that only Docker has"
            )
            second = True
        if runtime == "docker" and second:
            yield f"{plugin} with apiVersion: 2, whose endpoints Docker does not attach"
    for policy in _called_with(part):
        kind, settings = policy.get("Type"), isinstance(policy.get("Settings"), dict)
        if second and not settings:
            yield f"{plugin} with {kind} without Settings, which it does not take"
        if not second and settings:
            yield f"{plugin} with {kind} in Settings, which HNS' first schema does not know"


def _called_with(part: Object) -> Iterator[Object]:
    # samples: {"Name": "EndpointPolicy", "Value": {"Type": "OutBoundNAT", "ExceptionList": [...]}} (first),
    #          {"Name": "EndpointPolicy", "Value": {"Type": "OutBoundNAT", "Settings": {...}}} (second)
    for key in LISTS:
        for argument in part.get(key) or []:
            value = argument.get("Value", argument)
            if isinstance(value, dict) and value.get("Type"):
                yield value


LOOPBACK_DSR = {
    "sdnbridge": "loopbackDSR",
    "sdnoverlay": "loopbackDSR",
    "win-bridge": "loopbackDSR",
    "win-overlay": "loopbackDSR",
    "azure-vnet": "enableLoopbackDSR",
    "calico": "windows_loopback_DSR",
}
"""Plugins with an option, off by default, that lets a Pod reach itself through its Service by DSR,
and the option's name: microsoft/windows-container-networking ``cni``, containernetworking/plugins
``pkg/hns``, Azure/azure-container-networking ``cni/netconfig.go``, projectcalico/calico
``cni-plugin/pkg/types``."""


def loopback_dsr(evidence: Evidence) -> bool:
    """Return whether the option is set; ``UnreadableError`` if no plugin is known to have it."""
    for part in _objects(configurations(evidence)):
        option = LOOPBACK_DSR.get(str(part.get("type") or "").lower().removesuffix(".exe"))
        if option:
            return any(str(each.get(option)).lower() == "true" for each in _objects(part))
    raise UnreadableError("the CNI configuration calls no plugin that is known to have loopbackDSR")


def policies_in_files(evidence: Evidence, kinds: set[str]) -> Iterator[Object]:
    """Yield the policies of these types at any place in a configuration."""
    for policy in _objects(configurations(evidence)):
        if str(policy.get("Type", "")).lower() in kinds:
            yield policy.get("Settings") or policy


def _objects(value: Any) -> Iterator[Object]:
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from _objects(item)
