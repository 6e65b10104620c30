"""Read the output of ``ping``: iputils, BusyBox and Windows, by its reply lines alone.

"Too large to pass unsplit" is ICMP's destination unreachable, code 4, and read as such.
Summaries and exit codes mislead: "0% loss" is part of "100% loss", and Windows counts "Destination host
unreachable" as received and ends with 0. A reply line of Windows is known by ``TTL=``, which no
translation changes; replies over IPv6 have none, and are known by an address and a time.
"""

import ipaddress
import re

from nettests.model.observation import Raw
from nettests.model.words import OS, Outcome
from nettests.parse.reading import Reading, not_understood, one_line, probe_failed

_LINUX_REPLY = re.compile(
    # sample: "64 bytes from 10.244.2.5: icmp_seq=1 ttl=63 time=0.311 ms" (iputils)
    # sample: "64 bytes from 10.244.2.5: seq=0 ttl=63 time=0.120 ms" (BusyBox)
    # sample: "64 bytes from server.outside.test (198.51.100.10): icmp_seq=1 ttl=62 time=1.2 ms"
    r"^\d+ bytes from (?:\S+ \()?([0-9a-fA-F.:]+?)\)?: (?:icmp_)?seq=\d+ ttl=\d+",
    re.MULTILINE,
)
_WINDOWS_REPLY = re.compile(
    # sample: "Reply from 10.244.2.5: bytes=32 time<1ms TTL=127"
    # sample: "Antwort von 10.244.2.5: Bytes=32 Zeit=1ms TTL=127"
    r"^.*?([0-9a-fA-F]*[.:][0-9a-fA-F.:]+): .*\bTTL=\d+"
    # sample: "Reply from fd00:10:244:4::3: time<1ms", "Antwort von fd00:10:244:4::3: Zeit=1ms"
    r"|^.*?([0-9a-fA-F]*:[0-9a-fA-F:]+): \S+?[<=]\d+\s?ms",
    re.MULTILINE,
)
_UNREACHABLE = re.compile(
    # sample: "From 172.30.0.11 icmp_seq=1 Destination Host Unreachable"
    # sample: "Reply from 172.30.0.13: Destination host unreachable."
    # sample: "From fd00:172:30::11: icmp_seq=1 Destination unreachable: Address unreachable" (IPv6)
    # sample: "ping: connect: Network is unreachable", "ping: sendto: Network is unreachable"
    # sample: "PING: transmit failed. General failure."
    # sample: "From 10.244.1.1 icmp_seq=1 Frag needed and DF set (mtu = 1450)"
    # sample: "ping: local error: message too long, mtu=1450", "ping: sendmsg: Message too long"
    # sample: "Packet needs to be fragmented but DF set."
    # sample: "ping: connect: Invalid argument", "ping: sendto: Invalid argument" (a blackhole route, see ``taxonomy``)
    r"Frag needed and DF set|message too long|needs to be fragmented"
    r"|Destination (?:\w+ )?unreachable|Network is unreachable|No route to host|General failure"
    r"|Packet filtered|Communication prohibited"
    r"|(?:connect|sendto|sendmsg|write error): Invalid argument",
    re.IGNORECASE,
)
_TURNED_AWAY = re.compile(
    # EPERM of sendmsg(2): the node's own netfilter turned the echo away (see ``taxonomy``). Not of socket(2), by
    # which a ping without rights ends.
    # sample: "ping: sendmsg: Operation not permitted" (iputils), "ping: sendto: Operation not permitted" (BusyBox)
    # sample: "ping: write error: Operation not permitted" (newer BusyBox)
    r"(?:sendmsg|sendto|write error): Operation not permitted",
    re.IGNORECASE,
)
_UNKNOWN_NAME = re.compile(
    # sample: "ping: nosuch.demo: Name or service not known", "ping: bad address 'nosuch.demo'"
    # sample: "Ping request could not find host nosuch.demo. Please check the name and try again."
    r"Name or service not known|bad address|could not find host",
    re.IGNORECASE,
)
# sample: "ping: server.outside.test: Temporary failure in name resolution"
_NAME_TIMEOUT = re.compile(r"Temporary failure in name resolution", re.IGNORECASE)
_SUMMARY = re.compile(
    # sample: "3 packets transmitted, 0 received, 100% packet loss, time 2042ms"
    # sample: "    Packets: Sent = 3, Received = 0, Lost = 3 (100% loss),"
    r"\b\d+ packets transmitted|\(\d+\s?%[^)]*\)"
)


def read(raw: Raw) -> Reading:
    """Read the result of a ping: ``replied`` if the target itself answered at least one echo."""
    text = f"{raw.stdout}\n{raw.stderr}"
    if raw.exit_code is None:
        return probe_failed(f"ping's exit code was lost: {text}")
    replies = _replies(raw)
    if replies:
        return Reading(outcome=Outcome.REPLIED, detail=f"{len(replies)} echo replies")
    outcome = _without_reply(text)
    if outcome is None:
        return not_understood(f"ping ended with code {raw.exit_code}: {text}")
    return Reading(outcome=outcome, detail=one_line(_telling_line(text)))


def _replies(raw: Raw) -> list[str]:
    pattern = _WINDOWS_REPLY if raw.client_os == OS.WINDOWS else _LINUX_REPLY
    matches = pattern.finditer(raw.stdout)
    senders = [next(text for text in match.groups() if text) for match in matches]
    target = _address(raw.command[-1]) if raw.command else None
    return (
        senders if target is None else [sender for sender in senders if _address(sender) == target]
    )


def _address(text: str) -> object:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None


def _without_reply(text: str) -> Outcome | None:
    for pattern, outcome in (
        (_UNREACHABLE, Outcome.UNREACHABLE),
        (_TURNED_AWAY, Outcome.REFUSED),
        (_NAME_TIMEOUT, Outcome.TIMED_OUT),
        (_UNKNOWN_NAME, Outcome.NXDOMAIN),
        (_SUMMARY, Outcome.TIMED_OUT),
    ):
        if pattern.search(text):
            return outcome
    return None


def _telling_line(text: str) -> str:
    """Return the most specific line; the whole text if no line is known."""
    for pattern in (_UNREACHABLE, _TURNED_AWAY, _NAME_TIMEOUT, _UNKNOWN_NAME, _SUMMARY):
        for line in text.splitlines():
            if pattern.search(line):
                return line.strip()
    return text
