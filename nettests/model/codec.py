"""The JSON form of the vocabulary and of journal records, both ways. Pure.

Used by the journal, the reports and to pass facts to xdist workers. It knows how values are
written, not what they mean. ``session.journal`` removes secrets from a record's data before it
becomes a line, and reads files of lines; ``journal_records`` defines the records.
"""

import ipaddress
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import cattrs
from cattrs.gen import make_dict_structure_fn, make_dict_unstructure_fn, override

from nettests.model import limits
from nettests.model.check import Action, Check, Control, Member, ProbePod, Target, Vantage
from nettests.model.facts import Address, Network, NodeFacts
from nettests.model.journal_records import (
    KINDS,
    DiagnosticsItem,
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
from nettests.model.observation import Observation
from nettests.model.verdict import Judgement, MembersJudged
from nettests.model.versions import KubernetesVersion, WindowsBuild
from nettests.model.visible import escaped_json
from nettests.model.words import Placement, TargetKind, VantageKind

Write = Callable[[object], Any]
Read = Callable[[Any, type[Any]], Any]


_NOBODY = Vantage(kind=VantageKind.EXTERNAL, probe="")
_NOTHING = Target(kind=TargetKind.POD)
"""The ends of an action that is written only for its other fields."""


@dataclass(slots=True)
class _Table:
    """Values that are written once, with the number by which rows refer to them."""

    rows: list[Any] = field(default_factory=list)
    _numbers: dict[Any, int] = field(default_factory=dict)

    def number(self, key: object, data: Callable[[], Any]) -> int:
        index = self._numbers.get(key)
        if index is None:
            index = self._numbers[key] = len(self.rows)
            self.rows.append(data())
        return index


def members_to_data(members: Sequence[Member], write: Write) -> dict[str, Any]:
    """Return the tables and rows of a check's members."""
    sources, targets, manners = _Table(), _Table(), _Table()

    def of(action: Action) -> list[int]:
        manner = replace(action, source=_NOBODY, target=_NOTHING)
        return [
            sources.number(action.source, lambda: write(action.source)),
            targets.number(action.target, lambda: write(action.target)),
            manners.number(manner, lambda: _without_ends(write(manner))),
        ]

    rows = [
        [
            member.label,
            member.placement.value,
            of(member.action),
            [[control.proves, *of(control.action)] for control in member.controls],
        ]
        for member in members
    ]
    return {
        "sources": sources.rows,
        "targets": targets.rows,
        "manners": manners.rows,
        "rows": rows,
    }


def members_of_data(data: Any, read: Read) -> tuple[Member, ...]:
    """Return the members written by ``members_to_data``."""
    if not data:
        return ()
    sources = [read(source, Vantage) for source in data["sources"]]
    targets = [read(target, Target) for target in data["targets"]]
    ends = {"source": data["sources"][0], "target": data["targets"][0]}
    manners: list[Action] = [read({**manner, **ends}, Action) for manner in data["manners"]]

    def action(source: int, target: int, manner: int) -> Action:
        return replace(manners[manner], source=sources[source], target=targets[target])

    return tuple(
        Member(
            label=label,
            placement=Placement(placement),
            action=action(*indexes),
            controls=tuple(
                Control(proves=proves, action=action(*numbers)) for proves, *numbers in controls
            ),
        )
        for label, placement, indexes, controls in data["rows"]
    )


def _without_ends(data: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in data.items() if key not in {"source", "target"}}


T = TypeVar("T")

_KEYS: dict[type, dict[str, str]] = {
    Check: {"action": "ask"},
    Control: {"action": "ask"},
    DiagnosticsItem: {"command_line": "asked"},
    NodeFacts: {"pool": "role"},
    Observation: {"differing_ports": "divided", "unexpected_addresses": "misled"},
    ProbePod: {"pool": "role"},
    Target: {"pool": "role"},
    Vantage: {"pool": "role"},
}
"""Renamed fields that keep their old keys in journals and ``results.json`` for other readers."""

_converter = cattrs.Converter(forbid_extra_keys=False)

for _text_type, _read in (
    (ipaddress.IPv4Address, ipaddress.IPv4Address),
    (ipaddress.IPv6Address, ipaddress.IPv6Address),
    (ipaddress.IPv4Network, ipaddress.IPv4Network),
    (ipaddress.IPv6Network, ipaddress.IPv6Network),
    (KubernetesVersion, KubernetesVersion.parse),
    (WindowsBuild, WindowsBuild.parse),
):
    _converter.register_unstructure_hook(_text_type, str)
    _converter.register_structure_hook(_text_type, lambda text, _, read=_read: read(text))

_converter.register_structure_hook(Address, lambda text, _: ipaddress.ip_address(text))
_converter.register_structure_hook(Network, lambda text, _: ipaddress.ip_network(text))
_converter.register_structure_hook(
    Address | None, lambda text, _: None if text is None else ipaddress.ip_address(text)
)


_MEMBERS = override(
    omit_if_default=True,
    unstruct_hook=lambda members: members_to_data(members, _converter.unstructure),
    struct_hook=lambda data, _: members_of_data(data, _converter.structure),
)


def _overrides(kind: type) -> dict[str, Any]:
    overrides: dict[str, Any] = {
        field: override(rename=key) for field, key in _KEYS.get(kind, {}).items()
    }
    if kind is Check:
        return overrides | {"members": _MEMBERS, "alike": _UNSAID}
    return overrides | dict.fromkeys(_RARE.get(kind, ()), _UNSAID)


_UNSAID = override(omit_if_default=True)
_RARE: dict[type, tuple[str, ...]] = {
    Judgement: ("members",),
    MembersJudged: ("message", "expected", "observed", "next_step", "limitation"),
}
"""Fields that most values of a kind lack; omitted if empty."""


def _is_special(kind: Any) -> bool:
    return kind in _KEYS or kind in _RARE


_converter.register_unstructure_hook_factory(
    _is_special,
    lambda kind: make_dict_unstructure_fn(kind, _converter, **_overrides(kind)),
)
_converter.register_structure_hook_factory(
    _is_special,
    lambda kind: make_dict_structure_fn(kind, _converter, **_overrides(kind)),
)


def to_data(value: object) -> Any:
    """Return the plain JSON data (dicts, lists, texts, numbers) of a vocabulary value."""
    return _converter.unstructure(value)


def from_data(data: Any, kind: type[T]) -> T:
    """Return the ``kind`` that ``to_data`` wrote; extra keys are ignored, missing ones raise."""
    return _converter.structure(data, kind)


def to_line(value: object) -> str:
    """Return one line of JSON with sorted keys."""
    return json.dumps(to_data(value), sort_keys=True, ensure_ascii=False)


R = TypeVar("R", bound=Record)

_KIND = "record"
"""The field with a record's kind."""
_OMITTED: Mapping[type[Record], frozenset[str]] = {
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
    unsaid = _OMITTED.get(type(record), frozenset())
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
    if (other := _BEGINS.match(line)) and KINDS.get(other[1].decode()) is not kind:
        return None
    data = _data_in(line)
    return from_data(data, kind) if KINDS.get(data[_KIND]) is kind else None


# sample: {"record": "raw", "raw": {"check": "pod-to-pod-ip/linux-1/windows-1/other-node/tcp", …
_BEGINS = re.compile(rb'\{"record": "([a-z-]+)"')


def _data_in(line: bytes, number: int | None = None) -> dict[str, Any]:
    where = f"line {number} of the journal" if number else "a line of the journal"
    try:
        data = read_json(line, most=limits.JOURNAL_LINE_BYTES)
    except ValueError as error:
        raise BrokenJournalError(f"{where} cannot be read: {error}") from error
    if not isinstance(data, dict) or not isinstance(data.get(_KIND), str):
        raise BrokenJournalError(f"{where} is not a record of a run")
    return data
