"""Read kube-proxy's settings of one node: mode, DSR and source VIP, as they are in effect.

Pure. What kube-proxy says of itself comes first (the ``FLAG:`` lines with which its log begins), then
the arguments of its Pod, then the ConfigMap. Flags do not count where ``--config`` is given: kube-proxy
then ignores them (cmd/kube-proxy, Options.Complete). A kube-proxy that is no Pod of a Windows node reads no
ConfigMap: what it is given stands on the node (``probes.host_facts``).
"""

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from nettests.errors import ManifestError
from nettests.model.cluster_profile import StatedKubeProxy
from nettests.model.facts import STATED, Address, Fact, KubeProxyFacts, known, unknown
from nettests.model.flags import flags_in_arguments, flags_in_log
from nettests.model.versions import KubernetesVersion
from nettests.model.words import OS
from nettests.model.yaml_text import plain_yaml

Object = dict[str, Any]

CONFIG_MAP = "ConfigMap kube-system/kube-proxy"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProxySources:
    """What could be fetched about kube-proxy on one node; ``log`` is empty if it was not read."""

    pod: Object | None = None
    log: str = ""
    config: Object | None = None
    reason: str = ""
    """Why something of the above is missing, for people."""
    absent: bool = False
    """Whether the Pods of the node were listed and none of them is kube-proxy."""
    replaced: str = ""
    """The source that says that the network plugin serves Services itself; empty if it does not."""


def config_of(config_map: Object | None) -> Object | None:
    """Return the KubeProxyConfiguration in kubeadm's ConfigMap, ``None`` if it cannot be read."""
    text = ((config_map or {}).get("data") or {}).get("config.conf")
    if not text:
        return None
    try:
        loaded = plain_yaml(text)
    except ManifestError:
        return None
    return loaded if isinstance(loaded, dict) else None


def facts_of(os: OS, node: str, sources: ProxySources, stated: StatedKubeProxy) -> KubeProxyFacts:
    """Return kube-proxy's settings on one node; facts stated in the cluster profile override them."""
    windows = os is OS.WINDOWS
    settings = _settings(replace(sources, config=None) if windows and sources.absent else sources)
    if windows and sources.pod is None and sources.replaced and not stated.mode:
        return _replaced(sources.replaced)
    version = known(stated.version, STATED) if stated.version else _version(sources.pod)
    return KubeProxyFacts(
        version=version,
        mode=known(stated.mode, STATED)
        if stated.mode
        else _mode(os, settings, sources, version.value),
        dsr=_dsr(stated, settings, sources) if windows else unknown("DSR is a matter of Windows"),
        source_vip=(
            _source_vip(node, stated, settings, sources)
            if windows
            else unknown("a source VIP is a matter of Windows")
        ),
        localhost_node_ports=(
            unknown("NodePorts at loopback are a matter of Linux")
            if windows
            else _localhost_node_ports(stated, settings, sources)
        ),
        as_pod=_as_pod(sources),
    )


def _as_pod(sources: ProxySources) -> Fact[bool]:
    if sources.pod is not None:
        return known(value=True, origin=f"Pod {sources.pod['metadata']['name']}")
    return known(value=False, origin=sources.reason) if sources.absent else unknown(sources.reason)


def _replaced(where: str) -> KubeProxyFacts:
    """Return the facts of a Windows node on which the network plugin serves Services itself."""
    reason = f"no kube-proxy runs there ({where})"
    return KubeProxyFacts(
        version=unknown(reason),
        mode=known("none", where),
        dsr=unknown(reason),
        source_vip=unknown(reason),
        as_pod=known(value=False, origin=reason),
    )


def _settings(sources: ProxySources) -> list[tuple[str, Mapping[str, Any]]]:
    """Return (origin, settings) in order of precedence, spelled as flags."""
    settings: list[tuple[str, Mapping[str, Any]]] = []
    name = sources.pod["metadata"]["name"] if sources.pod else ""
    for origin, flags in (
        (f"log of Pod {name}", flags_in_log(sources.log)),
        (f"arguments of Pod {name}", flags_in_arguments(_arguments(sources.pod))),
    ):
        if flags and not flags.get("config"):
            settings.append((origin, flags))
    if sources.config is not None:
        winkernel, iptables = sources.config.get("winkernel"), sources.config.get("iptables")
        windows = winkernel if isinstance(winkernel, dict) else {}
        tables = iptables if isinstance(iptables, dict) else {}
        settings.append(
            (
                CONFIG_MAP,
                {
                    "proxy-mode": sources.config.get("mode"),
                    "enable-dsr": windows.get("enableDSR"),
                    "source-vip": windows.get("sourceVip"),
                    "iptables-localhost-nodeports": tables.get("localhostNodePorts"),
                },
            )
        )
    return settings


def _first(settings: list[tuple[str, Mapping[str, Any]]], flag: str) -> tuple[str, str] | None:
    for origin, values in settings:
        if values.get(flag) is not None:
            return origin, str(values[flag])
    return None


def _mode(
    os: OS,
    settings: list[tuple[str, Mapping[str, Any]]],
    sources: ProxySources,
    version: KubernetesVersion | None,
) -> Fact[str]:
    if os is OS.WINDOWS:
        # The ConfigMap's mode is the Linux nodes'; without a flag the default decides.
        setting = _first([item for item in settings if item[0] != CONFIG_MAP], "proxy-mode")
    else:
        setting = _first(settings, "proxy-mode")
    if setting is not None and setting[1]:
        return known(setting[1], setting[0])
    if os is OS.WINDOWS and version is not None and version >= KubernetesVersion(1, 26):
        return known("kernelspace", f"the only mode of kube-proxy {version} on Windows")
    if os is OS.WINDOWS and setting is not None and version is not None:
        return known("userspace", f"{setting[0]}: empty, the default of {version} on Windows")
    if os is OS.LINUX and setting is not None:
        return known("iptables", f"{setting[0]}: empty, which means the default")
    return unknown(sources.reason or "neither log, arguments nor ConfigMap of kube-proxy say it")


def _dsr(
    stated: StatedKubeProxy,
    settings: list[tuple[str, Mapping[str, Any]]],
    sources: ProxySources,
) -> Fact[bool]:
    if stated.dsr is not None:
        return known(stated.dsr, STATED)
    setting = _first(settings, "enable-dsr")
    if setting is not None and setting[1].lower() in {"true", "false"}:
        return known(setting[1].lower() == "true", setting[0])
    return unknown(sources.reason or "neither log, arguments nor ConfigMap of kube-proxy say it")


def _localhost_node_ports(
    stated: StatedKubeProxy, settings: list[tuple[str, Mapping[str, Any]]], sources: ProxySources
) -> Fact[bool]:
    """Return ``--iptables-localhost-nodeports``: on if kube-proxy's settings are known and do not name it."""
    if stated.localhost_node_ports is not None:
        return known(stated.localhost_node_ports, STATED)
    setting = _first(settings, "iptables-localhost-nodeports")
    if setting is not None:
        return known(setting[1].lower() != "false", setting[0])
    if settings:
        return known(
            value=True, origin=f"{settings[0][0]} does not name it, and it is on by default"
        )
    return unknown(sources.reason or "neither log, arguments nor ConfigMap of kube-proxy say it")


def _source_vip(
    node: str,
    stated: StatedKubeProxy,
    settings: list[tuple[str, Mapping[str, Any]]],
    sources: ProxySources,
) -> Fact[Address]:
    if node in stated.source_vip:
        return known(stated.source_vip[node], STATED)
    setting = _first(settings, "source-vip")
    if setting is None:
        return unknown(sources.reason or "kube-proxy's log and arguments do not say it")
    if not setting[1]:
        return unknown(f"--source-vip is empty in {setting[0]}: the node's own address is used")
    try:
        return known(ipaddress.ip_address(setting[1]), setting[0])
    except ValueError:
        return unknown(f"{setting[0]} says {setting[1]!r}, which is no address")


def _version(pod: Object | None) -> Fact[KubernetesVersion]:
    for container in (pod or {}).get("spec", {}).get("containers", []):
        # sample: registry.k8s.io/kube-proxy:v1.29.4, sigwindowstools/kube-proxy:v1.29.4-flannel
        match = re.search(r"kube-proxy[^:/@]*:(v?\d[^@]*)", container.get("image", ""))
        if match is not None:
            try:
                return known(KubernetesVersion.parse(match[1]), f"image {container['image']}")
            except ValueError:
                continue
    return unknown("no kube-proxy image on this node names a version")


def _arguments(pod: Object | None) -> list[str]:
    containers = (pod or {}).get("spec", {}).get("containers", [])
    return [
        text
        for item in containers
        for text in (item.get("command") or []) + (item.get("args") or [])
    ]
