"""Traffic drops that can be put into any namespace and taken out again.

One nft table per fault, ahead of everything else that looks at packets entering the namespace.
Which fault means what (DNS down, a dead backend) is the supervisor's business.
"""

import itertools
from dataclasses import dataclass

from nettests.lab.interfaces import Namespace
from nettests.lab.network import nft


@dataclass(frozen=True, slots=True, kw_only=True)
class Drop:
    """A drop in force; give it to ``Fabric.clear``."""

    namespace: Namespace
    table: str


class Faults:
    """Numbers the drops of a fabric. On the worker thread only."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)

    def drop(self, namespace: Namespace, nft_match: str) -> Drop:
        """Drop what enters ``namespace`` and matches; loopback traffic counts as entering."""
        fault = Drop(namespace=namespace, table=f"fault-{next(self._numbers)}")
        nft.load(
            namespace.fd,
            f"table ip {fault.table} {{\n"
            " chain entering {\n"
            "  type filter hook prerouting priority -300; policy accept;\n"
            f"  {nft_match} drop\n"
            " }\n"
            "}\n",
        )
        return fault

    def clear(self, fault: Drop) -> None:
        """Take a drop out; nothing happens when its namespace is gone or it was cleared before."""
        if fault.namespace.fd < 0:
            return
        nft.load(
            fault.namespace.fd,
            f"add table ip {fault.table}\ndelete table ip {fault.table}\n",
        )
