"""Load the nft rules of a fault into a namespace, and remove them: one table for each fault.

Other modules decide which packets are affected, and where.
"""

import itertools
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from nettests.lab.interfaces import Namespace
from nettests.lab.network import nft
from nettests.lab.network.namespace import Worker
from nettests.lab.network.tables import Chain, Table, render

Undo = Callable[[], Awaitable[None]]
"""Clears a fault; the network is then as it was before."""

ENTERING = "type filter hook prerouting priority -300"
"""Before all other hooks, connection tracking included."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drop:
    """A loaded table, for ``LabFabric.clear``; ``table`` is nft's family word and the name."""

    namespace: Namespace
    table: str


class Faults:
    """Numbers the tables of a fabric. On the worker thread only."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)

    def drop(self, namespace: Namespace, nft_match: str) -> Drop:
        """Drop packets that enter ``namespace`` and match; loopback traffic counts as entering."""
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
        """Load chains, and the sets and timeouts that they use, into ``namespace`` as one table."""
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
        """Remove a table; no error if its namespace is gone or it was cleared before."""
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
    """Load chains from the event loop; return the undo."""
    drop = await worker.run(lambda: faults.load(namespace, family, chains, sets, timeouts))

    async def undo() -> None:
        await worker.run(lambda: faults.clear(drop))

    return undo
