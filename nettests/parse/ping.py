"""Read the output of ``ping``: iputils, BusyBox and Windows.

"Frag needed" is ICMP destination unreachable, code 4, and read as ``unreachable``. Summaries and
exit codes mislead: "0% loss" is part of "100% loss", and Windows counts "Destination host
unreachable" as received and ends with 0.
"""

import ipaddress
import re

from nettests.model.observation import Raw
from nettests.model.words import OS, Outcome
from nettests.parse import ping_of_windows
from nettests.parse.reading import Reading, not_understood, one_line, probe_failed

_LINUX_REPLY = re.compile(
    # sample: "64 bytes from 10.244.2.5: icmp_seq=1 ttl=63 time=0.311 ms" (iputils)
    # sample: "64 bytes from 10.244.2.5: seq=0 ttl=63 time=0.120 ms" (BusyBox)
    # sample: "64 bytes from server.outside.test (198.51.100.10): icmp_seq=1 ttl=62 time=1.2 ms"
    r"^\d+ bytes from (?:\S+ \()?([0-9a-fA-F.:]+?)\)?: (?:icmp_)?seq=\d+ ttl=\d+",
    re.MULTILINE,
)
_UNREACHABLE = re.compile(
    # sample: "From 172.30.0.11 icmp_seq=1 Destination Host Unreachable"
    # sample: "From fd00:172:30::11: icmp_seq=1 Destination unreachable: Address unreachable" (IPv6)
    # sample: "ping: connect: Network is unreachable", "ping: sendto: Network is unreachable"
    # sample: "From 10.244.1.1 icmp_seq=1 Frag needed and DF set (mtu = 1450)"
    # sample: "ping: local error: message too long, mtu=1450", "ping: sendmsg: Message too long"
    # sample: "ping: connect: Invalid argument", "ping: sendto: Invalid argument" (a blackhole route, see ``taxonomy``)
    r"Frag needed and DF set|message too long"
    r"|Destination (?:\w+ )?unreachable|Network is unreachable|No route to host"
    r"|Packet filtered|Communication prohibited"
    r"|(?:connect|sendto|sendmsg|write error): Invalid argument",
    re.IGNORECASE,
)
_TURNED_AWAY = re.compile(
    # EPERM of sendmsg(2): the node's own netfilter rejected the echo (see ``taxonomy``). EPERM of socket(2) means
    # that ping lacks privileges.
    # sample: "ping: sendmsg: Operation not permitted" (iputils), "ping: sendto: Operation not permitted" (BusyBox)
    # sample: "ping: write error: Operation not permitted" (newer BusyBox)
    r"(?:sendmsg|sendto|write error): Operation not permitted",
    re.IGNORECASE,
)
_UNKNOWN_NAME = re.compile(
    # sample: "ping: nosuch.demo: Name or service not known", "ping: bad address 'nosuch.demo'"
    r"Name or service not known|bad address",
    re.IGNORECASE,
)
# sample: "ping: server.outside.test: Temporary failure in name resolution"
_NAME_TIMEOUT = re.compile(r"Temporary failure in name resolution", re.IGNORECASE)
# sample: "3 packets transmitted, 0 received, 100% packet loss, time 2042ms"
_SUMMARY = re.compile(r"\b\d+ packets transmitted")


def read(raw: Raw) -> Reading:
    """Read the result of a ping: ``replied`` if the target itself answered at least one echo."""
    text = f"{raw.stdout}\n{raw.stderr}"
    if raw.exit_code is None:
        return probe_failed(f"ping's exit code was lost: {text}")
    if raw.client_os == OS.WINDOWS:
        answers = ping_of_windows.answers(raw.stdout)
        senders = [answer.sender for answer in answers if answer.echoed]
    else:
        senders = _LINUX_REPLY.findall(raw.stdout)
    target = _address(raw.command[-1]) if raw.command else None
    replies = (
        senders if target is None else [sender for sender in senders if _address(sender) == target]
    )
    if replies:
        return Reading(outcome=Outcome.REPLIED, detail=f"{len(replies)} echo replies")
    failure = (
        ping_of_windows.without_echo(raw) if raw.client_os == OS.WINDOWS else _without_echo(text)
    )
    if failure is None:
        return not_understood(f"ping ended with code {raw.exit_code}: {text}")
    outcome, line = failure
    return Reading(outcome=outcome, detail=one_line(line))


def _address(text: str) -> object:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None


def _without_echo(text: str) -> tuple[Outcome, str] | None:
    """Return why there is no reply, with that line; the most specific pattern comes first."""
    for pattern, outcome in (
        (_UNREACHABLE, Outcome.UNREACHABLE),
        (_TURNED_AWAY, Outcome.REFUSED),
        (_NAME_TIMEOUT, Outcome.TIMED_OUT),
        (_UNKNOWN_NAME, Outcome.NXDOMAIN),
        (_SUMMARY, Outcome.TIMED_OUT),
    ):
        for line in text.splitlines():
            if pattern.search(line):
                return outcome, line.strip()
    return None
