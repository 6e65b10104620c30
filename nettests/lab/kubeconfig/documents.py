"""The kubeconfigs and the cluster profile of a lab, and its certificates.

Certificates are from an authority for a single lab (trustme).
"""

import base64
import io
import ssl
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import trustme
from ruamel.yaml import YAML

from nettests.lab.client import Json
from nettests.lab.installers.system_objects import control_plane_address
from nettests.lab.kubeconfig import exec_plugin
from nettests.lab.network.switch_rules import IDLE_SECONDS
from nettests.lab.topology import OS, Network, Plugin, Profile

TOKEN_SECONDS = 60
"""Lifetime of the exec plugin's tokens."""


def kubeconfig(name: str, server: str, ca: bytes, token: str) -> str:
    """Return a kubeconfig with one context, called ``lab-<name>``."""
    return _kubeconfig(name, server, ca, {"token": token})


def short_lived(name: str, server: str, ca: bytes, folder: Path) -> str:
    """Return a kubeconfig whose user fetches tokens from the lab in ``folder``, by an exec plugin."""
    program = {
        "apiVersion": exec_plugin.API_VERSION,
        "command": sys.executable,
        "args": ["-m", exec_plugin.__name__, str(folder), str(TOKEN_SECONDS)],
        "interactiveMode": "Never",
    }
    return _kubeconfig(name, server, ca, {"exec": program})


def _kubeconfig(name: str, server: str, ca: bytes, user: Json) -> str:
    context = f"lab-{name}"
    cluster = {"server": server, "certificate-authority-data": base64.b64encode(ca).decode()}
    return _yaml(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": context, "cluster": cluster}],
            "users": [{"name": context, "user": user}],
            "contexts": [{"name": context, "context": {"cluster": context, "user": context}}],
            "current-context": context,
        }
    )


SERVED_BUILDS = frozenset({17763, 20348, 25398, 26100})
"""Windows builds that the current probe image supports."""
OWN_IMAGE = "mirror.lab.test/historic/probe:1"
"""The image that the owner of an older cluster would build. It does not exist: such labs are only planned for."""

SILENCE_SECONDS = 1.5 * IDLE_SECONDS
"""How long checks leave a connection idle: longer than the switch's idle time-out, which is scaled down too."""

MANY_NODES = 100
"""Up to this many nodes, two cores program new Services within the default deadlines (``bench/fleet.py``)."""
SHARED_SECONDS = 120
"""The deadline for more nodes: 200 nodes took 25 to 31 s during a run, and longer on a busy machine."""


def cluster_profile(
    profile: Profile, proxy: str, udp_proxy: str, *, mtu: int, nat_exceptions: Sequence[Network]
) -> str:
    """Return the cluster profile: the external target, the proxy to it, and facts from the nodes."""
    return _yaml(
        {
            "apiVersion": "nettests.dev/v1alpha1",
            "kind": "ClusterProfile",
            **_image(profile),
            "externalTarget": {
                "address": str(profile.outside_server),
                "name": profile.outside_name,
                "tcpPort": profile.outside_tcp_port,
                "udpPort": profile.outside_udp_port,
                "reportsClientAddress": True,
            },
            "externalVantage": "proxy",
            "externalProxy": proxy,
            "externalUDPProxy": udp_proxy,
            "facts": {
                "cni": {"mtu": mtu, **_stated(profile, nat_exceptions)},
                **_of_hosts(profile),
            },
            "timing": {
                "idle": SILENCE_SECONDS,
                "flowMemory": IDLE_SECONDS,
                **_convergence(len(profile.nodes)),
            },
        }
    )


def _convergence(nodes: int) -> Json:
    """Return the deadline for programming new Services in large clusters, as all proxies share one machine."""
    if nodes <= MANY_NODES:
        return {}
    return {"convergence": SHARED_SECONDS, "convergenceLinux": SHARED_SECONDS}


def _image(profile: Profile) -> Json:
    builds = {node.build for node in profile.nodes if node.os is OS.WINDOWS}
    return {} if builds <= SERVED_BUILDS else {"image": OWN_IMAGE}


def _stated(profile: Profile, nat_exceptions: Sequence[Network]) -> Json:
    """Return facts of Windows nodes that are only in files on the nodes, not in API objects.

    Azure CNI creates its HNS network on the node, and only AKS' overlay shows its type; sdnbridge has no DaemonSet,
    and its network is created by hand; Antrea's network has no OutBoundNAT.
    """
    windows = any(node.os is OS.WINDOWS for node in profile.nodes)
    if not windows or profile.cni.plugin is Plugin.ANTREA:
        return {}
    loopback = {"loopbackDSR": profile.cni.loopback_dsr}
    sdnbridge = profile.cni.plugin is Plugin.SDNBRIDGE
    made_there = sdnbridge or (profile.cni.plugin is Plugin.AZURE and profile.cni.native)
    return {
        **({"plugin": profile.cni.plugin.value} if sdnbridge else {}),
        **({"driver": profile.cni.driver.value} if made_there else {}),
        "natExceptions": [str(network) for network in nat_exceptions],
        # only Flannel's plugin has it in a ConfigMap
        **({} if profile.cni.plugin is Plugin.FLANNEL else loopback),
    }


def _of_hosts(profile: Profile) -> Json:
    """Return whether the Windows firewall is on, unless it is to be discovered on the nodes."""
    windows = any(node.os is OS.WINDOWS for node in profile.nodes)
    stated = windows and profile.options.firewall_stated
    return {"windowsFirewall": profile.options.windows_firewall} if stated else {}


def _yaml(document: Json) -> str:
    text = io.StringIO()
    writer = YAML(typ="safe")
    writer.default_flow_style = False
    writer.sort_base_mapping_type_on_output = False  # type: ignore[assignment]
    writer.dump(document, text)
    return text.getvalue()


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificates:
    """The authority's certificate (PEM) and server contexts of the API and of each kubelet."""

    ca: bytes
    api: ssl.SSLContext
    kubelets: dict[str, ssl.SSLContext]


def issue_certificates(profile: Profile) -> Certificates:
    """Create an authority and issue all certificates of a lab."""
    authority = trustme.CA(organization_name="nettests lab")
    api = _server_context(
        authority,
        "127.0.0.1",
        "localhost",
        "kubernetes",
        "kubernetes.default",
        "kubernetes.default.svc",
        f"kubernetes.default.svc.{profile.cluster_domain}",
        str(profile.service_cidr[1]),
        control_plane_address(profile),
    )
    return Certificates(
        ca=authority.cert_pem.bytes(),
        api=api,
        kubelets={
            node.name: _server_context(authority, node.name, str(node.address))
            for node in profile.nodes
        },
    )


def _server_context(authority: trustme.CA, *names: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(*names).configure_cert(context)
    return context
