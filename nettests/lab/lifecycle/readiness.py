"""Wait until a lab is ready: nodes and system pods Ready, and the DNS Service programmed on every node.

It watches the API, and service proxies report each table that they have programmed.
"""

import asyncio
from collections.abc import Callable

from nettests.lab.client import Client, Json
from nettests.lab.client.informer import Informer, has_condition
from nettests.lab.errors import StartError
from nettests.lab.installers import plugin_objects
from nettests.lab.topology import Profile, ServiceTable

_SECONDS = 60
_SECONDS_A_NODE = 0.5
"""Additional seconds for each node, for large labs on a busy machine."""
_GATHER = 0.02
"""Seconds in which changes are gathered, because each check goes through all Pods."""
_DNS = "kube-system/kube-dns:dns"


class Readiness:
    """Follows one lab's start."""

    def __init__(self, profile: Profile) -> None:
        self._profile = profile
        self._resolving: set[str] = set()
        self._changed = asyncio.Event()
        self._dns_pod: tuple[str, str] | None = None
        self._nodes: dict[str, Json] = {}
        self._pods: dict[str, Json] = {}
        self._daemons = [daemon.os for daemon in plugin_objects.daemons(profile)]

    def programmed(self, node: str, table: ServiceTable) -> None:
        """Record a table that a node's service proxy has programmed."""
        if node not in self._resolving and any(
            port.key == _DNS and port.backends for port in table
        ):
            self._resolving.add(node)
        self._changed.set()

    def dns_pod(self) -> tuple[str, str]:
        """Return uid and node of the DNS pod that became ready."""
        if self._dns_pod is None:
            raise RuntimeError("the lab is not ready yet")
        return self._dns_pod

    async def wait(self, client: Client, done: Callable[[str], None]) -> None:
        """Wait until the lab is ready; ``StartError`` after a minute or more says what is missing."""
        nodes = Informer(client, "/api/v1/nodes")
        pods = Informer(client, "/api/v1/pods")
        self._nodes, self._pods = nodes.objects, pods.objects
        for informer in (nodes, pods):
            informer.subscribe(lambda _key, _old, _new: self._changed.set())
        running = [asyncio.create_task(informer.run()) for informer in (nodes, pods)]
        seconds = _SECONDS + _SECONDS_A_NODE * len(self._profile.nodes)
        try:
            async with asyncio.timeout(seconds):
                await self._until(self._missing_nodes)
                done("nodes")
                await self._until(self._missing_pods)
                done("system pods")
                await self._until(self._missing_dns)
        except TimeoutError as error:
            missing = [*self._missing_nodes(), *self._missing_pods(), *self._missing_dns()]
            raise StartError(
                f"The lab is not ready after {seconds:g} s; waiting for {', '.join(missing[:5])}."
            ) from error
        finally:
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)
        for pod in pods.objects.values():
            if (pod["metadata"].get("labels") or {}).get("k8s-app") == "kube-dns":
                self._dns_pod = (pod["metadata"]["uid"], pod["spec"]["nodeName"])

    async def _until(self, missing: Callable[[], list[str]]) -> None:
        while missing():
            self._changed.clear()
            await self._changed.wait()
            await asyncio.sleep(_GATHER)

    def _missing_nodes(self) -> list[str]:
        ready = {name for name, node in self._nodes.items() if has_condition(node, "Ready")}
        return [f"node {n.name}" for n in self._profile.nodes if n.name not in ready]

    def _missing_pods(self) -> list[str]:
        """Return the system pods that are not ready, or a placeholder if not all exist yet."""
        system = {"kube-system", *plugin_objects.namespaces(self._profile)}
        system_pods = [p for p in self._pods.values() if p["metadata"]["namespace"] in system]
        unready = [p["metadata"]["name"] for p in system_pods if not has_condition(p, "Ready")]
        proxy = self._profile.kube_proxy
        without = [n for n in self._profile.nodes if proxy.runs_no_pod(n.os)]
        plugins = sum(self._daemons.count(node.os) for node in self._profile.nodes)
        expected = plugins + len(self._profile.nodes) - len(without) + 1
        return unready or (["system pods"] if len(system_pods) < expected else [])

    def _missing_dns(self) -> list[str]:
        nodes = [n.name for n in self._profile.nodes if n.name not in self._resolving]
        return [f"rules of kube-dns on {name}" for name in nodes]
