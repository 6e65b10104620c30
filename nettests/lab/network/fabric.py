"""The whole emulated network of a profile: underlay, gateway, outside, nodes.

Built in a process that ``isolation.enter_isolated_namespaces`` has put into namespaces of its own.
Nothing connects it to the machine's network. It knows neither the API nor what pods run.
"""

import os
from collections.abc import Mapping
from typing import Any

from nettests.lab.interfaces import Allowed, Namespace
from nettests.lab.network import nft
from nettests.lab.network.faults import Faults
from nettests.lab.network.linux_node import build_linux_node
from nettests.lab.network.namespace import Worker
from nettests.lab.network.node import Node
from nettests.lab.network.node_faults import NodeFaults
from nettests.lab.network.tables import Chain, Table, render
from nettests.lab.network.underlay import Underlay, build_underlay, deliver
from nettests.lab.network.windows_node import build_windows_node
from nettests.lab.network.wire_faults import WireFaults
from nettests.lab.topology import OS, Address, Profile

_BEFORE_TRANSLATION = "type filter hook prerouting priority -140"
"""After connection tracking, which identifies new connections, and before Services are translated."""


class LabFabric:
    """The network of one lab; see ``create_fabric``."""

    def __init__(
        self, profile: Profile, underlay: Underlay, nodes: Mapping[str, Node], worker: Worker
    ) -> None:
        self.profile = profile
        self.nodes = nodes
        self.outside_server: Namespace = underlay.outside_server
        self.outside_client: Namespace = underlay.outside_client
        self._underlay = underlay
        self._worker = worker
        faults = Faults(worker)
        self.wire_faults = WireFaults(profile, underlay, faults)
        self._forwarding = {name: node.forwarding for name, node in nodes.items()}
        self.node_faults = NodeFaults(profile, self._forwarding, faults)
        self._announced: dict[Address, Address] = {}

    async def announce(self, addresses: Mapping[Address, Address]) -> None:
        """Have the gateway route each address (key) to a node (value), as for load balancers.

        Addresses that were announced before and are missing now are no longer routed.
        """
        wanted, before = dict(addresses), self._announced
        self._announced = wanted
        await self._worker.run(lambda: deliver(self._underlay, before, wanted))

    async def enforce(self, node: str, allowed: Allowed) -> None:
        """Allow the pods of a node that NetworkPolicies restrict only the connections in ``allowed``."""
        table = policies_table(allowed)
        text = table.removal + render(table)
        await self._worker.run(lambda: nft.load(self._forwarding[node].fd, text))

    def describe(self) -> dict[str, Any]:
        """Return the process id, and descriptors of all namespaces by name (``win-1/switch``).

        To enter one: ``nsenter --user=/proc/PID/ns/user --net=/proc/PID/fd/FD``.
        """
        namespaces = {namespace.name: namespace.fd for namespace in self._underlay.namespaces()}
        for name, node in self.nodes.items():
            namespaces[f"{name}/host"] = node.host.fd
            if node.switch is not None:
                namespaces[f"{name}/switch"] = node.switch.fd
            pods = node.pod_namespaces().items()
            namespaces |= {f"{name}/pod/{uid}": namespace.fd for uid, namespace in pods}
        return {"pid": os.getpid(), "namespaces": namespaces}

    async def close(self) -> None:
        """Release every namespace; the kernel then removes links, rules and flows."""
        for node in self.nodes.values():
            await node.stop()
        for node in self.nodes.values():
            await self._worker.run(node.close)
        await self._worker.run(self._underlay.close)
        self._worker.stop()


async def create_fabric(profile: Profile) -> LabFabric:
    """Build the network of ``profile``.

    Raises ``NftError`` without nft, and pyroute2's ``NetlinkError`` outside isolated namespaces.
    """
    worker = Worker()
    try:
        return await worker.run(lambda: _build(profile, worker))
    except BaseException:
        worker.stop()
        raise


def _build(profile: Profile, worker: Worker) -> LabFabric:
    underlay = build_underlay(profile)
    nodes: dict[str, Node] = {}
    try:
        for spec in profile.nodes:
            build = build_windows_node if spec.os is OS.WINDOWS else build_linux_node
            nodes[spec.name] = build(spec, profile, underlay, worker)
    except BaseException:
        for node in nodes.values():
            node.close()
        underlay.close()
        raise
    return LabFabric(profile, underlay, nodes, worker)


def policies_table(allowed: Allowed) -> Table:
    """Return the table that restricts these pods to allowed destinations, for IPv4 only; replies always pass.

    The policy agent chooses pods and destinations.
    """
    rules = []
    for pod, places in sorted(allowed.items(), key=str):
        if pod.version == 4:
            destinations = ", ".join(str(place) for place in places if place.version == 4)
            beyond = f" ip daddr != {{ {destinations} }}" if destinations else ""
            rules.append(f"ct state new ip saddr {pod}{beyond} drop")
    leaving = Chain(hook=_BEFORE_TRANSLATION, rules=tuple(rules))
    return Table(name="network-policies", chains={"leaving": leaving})
