"""The agent that binds pods by NetworkPolicies, as plugins have one: what pods may begin to send, node by node.

Of policies those of type Egress are known, with peers that are pods of the policy's own namespace, at all ports. What
comes in is not bound (LIMITS).
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
"""Tells a node of all of its pods that are bound, and where each may begin to send."""


class PolicyAgent:
    """Follows policies and pods, and tells each of ``nodes`` what has changed for it."""

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
    """Return by node which pods are bound, and the pods that each may begin to send to."""
    binding = [policy for policy in policies if "Egress" in policy["spec"].get("policyTypes", ())]
    there = [pod for pod in pods if _addresses(pod)]
    bound_by_node: dict[str, dict[Address, list[Address]]] = {}
    for pod in there:
        pod_policies = [policy for policy in binding if _binds(policy, pod)]
        if not pod_policies:
            continue
        peers = [peer for peer in there if any(_lets_to(policy, peer) for policy in pod_policies)]
        places = sorted({address for peer in peers for address in _addresses(peer)}, key=str)
        node = bound_by_node.setdefault(str(pod["spec"]["nodeName"]), {})
        node |= dict.fromkeys(_addresses(pod), places)
    return bound_by_node


def _binds(policy: Json, pod: Json) -> bool:
    same = policy["metadata"]["namespace"] == pod["metadata"]["namespace"]
    return same and selected(policy["spec"].get("podSelector") or {}, pod)


def _lets_to(policy: Json, peer: Json) -> bool:
    """Whether a rule of a policy names the pods of its namespace that ``peer`` is one of; one without peers names all."""
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
    """Return the addresses of a pod in the pod network; one on its node's network is bound by none."""
    if pod["spec"].get("hostNetwork") or not pod["spec"].get("nodeName"):
        return []
    return [ip_address(pod_ip["ip"]) for pod_ip in pod.get("status", {}).get("podIPs") or ()]
