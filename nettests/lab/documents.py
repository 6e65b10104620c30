"""The two files with which others use a lab: its kubeconfig and its cluster profile. Pure."""

import base64
import io

from ruamel.yaml import YAML

from nettests.lab.client import Json
from nettests.lab.topology import OS, Plugin, Profile


def kubeconfig(name: str, server: str, ca: bytes, token: str) -> str:
    """Return a kubeconfig with one context, called ``lab-<name>``."""
    context = f"lab-{name}"
    return _yaml(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [
                {
                    "name": context,
                    "cluster": {
                        "server": server,
                        "certificate-authority-data": base64.b64encode(ca).decode(),
                    },
                }
            ],
            "users": [{"name": context, "user": {"token": token}}],
            "contexts": [{"name": context, "context": {"cluster": context, "user": context}}],
            "current-context": context,
        }
    )


def cluster_profile(profile: Profile, proxy: str) -> str:
    """Return what a kubeconfig cannot say: the outside, the way there, and what nodes alone know."""
    return _yaml(
        {
            "apiVersion": "nettests.dev/v1alpha1",
            "kind": "ClusterProfile",
            "externalTarget": {
                "address": str(profile.outside_server),
                "name": profile.outside_name,
                "tcpPort": profile.outside_tcp_port,
                "udpPort": profile.outside_udp_port,
                "reportsClientAddress": True,
            },
            "externalVantage": "proxy",
            "externalProxy": proxy,
            **_stated(profile),
        }
    )


def _stated(profile: Profile) -> Json:
    """Return what no object of the cluster tells: Azure CNI's HNS network is made on the node."""
    windows = any(node.os is OS.WINDOWS for node in profile.nodes)
    if profile.cni.plugin is Plugin.AZURE and windows:
        return {"facts": {"cni": {"driver": profile.cni.driver.value}}}
    return {}


def _yaml(document: Json) -> str:
    text = io.StringIO()
    writer = YAML(typ="safe")
    writer.default_flow_style = False
    writer.sort_base_mapping_type_on_output = False  # type: ignore[assignment]
    writer.dump(document, text)
    return text.getvalue()
