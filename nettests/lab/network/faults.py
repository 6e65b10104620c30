"""Rules that break packets, put into any namespace and taken out again.

One nft table per fault. Other modules decide which packets are affected, and where.
"""

import itertools
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from nettests.lab.interfaces import Namespace
from nettests.lab.network import nft
from nettests.lab.network.namespace import Worker
from nettests.lab.network.tables import Chain, Table, render

Undo = Callable[[], Awaitable[None]]
"""Ends a fault; the network is as it was before."""

ENTERING = "type filter hook prerouting priority -300"
"""Ahead of everything else that looks at packets, connection tracking too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drop:
    """A table in force; give it to ``LabFabric.clear``. ``table`` has nft's word for its family before the name."""

    namespace: Namespace
    table: str


class Faults:
    """Numbers the tables of a fabric. On the worker thread only."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)

    def drop(self, namespace: Namespace, nft_match: str) -> Drop:
        """Drop what enters ``namespace`` and matches; loopback traffic counts as entering."""
        return self.load(
            namespace, "ip", {"entering": Chain(hook=ENTERING, rules=(f"{nft_match} drop",))}
        )

    def load(
        self,
        namespace: Namespace,
        family: str,
        chains: Mapping[str, Chain],
        sets: Mapping[str, str] | None = None,
        timeouts: Mapping[str, tuple[str, ...]] | None = None,
    ) -> Drop:
        """Put chains, and the sets and timeouts that they use, into ``namespace`` as a table of their own."""
        table = Table(
            name=f"fault-{next(self._numbers)}",
            family=family,
            chains=chains,
            sets=sets or {},
            timeouts=timeouts or {},
        )
        nft.load(namespace.fd, render(table))
        return Drop(namespace=namespace, table=table.label)

    def clear(self, fault: Drop) -> None:
        """Take a table out; nothing happens when its namespace is gone or it was cleared before."""
        if fault.namespace.fd < 0:
            return
        nft.load(fault.namespace.fd, f"add table {fault.table}\ndelete table {fault.table}\n")


async def put(
    worker: Worker,
    faults: Faults,
    namespace: Namespace,
    *,
    family: str,
    chains: Mapping[str, Chain],
    sets: Mapping[str, str] | None = None,
    timeouts: Mapping[str, tuple[str, ...]] | None = None,
) -> Undo:
    """Put chains in force from the event loop; return what takes them out."""
    drop = await worker.run(lambda: faults.load(namespace, family, chains, sets, timeouts))

    async def undo() -> None:
        await worker.run(lambda: faults.clear(drop))

    return undo
