"""Journal records as lines of JSON, both ways. Pure.

``session.journal`` removes secrets from a record's data before it becomes a line, and reads files
of lines; ``journal_records`` defines the records. Unexpected values raise what ``codec`` raises.
"""

import json
from collections.abc import Mapping
from typing import Any, TypeVar

from nettests.model import limits
from nettests.model.codec import from_data, to_data
from nettests.model.journal_records import (
    KINDS,
    Done,
    End,
    Event,
    Planned,
    Record,
    Revised,
    Unknown,
)
from nettests.model.json_text import read_json
from nettests.model.limits import BrokenJournalError
from nettests.model.visible import escaped_json

R = TypeVar("R", bound=Record)

_KIND = "record"
"""The field with a record's kind."""
_UNSAID: Mapping[type[Record], frozenset[str]] = {
    Done: frozenset(
        {"distrust", "skip", "late", "resent", "slow", "overloaded", "alone", "judgement"}
    ),
    Event: frozenset({"notable"}),
    End: frozenset({"requests", "stages"}),
    Planned: frozenset({"others"}),
    Revised: frozenset({"others"}),
}
"""Fields that are omitted from a line if they are empty."""


def data_of(record: Record) -> dict[str, Any]:
    """Return a record as the plain data of its line; empty fields may be omitted."""
    if isinstance(record, Unknown):
        return record.data
    unsaid = _UNSAID.get(type(record), frozenset())
    fields = {
        key: value
        for key, value in to_data(record).items()
        if key not in unsaid or not (value is None or value is False or value in ([], {}))
    }
    return {_KIND: record.KIND, **fields}


def record_of(data: Mapping[str, Any]) -> Record:
    """Return the record from its plain data; unknown fields are ignored."""
    kind = KINDS.get(data[_KIND])
    if kind is None:
        return Unknown(data=dict(data))
    record: Record = from_data(data, kind)
    return record


def encode(data: Mapping[str, Any]) -> bytes:
    """Encode a record's data as a line, escaping terminal controls and lone surrogates."""
    return escaped_json(json.dumps(data, ensure_ascii=False)).encode() + b"\n"


def decode(line: bytes, number: int | None = None) -> Record:
    """Return the record of line ``number``; ``BrokenJournalError`` if it is not a record."""
    return record_of(_data_in(line, number))


def decode_only(line: bytes, kind: type[R]) -> R | None:
    """Return the record of a line if it is of this kind; others, which may be long, are not parsed."""
    data = _data_in(line)
    return from_data(data, kind) if KINDS.get(data[_KIND]) is kind else None


def _data_in(line: bytes, number: int | None = None) -> dict[str, Any]:
    where = f"line {number} of the journal" if number else "a line of the journal"
    try:
        data = read_json(line, most=limits.JOURNAL_LINE_BYTES)
    except ValueError as error:
        raise BrokenJournalError(f"{where} cannot be read: {error}") from error
    if not isinstance(data, dict) or not isinstance(data.get(_KIND), str):
        raise BrokenJournalError(f"{where} is no record of a run")
    return data
