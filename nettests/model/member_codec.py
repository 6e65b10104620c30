"""The members of a check as plain data: each end and each way of testing once, each member a short row.

Used by ``codec`` alone. A fleet of a hundred nodes has ten thousand pairs whose members differ only in the numbers of
their two nodes: written out in full, one check's record would take tens of megabytes.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from nettests.model.check import Action, Control, Member, Target, Vantage
from nettests.model.words import Placement, TargetKind, VantageKind

Write = Callable[[object], Any]
Read = Callable[[Any, type[Any]], Any]


_NOBODY = Vantage(kind=VantageKind.EXTERNAL, probe="")
_NOTHING = Target(kind=TargetKind.POD)
"""The ends of an action that is written only for its manner."""


@dataclass(slots=True)
class _Table:
    """Values that are written once, with the number that rows use for them."""

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
    """Return the members that ``members_to_data`` wrote."""
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
