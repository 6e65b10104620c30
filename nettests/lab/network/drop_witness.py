"""Packets that the rules of a namespace drop, as the kernel reports them: nft traces over netlink.

``meta nftrace`` marks packets, and for each rule that such a packet meets the kernel reports table, chain and
verdict, with the packet's current headers: a drop is attributed to the rule that made it. Drops elsewhere in the
kernel (no route, a full queue) are not reported, because tracepoints and the drop monitor (NET_DM) are not bound to a
namespace. This module maps chains to causes; ``programs.windows.pktmon`` words them.

Sources: Linux, ``include/uapi/linux/netfilter/nf_tables.h`` (``nft_trace_attributes``), ``nfnetlink.h``;
``net/netfilter/nf_tables_trace.c``.
"""

import asyncio
import errno
import fcntl
import socket
import struct
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace

from nettests.lab.interfaces import DropCause, Dropped, Namespace
from nettests.lab.network import nft
from nettests.lab.network.netlink_messages import GENERIC, attributes, messages
from nettests.lab.network.tables import Chain, Table, render

_NETFILTER, _GROUP = 12, 1 << (9 - 1)
"""``NETLINK_NETFILTER`` and, as a mask, ``NFNLGRP_NFTRACE``."""
_TRACE = 10 << 8 | 17
"""``NFNL_SUBSYS_NFTABLES`` and ``NFT_MSG_TRACE``."""
_TABLE, _CHAIN, _TYPE, _VERDICT, _ID = 1, 2, 4, 5, 6
_LINK, _NETWORK, _TRANSPORT, _INPUT = 7, 8, 9, 10
_POLICY = 16
_OF_POLICY = 1
_CODE, _DROP = 1, 0
_SIOCGIFNAME = 0x8910
_BUFFER = 4 * 1024 * 1024
_REMEMBERED = 512
"""Packets whose headers are kept until their verdict: the kernel reports them once for each base chain."""
_FIRST = "type filter hook prerouting priority -400"
"""Ahead of faults and connection tracking."""
_WITNESS = Table(name="packet-monitor", family="inet")


def _witness_table(ports: Collection[int]) -> Table:
    """Return the table that marks packets for tracing: those with these ports and ICMP, or all without ports."""
    listed = f"{{ {', '.join(map(str, sorted(ports)))} }}"
    which = (
        f"meta l4proto {{ tcp, udp }} th sport {listed} ",
        f"meta l4proto {{ tcp, udp }} th dport {listed} ",
        "meta l4proto { icmp, ipv6-icmp } ",
    )
    rules = tuple(f"{packets}meta nftrace set 1" for packets in (which if ports else ("",)))
    return replace(_WITNESS, chains={"marked": Chain(hook=_FIRST, rules=rules)})


_OF_CHAINS: Mapping[tuple[str, str], DropCause] = {
    ("vfp", "untranslated"): DropCause.NO_DESTINATION,
    ("vfp", "provider-addresses"): DropCause.FOREIGN_ADDRESS,
    ("ageing", "forgotten"): DropCause.NO_FLOW,
    ("network-policies", "leaving"): DropCause.POLICY,
    ("fault", "remembered"): DropCause.NO_FLOW,
    ("fault", "bounding"): DropCause.NO_ROOM,
    ("fault", "hairpins"): DropCause.NO_DESTINATION,
}
_REFUSING = frozenset({("hns", "without-backends")})
"""Chains that answer with a refusal instead of dropping silently."""


def _cause_of(table: str, chain: str) -> DropCause | None:
    """Return why a chain drops packets; ``None`` for a chain that refuses them."""
    kind = "fault" if table.startswith("fault-") else table
    if (kind, chain) in _REFUSING:
        return None
    if kind == "hns":  # a policy's one rule that drops keeps sources out (loadBalancerSourceRanges)
        return DropCause.POLICY
    return _OF_CHAINS.get((kind, chain), DropCause.UNKNOWN)


@dataclass(slots=True)
class _Headers:
    """The headers of a packet as the kernel last reported them, and its input interface."""

    data: bytes
    ethernet: bool
    interface: int


@dataclass(slots=True)
class DropWitness:
    """Calls ``take`` with each packet that a rule of the namespace drops, from ``begin`` to ``end``."""

    namespace: Namespace
    take: Callable[[Dropped], None]
    _socket: socket.socket | None = None
    _packets: dict[bytes, _Headers] = field(default_factory=dict)

    def load(self, ports: Collection[int]) -> None:
        """Start marking packets. On the worker thread only."""
        nft.load(self.namespace.fd, _WITNESS.removal + render(_witness_table(ports)))

    def unload(self) -> None:
        """Stop marking packets; no error if the namespace is gone. On the worker thread only."""
        if self.namespace.fd >= 0:
            nft.load(self.namespace.fd, _WITNESS.removal)

    def begin(self) -> None:
        """Start listening; call it before ``load``, so that no drop is missed."""
        self._socket = self.namespace.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETFILTER)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER)
        self._socket.bind((0, _GROUP))
        asyncio.get_running_loop().add_reader(self._socket, self._read)

    def end(self) -> None:
        """Read the reports that are waiting, then stop listening."""
        if self._socket is not None:
            asyncio.get_running_loop().remove_reader(self._socket)
            self._read()
            self._socket.close()
            self._socket = None

    def _read(self) -> None:
        while self._socket is not None:
            try:
                data = self._socket.recv(_BUFFER)
            except BlockingIOError:
                return
            except OSError as error:
                # ENOBUFS: reports came faster than they were read; some drops are lost.
                if error.errno != errno.ENOBUFS:
                    raise
                continue
            for kind, _, start, end in messages(data):
                if kind == _TRACE:
                    self._read_trace(_values(data, start + GENERIC.size, end))

    def _read_trace(self, values: Mapping[int, bytes]) -> None:
        packet = values.get(_ID, b"")
        if _NETWORK in values:
            link = values.get(_LINK, b"")
            ethernet = len(link) == _ETHERNET
            data = (link if ethernet else b"") + values[_NETWORK] + values.get(_TRANSPORT, b"")
            self._packets.pop(packet, None)
            interface = int.from_bytes(values.get(_INPUT, b""))
            self._packets[packet] = _Headers(data, ethernet, interface)
            if len(self._packets) > _REMEMBERED:
                del self._packets[next(iter(self._packets))]
        if not _drops(values):
            return
        headers = self._packets.get(packet)
        cause = _cause_of(_text(values, _TABLE), _text(values, _CHAIN))
        if headers is not None and cause is not None:
            name, now = self._name(headers.interface), time.time()
            data, ethernet = headers.data, headers.ethernet
            self.take(Dropped(time=now, interface=name, data=data, ethernet=ethernet, cause=cause))

    def _name(self, index: int) -> str:
        """Return an interface's name in the namespace (netdevice(7)); empty if it was removed."""
        request = struct.pack("=16si20x", b"", index)
        with self.namespace.socket(socket.AF_INET, socket.SOCK_DGRAM) as at:
            try:
                answer = fcntl.ioctl(at, _SIOCGIFNAME, request)
            except OSError:
                return ""
        return answer[:16].partition(b"\0")[0].decode()


_ETHERNET = 14


def _values(data: bytes, start: int, end: int) -> dict[int, bytes]:
    return {kind: data[slice(*span)] for kind, span in attributes(data, start, end).items()}


def _drops(values: Mapping[int, bytes]) -> bool:
    """Whether a message reports that a rule, or a chain's policy, dropped the packet."""
    if int.from_bytes(values.get(_TYPE, b"")) == _OF_POLICY:
        return int.from_bytes(values.get(_POLICY, b"\1")) == _DROP
    verdict = values.get(_VERDICT, b"")
    code = _values(verdict, 0, len(verdict)).get(_CODE)
    return code is not None and int.from_bytes(code, signed=True) == _DROP


def _text(values: Mapping[int, bytes], attribute: int) -> str:
    return values.get(attribute, b"").rstrip(b"\0").decode(errors="replace")
