"""A network plugin's NetworkPolicy agent: which connections the pods of each node may open.

It enforces policies of type Egress, with peers that are pods of the policy's own namespace, at all ports. Ingress
is not restricted (LIMITS).
"""

from collections.abc import Awaitable, Callable, Iterable
from ipaddress import ip_address

from nettests.lab.client import Client, Json
from nettests.lab.client.informer import Informer, work_after_changes
from nettests.lab.controllers.scheduling import selected
from nettests.lab.interfaces import Allowed
from nettests.lab.topology import Address

_GATHER = 0.02

Enforce = Callable[[str, Allowed], Awaitable[None]]
"""Gives a node its restricted pods, and the addresses that each may open connections to."""


class PolicyAgent:
    """Watches policies and pods, and enforces changes on each of ``nodes``."""

    def __init__(self, client: Client, nodes: Iterable[str], enforce: Enforce) -> None:
        self._nodes = tuple(nodes)
        self._enforce = enforce
        self._policies = Informer(client, "/apis/networking.k8s.io/v1/networkpolicies")
        self._pods = Informer(client, "/api/v1/pods")
        self._enforced: dict[str, Allowed] = {}

    async def run(self) -> None:
        """Follow the API until cancelled."""
        await work_after_changes((self._policies, self._pods), _GATHER, self._enforce_changes)

    async def _enforce_changes(self) -> None:
        bound = bindings(self._policies.objects.values(), self._pods.objects.values())
        for node in self._nodes:
            wanted = bound.get(node, {})
            if wanted != self._enforced.get(node, {}):
                await self._enforce(node, wanted)
                self._enforced[node] = wanted


def bindings(
    policies: Iterable[Json], pods: Iterable[Json]
) -> dict[str, dict[Address, list[Address]]]:
    """Return the restricted pods by node, and the addresses that each may open connections to."""
    binding = [policy for policy in policies if "Egress" in policy["spec"].get("policyTypes", ())]
    there = [pod for pod in pods if _addresses(pod)]
    bound_by_node: dict[str, dict[Address, list[Address]]] = {}
    for pod in there:
        pod_policies = [policy for policy in binding if _selects(policy, pod)]
        if not pod_policies:
            continue
        peers = [peer for peer in there if any(_allows(policy, peer) for policy in pod_policies)]
        places = sorted({address for peer in peers for address in _addresses(peer)}, key=str)
        node = bound_by_node.setdefault(str(pod["spec"]["nodeName"]), {})
        node |= dict.fromkeys(_addresses(pod), places)
    return bound_by_node


def _selects(policy: Json, pod: Json) -> bool:
    same = policy["metadata"]["namespace"] == pod["metadata"]["namespace"]
    return same and selected(policy["spec"].get("podSelector") or {}, pod)


def _allows(policy: Json, peer: Json) -> bool:
    """Whether an egress rule of the policy selects ``peer``; a rule without peers selects all pods."""
    for rule in policy["spec"].get("egress") or ():
        if not rule.get("to"):
            return True
        same = policy["metadata"]["namespace"] == peer["metadata"]["namespace"]
        named = (
            rule_peer["podSelector"]
            for rule_peer in rule["to"]
            if set(rule_peer) == {"podSelector"}
        )
        if same and any(selected(selector, peer) for selector in named):
            return True
    return False


def _addresses(pod: Json) -> list[Address]:
    """Return a pod's addresses in the pod network; policies do not apply to hostNetwork pods."""
    if pod["spec"].get("hostNetwork") or not pod["spec"].get("nodeName"):
        return []
    return [ip_address(pod_ip["ip"]) for pod_ip in pod.get("status", {}).get("podIPs") or ()]
