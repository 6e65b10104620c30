"""Read the body of a server's answer: its own name, or the client's address as it saw it.

agnhost's ``netexec`` answers ``hostname`` with the pod's name and ``clientip`` with the remote
address. Used by every tool that returns a body.
"""

import ipaddress
import re
from dataclasses import dataclass

from nettests.model.json_text import read_json
from nettests.model.observation import Raw
from nettests.model.words import Outcome
from nettests.parse.reading import Reading, one_line

HOSTNAME = "hostname"
HEALTH = "health"
"""The request to a health check port, where kube-proxy reports a Service's number of local backends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The content of a body: the client's address and port, the backend's name, or neither."""

    server_saw: str | None = None
    source_port: int | None = None
    backend: str | None = None


def answered(raw: Raw, body: str, plain: Outcome) -> Reading:
    """Return the reading of an answer; ``plain`` is its outcome unless ``body`` shows another."""
    request = raw.context.get("request", "")
    answer = read_answer(body, request)
    return Reading(
        outcome=outcome_of(body, request, plain),
        detail=f"answered: {one_line(body)}",
        server_saw=answer.server_saw,
        source_port=answer.source_port,
        backend=answer.backend,
    )


def read_answer(body: str, request: str = "") -> Answer:
    """Read a body; ``request`` is what was requested, and if it is empty the body's shape decides.

    Any answer to ``hostname`` is taken as the backend's name, so a stranger's error page counts as
    a backend of that name and not as the expected one.
    """
    text = body.strip()
    client = None if request == HOSTNAME else client_address(text)
    if client is not None:
        return Answer(server_saw=client[0], source_port=client[1])
    if request == HOSTNAME or (not request and _hostname_like(text)):
        return Answer(backend=" ".join(text.split())[:80])
    return Answer()


def outcome_of(body: str, request: str, plain: Outcome) -> Outcome:
    """Return ``plain``, or for a health check port whether it reports local backends.

    An answer from a health check port in any other form is ``plain`` too.
    """
    if request != HEALTH:
        return plain
    # sample: {"service": {"namespace": "x", "name": "y"}, "localEndpoints": 1, "serviceProxyHealthy": true}
    try:
        health = read_json(body)
    except ValueError:
        return plain
    count = health.get("localEndpoints") if isinstance(health, dict) else None
    if not isinstance(count, int):
        return plain
    healthy = count > 0 and health.get("serviceProxyHealthy") is not False
    return Outcome.HEALTHY if healthy else Outcome.UNHEALTHY


def client_address(text: str) -> tuple[str, int] | None:
    """Parse ``address:port`` (IPv6 in brackets); return ``None`` for any other text."""
    # sample: "10.244.1.2:56880", "[fd00::2]:56880", over UDP in lower case "[fd00::a]:58634"
    match = re.fullmatch(r"\[([0-9a-fA-F:.%]+)\]:(\d{1,5})|([\d.]+):(\d{1,5})", text.strip())
    if match is None:
        return None
    try:
        address = ipaddress.ip_address(match[1] or match[3])
    except ValueError:
        return None
    # A dual-stack listener reports IPv4 clients as ::ffff:10.244.1.2.
    mapped = getattr(address, "ipv4_mapped", None)
    return str(mapped or address), int(match[2] or match[4])


def _hostname_like(text: str) -> bool:
    # sample: "server-windows-1-1"
    return re.fullmatch(r"[A-Za-z0-9]([A-Za-z0-9.-]{0,252}[A-Za-z0-9])?", text) is not None
