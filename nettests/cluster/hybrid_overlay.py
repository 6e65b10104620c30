"""Read OVN-Kubernetes: whether it has a hybrid overlay, which Windows nodes need, its network id and UDP port.

Pure. OpenShift keeps the daemon's configuration in a ConfigMap (openshift/cluster-network-operator); the network id is a
constant of the project (go-controller/hybrid-overlay/pkg/types). A node's subnet is an annotation.
"""

import configparser
import ipaddress
from collections.abc import Mapping
from typing import Any

from nettests.model import ports
from nettests.model.facts import Fact, known, unknown
from nettests.model.json_text import read_json
from nettests.model.network_drivers import HYBRID

Object = dict[str, Any]

PLUGIN = "ovn-kubernetes"
CONFIG_MAPS = ("openshift-ovn-kubernetes/ovnkube-config",)
KEY = "ovnkube.conf"
SECTION, PORT = "hybridoverlay", "hybrid-overlay-vxlan-port"
WITHOUT = "geneve"
VNI = 4097
SUBNET = "k8s.ovn.org/hybrid-overlay-node-subnet"
"""The annotation with the Pod range of a node that OVN does not run on."""
LINUX_SUBNETS = "k8s.ovn.org/node-subnets"


def backend_of(config_maps: Mapping[str, Object]) -> Fact[str]:
    """Return ``hybrid-overlay`` if the configuration enables it, else OVN's own encapsulation."""
    section = _section(config_maps)
    if section.value is None:
        return unknown(section.origin)
    enabled = section.value.get("enabled", "").lower() == "true"
    return known(HYBRID if enabled else WITHOUT, section.origin)


def network_id_of(config_maps: Mapping[str, Object]) -> Fact[int]:
    """Return the network id of the hybrid overlay, which cannot be configured."""
    backend = backend_of(config_maps)
    if backend.value != HYBRID:
        return unknown(f"{backend.origin}: no hybrid overlay")
    return known(VNI, f"the project's constant, {backend.origin}")


def port_of(config_maps: Mapping[str, Object]) -> Fact[int]:
    """Return the UDP port of the hybrid overlay; VXLAN's default if the configuration names none."""
    section = _section(config_maps)
    if section.value is None or backend_of(config_maps).value != HYBRID:
        return unknown(f"{section.origin}: no hybrid overlay")
    # sample: hybrid-overlay-vxlan-port="9898"
    text = section.value.get(PORT, "").strip('"')
    if not text:
        return known(ports.VXLAN, f"the default, {section.origin}")
    if not text.isdecimal():
        return unknown(f"{section.origin} says {PORT} {text[:40]!r}, which is no number")
    return known(int(text), section.origin)


def subnets_of(node: Object) -> list[str]:
    """Return the Pod ranges that OVN-Kubernetes writes on a node; empty if there are none, or no valid list."""
    # samples: hybrid-overlay-node-subnet: 10.132.1.0/24, node-subnets: {"default":["10.244.1.0/24"]}
    annotations = node["metadata"].get("annotations") or {}
    if SUBNET in annotations:
        return _networks([annotations[SUBNET]])
    try:
        subnets = read_json(annotations.get(LINUX_SUBNETS, "{}"))
    except ValueError:
        return []
    ranges = subnets.get("default") if isinstance(subnets, dict) else None
    return _networks(ranges if isinstance(ranges, list) else [ranges])


def _networks(texts: list[Any]) -> list[str]:
    networks = []
    for text in texts:
        try:
            networks.append(str(ipaddress.ip_network(str(text))))
        except ValueError:
            continue
    return networks


def _section(config_maps: Mapping[str, Object]) -> Fact[Mapping[str, str]]:
    """Return the settings of the hybrid overlay; empty if the configuration has none."""
    for name in CONFIG_MAPS:
        text = ((config_maps.get(name) or {}).get("data") or {}).get(KEY)
        if text is None:
            continue
        parser = configparser.ConfigParser(interpolation=None, strict=False)
        try:
            parser.read_string(text)
        except configparser.Error:
            return unknown(f"ConfigMap {name}: {KEY} is no such file")
        settings = dict(parser[SECTION]) if parser.has_section(SECTION) else {}
        return Fact(settings, f"ConfigMap {name}")
    return unknown(f"there is no ConfigMap {' or '.join(CONFIG_MAPS)} with {KEY}")
