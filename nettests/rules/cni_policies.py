"""Rules about the policies in CNI files: what they except and route, and the schema that they are written in.

Docker's nodes have HNS' first schema (``ExceptionList`` beside ``Type``), containerd's the second (``Settings``).
Sources: "Windows debugging tips", the samples of microsoft/SDN, microsoft/windows-container-networking
``network/policy.go``, containernetworking/plugins ``pkg/hns`` (``apiVersion``), sig-windows-tools' configuration
for containerd.
"""

from collections.abc import Iterator
from typing import Any

from nettests.rules.cni import SDN, parts_of
from nettests.rules.cni_files import CNI_READINGS, configurations
from nettests.rules.cni_spelling import LISTS
from nettests.rules.evidence import (
    Evidence,
    Finding,
    NothingThereError,
    Object,
    UnreadableError,
    finding,
)
from nettests.rules.nat import excepted, exceptions_of, extra, management_of, uncovered
from nettests.rules.node import NODE
from nettests.rules.pods import PODS, of_pod_families
from nettests.rules.rule import rule
from nettests.rules.subjects import FLANNEL, HNS
from nettests.rules.updates import FIRST_DSR, build_of

OWN = "management-address"
REFERENCE = frozenset({"win-bridge", "win-overlay"})
"""The plugins of containernetworking, which use either schema: the second if ``apiVersion`` is 2."""
SECOND = 2


@rule(
    "cni-exceptions",
    about=(FLANNEL,),
    reads=(*CNI_READINGS, PODS),
    remedy="put the cluster, Service and (on l2bridge) management subnets into ExceptionList in the CNI "
    "configuration, and take outside addresses out of it; it applies to new pods",
)
def cni_exceptions(evidence: Evidence) -> Finding:
    """The configuration excepts the cluster's networks from OutBoundNAT, and no outside address."""
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


@rule(
    "cni-routes",
    about=(FLANNEL,),
    reads=(*CNI_READINGS, PODS),
    remedy="add ROUTE policies with NeedEncap for the Service subnet and, on l2bridge, the node's own "
    "address (/32) to the CNI configuration",
)
def cni_routes(evidence: Evidence) -> Finding:
    """The configuration routes Services, on l2bridge the node's address too, to the host."""
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


@rule(
    "loopback-dsr-update",
    about=(FLANNEL,),
    reads=(NODE, *CNI_READINGS),
    remedy="install KB4571748 or a later cumulative update, or remove loopbackDSR "
    "from the CNI configuration",
)
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


@rule(
    "policy-form",
    about=(HNS,),
    reads=CNI_READINGS,
    remedy="write the file as sig-windows-tools does for containerd: sdnbridge (host-gw) or sdnoverlay (vxlan), "
    "each policy with Settings; with win-bridge or win-overlay add apiVersion: 2; the plugin refuses what it does not "
    "know, or leaves it out without a word",
)
def policy_form(evidence: Evidence) -> Finding:
    """Every policy is written in the schema that the plugin speaks, and that the container runtime needs."""
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
    """Yield what is wrong with the arguments of one plugin."""
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
"""Plugins with an option that lets a Pod reach itself through its Service with DSR, off by default, and its name:
Microsoft/windows-container-networking ``cni``, containernetworking/plugins ``pkg/hns``, Azure/azure-container-networking
``cni/netconfig.go``, projectcalico/calico ``cni-plugin/pkg/types``."""


def loopback_dsr(evidence: Evidence) -> bool:
    """Return whether the option is set; ``UnreadableError`` where no plugin of the configuration is known to have it."""
    for part in _objects(configurations(evidence)):
        option = LOOPBACK_DSR.get(str(part.get("type") or "").lower().removesuffix(".exe"))
        if option:
            return any(str(each.get(option)).lower() == "true" for each in _objects(part))
    raise UnreadableError("the CNI configuration calls no plugin that is known to have loopbackDSR")


def policies_in_files(evidence: Evidence, kinds: set[str]) -> Iterator[Object]:
    """Yield the policies of these types, wherever a configuration holds them."""
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
