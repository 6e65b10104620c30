"""Read the record of ``probes.many_services``: many Services beside the run's own. Pure.

Each node reports three parts (``Crowd``): whether the last Service is served, whether an older
Service keeps working meanwhile, and what is left after removal.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from nettests.model.json_text import read_json
from nettests.model.observation import Raw
from nettests.model.service import Crowd
from nettests.model.words import Outcome
from nettests.parse.netexec import document, of_error
from nettests.parse.reading import Reading, one_line, probe_failed
from nettests.parse.taxonomy import Stage

SERVICES = "services"
"""The name of the tool."""
SUFFERING = 2
"""So many failures in some hundred connections are no chance: a healthy path loses one in 10⁶ (``model.measured``)."""
_NAMED = 5


def read(raw: Raw) -> Reading:
    """Read the record of one node."""
    record = _record(raw)
    match Crowd(record["part"]):
        case Crowd.SERVED:
            return _served(raw, record)
        case Crowd.BESIDE:
            return _beside(raw, record)
        case Crowd.REMOVED:
            return _removed(raw, record)


def figure_of(raws: Sequence[Raw]) -> str | None:
    """Return what was measured as text; ``None`` if no record can be read."""
    try:
        return _figure(_record(raws[-1]))
    except (LookupError, TypeError, ValueError):
        return None


def answer_of(body: str, client_os: str) -> Reading:
    """Read one of several ``/dial`` requests that were sent at the same time."""
    dial_result = document(body)
    if dial_result is None:
        return probe_failed(f"/dial answered {body!r}")
    responses, errors = dial_result
    if errors:
        return of_error(errors[0], client_os, Stage.ADDRESS)
    if not responses:
        return probe_failed("/dial brought no answer to one question")
    return Reading(outcome=Outcome.CONNECTED, detail="answered", backend=responses[0])


def _record(raw: Raw) -> Mapping[str, Any]:
    record = read_json(raw.stdout)
    if not isinstance(record, dict):
        raise TypeError("no record of many Services")
    return record


def _figure(record: Mapping[str, Any]) -> str:
    number = int(record["number"])
    match Crowd(record["part"]):
        case Crowd.SERVED if record["seconds"] is None:
            return f"the last of {number:,} Services was not served within {record['within']:.0f} s"
        case Crowd.SERVED:
            return f"the last of {number:,} Services was served {record['seconds']:.1f} s after it was made"
        case Crowd.BESIDE:
            answered = record["tries"] - record["failures"]
            slowest = f"the slowest after {record['slowest']:.1f} s"
            return f"{answered:,} of {record['tries']:,} connections beside {number:,} Services were answered, {slowest}"
        case Crowd.REMOVED:
            left = len({*record["answering"], *(record["listed"] or ())})
            if left:
                return f"{left} of {number:,} Services were left {record['within']:.0f} s after their removal"
            return f"nothing was left of {number:,} Services {record['seconds']:.1f} s after their removal"


def _served(raw: Raw, record: Mapping[str, Any]) -> Reading:
    """Read whether the last Service and a sample of the others answered in time."""
    unserved = record["unserved"]
    if record["seconds"] is not None and not unserved:
        return Reading(outcome=Outcome.CONNECTED, detail=_figure(record), backend=record["backend"])
    first = unserved[0] if unserved else {"number": record["number"], "body": record["body"]}
    reading = answer_of(first["body"], raw.client_os)
    if reading.outcome.positive:  # it came between the last poll and the sample
        return Reading(outcome=Outcome.CONNECTED, detail=_figure(record), backend=record["backend"])
    counted = f"{len(unserved)} of {record['sampled']} that were picked out were not served, from number {first['number']} on"
    return Reading(
        outcome=reading.outcome,
        detail=one_line(f"{counted}: {reading.detail}"),
        tries=record["sampled"],
        lost=len(unserved),
    )


def _beside(raw: Raw, record: Mapping[str, Any]) -> Reading:
    """Read whether the Service that existed before kept answering."""
    if not record["tries"]:
        return probe_failed("nothing was sent to the Service that was there before")
    if record["failures"] < SUFFERING:
        return Reading(outcome=Outcome.CONNECTED, detail=_figure(record), backend=record["backend"])
    reading = answer_of(record["failed"][-1], raw.client_os)
    return replace(reading, tries=record["tries"], lost=record["failures"])


def _removed(raw: Raw, record: Mapping[str, Any]) -> Reading:
    """Read what is left: addresses that still answer, load balancers that HNS still lists."""
    if not answer_of(record["beside"], raw.client_os).outcome.positive:
        return probe_failed(
            "silence shows no removal: the Service that was there before is silent, too"
        )
    sampled = f"{record['sampled']} of their addresses were dialled"
    listed = record["listed"]
    seen = "HNS lists none of them" if listed is not None else record["unlisted"]
    if not record["answering"] and not listed:
        return Reading(
            outcome=Outcome.CONFORMS, detail=one_line(f"{_figure(record)}: {sampled}; {seen}")
        )
    parts = []
    if record["answering"]:
        parts.append(f"still answered at {_some(record['answering'])}")
    if listed:
        parts.append(f"HNS still lists load balancers of {_some(listed)}")
    return Reading(outcome=Outcome.DEVIATES, detail=one_line("; ".join(parts)))


def _some(addresses: Sequence[str]) -> str:
    more = len(addresses) - _NAMED
    return ", ".join(addresses[:_NAMED]) + (f" and {more} more" if more > 0 else "")
