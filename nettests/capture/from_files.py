"""Existing capture files → a trace and its page, for ``nettests trace --pcap``; contacts no cluster."""

from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

from nettests.capture.trace_files import write_trace
from nettests.errors import PlanError
from nettests.model.facts import Address
from nettests.private import require_writable
from nettests.tracing.finding import Trace
from nettests.tracing.mark import Mark
from nettests.tracing.packet import Capture
from nettests.tracing.path import StatedFlow, protocol_of, scene_of_captures, spanning, trace


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """Captures by file, each with its node's name if one was given, and what describes the flow."""

    captures: tuple[str, ...]
    port: int | None = None
    token: str | None = None
    service: str | None = None
    backends: tuple[str, ...] = ()
    vni: int | None = None


def trace_captures(given: Given, directory: Path) -> tuple[Trace, Path]:
    """Read the captures, write the trace, and return both; ``NettestsError`` for what cannot be read."""
    if (given.port is None) == (not given.token):
        raise PlanError(
            "which flow is it? Name one of --port and --token",
            hint="--port 51234, the client's port of a TCP connection; --token hello, how its datagrams begin",
        )
    require_writable(directory)
    flow = StatedFlow(
        mark=Mark(
            protocol=protocol_of(token=given.token),
            port=given.port,
            token=(given.token or "").encode(),
        ),
        service=_address("--service", given.service) if given.service else None,
        backends=tuple(_address("--backend", backend) for backend in given.backends),
        vni=given.vni,
    )
    captures = spanning(_read(given.captures), flow.mark)
    result = trace(scene_of_captures(captures, flow), flow.mark, captures)
    page = write_trace(directory, result, (), title=", ".join(given.captures))
    return result, page


def _read(files: tuple[str, ...]) -> list[Capture]:
    from nettests import wire  # noqa: PLC0415 - scapy is an extra

    captures: dict[str, Capture] = {}
    for text in files:
        name, equals, rest = text.partition("=")
        path = Path(rest if equals else text)
        node = name if equals else path.stem
        if node in captures:
            raise PlanError(
                f"two captures are of {node}", hint="name their nodes: --pcap win-1=a.pcap"
            )
        captures[node] = wire.read_file(node, path)
    return list(captures.values())


def _address(option: str, text: str) -> Address:
    try:
        return ip_address(text)
    except ValueError as error:
        raise PlanError(f"{option} {text} is no IP address") from error
