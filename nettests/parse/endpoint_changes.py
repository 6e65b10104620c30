"""Read the record of ``probes.during_changes``: a Service while its endpoints changed. Pure.

Over TCP: whether every new connection was answered. Over UDP: whether a flow that keeps its source
port moved to the new backend when new flows did. If the rules never followed, this check shows
nothing; another flow judges that.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nettests.model.json_text import read_json
from nettests.model.observation import Raw
from nettests.model.retransmission import PROMPT_SECONDS, after_a_lost_syn
from nettests.model.words import Outcome
from nettests.parse.netexec import document, of_error
from nettests.parse.reading import Reading, one_line, probe_failed
from nettests.parse.taxonomy import Stage

MEANWHILE = "during"
"""The name of the tool."""
CONNECTIONS, FLOW = "connections", "flow"
"""The kinds of record."""


@dataclass(frozen=True, slots=True)
class DatagramAnswer:
    """One datagram of a flow, and the backend that answered it (``None``: no answer)."""

    word: str
    backend: str | None


def datagram_answers(text: str) -> list[DatagramAnswer]:
    """Parse a client's output so far; an incomplete last line is ignored."""
    answers = []
    for line in text[: text.rfind("\n") + 1].splitlines():
        match line.split():
            case ["back", word, name]:
                answers.append(DatagramAnswer(word, name))
            case ["none", word]:
                answers.append(DatagramAnswer(word, None))
    return answers


def backend_of(body: str) -> str | None:
    """Return the backend that answered one ``/dial``; ``None`` without an answer."""
    dial_result = document(body)
    return (
        dial_result[0][0]
        if dial_result is not None and not dial_result[1] and dial_result[0]
        else None
    )


def read(raw: Raw) -> Reading:
    """Read the record of one client."""
    record = read_json(raw.stdout)
    if not record["followed"]:
        return probe_failed(
            f"the Service was pointed at {record['behind']}, and new flows did not follow in {record['within']:g} s: "
            "what happens while they do was not seen"
        )
    return _connections(raw, record) if record["of"] == CONNECTIONS else _flow(record)


def figure_of(raws: Sequence[Raw]) -> str | None:
    """Return all measurements as text; ``None`` if no record can be read."""
    return "; repeated: ".join(filter(None, map(_figure, raws))) or None


def _figure(raw: Raw) -> str | None:
    try:
        record = read_json(raw.stdout)
        return _counted(record) if record["of"] == CONNECTIONS else _moved(record)
    except (LookupError, TypeError, ValueError, AttributeError):
        return None


def _connections(raw: Raw, record: Mapping[str, Any]) -> Reading:
    if record["beside"]:
        return probe_failed(
            f"{record['beside']} connections to the backends themselves failed meanwhile: "
            "those to the Service show nothing"
        )
    if record["failed"]:
        dial_result = document(record["failed"][0])
        error = dial_result[1][0] if dial_result and dial_result[1] else record["failed"][0]
        reading = of_error(error, raw.client_os, Stage.ADDRESS)
        return Reading(
            outcome=reading.outcome, detail=one_line(f"{_counted(record)}: {reading.detail}")
        )
    if _held_up(record):
        return Reading(outcome=Outcome.TIMED_OUT, detail=_counted(record))
    return Reading(outcome=Outcome.CONNECTED, detail=_counted(record), backend=record["backend"])


def _held_up(record: Mapping[str, Any]) -> int:
    """Return how many connections needed a retransmitted SYN while the backends were prompt."""
    return sum(
        after_a_lost_syn(seconds) and slowest is not None and slowest < PROMPT_SECONDS
        for seconds, slowest in record["late"]
    )


def _counted(record: Mapping[str, Any]) -> str:
    tries, changes = record["tries"], record["changes"]
    lost, late = len(record["failed"]), _held_up(record)
    meanwhile = f"during {changes} changes of endpoints{_ids(record['ids'])}"
    if not (lost or late):
        return f"all of {tries:,} new connections were answered {meanwhile}"
    parts = []
    if lost:
        parts.append(f"{lost} of {tries:,} new connections failed")
    if late:
        had = "were" if late > 1 else "was"
        parts.append(
            f"{late} of {tries:,} {had} answered only when their first packet had been sent again"
        )
    return f"{' and '.join(parts)} {meanwhile}"


def _ids(number: int) -> str:
    """Say how many ids the load balancer had in HNS; empty if that was not read."""
    if not number:
        return ""
    kept = "kept its id" if number == 1 else f"had {number} ids, one after the other,"
    return f"; its load balancer {kept} in HNS"


def _flow(record: Mapping[str, Any]) -> Reading:
    if record["before"] != record["former"]:
        who = record["before"] or "nobody"
        return probe_failed(f"{who} answered the flow before the change, not {record['former']}")
    detail = one_line(_moved(record))
    if record["last"] is None:
        return Reading(outcome=Outcome.TIMED_OUT, detail=detail)
    silent = record.get("silent", 0)
    return Reading(
        outcome=Outcome.REPLIED,
        detail=detail,
        backend=record["last"],
        tries=silent + 1,
        lost=silent,
    )


def _moved(record: Mapping[str, Any]) -> str:
    lost = f"; {record['unanswered']} datagrams had no answer" if record["unanswered"] else ""
    if record.get("silent"):
        lost += f"; of its first datagrams {record['silent']} had none"
    if record["seconds"] is not None:
        return (
            f"the flow that kept its source port was answered by {record['last']} "
            f"{record['seconds']:.1f} s after the first new flow was{lost}"
        )
    who = f"still answered by {record['last']}" if record["last"] else "answered by nobody"
    return (
        f"the flow that kept its source port was {who} {record['watched']:.0f} s after new flows "
        f"had gone to another backend{lost}"
    )
