"""The JSON Schema of lab profiles, by which ``profiles`` validates files."""

import copy
from enum import StrEnum
from typing import Any

from nettests.lab.data_files import read_yaml
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
"""Backends of each plugin in the lab, each with the driver of its HNS network."""

SERVICE_ON: dict[str, frozenset[OS]] = {
    "pod": frozenset(),
    "service": frozenset(OS),
    "windows-service": frozenset({OS.WINDOWS}),
}
"""How kube-proxy runs, and the systems whose nodes then have it as a service of the host."""


def _words(of: type[StrEnum]) -> dict[str, Any]:
    return {"enum": [word.value for word in of]}


def _schema() -> dict[str, Any]:
    """Return ``profile.schema.yaml`` with the values of enums and tables filled in."""
    schema: dict[str, Any] = copy.deepcopy(read_yaml(__package__, "profile.schema.yaml"))
    top = schema["properties"]
    backends = sorted({name for pairs in DRIVERS.values() for name, _ in pairs})
    top["cni"]["properties"] |= {
        "plugin": _words(Plugin),
        "backend": {"enum": backends},
        "driver": _words(Driver),
        "ipam": _words(Ipam),
    }
    top["kubeProxy"]["properties"] |= {"mode": _words(ProxyMode), "runsAs": {"enum": [*SERVICE_ON]}}
    top["nodes"]["items"]["properties"] |= {"os": _words(OS), "build": {"enum": [*PRODUCTS]}}
    top["windows"] = windows_settings.SCHEMA
    return schema


SCHEMA = _schema()
