"""Load the nft rules of a fault into a namespace, and remove them: one table for each fault.

Other modules decide which packets are affected, and where.
"""

import itertools
from collections.abc import Awaitable, Callable, Mapping

from nettests.lab.interfaces import Namespace
from nettests.lab.network import nft
from nettests.lab.network.namespace import Worker
from nettests.lab.network.tables import Chain, Table, render

Undo = Callable[[], Awaitable[None]]
"""Clears a fault; the network is then as it was before."""

ENTERING = "type filter hook prerouting priority -300"
"""Before all other hooks, connection tracking included."""


class Faults:
    """Numbers the tables of a fabric. On the worker thread only."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)

    def load(
        self,
        namespace: Namespace,
        family: str,
        chains: Mapping[str, Chain],
        sets: Mapping[str, str] | None = None,
        timeouts: Mapping[str, tuple[str, ...]] | None = None,
    ) -> str:
        """Load chains, and the sets and timeouts that they use, as one table; return its family and name."""
        table = Table(
            name=f"fault-{next(self._numbers)}",
            family=family,
            chains=chains,
            sets=sets or {},
            timeouts=timeouts or {},
        )
        nft.load(namespace.fd, render(table))
        return table.label

    def clear(self, namespace: Namespace, table: str) -> None:
        """Remove a table; no error if its namespace is gone or it was cleared before."""
        if namespace.fd >= 0:
            nft.load(namespace.fd, f"add table {table}\ndelete table {table}\n")


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
    table = await worker.run(lambda: faults.load(namespace, family, chains, sets, timeouts))

    async def undo() -> None:
        await worker.run(lambda: faults.clear(namespace, table))

    return undo
