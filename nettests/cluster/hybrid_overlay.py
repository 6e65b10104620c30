"""Read OVN-Kubernetes: its hybrid overlay, which Windows nodes need, and its Services.

Pure. OpenShift configures the daemon in a ConfigMap (openshift/cluster-network-operator), the
project's own manifests by variables of its DaemonSets and the ConfigMap ovn-config
(dist/images/ovnkube.sh); the network id is a constant (go-controller/hybrid-overlay/pkg/types). A
node's subnet is an annotation.
"""

import configparser
import ipaddress
from collections.abc import Mapping
from typing import Any

from nettests.cluster.plugins import PluginObjects, origin_of
from nettests.cluster.shapes import data_of
from nettests.model import ports
from nettests.model.facts import Fact, known, unknown
from nettests.model.json_text import Object, read_json
from nettests.model.network_drivers import HYBRID

PLUGIN = "ovn-kubernetes"
CONFIG_MAPS = ("openshift-ovn-kubernetes/ovnkube-config", "ovn-kubernetes/ovn-config")
ENABLED = "OVN_HYBRID_OVERLAY_ENABLE"
SERVICES_KEY = "svc_cidr"
KEY = "ovnkube.conf"
SECTION, PORT = "hybridoverlay", "hybrid-overlay-vxlan-port"
WITHOUT = "geneve"
VNI = 4097
SUBNET = "k8s.ovn.org/hybrid-overlay-node-subnet"
"""The annotation with the Pod range of a node without OVN."""
LINUX_SUBNETS = "k8s.ovn.org/node-subnets"


def backend_of(objects: PluginObjects) -> Fact[str]:
    """Return ``hybrid-overlay`` if the configuration enables it, else OVN's own encapsulation."""
    section = _section(objects.config_maps, SECTION)
    if section.value is not None:
        enabled = section.value.get("enabled", "").strip('"').lower() == "true"
        return known(HYBRID if enabled else WITHOUT, section.origin)
    for item in objects.of_plugin(PLUGIN):
        variables = objects.variables(item)
        if variables.get(ENABLED, "").lower() == "true":
            return known(HYBRID, f"{origin_of(item)}: {ENABLED}")
    return unknown(section.origin)


def network_id_of(objects: PluginObjects) -> Fact[int]:
    """Return the network id of the hybrid overlay, which cannot be configured."""
    backend = backend_of(objects)
    if backend.value != HYBRID:
        return unknown(f"{backend.origin}: no hybrid overlay")
    return known(VNI, f"the project's constant, {backend.origin}")


def port_of(objects: PluginObjects) -> Fact[int]:
    """Return the UDP port of the hybrid overlay, by default that of VXLAN."""
    backend, section = backend_of(objects), _section(objects.config_maps, SECTION)
    if backend.value != HYBRID:
        return unknown(f"{backend.origin}: no hybrid overlay")
    # sample: hybrid-overlay-vxlan-port="9898"
    text = (section.value or {}).get(PORT, "").strip('"')
    if not text:
        return known(ports.VXLAN, f"the default, {backend.origin}")
    if not text.isdecimal():
        return unknown(f"{section.origin} says {PORT} {text[:40]!r}, which is not a number")
    return known(int(text), section.origin)


def service_networks(config_maps: Mapping[str, Object]) -> tuple[str, str]:
    """Return the configured Service networks, comma-separated, and their origin, or nothing."""
    # samples: service-cidrs="172.30.0.0/16" below [kubernetes], svc_cidr: 10.96.0.0/16
    section = _section(config_maps, "kubernetes")
    named = (section.value or {}).get("service-cidrs", "").strip('"')
    if named:
        return named, section.origin
    for name, item in config_maps.items():
        if SERVICES_KEY in data_of(item):
            return data_of(item)[SERVICES_KEY], f"ConfigMap {name}"
    return "", section.origin


def dns_service(config_maps: Mapping[str, Object]) -> str:
    """Return the configured Service of the cluster's DNS, as ``namespace/name``, or nothing."""
    # samples: dns-service-namespace="openshift-dns", dns-service-name="dns-default"
    section = _section(config_maps, "kubernetes").value or {}
    names = [section.get(f"dns-service-{part}", "").strip('"') for part in ("namespace", "name")]
    return "/".join(names) if all(names) else ""


def subnets_of(node: Object) -> list[str]:
    """Return the Pod ranges in a node's annotations; empty if missing or invalid."""
    # samples: hybrid-overlay-node-subnet: 10.132.1.0/24, node-subnets: {"default":["10.244.1.0/24"]}
    annotations = node["metadata"].get("annotations") or {}
    if SUBNET in annotations:
        return _networks(str(annotations[SUBNET]).split(","))
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


def _section(config_maps: Mapping[str, Object], wanted: str) -> Fact[Mapping[str, str]]:
    for name, item in config_maps.items():
        text = data_of(item).get(KEY)
        if text is None:
            continue
        parser = configparser.ConfigParser(interpolation=None, strict=False)
        try:
            parser.read_string(text)
        except configparser.Error:
            return unknown(f"ConfigMap {name}: {KEY} is no such file")
        settings = dict(parser[wanted]) if parser.has_section(wanted) else {}
        return Fact(settings, f"ConfigMap {name}")
    return unknown(f"no ConfigMap of {PLUGIN} that was read has {KEY}")
