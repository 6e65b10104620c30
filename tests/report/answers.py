"""Raw answers as the tools write them, for a scenario that says how each question ends."""

import json
from dataclasses import dataclass
from typing import Any

from nettests.model.check import Action
from nettests.model.observation import Raw
from nettests.model.words import OS, Outcome, Protocol, Question, Resolver, VantageKind

DIAL_TEXT = {
    Outcome.TIMED_OUT: "dial tcp 10.96.44.7:80: i/o timeout",
    Outcome.REFUSED: "dial tcp 10.96.44.7:80: connect: connection refused",
}
WINDOWS_REFUSED = "dial tcp 10.96.44.7:80: connectex: No connection could be made because the target machine actively refused it."
CURL = {
    Outcome.TIMED_OUT: (28, "curl: (28) Connection timed out after 5001 milliseconds"),
    Outcome.REFUSED: (7, "curl: (7) Failed to connect to 10.96.44.7 port 80: Connection refused"),
}
ELAPSED = {Outcome.TIMED_OUT: 5.0, Outcome.REFUSED: 0.004}


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How a question ends in a scenario: outcome, whom the server saw, who answers."""

    outcome: Outcome
    seen: str = "10.244.2.7"
    backends: tuple[str, ...] = ("server-linux-1-1",)


def raws(check: str, purpose: str, action: Action, ending: Ending, *, at: float) -> list[Raw]:
    """Return the raw records of one question: one, or one a connection."""
    if action.question is Question.DISTRIBUTE:
        return [
            _dial(check, purpose, action, ending, at=at, number=n)
            for n in range(action.connections)
        ]
    if action.question is Question.PING:
        return [_ping(check, purpose, action, ending, at=at)]
    if action.resolver is Resolver.NSLOOKUP:
        return [_nslookup(check, purpose, action, ending, at=at)]
    if action.source.kind is VantageKind.NODE:
        return [_from_node(check, purpose, action, ending, at=at)]
    return [_dial(check, purpose, action, ending, at=at, number=0)]


def _raw(
    check: str, purpose: str, action: Action, ending: Ending, *, at: float, **fields: Any
) -> Raw:
    os = action.source.os or OS.LINUX
    values: dict[str, Any] = {
        "check": check,
        "purpose": purpose,
        "attempt": 1,
        "client_os": os.value,
        "probe": action.source.probe,
        "channel": "exec",
        "started": at,
        "elapsed": ELAPSED.get(ending.outcome, 0.006),
        "context": context_of(action),
    }
    return Raw(**{**values, **fields})


def context_of(action: Action) -> dict[str, str]:
    """Return the addresses that a source of this system has in the scenario."""
    windows = action.source.os is OS.WINDOWS
    return {
        "client-pod": "10.244.2.7" if windows else "10.244.0.5",
        "client-node": "172.30.0.21" if windows else "172.30.0.11",
        "request": "clientip",
    }


def _dial(
    check: str, purpose: str, action: Action, ending: Ending, *, at: float, number: int
) -> Raw:
    several = action.question is Question.DISTRIBUTE
    request = "hostname" if several else "clientip"
    answer = ending.backends[number % len(ending.backends)]
    text = answer if several else f"{ending.seen}:{49152 + number}"
    protocol = "udp" if action.protocol is Protocol.UDP else "http"
    failed = _failure(action, ending)
    told = {"responses": [text]} if ending.outcome.positive else {"errors": [failed]}
    missing = ending.outcome is Outcome.NXDOMAIN
    name = "host and/or port param are invalid. lookup svc on 10.96.0.10:53: no such host"
    return _raw(
        check,
        purpose,
        action,
        ending,
        at=at + number * 0.01,
        attempt=number + 1,
        tool="dial",
        channel="port-forward",
        command=(
            "GET",
            f"/dial?host=10.96.44.7&port=80&protocol={protocol}&request={request}&tries=1",
        ),
        status=400 if missing else 200,
        stdout=name if missing else json.dumps(told),
        context={**context_of(action), "request": request},
    )


def _failure(action: Action, ending: Ending) -> str:
    if ending.outcome is Outcome.REFUSED and action.source.os is OS.WINDOWS:
        return WINDOWS_REFUSED
    return DIAL_TEXT.get(ending.outcome, "dial tcp: i/o timeout")


def _from_node(check: str, purpose: str, action: Action, ending: Ending, *, at: float) -> Raw:
    if action.protocol is Protocol.UDP:
        text = "" if ending.outcome.positive else "TIMEOUT\n"
        command = ("agnhost", "connect", "10.96.44.7:81", "--protocol=udp", "--timeout=5s")
        code = 0 if ending.outcome.positive else 1
        return _raw(
            check,
            purpose,
            action,
            ending,
            at=at,
            tool="connect",
            command=command,
            exit_code=code,
            stderr=text,
        )
    code, text = CURL.get(ending.outcome, (0, ""))
    return _raw(
        check,
        purpose,
        action,
        ending,
        at=at,
        tool="curl",
        command=("curl.exe", "-sS", "-m", "5", "http://10.96.44.7:82/clientip"),
        exit_code=code,
        stdout=f"{ending.seen}:51000" if code == 0 else "",
        stderr=text,
    )


def _ping(check: str, purpose: str, action: Action, ending: Ending, *, at: float) -> Raw:
    address = "10.244.1.6" if action.target.os else "198.51.100.10"
    windows = action.source.os is OS.WINDOWS
    return _raw(
        check,
        purpose,
        action,
        ending,
        at=at,
        tool="ping",
        command=("ping", "-n" if windows else "-c", "2", address),
        exit_code=0 if ending.outcome.positive else 1,
        stdout=(_windows_ping if windows else _linux_ping)(address, ending),
    )


def _windows_ping(address: str, ending: Ending) -> str:
    reply = f"Reply from {address}: bytes=32 time<1ms TTL=63"
    answer = reply if ending.outcome.positive else "Request timed out."
    got = 2 if ending.outcome.positive else 0
    return (
        f"\r\nPinging {address} with 32 bytes of data:\r\n{answer}\r\n{answer}\r\n\r\n"
        f"Ping statistics for {address}:\r\n    Packets: Sent = 2, Received = {got}, "
        f"Lost = {2 - got} ({100 - 50 * got}% loss),\r\n"
    )


def _linux_ping(address: str, ending: Ending) -> str:
    replies = [f"64 bytes from {address}: icmp_seq={n} ttl=63 time=0.081 ms" for n in (1, 2)]
    shown = replies if ending.outcome.positive else []
    return "\n".join(
        [
            f"PING {address} ({address}) 56(84) bytes of data.",
            *shown,
            "",
            f"--- {address} ping statistics ---",
            f"2 packets transmitted, {len(shown)} received, {100 - 50 * len(shown)}% packet loss",
            "",
        ]
    )


def _nslookup(check: str, purpose: str, action: Action, ending: Ending, *, at: float) -> Raw:
    answer = "Server:\t\t10.96.0.10\nAddress:\t10.96.0.10#53\n\n"
    if ending.outcome.positive:
        answer += "Name:\tsvc-server-linux-1-1.demo.svc.cluster.local\nAddress: 10.96.44.7\n"
    else:
        answer += "** server can't find svc-server-linux-1-1.demo.svc: NXDOMAIN\n"
    return _raw(
        check,
        purpose,
        action,
        ending,
        at=at,
        tool="nslookup",
        command=("nslookup", "svc-server-linux-1-1.demo.svc"),
        exit_code=0 if ending.outcome.positive else 1,
        stdout=answer,
    )
