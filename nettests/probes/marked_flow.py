"""One marked flow: the request of a check, recognisable in captures. Pure.

TCP gets its own source port (``curl --local-port``), a datagram its own word, an echo request its
own size. ``commands`` builds requests without a mark. Payloads are only the harness's own.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import assert_never
from urllib.parse import quote, urlencode

from nettests.model.channel import ExecAnswer
from nettests.model.check import Action
from nettests.model.dns_names import DEFAULT_SEARCH
from nettests.model.payload import ECHO
from nettests.model.windows_programs import node_argv
from nettests.model.words import OS, Protocol, VantageKind
from nettests.probes.commands import host_programs
from nettests.probes.endpoint import CLIENT_IP, Endpoint
from nettests.probes.objects import PROBE_HTTP
from nettests.tracing.mark import Mark

FLOW_SECONDS = 3
"""Time limit of a marked flow: a SYN is retransmitted after 1 s and 3 s, and two are enough to follow it."""
BIND_FAILED = 45
"""curl's exit code for a source address or port that it may not use (curl(1), "EXIT CODES")."""
DATAGRAM_SECONDS = 7.0
"""Time limit of one datagram by ``/dial``, which gives up after 5 s."""
TRAIN = 40
"""Requests of a trace that looks for losses: some hundred packets, each captured several times."""
TRAIN_SECONDS = 15
"""Time limit of all of them; each lost datagram costs 5 s, and each lost SYN 1 s."""
QUERY_SECONDS = 20.0
"""Time limit of one ``nslookup``, which tries a silent server three times, 5 s each."""
MOST_FILLED = 4000
"""The most bytes that are added to a request: more than any usual MTU, less than any command line limit."""
ECHO_BYTES = 733
"""Payload of echo requests in a trace that does not test sizes; a remainder of the trace's number is added."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedFlow:
    """The command in the source's container, its packets' mark, and how to read its answer."""

    words: tuple[str, ...]
    mark: Mark
    answered: Callable[[ExecAnswer], bool]
    unsent: int | None = None
    """The exit code that means nothing was sent, because the source port was in use."""
    seconds: float


def marked_flow(
    action: Action, endpoint: Endpoint, host: str, port: int | None, *, number: int, token: str
) -> MarkedFlow:
    """Return the flow of a trace; ``number`` is its source port, ``token`` its own word."""
    match action.protocol:
        case Protocol.TCP:
            return _connection(action, endpoint, f"{_literal(host)}:{port}", number, token)
        case Protocol.UDP:
            return _datagram(action, host, port, token)
        case Protocol.ICMP:
            return _echo(action, host, number)
        case _:
            assert_never(action.protocol)


def marked_train(
    action: Action, endpoint: Endpoint, host: str, port: int | None, token: str
) -> MarkedFlow:
    """Return ``TRAIN`` requests in a row that each carry the word; answered if all of them are.

    Each has its own connection or datagram, whose ports are found by the word.
    """
    tcp = action.protocol.retransmitted
    requests = endpoint.requests(action.protocol)
    path = endpoint.path(requests[0][0], action.protocol) if requests else "hostname"
    request = f"{path}?{token}" if tcp else f"{ECHO}{token}"
    url = _dialled(host, port, "http" if tcp else "udp", request, TRAIN)
    return MarkedFlow(
        words=("curl", "-sS", "-m", str(TRAIN_SECONDS), url),
        mark=Mark(protocol=action.protocol, token=(f"GET /{request}" if tcp else request).encode()),
        answered=lambda answer: _all_answered(answer.stdout),
        seconds=TRAIN_SECONDS + 3,
    )


def _dialled(host: str, port: int | None, protocol: str, request: str, tries: int) -> str:
    query = urlencode(
        {"host": host, "port": port, "protocol": protocol, "request": request, "tries": tries},
        quote_via=quote,
    )
    return f"http://127.0.0.1:{PROBE_HTTP}/dial?{query}"


def _all_answered(text: str) -> bool:
    try:
        reply = json.loads(text)
    except ValueError:
        return False
    if not isinstance(reply, dict) or reply.get("errors"):
        return False
    return len(reply.get("responses") or ()) == TRAIN


def witnessed_flow(endpoint: Endpoint, host: str, port: int, number: int) -> MarkedFlow:
    """Return a Pod's marked connection to a server that reports the client; the answer is kept."""
    path = endpoint.path(CLIENT_IP, Protocol.TCP)
    return _curl(("curl",), f"http://{_literal(host)}:{port}/{path}", number)


def _connection(action: Action, endpoint: Endpoint, to: str, number: int, token: str) -> MarkedFlow:
    requests = endpoint.requests(Protocol.TCP)
    path = endpoint.path(requests[0][0], Protocol.TCP) if requests else "hostname"
    filler = "x" * min(action.size or 0, MOST_FILLED)
    on_host = action.source.kind is VantageKind.NODE
    curl = host_programs(action.source.os or OS.LINUX)[1] if on_host else "curl"
    nowhere = "NUL" if action.source.os is OS.WINDOWS else "/dev/null"
    return _curl((curl, "-o", nowhere), f"http://{to}/{path}?{token}{filler}", number)


def _curl(program: tuple[str, ...], url: str, number: int) -> MarkedFlow:
    bounds = ("-m", str(FLOW_SECONDS), "--local-port", str(number))
    return MarkedFlow(
        words=node_argv(*program, "-sS", *bounds, url),
        mark=Mark(protocol=Protocol.TCP, port=number),
        answered=lambda answer: answer.exit_code == 0,
        unsent=BIND_FAILED,
        seconds=FLOW_SECONDS + 3,
    )


def marked_query(server: str, domain: str, token: str) -> MarkedFlow:
    """Return a query for a missing name in the cluster's domain; NXDOMAIN counts as an answer."""
    return MarkedFlow(
        words=("nslookup", f"{token}.{DEFAULT_SEARCH.format(domain=domain)}.", server),
        mark=Mark(protocol=Protocol.UDP, token=token.encode(), query=True),
        answered=lambda answer: _is_answer(answer.stdout + answer.stderr),
        seconds=QUERY_SECONDS,
    )


def _is_answer(output: str) -> bool:
    # samples: ** server can't find nettests28002.default.svc.cluster.local: NXDOMAIN
    #          *** kube-dns.kube-system.svc.cluster.local can't find nettests28002.default.svc.cluster.local.: Non-existent domain
    return "NXDOMAIN" in output or "Non-existent domain" in output


def _literal(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _datagram(action: Action, host: str, port: int | None, token: str) -> MarkedFlow:
    wanted = min(action.size or 0, MOST_FILLED)
    filler = "x" * max(0, wanted - len(ECHO) - len(token))
    request = f"{ECHO}{token}{filler}"
    url = _dialled(host, port, "udp", request, 1)
    return MarkedFlow(
        words=("curl", "-sS", "-m", str(int(DATAGRAM_SECONDS)), url),
        mark=Mark(protocol=Protocol.UDP, token=f"{ECHO}{token}".encode()),
        answered=lambda answer: token in _responses(answer.stdout),
        seconds=DATAGRAM_SECONDS + 1,
    )


def _responses(text: str) -> str:
    try:
        reply = json.loads(text)
    except ValueError:
        return ""
    return " ".join(map(str, reply.get("responses") or ())) if isinstance(reply, dict) else ""


def _echo(action: Action, host: str, number: int) -> MarkedFlow:
    size = action.size if action.size is not None else ECHO_BYTES + number % 97
    whole = action.size is not None
    match action.source.os:
        case OS.WINDOWS:
            limits: tuple[str, ...] = ("-f",) if whole else ()
            words: tuple[str, ...] = (
                "ping",
                "-n",
                "2",
                "-w",
                "2000",
                *limits,
                "-l",
                str(size),
                host,
            )
        case OS.LINUX | None:
            limits = ("-M", "do") if whole else ()
            words = ("ping", "-c", "2", "-W", "2", *limits, "-s", str(size), host)
        case _:
            assert_never(action.source.os)
    return MarkedFlow(
        words=words,
        mark=Mark(protocol=Protocol.ICMP, size=size),
        answered=lambda answer: answer.exit_code == 0 and "unreachable" not in answer.stdout,
        seconds=10.0,
    )
