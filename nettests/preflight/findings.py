"""All findings of preflight, in reading order."""

from nettests.preflight.cluster import (
    address_families,
    components,
    distribution,
    network_plugin,
    reachability,
    versions,
)
from nettests.preflight.evidence import Evidence, Finding
from nettests.preflight.machines import host_process, images, node_vantages, nodes, taints
from nettests.preflight.rights import permissions
from nettests.preflight.space import exposure, leftovers, pod_security, privileged, quota
from nettests.preflight.webhooks import webhooks

TOPICS = (
    *(reachability, distribution, versions, network_plugin, address_families, permissions),
    *(pod_security, privileged, webhooks, nodes, taints, images, host_process, node_vantages),
    *(components, quota, leftovers, exposure),
)


def findings(evidence: Evidence) -> tuple[Finding, ...]:
    """Decide on every topic; each has one finding, even if all is well."""
    return tuple(decide(evidence) for decide in TOPICS)
