"""A fabric in a child process, as tests use it.

Answers are sentences: ``<who answered> sees <source address>``, ``refused``, ``timed out``, and for
ICMP ``replied ttl <n>``.
"""

import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from nettests.lab.interfaces import PortMapping
from nettests.lab.network.alterations import Which
from nettests.lab.network.conntrack import Flow
from nettests.lab.network.packets import Packets
from nettests.lab.topology import Profile, ServicePort
from tests.lab.network.requests_of_pods import Ask

_ROOT = Path(__file__).parents[3]


class Laboratory:
    """Sends requests to the child and waits for the answers."""

    def __init__(self, child: "subprocess.Popen[bytes]") -> None:
        self.child = child

    def _call(self, method: str, *arguments: Any) -> Any:
        assert self.child.stdin is not None
        assert self.child.stdout is not None
        pickle.dump((method, arguments), self.child.stdin)
        self.child.stdin.flush()
        status, value = pickle.load(self.child.stdout)
        if status == "error":
            raise AssertionError(f"in the isolated child:\n{value}")
        return value

    def attach(self, node: str, name: str) -> str:
        """Add a pod that serves; return its address."""
        return str(self._call("attach", node, name))

    def attach_dual(self, node: str, name: str) -> tuple[str, str | None]:
        """Add a pod that serves; return its addresses, the second one if it has any."""
        first, second = self._call("attach_dual", node, name)
        return first, second

    def attach_mapped(self, node: str, name: str, *mappings: PortMapping) -> str:
        """Add a pod that serves, with host ports; return its address."""
        return str(self._call("attach_mapped", node, name, mappings))

    def first_datagrams(self, node: str, pods: int) -> list[bool]:
        """Send a datagram to each of so many new pods as soon as it is attached; return which of them came."""
        return list(self._call("first_datagrams", node, pods))

    def attach_bare(self, node: str, name: str) -> str:
        """Add a pod that does not serve anything; return its address."""
        return str(self._call("attach_bare", node, name))

    def open_line(self, source: str, server: str, address: str, port: int) -> int:
        """Connect to a server in ``server`` that sends everything back; return the line's number."""
        return int(self._call("open_line", source, server, address, port))

    def say(self, line: int, text: str) -> str:
        """Send a word over a line; return what comes back."""
        return str(self._call("say", line, text))

    def forgets(self, where: str, port: int) -> None:
        """Wait until no flow to ``port`` is remembered in a namespace."""
        self._call("forgets", where, port)

    def detach(self, node: str, name: str) -> None:
        """Remove a pod."""
        self._call("detach", node, name)

    def serve(self, where: str, port: int) -> None:
        """Serve on a node or outside."""
        self._call("serve", where, port)

    def program(self, *services: ServicePort) -> None:
        """Program the Services on all nodes."""
        self._call("program", tuple(sorted(services, key=lambda service: service.key)))

    def announce(self, addresses: dict[str, str]) -> None:
        """Have the gateway deliver these addresses to the nodes of those."""
        self._call("announce", addresses)

    def hold(self, where: str, address: str) -> None:
        """Give a pod or a node one more address."""
        self._call("hold", where, address)

    def suppress(self, node: str, *keys: str) -> None:
        """Leave these Services' rules missing on a node."""
        self._call("suppress", node, frozenset(keys))

    def restore(self, node: str) -> None:
        """End ``suppress``."""
        self._call("restore", node)

    def drop(self, where: str, match: str) -> int:
        """Drop what enters a namespace and matches."""
        return int(self._call("drop", where, match))

    def clear(self, number: int) -> None:
        """End a ``drop``."""
        self._call("clear", number)

    def fault(self, part: str, method: str, *arguments: Any, **options: Any) -> int:
        """Put a fault of ``wire_faults`` or ``node_faults`` in force."""
        return int(self._call("fault", part, method, arguments, options))

    def silence(self, where: str, packets: Packets, rate: float = 1) -> int:
        """Lose what enters a namespace."""
        return int(self._call("silence", where, packets, rate))

    def mend(self, number: int) -> None:
        """End a ``fault`` or a ``idle_connection``."""
        self._call("mend", number)

    def alter(self, node: str, name: str, which: Which) -> None:
        """Let a node's service proxy get one thing of ``alterations`` wrong; nothing with an empty name."""
        self._call("alter", node, name, which)

    def rewrite_sources(self, node: str, *, always: bool) -> None:
        """Let a node's load balancers rewrite sources although they were queried not to."""
        self._call("rewrite_sources", node, always)

    def arrivals(self, source: str, target: str, address: str, count: int) -> list[int]:
        """Send numbered datagrams; return the numbers in the order in which they arrive."""
        return list(self._call("arrivals", source, target, address, count))

    def nft(self, where: str, ruleset: str) -> str:
        """Load rules by hand."""
        return str(self._call("nft", where, ruleset))

    def send_all(self, *requests_sent: Ask) -> list[str]:
        """Query at the same time; return the answers in order."""
        return list(self._call("request", requests_sent))

    def request(
        self,
        source: str,
        address: str,
        port: int = 8080,
        protocol: str = "tcp",
        *,
        source_port: int = 0,
    ) -> str:
        """Query once."""
        request = Ask(
            source=source, address=address, port=port, protocol=protocol, source_port=source_port
        )
        return self.send_all(request)[0]

    def remembered(self, where: str, version: int = 4, *destinations: bytes) -> list[Flow]:
        """Return the flows that connection tracking remembers in a namespace."""
        return list(self._call("remembered", where, version, destinations))

    def send(self, where: str, address: str, ports: range) -> None:
        """Send a datagram to each of these ports."""
        self._call("send", where, address, ports)

    def capture(self, where: str, link: str, *requests_sent: Ask) -> list[bytes]:
        """Return the frames on a link while querying."""
        return list(self._call("capture", where, link, requests_sent))

    def links(self, where: str) -> list[str]:
        """Return the names of a namespace's links."""
        return list(self._call("links", where))

    def describe(self) -> dict[str, Any]:
        """Return what ``LabFabric.describe`` does."""
        return dict(self._call("describe"))

    def nodes(self) -> list[str]:
        """Return the names of the nodes."""
        return list(self._call("nodes"))

    def inodes(self) -> list[int]:
        """Return the inodes of the lab's namespaces."""
        return list(self._call("inodes"))

    def work_done(self) -> tuple[int, int]:
        """Return the numbers of netlink requests and of nft runs so far."""
        requests, runs = self._call("work_done")
        return requests, runs

    def open_descriptors(self) -> int:
        """Return how many descriptors the child has open."""
        return int(self._call("open_descriptors"))

    def close_fabric(self) -> None:
        """Close the fabric; the child lives on."""
        self._call("close")


@contextmanager
def laboratory(profile: Profile) -> Iterator[Laboratory]:
    """Start a child with the profile's fabric; end it afterwards."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(_ROOT), *filter(None, sys.path)]),
    }
    command = [sys.executable, "-W", "error", "-m", "tests.lab.network.isolated_lab"]
    child = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, cwd="/"
    )
    with child:
        assert child.stdin is not None
        pickle.dump(profile, child.stdin)
        child.stdin.flush()
        try:
            yield Laboratory(child)
        finally:
            child.kill()
