"""Tell what a cluster does not offer to Services from what went wrong. Pure.

Used by ``deploy``. On a cluster without load balancers, or whose admission rejects externalIPs, the
checks are skipped with the reason. If only some Services lack it, their checks are unknown.
"""

import ipaddress
from collections.abc import Iterator, Mapping

from nettests.model.check import Plan
from nettests.model.facts import ClusterFacts, Network
from nettests.model.json_text import Object
from nettests.model.service import LOAD_BALANCER
from nettests.probes.deployment import ingress_of

_PROXY = "Proxy"


def without_external_ips(
    plan: Plan, manifests: list[Object], facts: ClusterFacts, network: Network
) -> dict[str, str]:
    """Return the Services that get no externalIP, with the reason.

    An address that may be in use is never taken, because untranslated packets leave the node.
    """
    wanted = [service.name for service in plan.services if service.settings.external_ip]
    for other, whose in _networks(facts):
        if network.version == other.version and network.overlaps(other):
            why = f"the range of externalIPs, {network}, overlaps {whose}, {other}"
            return dict.fromkeys(wanted, f"{why}: state another one in the cluster profile")
    names = {item["metadata"]["name"] for item in manifests}
    why = f"the range of externalIPs, {network}, holds too few addresses"
    return {name: why for name in wanted if name not in names}


def forbidden_services(plan: Plan, forbidden: Mapping[str, str]) -> dict[str, str]:
    """Return the externally reachable Services that this cluster forbids, with the reason."""
    return {
        service.name: forbidden[service.name]
        for service in plan.services
        if service.name in forbidden
        and (service.settings.external_ip or service.settings.type == LOAD_BALANCER)
    }


def unbalanced(
    services: Mapping[str, Object], seconds: float
) -> tuple[dict[str, str], dict[str, str]]:
    """Return Services whose load balancers cannot be probed: those not offered, those missing."""
    ingresses = {name: ingress_of(service) for name, service in services.items()}
    if not any(ingresses.values()):
        why = f"the cluster assigned no load balancer within {seconds:g} s"
        return dict.fromkeys(ingresses, why), {}
    declined = {name: why for name, entries in ingresses.items() if (why := _not_served(entries))}
    missing = {
        name: f"it was assigned no address within {seconds:g} s, while others were"
        for name, entries in ingresses.items()
        if not entries
    }
    return declined, missing


def _not_served(entries: list[Object]) -> str:
    """Return why nodes have no rules for a load balancer's ingress, or an empty string."""
    if not entries:
        return ""
    addresses = [entry for entry in entries if entry.get("ip")]
    if not addresses:
        return f"its load balancer has a name, {entries[0].get('hostname')}, and no address"
    if all(entry.get("ipMode") == _PROXY for entry in addresses):
        return "its load balancer serves its address itself (ipMode Proxy), and nodes do not"
    return ""


def _networks(facts: ClusterFacts) -> Iterator[tuple[Network, str]]:
    for network in facts.pod_cidrs.value or ():
        yield network, "the pods' network"
    for network in facts.service_cidrs.value or ():
        yield network, "the Services' network"
    for node in facts.nodes:
        for address in node.addresses:
            yield ipaddress.ip_network(address), f"the address of {node.name}"
        for network in node.pod_cidrs:
            yield network, f"the pods' network of {node.name}"
    external = facts.external_target
    if external is not None and external.address is not None:
        yield ipaddress.ip_network(external.address), "the external target"
