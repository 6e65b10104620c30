"""Rules that restrict which connections pods may open, in the namespace that forwards for a node's pods.

The table is replaced as a whole. The policy agent chooses pods and destinations. Answers always pass, as with any
agent.
"""

from collections.abc import Mapping, Sequence

from nettests.lab.interfaces import Allowed
from nettests.lab.network import nft
from nettests.lab.network.namespace import NetworkNamespace, Worker
from nettests.lab.network.tables import Chain, Table, render
from nettests.lab.topology import Address

_BEFORE_TRANSLATION = "type filter hook prerouting priority -140"
"""After connection tracking, which knows new connections, and before Services are translated."""


class Policies:
    """The tables of a fabric's nodes; ``forwarding`` are their namespaces by name."""

    def __init__(self, forwarding: Mapping[str, NetworkNamespace], worker: Worker) -> None:
        self._forwarding = forwarding
        self._worker = worker

    async def enforce(self, node: str, allowed: Allowed) -> None:
        """Allow the restricted pods of a node only the connections in ``allowed``."""
        new_table = table(allowed)
        text = f"add table {new_table.label}\ndelete table {new_table.label}\n{render(new_table)}"
        await self._worker.run(lambda: nft.load(self._forwarding[node].fd, text))


def table(allowed: Allowed) -> Table:
    """Return the table that restricts these pods, for IPv4 only."""
    rules = tuple(
        _rule(pod, places) for pod, places in sorted(allowed.items(), key=str) if pod.version == 4
    )
    return Table(
        name="network-policies", chains={"leaving": Chain(hook=_BEFORE_TRANSLATION, rules=rules)}
    )


def _rule(pod: Address, places: Sequence[Address]) -> str:
    destinations = ", ".join(str(place) for place in places if place.version == 4)
    beyond = f" ip daddr != {{ {destinations} }}" if destinations else ""
    return f"ct state new ip saddr {pod}{beyond} drop"
