"""The NetworkPolicy of a run: which Pods may reach those that run commands for any client. Pure.

``deploy`` creates it before any Pod, if permitted; no check depends on it, and many clusters
enforce none. Servers, which must be reachable from anywhere, expose nothing else and are not
selected (decision 0028).
"""

import ipaddress
from collections.abc import Iterator, Mapping
from ipaddress import IPv4Network, IPv6Network

from nettests.model.check import Plan
from nettests.model.facts import Address, ClusterFacts, Network, NodeFacts
from nettests.model.json_text import Object
from nettests.model.labels import POLICY_LABEL, PURPOSE_LABEL, RUN_LABEL
from nettests.model.permission import isolating
from nettests.model.words import OS
from nettests.plan.pods import ALLOWED
from nettests.probes.objects import Blank

NAME = "nettests-probes"
PROBES = frozenset({"probe", "resolver"})
"""Purposes of the Pods that run a full netexec for the whole run; both have the first one's label."""
NODES_AT_MOST = 100
"""In larger clusters only the probe nodes are listed, because plugins turn each address into rules."""


def network_policies(plan: Plan, facts: ClusterFacts, blank: Blank) -> list[Object]:
    """Return the run's NetworkPolicy, if it has Pods to guard and may create one."""
    guarded = any(pod.purpose in PROBES for pod in plan.pods)
    if not (guarded and blank.isolated) or why_not_isolated(facts):
        return []
    run = {RUN_LABEL: blank.labels.get(RUN_LABEL, "")}  # preflight has no run
    peer = {"podSelector": {"matchLabels": run}}
    if not blank.existing:  # the run's own namespaces carry the label; an existing one does not
        peer = {"namespaceSelector": {"matchLabels": run}}
    return [
        {
            "apiVersion": "networking.k8s.io/v1",
            "kind": "NetworkPolicy",
            "metadata": {
                "name": NAME,
                "namespace": blank.namespace,
                "labels": dict(blank.labels),
            },
            "spec": {
                "podSelector": {"matchLabels": {**run, PURPOSE_LABEL: "probe"}},
                "policyTypes": ["Ingress"],
                "ingress": [{"from": [peer, *_node_blocks(plan, facts)]}],
            },
        }
    ]


def policy_of(pod: Object) -> Object | None:
    """Return the NetworkPolicy that selects a Pod of a single check, if there is one.

    It also selects Pods of the run's other checks that are denied or allowed the same.
    """
    metadata = pod["metadata"]
    labels: Mapping[str, str] = metadata.get("labels") or {}
    wanted = labels.get(POLICY_LABEL)
    if wanted is None:
        return None
    run = {RUN_LABEL: labels.get(RUN_LABEL, "")}
    servers = {"podSelector": {"matchLabels": {**run, PURPOSE_LABEL: "server"}}}
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {
            "name": metadata["name"],
            "namespace": metadata["namespace"],
            "labels": {key: text for key, text in labels.items() if key != POLICY_LABEL},
        },
        "spec": {
            "podSelector": {"matchLabels": {**run, POLICY_LABEL: wanted}},
            "policyTypes": ["Egress"],
            "egress": [{"to": [servers]}] if wanted == ALLOWED else [],
        },
    }


def path_of(policy: Object) -> str:
    """Return the API path of a NetworkPolicy."""
    metadata = policy["metadata"]
    folder = f"/apis/networking.k8s.io/v1/namespaces/{metadata['namespace']}/networkpolicies"
    return f"{folder}/{metadata['name']}"


def why_not_isolated(facts: ClusterFacts) -> str:
    """Return the missing permission to create the NetworkPolicy, or an empty string."""
    for permission in isolating(own_namespace=not facts.namespace):
        if str(permission) in facts.denied:
            return f"this identity may not {permission}"
    return ""


def _node_blocks(plan: Plan, facts: ClusterFacts) -> list[Object]:
    """Return peers for all node addresses: API servers and kubelets there connect to probes."""
    names = {pod.node for pod in plan.pods}
    few = len(facts.nodes) <= NODES_AT_MOST
    nodes = [node for node in facts.nodes if few or node.name in names]
    seen: set[Network] = {
        ipaddress.ip_network(address) for node in nodes for address in _seen_as(node)
    }
    seen |= {network for node in nodes if node.name in names for network in _hidden(node, facts)}
    collapsed: list[Network] = [
        *ipaddress.collapse_addresses(
            network for network in seen if isinstance(network, IPv4Network)
        ),
        *ipaddress.collapse_addresses(
            network for network in seen if isinstance(network, IPv6Network)
        ),
    ]
    return [{"ipBlock": {"cidr": str(network)}} for network in collapsed]


def _hidden(node: NodeFacts, facts: ClusterFacts) -> tuple[Network, ...]:
    """Return the networks that may hold a Windows node's source VIP, if that is unknown.

    Pods behind it reach other nodes' Pods through Services by its address (overlay, without DSR).
    """
    nothing_hidden = (
        node.kube_proxy.source_vip.value is not None or node.cni_driver.value == "l2bridge"
    )
    if node.os is not OS.WINDOWS or nothing_hidden:
        return ()
    return node.pod_cidrs or facts.pod_cidrs.value or ()


def _seen_as(node: NodeFacts) -> Iterator[Address]:
    """Yield the source addresses that a node may use towards Pods.

    They are its own, the source VIP, and the first of its pod CIDR: ``.0`` for a tunnel (Flannel's
    VXLAN device), ``.1`` for its bridge, and on Windows ``.2``, which HNS takes for the host.
    """
    yield from node.addresses
    for network in node.pod_cidrs:
        reserved = 3 if node.os is OS.WINDOWS else 2
        yield from (network[number] for number in range(min(reserved, network.num_addresses)))
    vip = node.kube_proxy.source_vip.value
    if vip is not None:
        yield vip
