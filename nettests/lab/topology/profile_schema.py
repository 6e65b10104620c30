"""What a lab profile's file may say: its JSON Schema. Used by ``profiles``, which says where a file breaks it."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Any

from nettests.lab.topology import windows_settings
from nettests.lab.topology.cluster import OS, PRODUCTS, Driver, Ipam, Plugin, ProxyMode

DRIVERS: dict[Plugin, tuple[tuple[str, str], ...]] = {
    Plugin.FLANNEL: (("host-gw", "l2bridge"), ("vxlan", "overlay")),
    Plugin.AZURE: (("vnet", "l2tunnel"), ("overlay", "l2bridge")),
    Plugin.ANTREA: (("geneve", "transparent"), ("vxlan", "transparent")),
    Plugin.CALICO: (("vxlan", "overlay"), ("windows-bgp", "l2bridge")),
    Plugin.SDNBRIDGE: (("routes", "l2bridge"),),
    Plugin.OVN_KUBERNETES: (("hybrid-overlay", "overlay"),),
    Plugin.VPC: (("vpc", "l2bridge"),),
}
"""Backends of each plugin in the lab, and the HNS network that they make."""

SERVICE_ON: dict[str, frozenset[OS]] = {
    "pod": frozenset(),
    "service": frozenset(OS),
    "windows-service": frozenset({OS.WINDOWS}),
}
"""What kube-proxy runs as, and on which nodes it is a service of its host then."""

_MOST_NODES = 240
"""What the nodes' /24 holds beside the gateway: addresses from the eleventh on."""
_LABEL = "([-a-z0-9]{0,61}[a-z0-9])?$"
_TEXT, _SWITCH = {"type": "string"}, {"type": "boolean"}


def _object(properties: dict[str, Any], required: Sequence[str] = ()) -> dict[str, Any]:
    needed = {"required": [*required]} if required else {}
    return {"type": "object", "additionalProperties": False, **needed, "properties": properties}


def _matching(pattern: str) -> dict[str, Any]:
    return {**_TEXT, "pattern": pattern}


def _words(of: type[StrEnum]) -> dict[str, Any]:
    return {"enum": [word.value for word in of]}


_CNI = _object(
    {
        "plugin": _words(Plugin),
        "backend": {"enum": sorted({name for pairs in DRIVERS.values() for name, _ in pairs})},
        "driver": _words(Driver),
        "vni": {"type": "integer", "minimum": 4096, "maximum": 16777215},
        "vxlanPort": {"const": 4789},
        "loopbackDSR": _SWITCH,
        "ipam": _words(Ipam),
        "natExceptions": {"type": "array", "items": _matching(r"^\d+\.\d+\.\d+\.\d+/\d+$")},
    },
    required=("plugin", "backend", "driver"),
)
_TAINT = _matching("^[^=:]+=[^=:]*:(NoSchedule|NoExecute|PreferNoSchedule)$")
_NODE = {
    **_object(
        {
            "name": _matching(f"^[a-z]{_LABEL}"),
            "os": _words(OS),
            "build": {"enum": [*PRODUCTS]},
            "patch": {"type": "integer", "minimum": 1},
            "runtime": _matching(r"^(containerd|docker)://\d+\.\d+\.\d+"),
            "controlPlane": _SWITCH,
            "cordoned": _SWITCH,
            "zone": _matching(f"^[a-z]{_LABEL}"),
            "taints": {"type": "array", "items": _TAINT},
        },
        required=("name", "os"),
    ),
    "if": {"properties": {"os": {"const": "windows"}}},
    "then": {"required": ["build", "patch"]},
}
_OPTIONS = ("windowsImageHasPing", "windowsFirewall", "firewallStated")
_PROXY = {"mode": _words(ProxyMode), "dsr": _SWITCH, "runsAs": {"enum": [*SERVICE_ON]}}

SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    **_object(
        {
            "apiVersion": {"const": "nettests.dev/v1alpha1"},
            "kind": {"const": "LabProfile"},
            "name": _matching(f"^[a-z0-9]{_LABEL}"),
            "summary": _TEXT,
            "kubernetesVersion": _matching(r"^v1\.\d+\.\d+$"),
            "cni": _CNI,
            "ipFamilies": {"enum": [["IPv4"], ["IPv4", "IPv6"], ["IPv6"]]},
            "kubeProxy": _object(_PROXY),
            "options": _object(dict.fromkeys(_OPTIONS, _SWITCH)),
            "windows": windows_settings.SCHEMA,
            "nodes": {"type": "array", "minItems": 1, "maxItems": _MOST_NODES, "items": _NODE},
        },
        required=["apiVersion", "kind", "name", "summary", "kubernetesVersion", "cni", "nodes"],
    ),
}
