"""Build what is sent: a request to a resident probe, or the argv of a process. Pure.

Commands are lists, never shell text. ``tool`` names the parser of the answer. Deadlines are the
tools' own: netexec's dial gives up after 5 s, other tools get theirs as an argument.
"""

import re
from dataclasses import dataclass, replace
from typing import assert_never
from urllib.parse import urlencode

from nettests.errors import NettestsError
from nettests.model.check import Action
from nettests.model.cluster_profile import Timing
from nettests.model.payload import ECHO, expanded, written
from nettests.model.powershell import powershell
from nettests.model.windows_programs import AGNHOST, NodeArgv, node_argv
from nettests.model.words import OS, Family, Protocol, Question, Resolver, VantageKind
from nettests.parse.datagram import DATAGRAM
from nettests.probes.endpoint import Endpoint

PINGS = 3
PING_SECONDS = 2


class CannotProbeError(NettestsError):
    """This vantage cannot probe this target."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One command: ``means`` is ``dial`` (HTTP to the probe), ``exec`` or ``external``.

    ``words`` are journalled; for ``exec`` they are the argv. ``request`` is what the answer should
    hold: ``hostname``, ``clientip`` or nothing. ``port`` is the target's, if it is probed by port.
    ``deadline`` (seconds) is the tool's own.
    """

    means: str
    tool: str
    words: tuple[str, ...]
    request: str = ""
    port: int | None = None
    deadline: float
    payload: int = 0
    """The number of bytes that replace ``payload.N`` in the words when they are sent."""

    @property
    def path(self) -> str:
        """For ``dial``: the path to request; for ``external``: the address."""
        return expanded(self.words[-1], self.payload) if self.payload else self.words[-1]


def command(action: Action, endpoint: Endpoint, turn: int, timing: Timing) -> Command:
    """Return the command for turn ``turn`` (from 0) of ``action``.

    Turns alternate between the server's name and the client it saw, if the target reports both.
    """
    wanted = _command(action, endpoint, turn, timing)
    if action.source.kind is VantageKind.NODE and action.source.os is OS.WINDOWS:
        node_argv(*wanted.words)
    return wanted


def _command(action: Action, endpoint: Endpoint, turn: int, timing: Timing) -> Command:
    match action.question:
        case Question.PING:
            return _ping(action, endpoint)
        case Question.RESOLVE:
            return _resolve(action, endpoint, timing)
        case Question.REACH | Question.DISTRIBUTE | Question.CHURN:
            return _request(action, endpoint, turn, timing)
        case Question.LOSS | Question.FLOWS:
            return _train(action, endpoint, timing)
        case Question.ADMIT | Question.INSPECT | Question.START | Question.IDLE:
            raise CannotProbeError(f"no one command can {action.question.value}")
        case Question.PATH_MTU | Question.SCALE | Question.WITNESS | Question.DURING:
            raise CannotProbeError(f"no one command can {action.question.value}")
        case _:
            assert_never(action.question)


def _request(action: Action, endpoint: Endpoint, turn: int, timing: Timing) -> Command:
    if action.size is not None:
        return _with_payload(action, action.size, endpoint, timing)
    requests = endpoint.requests(action.protocol)
    if not requests:
        raise CannotProbeError(f"{endpoint.host} offers nothing to probe over {action.protocol}")
    request, port = requests[turn % len(requests)]
    return replace(_reach(action, endpoint, request, port, timing), port=port)


MOST_SILENT = 8
"""Lost tries of one train for which its channel waits: trains are short where much is lost."""


def _train(action: Action, endpoint: Endpoint, timing: Timing) -> Command:
    """Return one request for several tries in a row; each answer names its server."""
    request, port = endpoint.requests(action.protocol)[0]
    path = endpoint.path(request, action.protocol)
    probed = dial(endpoint.host, port, action.protocol, path, timing, tries=action.connections)
    to_the_end = action.question is Question.FLOWS  # once ports run out, all further tries time out
    patience = action.connections if to_the_end else min(action.connections, MOST_SILENT)
    return replace(probed, tool="train", port=port, deadline=probed.deadline * patience)


def _with_payload(action: Action, size: int, endpoint: Endpoint, timing: Timing) -> Command:
    """Return the request that carries a payload in both directions.

    Over TCP it is part of an unclean path: Go's servers redirect such a request to the clean path,
    payload included, and ``/dial`` follows (net/http, ``ServeMux``). So servers that are exposed
    have to serve nothing more. Over UDP it is echoed.
    """
    if action.source.kind is not VantageKind.POD:
        raise CannotProbeError(f"a payload is sent by Pods, not by a {action.source.kind.value}")
    request, path, port, carried = _carrying(action, size, endpoint)
    if port is None:
        raise CannotProbeError(f"{endpoint.host} offers nothing to probe over {action.protocol}")
    probed = dial(endpoint.host, port, action.protocol, path, timing)
    return replace(probed, request=request, port=port, payload=carried)


def _carrying(action: Action, size: int, endpoint: Endpoint) -> tuple[str, str, int | None, int]:
    match action.protocol:
        case Protocol.TCP:
            return "hostname", f"/hostname?pad={written(size)}", endpoint.hostname_port, size
        case Protocol.UDP:
            rest = size - len(ECHO)
            return "echo", f"{ECHO}{written(rest)}", endpoint.udp_port, rest
        case Protocol.ICMP:
            raise CannotProbeError("ICMP has no ports to dial")
        case _:
            assert_never(action.protocol)


def _resolve(action: Action, endpoint: Endpoint, timing: Timing) -> Command:
    match action.resolver:
        case Resolver.NSLOOKUP:
            words = _nslookup(action, endpoint)
            return Command(means="exec", tool="nslookup", words=words, deadline=timing.execute)
        case Resolver.RESOLVE_DNSNAME:
            words = resolve_dnsname(endpoint.host, action.family)
            return Command(
                means="exec", tool="resolve_dnsname", words=words, deadline=timing.execute
            )
        case Resolver.SYSTEM | None:
            return _dial_name(action, endpoint, timing)
        case _:
            assert_never(action.resolver)


def resolve_dnsname(name: str, family: Family) -> NodeArgv:
    """Return the argv of a Windows DNS client lookup; the name must be a plain PowerShell word."""
    # sample: server-windows-1-1.servers.nettests-x7.svc.cluster.local
    if not re.fullmatch(r"[A-Za-z0-9._-]+", name):
        raise CannotProbeError(f"{name} is no name that PowerShell can be queried for")
    return powershell(f"Resolve-DnsName -Name {name} -Type {_record(family)} -DnsOnly")


def _nslookup(action: Action, endpoint: Endpoint) -> tuple[str, ...]:
    match action.protocol:
        case Protocol.TCP:
            way: tuple[str, ...] = ("-vc",)
        case Protocol.UDP | Protocol.ICMP:
            way = ()
        case _:
            assert_never(action.protocol)
    of_type = () if action.family is Family.IPV4 else (f"-type={_record(action.family)}",)
    server = (endpoint.server,) if endpoint.server else ()
    return ("nslookup", *way, *of_type, endpoint.host, *server)


def _record(family: Family) -> str:
    match family:
        case Family.IPV4:
            return "A"
        case Family.IPV6:
            return "AAAA"
        case _:
            assert_never(family)


def _dial_name(action: Action, endpoint: Endpoint, timing: Timing) -> Command:
    """Return a dial that makes the system resolver look up the name; its answer is ignored."""
    for protocol in (Protocol.UDP, Protocol.TCP):
        for request, port in endpoint.requests(protocol)[:1]:
            return _reach(replace(action, protocol=protocol), endpoint, request, port, timing)
    raise CannotProbeError(f"{endpoint.host} offers nothing to dial")


def _reach(action: Action, endpoint: Endpoint, request: str, port: int, timing: Timing) -> Command:
    host, path = endpoint.host, endpoint.path(request, action.protocol)
    match action.source.kind:
        case VantageKind.POD if action.target.existing is not None:
            return _connect(IN_POD, f"{_bracketed(host)}:{port}", timing)
        case VantageKind.POD:
            probed = dial(host, port, action.protocol, path, timing)
            patience = timing.names if action.target.descriptor.by_name else 0
            return replace(probed, request=request, deadline=probed.deadline + patience)
        case VantageKind.NODE if action.question is Question.RESOLVE:
            raise CannotProbeError("a node vantage has no system resolver to query a name alone")
        case VantageKind.NODE:
            probed = _from_node(action, host, port, path, timing)
            return probed if probed.tool == "connect" else replace(probed, request=request)
        case VantageKind.EXTERNAL:
            probed = _from_outside(action.protocol, f"{_bracketed(host)}:{port}", path, timing)
            return replace(probed, request=request)
        case VantageKind.API:
            raise CannotProbeError("the API server carries no packets of its own")
        case _:
            assert_never(action.source.kind)


def _from_outside(protocol: Protocol, address: str, path: str, timing: Timing) -> Command:
    match protocol:
        case Protocol.TCP:
            words = ("GET", f"http://{address}/{path}")
            return Command(means="external", tool="http", words=words, deadline=timing.dial)
        case Protocol.UDP:
            words = ("SEND", f"udp://{address}/{path}")
            return Command(means="external", tool=DATAGRAM, words=words, deadline=timing.dial)
        case Protocol.ICMP:
            raise CannotProbeError("the external vantage sends no ICMP")
        case _:
            assert_never(protocol)


def dial(
    host: str, port: int, protocol: Protocol, request: str, timing: Timing, *, tries: int = 1
) -> Command:
    """Return a request to netexec's ``/dial``; one try, as a failed last try hides all answers."""
    query = {
        "host": host,
        "port": port,
        "protocol": _dialled(protocol),
        "request": request,
        "tries": tries,
    }
    return Command(
        means="dial",
        tool="dial",
        words=("GET", f"/dial?{urlencode(query)}"),
        request=request,
        deadline=timing.dial,
    )


def _dialled(protocol: Protocol) -> str:
    match protocol:
        case Protocol.TCP:
            return "http"
        case Protocol.UDP:
            return "udp"
        case Protocol.ICMP:
            raise CannotProbeError("ICMP has no ports to dial")
        case _:
            assert_never(protocol)


def _from_node(action: Action, host: str, port: int, path: str, timing: Timing) -> Command:
    seconds = str(int(timing.dial))
    address = f"{_bracketed(host)}:{port}"
    agnhost, curl = host_programs(action.source.os or OS.LINUX)
    match action.protocol:
        case Protocol.TCP:
            words = (curl, "-sS", "-m", seconds, f"http://{address}/{path}")
            return Command(means="exec", tool="curl", words=words, deadline=timing.dial)
        case Protocol.UDP:
            return _connect(agnhost, address, timing, "--protocol=udp")
        case Protocol.ICMP:
            raise CannotProbeError("ICMP has no ports to connect to")
        case _:
            assert_never(action.protocol)


def _connect(agnhost: str, address: str, timing: Timing, *options: str) -> Command:
    words = (agnhost, "connect", *options, f"--timeout={int(timing.dial)}s", address)
    return Command(means="exec", tool="connect", words=words, deadline=timing.dial)


IN_POD = "/agnhost"
"""agnhost's path in Pods of its image, Linux or Windows; on a Windows node it differs (``model.windows_programs``)."""


def host_programs(os: OS) -> tuple[str, str]:
    """Return the paths of agnhost and curl on a node itself."""
    match os:
        case OS.LINUX:
            return IN_POD, "curl"
        case OS.WINDOWS:
            return AGNHOST, "curl.exe"
        case _:
            assert_never(os)


def _ping(action: Action, endpoint: Endpoint) -> Command:
    return Command(
        means="exec",
        tool="ping",
        words=ping_words(action.source.os, endpoint.host, action.size),
        deadline=PINGS * (PING_SECONDS + 1),
    )


def ping_words(os: OS | None, host: str, size: int | None = None) -> tuple[str, ...]:
    """Return the argv of ``ping`` on an OS: three echoes, 2 s each.

    With ``size`` they carry so many bytes and must not be fragmented.
    """
    match os:
        case OS.WINDOWS:
            limits: tuple[str, ...] = () if size is None else ("-f", "-l", str(size))
            return ("ping", "-n", str(PINGS), "-w", str(PING_SECONDS * 1000), *limits, host)
        case OS.LINUX | None:
            limits = () if size is None else ("-M", "do", "-s", str(size))
            return ("ping", "-c", str(PINGS), "-W", str(PING_SECONDS), *limits, host)
        case _:
            assert_never(os)


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
