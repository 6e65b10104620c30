"""Read kube-proxy's effective settings on one node: mode, DSR and source VIP.

Pure. kube-proxy's own log (its first ``FLAG:`` lines) comes first, then the arguments of its Pod,
then the ConfigMap that the Pod refers to, whatever its name. With ``--config`` flags do not count:
kube-proxy ignores them (cmd/kube-proxy, Options.Complete). On Windows a kube-proxy that is no Pod
reads no ConfigMap: its settings are on the node (``probes.host_facts``).
"""

import ipaddress
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from nettests.cluster.shapes import config_maps_of, containers_of, data_of, file_name
from nettests.errors import ManifestError
from nettests.model.cluster_profile import StatedKubeProxy
from nettests.model.facts import (
    STATED,
    Address,
    Fact,
    KubeProxyFacts,
    gate_in,
    known,
    unknown,
)
from nettests.model.flags import Settings, first, flags_in_arguments, flags_in_log
from nettests.model.json_text import Object
from nettests.model.versions import KubernetesVersion, VersionRange
from nettests.model.words import OS
from nettests.model.yaml_text import plain_yaml

CONFIG_MAPS = ("kube-system/kube-proxy", "kube-system/kube-proxy-config")
"""ConfigMaps of kubeadm and EKS, for kube-proxies whose Pod refers to none."""
KIND = "KubeProxyConfiguration"
COMMAND = "kube-proxy"
SINGLE_MODE = VersionRange.parse(">=1.26", KubernetesVersion)
"""From this version on, kernelspace is the only mode on Windows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProxySources:
    """What could be read about kube-proxy on one node; ``log`` is empty if it was not read."""

    pod: Object | None = None
    log: str = ""
    config: Object | None = None
    config_origin: str = f"ConfigMap {CONFIG_MAPS[0]}"
    reason: str = ""
    """Why some of the above is missing."""
    absent: bool = False
    """Whether the node's Pods were listed and none is kube-proxy."""
    replaced: str = ""
    """Where it says that the network plugin serves Services itself; empty if it does not."""
    server: KubernetesVersion | None = None
    """The API server's version, if only a kube-proxy can serve Services on the node."""


def config_of(pod: Object | None, config_maps: Mapping[str, Object]) -> tuple[Object | None, str]:
    """Return the KubeProxyConfiguration of kube-proxy's Pod, if readable, and its origin.

    It is in a ConfigMap that the Pod refers to; without a Pod, or a reference, in an installer's.
    """
    referred = references_of(pod)
    given = flags_in_arguments(_arguments(pod)).get("config", "")
    for name in referred or CONFIG_MAPS:
        data = data_of(config_maps.get(name))
        keys = [file_name(given)] if file_name(given) in data else list(data)
        for key in keys:
            try:
                loaded = plain_yaml(data[key])
            except ManifestError:
                continue
            if isinstance(loaded, dict) and (loaded.get("kind") == KIND or key == _KUBEADM_KEY):
                return loaded, f"ConfigMap {name}"
    return None, f"ConfigMap {' or '.join(referred or CONFIG_MAPS)}"


def references_of(pod: Object | None) -> tuple[str, ...]:
    """Return the ConfigMaps that kube-proxy's Pod refers to."""
    if pod is None:
        return ()
    return config_maps_of(pod.get("spec") or {}, pod["metadata"].get("namespace", ""))


_KUBEADM_KEY = "config.conf"


def facts_of(os: OS, node: str, sources: ProxySources, stated: StatedKubeProxy) -> KubeProxyFacts:
    """Return kube-proxy's settings on one node; facts stated in the cluster profile override them."""
    windows = os is OS.WINDOWS
    settings = _settings(replace(sources, config=None) if windows and sources.absent else sources)
    if sources.pod is None and sources.replaced and not stated.mode:
        reason = f"no kube-proxy runs there ({sources.replaced})"
        return KubeProxyFacts(
            version=unknown(reason),
            mode=known("none", sources.replaced),
            dsr=unknown(reason),
            source_vip=unknown(reason),
            as_pod=known(value=False, origin=reason),
        )
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
        terminating=(
            unknown("on Windows no gate decides it")
            if windows
            else _terminating(settings, version, sources)
        ),
        as_pod=_as_pod(sources),
    )


def _as_pod(sources: ProxySources) -> Fact[bool]:
    if sources.pod is not None:
        return known(value=True, origin=f"Pod {sources.pod['metadata']['name']}")
    return known(value=False, origin=sources.reason) if sources.absent else unknown(sources.reason)


def _settings(sources: ProxySources) -> list[Settings]:
    """Return (origin, settings) in order of precedence, named like flags."""
    settings: list[Settings] = []
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
                sources.config_origin,
                {
                    "proxy-mode": sources.config.get("mode"),
                    "enable-dsr": windows.get("enableDSR"),
                    "source-vip": windows.get("sourceVip"),
                    "iptables-localhost-nodeports": tables.get("localhostNodePorts"),
                    "feature-gates": _as_flag(sources.config.get("featureGates")),
                },
            )
        )
    return settings


def _mode(
    os: OS,
    settings: list[Settings],
    sources: ProxySources,
    version: KubernetesVersion | None,
) -> Fact[str]:
    if os is OS.WINDOWS:
        # The ConfigMap's mode is for Linux nodes; without a flag the default applies.
        by_flags = [item for item in settings if item[0] != sources.config_origin]
        setting = first(by_flags, "proxy-mode")
    else:
        setting = first(settings, "proxy-mode")
    if setting is not None and setting[1]:
        return known(setting[1], setting[0])
    if os is OS.WINDOWS and version is not None and SINGLE_MODE.holds(version):
        return known("kernelspace", f"the only mode of kube-proxy {version} on Windows")
    if os is OS.WINDOWS and sources.server and SINGLE_MODE.holds_within_skew(sources.server):
        policy = f"that the version skew policy allows beside Kubernetes {sources.server}"
        return known("kernelspace", f"the only mode on Windows of each kube-proxy {policy}")
    if os is OS.WINDOWS and setting is not None and version is not None:
        return known("userspace", f"{setting[0]}: empty, the default of {version} on Windows")
    if os is OS.LINUX and setting is not None:
        return known("iptables", f"{setting[0]}: empty, which means the default")
    if os is OS.LINUX and settings and settings[0][0] != sources.config_origin:
        return known("iptables", f"{settings[0][0]} do not name it, which means the default")
    return unknown(sources.reason or "neither log, arguments nor ConfigMap of kube-proxy say it")


def _dsr(
    stated: StatedKubeProxy,
    settings: list[Settings],
    sources: ProxySources,
) -> Fact[bool]:
    if stated.dsr is not None:
        return known(stated.dsr, STATED)
    setting = first(settings, "enable-dsr")
    if setting is not None and setting[1].lower() in {"true", "false"}:
        return known(setting[1].lower() == "true", setting[0])
    return unknown(sources.reason or "neither log, arguments nor ConfigMap of kube-proxy say it")


def _localhost_node_ports(
    stated: StatedKubeProxy, settings: list[Settings], sources: ProxySources
) -> Fact[bool]:
    """Return ``--iptables-localhost-nodeports``: on if known settings do not name it."""
    if stated.localhost_node_ports is not None:
        return known(stated.localhost_node_ports, STATED)
    setting = first(settings, "iptables-localhost-nodeports")
    if setting is not None:
        return known(setting[1].lower() != "false", setting[0])
    if settings:
        return known(
            value=True, origin=f"{settings[0][0]} does not name it, and it is on by default"
        )
    return unknown(sources.reason or "neither log, arguments nor ConfigMap of kube-proxy say it")


def _as_flag(gates: object) -> str | None:
    """Return a configuration's ``featureGates`` as the flag spells them."""
    if not isinstance(gates, dict):
        return None
    return ",".join(f"{name}={str(on).lower()}" for name, on in gates.items())


def _terminating(
    settings: list[Settings],
    version: Fact[KubernetesVersion],
    sources: ProxySources,
) -> Fact[bool]:
    """Return the gate's state: as set, else its default."""
    setting = first(settings, "feature-gates")
    where, gates = setting or (settings[0][0] if settings else "", "")
    gate = gate_in(gates, where, version.value) if where else None
    return gate or unknown(sources.reason or version.origin)


def _source_vip(
    node: str,
    stated: StatedKubeProxy,
    settings: list[Settings],
    sources: ProxySources,
) -> Fact[Address]:
    if node in stated.source_vip:
        return known(stated.source_vip[node], STATED)
    setting = first(settings, "source-vip")
    if setting is None:
        return unknown(sources.reason or "kube-proxy's log and arguments do not say it")
    if not setting[1]:
        return unknown(f"--source-vip is empty in {setting[0]}: the node's own address is used")
    try:
        return known(ipaddress.ip_address(setting[1]), setting[0])
    except ValueError:
        return unknown(f"{setting[0]} says {setting[1]!r}, which is no address")


def _version(pod: Object | None) -> Fact[KubernetesVersion]:
    """Return the version in the tag of kube-proxy's image, which may contain all of Kubernetes."""
    for container in _proxies(pod):
        # samples: registry.k8s.io/kube-proxy:v1.29.4, sigwindowstools/kube-proxy:v1.29.4-flannel,
        #          index.docker.io/rancher/hardened-kubernetes:v1.29.2-rke2r1-build20240215
        image = container.get("image", "")
        match = re.search(r"(?:kube-proxy[^:/@]*|kubernetes|hyperkube):(v?1\.\d[^@]*)", image)
        if match is not None:
            try:
                return known(KubernetesVersion.parse(match[1]), f"image {image}")
            except ValueError:
                continue
    return unknown("no kube-proxy image on this node names a version")


def _proxies(pod: Object | None) -> Iterator[Object]:
    """Yield the containers of kube-proxy's Pod that run it, or all if none is named so."""
    containers = containers_of((pod or {}).get("spec") or {})
    of_proxy = [item for item in containers if COMMAND in item.get("name", "")]
    yield from of_proxy or containers


def _arguments(pod: Object | None) -> list[str]:
    return [
        text
        for item in _proxies(pod)
        for text in (item.get("command") or []) + (item.get("args") or [])
    ]
