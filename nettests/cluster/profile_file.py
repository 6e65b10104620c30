"""Read the cluster profile: what a kubeconfig cannot say, stated by the user or by a lab.

YAML, checked against ``manifests/schema/cluster-profile.schema.json``; an error names the file, the
line, the key and the nearest valid key.
"""

import ipaddress
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from nettests.errors import ManifestError
from nettests.model.cluster_profile import (
    DOCUMENTATION_ADDRESSES,
    LINUX_RESOURCES,
    OUTSIDE_MESHES,
    WINDOWS_RESOURCES,
    Amounts,
    ClusterProfile,
    DiagnosticsLimits,
    Images,
    PodSettings,
    StatedFacts,
    StatedKubeProxy,
    Timing,
)
from nettests.model.document import read_document
from nettests.model.facts import ALL, Address, ExternalTarget, Network, Scale
from nettests.model.labels import is_ours
from nettests.model.nearest import nearest
from nettests.model.versions import KubernetesVersion
from nettests.outside_files import text_of
from nettests.redaction import register
from nettests.resources import manifests_path, schema_of

SOCKS_SCHEMES = frozenset({"socks5", "socks5h"})
PROXY_SCHEMES = SOCKS_SCHEMES | {"http", "https"}

T = TypeVar("T", Timing, DiagnosticsLimits, Scale)


def ready_profiles() -> dict[str, Path]:
    """Return the shipped profiles of managed services and distributions, by name."""
    return {file.stem: file for file in sorted((manifests_path() / "clusters").glob("*.yaml"))}


def profile_path(given: Path) -> Path:
    """Return a profile's file, existing or shipped; ``ManifestError`` for an unknown name."""
    ready = ready_profiles()
    if given.is_file() or given.suffix or given.name != str(given):
        return given
    if given.name not in ready:
        raise ManifestError(
            f"there is no cluster profile {given.name!r}: neither a file here, nor one that nettests brings",
            hint=nearest(given.name, ready, what="nettests brings", most=3),
        )
    return ready[given.name]


def read_profile(path: Path | None, *, option: str = "--cluster-profile") -> ClusterProfile:
    """Return the profile that an option names, by file or name; without one, an empty profile."""
    if path is None:
        return ClusterProfile()
    path = profile_path(path)
    hint = f"pass a file with {option}, or leave the option out"
    text = text_of(path, "cluster profile", hint)
    return parse_profile(text, str(path))


def parse_profile(text: str, file: str) -> ClusterProfile:
    """Return the profile in ``text``; ``ManifestError`` names line, key and nearest key."""
    data = read_document(text, file, schema_of("cluster-profile")).data
    try:
        return _profile(data)
    except ValueError as error:  # an invalid address or network
        raise ManifestError(f"{file}: {error}") from error


def _profile(data: dict[str, Any]) -> ClusterProfile:
    facts = data.get("facts", {})
    cni, proxies = facts.get("cni", {}), facts.get("kubeProxy", {})
    vantage = data.get("externalVantage", "none")
    if vantage == "proxy" and not data.get("externalProxy"):
        raise ValueError("externalVantage: proxy needs externalProxy, the address of the proxy")
    # ``roles`` is the former name of ``nodePools``.
    if "roles" in data and "nodePools" in data:
        raise ValueError("roles is the old name of nodePools: leave it out")
    stated = data.get("nodePools", data.get("roles", {}))
    return ClusterProfile(
        external_target=_external_target(data.get("externalTarget")),
        external_vantage=vantage,
        external_proxy=_proxy_address(
            data.get("externalProxy"),
            PROXY_SCHEMES,
            "externalProxy is not an address such as http://user:token@host:3128 or socks5://host:1080",
        ),
        external_udp_proxy=_udp_proxy_address(data.get("externalUDPProxy"), vantage),
        external_ips=ipaddress.ip_network(data.get("externalIPs", DOCUMENTATION_ADDRESSES)),
        network_policy=data.get("networkPolicy", True),
        existing_services=data.get("existingServices", True),
        pools={pool: tuple(nodes) for pool, nodes in stated.items()},
        fleet_nodes=data.get("fleet", {}).get("nodes", ALL),
        scale=_named(Scale, data.get("scale", {})),
        images=_images(data),
        pods=_pods(data.get("pods", {})),
        facts=StatedFacts(
            cni_plugin=cni.get("plugin"),
            cni_backend=cni.get("backend"),
            cni_driver=cni.get("driver"),
            cni_mtu=cni.get("mtu"),
            cni_nat_exceptions=_networks(cni.get("natExceptions")),
            cni_loopback_dsr=cni.get("loopbackDSR"),
            windows_firewall=facts.get("windowsFirewall"),
            platform=facts.get("platform"),
            kube_proxy_windows=_kube_proxy(proxies.get("windows", {})),
            kube_proxy_linux=_kube_proxy(proxies.get("linux", {})),
            pod_cidrs=tuple(ipaddress.ip_network(text) for text in facts.get("podCIDRs", ())),
            service_cidrs=tuple(
                ipaddress.ip_network(text) for text in facts.get("serviceCIDRs", ())
            ),
            cluster_domain=facts.get("clusterDomain"),
            dns_address=_address(facts.get("dnsAddress")),
        ),
        timing=_named(Timing, data.get("timing", {})),
        diagnostics=_named(DiagnosticsLimits, data.get("diagnostics", {})),
    )


def _images(data: dict[str, Any]) -> Images:
    images = data.get("images", {})
    file = images.get("pullSecretFile")
    return Images(
        probe=data.get("image"),
        registry=images.get("registry"),
        by_system=dict(images.get("bySystem", {})),
        pull_secrets=tuple(images.get("pullSecrets", ())),
        pull_secret_file=Path(file).expanduser() if file else None,
        pre_pull=images.get("prePull", False),
        require_digest=images.get("requireDigest", False),
        capture=images.get("capture", ""),
    )


def _pods(data: dict[str, Any]) -> PodSettings:
    stated = data.get("resources", {})
    for key in data.get("labels", {}):
        if is_ours(key):
            raise ValueError(f"pods.labels: {key} is a label by which nettests finds its own Pods")
    return PodSettings(
        labels=OUTSIDE_MESHES["labels"] | data.get("labels", {}),
        annotations=OUTSIDE_MESHES["annotations"] | data.get("annotations", {}),
        node_selector=dict(data.get("nodeSelector", {})),
        tolerations=tuple(dict(item) for item in data.get("tolerations", ())),
        priority_class=data.get("priorityClassName"),
        linux_resources=_amounts(stated.get("linux"), LINUX_RESOURCES),
        windows_resources=_amounts(stated.get("windows"), WINDOWS_RESOURCES),
    )


def _amounts(stated: dict[str, Any] | None, usual: Amounts) -> Amounts:
    if stated is None:
        return usual
    return {
        kind: {name: str(amount) for name, amount in amounts.items()}
        for kind, amounts in stated.items()
    }


def _networks(texts: list[str] | None) -> tuple[Network, ...] | None:
    """Return networks; an empty list states that there are none, unlike a missing one."""
    return None if texts is None else tuple(ipaddress.ip_network(text) for text in texts)


def _external_target(data: dict[str, Any] | None) -> ExternalTarget | None:
    if data is None:
        return None
    return ExternalTarget(
        address=_address(data.get("address")),
        name=data.get("name"),
        tcp_port=data.get("tcpPort"),
        udp_port=data.get("udpPort"),
        reports_client_address=data.get("reportsClientAddress", False),
    )


def _kube_proxy(data: dict[str, Any]) -> StatedKubeProxy:
    version = data.get("version")
    return StatedKubeProxy(
        version=KubernetesVersion.parse(version) if version else None,
        mode=data.get("mode"),
        dsr=data.get("dsr"),
        localhost_node_ports=data.get("localhostNodePorts"),
        source_vip={
            node: ipaddress.ip_address(text) for node, text in data.get("sourceVIP", {}).items()
        },
    )


def _named(kind: type[T], data: dict[str, Any]) -> T:
    """Return a value whose fields are the profile's keys."""
    spelled = {_camel(item.name): item.name for item in fields(kind)}
    return kind(**{spelled[key]: value for key, value in data.items()})


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


def _address(text: str | None) -> Address | None:
    return None if text is None else ipaddress.ip_address(text)


def _proxy_address(text: str | None, schemes: frozenset[str], what: str) -> str | None:
    if text is None:
        return None
    parts = urlsplit(text)
    if parts.scheme not in schemes or not parts.hostname:
        raise ValueError(what)
    register(parts.password)
    return text


def _udp_proxy_address(text: str | None, vantage: str) -> str | None:
    if text is not None and vantage != "proxy":
        raise ValueError(
            f"externalUDPProxy belongs to externalVantage: proxy, and the vantage is {vantage}"
        )
    what = "externalUDPProxy is not the address of a SOCKS5 proxy such as socks5://user:token@host:1080"
    return _proxy_address(text, SOCKS_SCHEMES, what)
