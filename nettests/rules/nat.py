"""OutBoundNAT exceptions: networks that must be in the list, and entries that must not.

Used by the rules about HNS and CNI configurations. Sources: "Windows debugging tips" (cluster,
Service and management subnets are excepted, an external address that Pods contact is not),
microsoft/SDN ``cni.conf`` of l2bridge (with the nodes' subnet) and of overlay (without).
"""

import ipaddress
from collections.abc import Iterable, Iterator

from nettests.model.facts import Network
from nettests.model.json_text import Object
from nettests.resources import lines_of
from nettests.rules.evidence import Evidence
from nettests.rules.pods import of_pod_families

MANAGEMENT = "management-addresses"
EXCEPTING_NODES = frozenset({"flannel", "sdnbridge"})
"""Plugins whose documented l2bridge configuration excepts the nodes' subnet, unlike Calico's."""
SERVICES_ALONE = frozenset({"ovn-kubernetes"})
"""Plugins whose operator excepts Services and leaves Pods to HNS
(openshift/windows-machine-config-operator, pkg/nodeconfig/payload)."""
PODS_ALONE = frozenset({"azure-cni"})
"""Plugins whose operator excepts Pods and leaves Services to load balancers (Azure/AgentBaker,
azurecnifunc.ps1)."""
WIDEST = {4: 8, 6: 20}
"""Prefix lengths of the widest networks of one owner: a wider one is not a cluster's network."""
INTERNAL = tuple(map(ipaddress.ip_network, lines_of("nettests.rules", "internal.txt")))
"""Networks outside the internet: a site may route their packets back to Pods."""


def excepted(evidence: Evidence) -> tuple[Network, ...]:
    """Return the networks that must be excepted: Pods and Services, on l2bridge also nodes."""
    plugin = evidence.facts.get("plugin")
    pods = () if plugin in SERVICES_ALONE else evidence.networks("pod-cidrs")
    services = () if plugin in PODS_ALONE else evidence.networks("service-cidrs")
    needed = pods + services
    nodes = evidence.facts.get("driver") == "l2bridge" and plugin in EXCEPTING_NODES
    return of_pod_families(
        evidence, needed + management_of(evidence, MANAGEMENT) if nodes else needed
    )


def exceptions_of(policy: Object) -> Iterator[str]:
    """Yield the exceptions of an OutBoundNAT policy, from its old and its new key."""
    # samples: "ExceptionList":  ["10.244.0.0/16"] (HNS v1), "Exceptions": ["10.244.0.0/16"] (v2)
    for key in ("ExceptionList", "Exceptions"):
        listed = policy.get(key) or []
        yield from map(str, listed if isinstance(listed, list) else [listed])


def uncovered(needed: Iterable[Network], entries: Iterable[str]) -> list[str]:
    """Return which of the needed networks the entries do not contain."""
    given = _networks(entries)
    joined: list[Network] = [
        *ipaddress.collapse_addresses(net for net in given if net.version == 4),
        *ipaddress.collapse_addresses(net for net in given if net.version == 6),
    ]
    return [str(network) for network in needed if not _inside(network, joined)]


def extra(evidence: Evidence, entries: Iterable[str]) -> list[str]:
    """Return the entries with internet addresses: packets to them leave with a Pod's address.

    An entry may be wider than the cluster network in it, within ``WIDEST``.
    """
    cluster_networks = evidence.networks("pod-cidrs") + evidence.networks("service-cidrs")
    cluster_networks += management_of(evidence, MANAGEMENT)
    return [
        str(net)
        for net in _networks(entries)
        if not _inside(net, INTERNAL + cluster_networks)
        and (
            net.prefixlen < WIDEST[net.version]
            or not any(_inside(cluster_network, [net]) for cluster_network in cluster_networks)
        )
    ]


def management_of(evidence: Evidence, fact: str) -> tuple[Network, ...]:
    """Return management addresses of nodes, in the families that Pods have."""
    families = {net.version for net in evidence.networks("pod-cidrs")}
    return tuple(net for net in evidence.networks(fact) if net.version in families)


def _networks(entries: Iterable[str]) -> list[Network]:
    return [ipaddress.ip_network(entry, strict=False) for entry in entries]


def _inside(network: Network, others: Iterable[Network]) -> bool:
    return any(network.version == net.version and network.subnet_of(net) for net in others)  # type: ignore[arg-type]
