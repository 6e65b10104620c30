"""Read the answers of agnhost ``netexec``: of its ``/dial`` with one try, and the bodies that its servers send.

Facts of agnhost 2.63 (recorded in tests/fixtures/transcripts/agnhost.jsonl): ``/dial`` answers 200 with a JSON object
whose keys ``responses`` and ``errors`` are absent when empty; 400 with a text for bad parameters and for a name that
does not resolve, because the name is resolved once before the first try; the target's own HTTP status is ignored.
``hostname`` is answered with the Pod's name and ``clientip`` with the remote address, to every tool alike.
"""

import ipaddress
import re
from collections.abc import Sequence
from dataclasses import dataclass

from nettests.model.json_text import read_json
from nettests.model.observation import Raw
from nettests.model.words import Outcome
from nettests.parse.reading import Reading, not_understood, one_line, probe_failed
from nettests.parse.taxonomy import Stage, classify

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


_NOT_RESOLVED = "host and/or port param are invalid. "


def read(raw: Raw) -> Reading:
    """Read the result of one dial: the answer, or the error."""
    failure = channel_failure(raw)
    if failure is not None:
        return failure
    if raw.stdout.startswith(_NOT_RESOLVED):
        return of_error(raw.stdout.removeprefix(_NOT_RESOLVED), raw.client_os, Stage.NAME)
    dial_result = document(raw.stdout)
    if dial_result is None:
        return not_understood(f"/dial answered {raw.status or ''} with {raw.stdout!r}")
    responses, errors = dial_result
    if errors:
        return of_error(errors[0], raw.client_os, Stage.ADDRESS)
    if len(responses) != 1:
        return probe_failed(f"/dial brought {len(responses)} answers to one question")
    text = responses[0]
    # sample: GET /dial?host=10.244.2.5&port=18081&protocol=udp&request=hostname&tries=1
    words = raw.command[-1] if raw.command else ""
    over_udp = re.search(r"[?&]protocol=udp\b", words)
    # sample: GET /dial?host=10.244.2.5&port=18081&protocol=udp&request=echo+payload.1467&tries=1
    echoed = re.search(r"[?&]request=echo\+(payload\.\d+)", words)
    if echoed and text != echoed[1]:
        return probe_failed(f"the echo of {echoed[1]} came back as another text: {text}")
    return answered(raw, text, Outcome.REPLIED if over_udp else Outcome.CONNECTED)


def read_resolution(raw: Raw) -> Reading:
    """Read whether the probe's system resolver found the name, even if dialling it failed."""
    reading = read(raw)
    if reading.outcome in {Outcome.PROBE_FAILED, Outcome.NXDOMAIN} or raw.stdout.startswith(
        _NOT_RESOLVED
    ):
        return reading
    # sample: Get "http://10.96.63.117:80/hostname": dial tcp 10.96.63.117:80: connect: …
    # sample: read udp 10.244.1.59:41294->10.96.0.10:81: read: connection refused
    match = re.search(r'(?:Get "http://|->)(\[[^\]]+\]|[\d.]+):\d+', reading.detail)
    return Reading(
        outcome=Outcome.RESOLVED,
        detail=f"resolved; dialling it: {reading.detail}",
        backend=reading.backend,
        addresses=(match[1].strip("[]"),) if match else (),
    )


def channel_failure(raw: Raw) -> Reading | None:
    """Return why netexec did not answer, by the HTTP status, or over exec by curl's exit code."""
    if raw.status is None and raw.exit_code != 0:
        code = "no exit code" if raw.exit_code is None else f"exit code {raw.exit_code}"
        return probe_failed(f"/dial was not answered ({code}): {raw.stderr or raw.stdout}")
    if raw.status not in {None, 200, 400}:
        return probe_failed(f"the control channel answered {raw.status}: {raw.stdout}")
    return None


def document(text: str) -> tuple[Sequence[str], Sequence[str]] | None:
    """Return the responses and errors of a dial; ``None`` if the text is not its result."""
    try:
        loaded = read_json(text)
    except ValueError:
        return None
    if not isinstance(loaded, dict) or set(loaded) - {"responses", "errors"}:
        return None
    return loaded.get("responses") or (), loaded.get("errors") or ()


def of_error(text: str, client_os: str, stage: Stage) -> Reading:
    """Read an error text of Go."""
    outcome = classify(text, client_os, stage)
    if outcome is None:
        return not_understood(f"not understood: {text}")
    return Reading(outcome=outcome, detail=one_line(text))
