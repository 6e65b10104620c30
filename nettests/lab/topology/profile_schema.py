"""What a lab profile's file may say: its JSON Schema. Used by ``profiles``, which says where a file breaks it."""

from typing import Any

from nettests.lab.topology import windows_settings
from nettests.lab.topology.backends import DRIVERS
from nettests.lab.topology.cluster import OS, PRODUCTS, Driver, Ipam, Plugin, ProxyMode

SERVICE_ON: dict[str, frozenset[OS]] = {
    "pod": frozenset(),
    "service": frozenset(OS),
    "windows-service": frozenset({OS.WINDOWS}),
}
"""What kube-proxy runs as, and on which nodes it is a service of its host then."""

_BACKENDS = sorted({backend for pairs in DRIVERS.values() for backend, _ in pairs})

_MOST_NODES = 240
"""What the nodes' /24 holds beside the gateway: addresses from the eleventh on."""

_NODE_SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["name", "os"],
    "properties": {
        "name": {"type": "string", "pattern": "^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$"},
        "os": {"enum": ["linux", "windows"]},
        "build": {"enum": [*PRODUCTS]},
        "patch": {"type": "integer", "minimum": 1},
        "runtime": {"type": "string", "pattern": r"^(containerd|docker)://\d+\.\d+\.\d+"},
        "controlPlane": {"type": "boolean"},
        "cordoned": {"type": "boolean"},
        "zone": {"type": "string", "pattern": "^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$"},
        "taints": {
            "type": "array",
            "items": {
                "type": "string",
                "pattern": "^[^=:]+=[^=:]*:(NoSchedule|NoExecute|PreferNoSchedule)$",
            },
        },
    },
    "if": {"properties": {"os": {"const": "windows"}}},
    "then": {"required": ["build", "patch"]},
}

SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "additionalProperties": False,
    "required": ["apiVersion", "kind", "name", "summary", "kubernetesVersion", "cni", "nodes"],
    "properties": {
        "apiVersion": {"const": "nettests.dev/v1alpha1"},
        "kind": {"const": "LabProfile"},
        "name": {"type": "string", "pattern": "^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$"},
        "summary": {"type": "string"},
        "kubernetesVersion": {"type": "string", "pattern": r"^v1\.\d+\.\d+$"},
        "cni": {
            "type": "object",
            "additionalProperties": False,
            "required": ["plugin", "backend", "driver"],
            "properties": {
                "plugin": {"enum": [plugin.value for plugin in Plugin]},
                "backend": {"enum": [*_BACKENDS]},
                "driver": {"enum": [driver.value for driver in Driver]},
                "vni": {"type": "integer", "minimum": 4096, "maximum": 16777215},
                "vxlanPort": {"const": 4789},
                "loopbackDSR": {"type": "boolean"},
                "ipam": {"enum": [ipam.value for ipam in Ipam]},
                "natExceptions": {
                    "type": "array",
                    "items": {"type": "string", "pattern": r"^\d+\.\d+\.\d+\.\d+/\d+$"},
                },
            },
        },
        "ipFamilies": {"enum": [["IPv4"], ["IPv4", "IPv6"], ["IPv6"]]},
        "kubeProxy": {
            "type": "object",
            "additionalProperties": False,
            "properties": {
                "mode": {"enum": [mode.value for mode in ProxyMode]},
                "dsr": {"type": "boolean"},
                "runsAs": {"enum": [*SERVICE_ON]},
            },
        },
        "options": {
            "type": "object",
            "additionalProperties": False,
            "properties": {
                "windowsImageHasPing": {"type": "boolean"},
                "windowsFirewall": {"type": "boolean"},
                "firewallStated": {"type": "boolean"},
            },
        },
        "windows": windows_settings.SCHEMA,
        "nodes": {"type": "array", "minItems": 1, "maxItems": _MOST_NODES, "items": _NODE_SCHEMA},
    },
}
