"""Facts that rules compare with, by their names in ``Evidence``.

``probes.configuration`` records them beside the readings, so that a finding can be computed again from a journal.
"""

import ipaddress
from collections.abc import Mapping, Sequence

from nettests.model.facts import ClusterFacts, CniFacts, Network, NodeFacts


def known_facts(facts: ClusterFacts, node: NodeFacts | None) -> Mapping[str, str]:
    """Return the known facts of the cluster and of the inspected node; unknown facts are left out."""
    named_facts = {
        "server": str(facts.server_version),
        "pod-cidrs": _joined(facts.pod_cidrs.value),
        "service-cidrs": _joined(facts.service_cidrs.value),
        "backend": facts.cni.backend.value or "",
        "plugin": facts.cni.plugin.value or "",
        "nat": _nat(facts.cni),
        "dns-address": str(facts.dns_address.value or ""),
        "cluster-domain": str(facts.cluster_domain.value or ""),
        "management-addresses": _joined(_blocks(facts.nodes)),
    }
    if node is not None:
        named_facts |= {
            "node": node.name,
            "kubelet": str(node.kubelet.value or ""),
            "driver": node.cni_driver.value or "",
            "dsr": _switched(node.kube_proxy.dsr.value),
            "build": str(node.build.value or ""),
            "runtime": node.runtime.value or "",
            "node-pod-cidrs": _joined(node.pod_cidrs),
            "node-addresses": ",".join(map(str, node.addresses)),
            "management-address": _joined(_blocks([node])),
        }
    return {name: value for name, value in named_facts.items() if value}


def _nat(cni: CniFacts) -> str:
    """Return whether OutBoundNAT is switched off: by Calico's pools, or with every address of a family an exception."""
    everything = any(network.prefixlen == 0 for network in cni.nat_exceptions.value or ())
    return "off" if everything or cni.nat_outgoing.value is False else ""


def _switched(value: bool | None) -> str:  # noqa: FBT001
    return "" if value is None else ("on" if value else "off")


def _blocks(nodes: Sequence[NodeFacts]) -> tuple[Network, ...]:
    """Return the first (internal) address of every node and family; adjacent ones are merged."""
    first = {
        (node.name, address.version): address
        for node in nodes
        for address in reversed(node.addresses)
    }
    hosts = [ipaddress.ip_network(address) for address in first.values()]
    return (
        *ipaddress.collapse_addresses(net for net in hosts if net.version == 4),
        *ipaddress.collapse_addresses(net for net in hosts if net.version == 6),
    )


def _joined(networks: tuple[Network, ...] | None) -> str:
    return ",".join(map(str, networks or ()))
