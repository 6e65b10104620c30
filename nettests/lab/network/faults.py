"""Load the nft rules of a fault into a namespace, and remove them: one table for each fault.

Other modules decide which packets are affected, and where.
"""

import itertools
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any

from nettests.lab.interfaces import Namespace
from nettests.lab.network import nft
from nettests.lab.network.namespace import Worker
from nettests.lab.network.tables import Chain, Table, render

Undo = Callable[[], Awaitable[None]]
"""Clears a fault; the network is then as it was before."""

ENTERING = "type filter hook prerouting priority -300"
"""Before all other hooks, connection tracking included."""


class Faults:
    """The tables of a fabric's faults, with numbers in their names."""

    def __init__(self, worker: Worker) -> None:
        self.worker = worker
        self._numbers = itertools.count(1)

    async def put(
        self, namespace: Namespace, family: str, chains: Mapping[str, Chain], **more: Any
    ) -> Undo:
        """Load chains, and ``sets`` and ``timeouts`` that they use, as one table; return the undo."""
        table = Table(name=f"fault-{next(self._numbers)}", family=family, chains=chains, **more)
        await self.worker.run(lambda: nft.load(namespace.fd, render(table)))

        def clear() -> None:
            if namespace.fd >= 0:  # otherwise the table is gone with its namespace
                nft.load(namespace.fd, table.removal)

        return partial(self.worker.run, clear)
