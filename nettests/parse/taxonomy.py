"""Error texts of clients and their outcomes: one table, per operating system of the client.

Used by every tool module whose tool prints the system's or Go's own texts. Windows texts differ from Linux texts for
the same event, and agnhost's ``connect`` recognises refusals on Linux only (it compares with an errno that Windows
never returns). A text that is not in the table is ``None``: nothing is guessed.

Four decisions: a connection that the other side resets, or closes without an answer, is ``refused`` (it was turned
away, not lost). Go prints ``server misbehaving`` for SERVFAIL and REFUSED alike: ``servfail``, the usual one. A name
without addresses (NODATA) is ``nxdomain``, as for Go's resolver. A datagram that a node's own netfilter rejects while
it is sent fails with EPERM (kube-proxy's reject rules sit on its output hook too): ``refused``, because the node
itself answered. A blackhole or prohibit route is ``unreachable``, like a missing one.
"""

import re
from dataclasses import dataclass
from enum import StrEnum

from nettests.model.words import OS, Outcome


class Stage(StrEnum):
    """What failed: resolving the target's name, or reaching its address."""

    NAME = "name"
    ADDRESS = "address"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One error text: ``fragment`` is searched for; ``sample`` is a line that contains it."""

    stage: Stage
    fragment: str
    outcome: Outcome
    sample: str
    os: OS | None = None
    """The client's system; ``None`` for Go's own texts, which are the same everywhere."""


def _name(fragment: str, outcome: Outcome, sample: str, os: OS | None = None) -> Row:
    return Row(stage=Stage.NAME, fragment=fragment, outcome=outcome, sample=sample, os=os)


def _address(fragment: str, outcome: Outcome, sample: str, os: OS | None = None) -> Row:
    return Row(stage=Stage.ADDRESS, fragment=fragment, outcome=outcome, sample=sample, os=os)


TABLE: tuple[Row, ...] = (
    # Names, Go's own texts (net.DNSError).
    _name(
        # Windows' own text, "No such host is known", is found by it too.
        "no such host",
        Outcome.NXDOMAIN,
        "lookup nosuch.demo on 10.96.0.10:53: no such host",
    ),
    _name(
        "i/o timeout",
        Outcome.TIMED_OUT,
        "lookup a.b on 10.96.0.10:53: read udp 10.244.1.2:35393->10.96.0.10:53: i/o timeout",
    ),
    _name(
        "server misbehaving", Outcome.SERVFAIL, "lookup a.b on 10.96.0.10:53: server misbehaving"
    ),
    _name(
        "operation was canceled", Outcome.TIMED_OUT, "dial tcp: lookup a.b: operation was canceled"
    ),
    _name("context deadline exceeded", Outcome.TIMED_OUT, "lookup a.b: context deadline exceeded"),
    # Names, Linux.
    _name(
        "connection refused",
        Outcome.REFUSED,
        "lookup a.b on 172.30.0.1:53: read udp 172.30.0.11:5->172.30.0.1:53: read: "
        "connection refused",
        OS.LINUX,
    ),
    _name(
        # EPERM, as below: what rejects the DNS Service on a node itself has no ICMP error that its sender sees.
        "write: operation not permitted",
        Outcome.REFUSED,
        "lookup a.b on 10.96.0.10:53: write udp 172.30.0.11:5->10.96.0.10:53: write: "
        "operation not permitted",
        OS.LINUX,
    ),
    _name(
        "no route to host",
        Outcome.UNREACHABLE,
        "lookup a.b on 10.96.0.10:53: dial udp 10.96.0.10:53: connect: no route to host",
        OS.LINUX,
    ),
    _name(
        "network is unreachable",
        Outcome.UNREACHABLE,
        "lookup a.b on 10.96.0.10:53: dial udp 10.96.0.10:53: connect: network is unreachable",
        OS.LINUX,
    ),
    _name(
        # EINVAL and EACCES, as below.
        "connect: invalid argument",
        Outcome.UNREACHABLE,
        "lookup a.b on 10.96.0.10:53: dial udp 10.96.0.10:53: connect: invalid argument",
        OS.LINUX,
    ),
    _name(
        "connect: permission denied",
        Outcome.UNREACHABLE,
        "lookup a.b on 10.96.0.10:53: dial udp 10.96.0.10:53: connect: permission denied",
        OS.LINUX,
    ),
    # Names, Windows (getaddrinfow and DnsQuery, texts of FormatMessage).
    _name(
        "no data of the requested type",
        Outcome.NXDOMAIN,
        "lookup a.b: getaddrinfow: The requested name is valid, but no data of the requested type "
        "was found.",
        OS.WINDOWS,
    ),
    _name(
        "did not receive a response from an authoritative server",
        Outcome.TIMED_OUT,
        "lookup a.b: getaddrinfow: This is usually a temporary error during hostname resolution "
        "and means that the local server did not receive a response from an authoritative server.",
        OS.WINDOWS,
    ),
    _name(
        "the timeout period expired",
        Outcome.TIMED_OUT,
        "lookup a.b: dnsquery: This operation returned because the timeout period expired.",
        OS.WINDOWS,
    ),
    _name(
        "DNS server failure",
        Outcome.SERVFAIL,
        "lookup a.b: dnsquery: DNS server failure.",
        OS.WINDOWS,
    ),
    # Addresses, Go's own texts.
    _address(
        "i/o timeout",
        Outcome.TIMED_OUT,
        "reading from udp connection failed. err:'read udp 10.244.1.2:5->192.0.2.1:8081: i/o timeout'",
    ),
    _address(
        "context deadline exceeded",
        Outcome.TIMED_OUT,
        'Get "http://192.0.2.1:80/hostname": context deadline exceeded '
        "(Client.Timeout exceeded while awaiting headers)",
    ),
    _address(
        "Client.Timeout exceeded",
        Outcome.TIMED_OUT,
        'Get "http://192.0.2.1:80/hostname": net/http: request canceled while waiting for '
        "connection (Client.Timeout exceeded while awaiting headers)",
    ),
    _address(
        "malformed HTTP response",
        Outcome.CONNECTED,
        'Get "http://172.30.0.11:10250/": net/http: HTTP/1.x transport connection broken: '
        'malformed HTTP response "\\x15\\x03\\x01\\x00\\x02\\x02"',
    ),
    _address(
        # The kubelet itself, where the program that would connect inside the Pod is missing (wincat, socat).
        "unable to do port forwarding",
        Outcome.REFUSED,
        "port-forward to pod: an error occurred forwarding 18080 -> 18080: error forwarding port 18080 to pod 0b6c, "
        "uid : unable to do port forwarding: wincat not found",
    ),
    _address(": EOF", Outcome.REFUSED, 'Get "http://10.96.0.7:80/hostname": EOF'),
    # Addresses, Linux (strerror).
    _address(
        # EADDRNOTAVAIL of a connect: no port of ip_local_port_range is left for this target (connect(2)).
        "cannot assign requested address",
        Outcome.NO_PORT,
        'Get "http://10.96.0.7:80/hostname": dial tcp 10.96.0.7:80: connect: cannot assign requested address',
        OS.LINUX,
    ),
    _address(
        "connection refused",
        Outcome.REFUSED,
        "dial tcp 10.244.2.5:9999: connect: connection refused",
        OS.LINUX,
    ),
    _address(
        # EPERM of sendto(2): "the transmission of packets was blocked by a netfilter rule" (nft(8), iptables).
        "write: operation not permitted",
        Outcome.REFUSED,
        "write udp 172.30.0.11:5->10.96.0.7:81: write: operation not permitted",
        OS.LINUX,
    ),
    _address(
        "connection reset by peer",
        Outcome.REFUSED,
        "read tcp 10.244.1.2:5->10.244.2.5:80: read: connection reset by peer",
        OS.LINUX,
    ),
    _address(
        "connection timed out",
        Outcome.TIMED_OUT,
        "dial tcp 192.0.2.1:80: connect: connection timed out",
        OS.LINUX,
    ),
    _address(
        "no route to host",
        Outcome.UNREACHABLE,
        "dial tcp 172.30.0.99:80: connect: no route to host",
        OS.LINUX,
    ),
    _address(
        "network is unreachable",
        Outcome.UNREACHABLE,
        "dial tcp 198.51.100.9:80: connect: network is unreachable",
        OS.LINUX,
    ),
    _address(
        # EINVAL: the node's own route to it is a blackhole (ip-route(8)), as Calico makes of each node's addresses.
        "connect: invalid argument",
        Outcome.UNREACHABLE,
        "dial tcp 10.244.2.5:18080: connect: invalid argument",
        OS.LINUX,
    ),
    _address(
        # EACCES: a route of type prohibit, or over IPv6 a firewall that answers "administratively prohibited" (RFC 4443, 3.1).
        "connect: permission denied",
        Outcome.UNREACHABLE,
        "dial tcp 10.244.2.5:18080: connect: permission denied",
        OS.LINUX,
    ),
    _address(
        "read: permission denied",
        Outcome.UNREACHABLE,
        "read udp [fd00::2]:5->[fd00:1::5]:18081: read: permission denied",
        OS.LINUX,
    ),
    _address(
        # EMSGSIZE: the sender was told by ICMP, or by its own interface, that nothing carries the packet.
        "message too long",
        Outcome.UNREACHABLE,
        "reading from udp connection failed. err:'read udp 10.244.1.2:5->10.244.2.5:18081: read: "
        "message too long'",
        OS.LINUX,
    ),
    # Addresses, Windows (texts of FormatMessage for Winsock errors).
    _address(
        # WSAEADDRINUSE of a connect: no dynamic port is left (Microsoft, Troubleshoot port exhaustion issues). Of a bind it
        # says that another socket has the port.
        "connectex: Only one usage of each socket address",
        Outcome.NO_PORT,
        'Get "http://10.96.0.7:80/hostname": dial tcp 10.96.0.7:80: connectex: Only one usage of each socket address '
        "(protocol/network address/port) is normally permitted.",
        OS.WINDOWS,
    ),
    _address(
        # WSAENOBUFS, as above.
        "system lacked sufficient buffer space or because a queue was full",
        Outcome.NO_PORT,
        'Get "http://10.96.0.7:80/hostname": dial tcp 10.96.0.7:80: connectex: An operation on a socket could not be performed '
        "because the system lacked sufficient buffer space or because a queue was full.",
        OS.WINDOWS,
    ),
    _address(
        "larger than the internal message buffer or some other network limit",  # WSAEMSGSIZE
        Outcome.UNREACHABLE,
        "udp connection write failed. err:write udp 10.244.3.2:5->10.244.2.5:18081: wsasend: A message sent on a "
        "datagram socket was larger than the internal message buffer or some other network limit, or the buffer used "
        "to receive a datagram into was smaller than the datagram itself.",
        OS.WINDOWS,
    ),
    _address(
        # Go's ConnectEx on Windows 10 1511 prints it without "it".
        "actively refused",
        Outcome.REFUSED,
        "dial tcp 10.244.2.5:9999: connectex: No connection could be made because the target "
        "machine actively refused it.",
        OS.WINDOWS,
    ),
    _address(
        # Over UDP this is the ICMP message "port unreachable" (WSAECONNRESET).
        "forcibly closed by the remote host",
        Outcome.REFUSED,
        "read udp 10.244.3.2:5->10.244.2.5:9999: wsarecv: An existing connection was forcibly "
        "closed by the remote host.",
        OS.WINDOWS,
    ),
    _address(
        # WSAEACCES of a connect: the node's own firewall (WFP) blocks it on its way out, as EPERM on Linux.
        "connectex: An attempt was made to access a socket in a way forbidden",
        Outcome.REFUSED,
        "dial tcp 10.244.2.5:9999: connectex: An attempt was made to access a socket in a way forbidden by its access "
        "permissions.",
        OS.WINDOWS,
    ),
    _address(
        "wsasend: An attempt was made to access a socket in a way forbidden",
        Outcome.REFUSED,
        "write udp 10.244.3.2:5->10.244.2.5:9999: wsasend: An attempt was made to access a socket in a way forbidden by its "
        "access permissions.",
        OS.WINDOWS,
    ),
    _address(
        # ERROR_NETNAME_DELETED: what an overlapped receive says of a reset (WSAECONNRESET of other calls).
        "specified network name is no longer available",
        Outcome.REFUSED,
        "read tcp 10.244.3.2:5->10.244.2.5:80: wsarecv: The specified network name is no longer available.",
        OS.WINDOWS,
    ),
    _address(
        # WSAECONNABORTED: the system gave up what it had sent again and again without an acknowledgement.
        "aborted by the software in your host machine",
        Outcome.TIMED_OUT,
        "read tcp 10.244.3.2:5->10.244.2.5:80: wsarecv: An established connection was aborted by the software in your host "
        "machine.",
        OS.WINDOWS,
    ),
    _address(
        "did not properly respond after a period of time",
        Outcome.TIMED_OUT,
        "dial tcp 192.0.2.1:80: connectex: A connection attempt failed because the connected party "
        "did not properly respond after a period of time, or established connection failed because "
        "connected host has failed to respond.",
        OS.WINDOWS,
    ),
    _address(
        "attempted to an unreachable host",
        Outcome.UNREACHABLE,
        "dial tcp 172.30.0.99:80: connectex: A socket operation was attempted to an unreachable host.",
        OS.WINDOWS,
    ),
    _address(
        "attempted to an unreachable network",
        Outcome.UNREACHABLE,
        "dial tcp 198.51.100.9:80: connectex: A socket operation was attempted to an unreachable "
        "network.",
        OS.WINDOWS,
    ),
)

_WINDOWS_ERRORS = {
    64: "The specified network name is no longer available.",
    1460: "This operation returned because the timeout period expired.",
    9002: "DNS server failure.",
    9003: "DNS name does not exist: no such host.",
    10013: "An attempt was made to access a socket in a way forbidden by its access permissions.",
    10040: "A message sent on a datagram socket was larger than the internal message buffer or some other network limit.",
    10048: "Only one usage of each socket address is normally permitted.",
    10051: "A socket operation was attempted to an unreachable network.",
    10053: "An established connection was aborted by the software in your host machine.",
    10054: "An existing connection was forcibly closed by the remote host.",
    10055: "The system lacked sufficient buffer space or because a queue was full.",
    10060: "The connected party did not properly respond after a period of time.",
    10061: "The target machine actively refused it.",
    10065: "A socket operation was attempted to an unreachable host.",
    11001: "No such host is known.",
    11002: "The local server did not receive a response from an authoritative server.",
    11004: "The requested name is valid, but no data of the requested type was found.",
}
"""The texts of numbers (Winsock, winerror.h). Where FormatMessage has no text at all, Go prints the number
(``syscall.Errno.Error``); it prefers English, and where that is missing takes the system's own language."""
# sample: "dial tcp 10.244.2.5:9999: connectex: winapi error #10061"
_NUMBER = re.compile(r"winapi error #(\d+)")


def stage_of(text: str) -> Stage:
    """Return whether an error text is about a name or about an address."""
    # sample: "lookup nosuch.demo on 10.96.0.10:53: no such host"
    return Stage.NAME if re.search(r"\blookup \S+", text) else Stage.ADDRESS


def classify(text: str, client_os: str, stage: Stage | None = None) -> Outcome | None:
    """Return what an error text means on the client's system; ``None`` when it is not known.

    Case does not matter: curl and ``strerror`` begin with a capital, Go does not. ``stage`` is read
    from the text unless the tool said it otherwise.
    """
    stage = stage or stage_of(text)
    if client_os == OS.WINDOWS:
        text = _NUMBER.sub(lambda match: _WINDOWS_ERRORS.get(int(match[1]), match[0]), text)
    lowered = text.lower()
    for row in TABLE:
        if row.stage is stage and row.os in {None, client_os} and row.fragment.lower() in lowered:
            return row.outcome
    return None
