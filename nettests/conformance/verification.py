"""A published report compared with one recomputed from the journal → every difference. Pure.

Last step of ``conformance``. Nothing in the published report is trusted: all of it is compared, sentences included.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

NAMES = ("name", "check", "file", "subject")
"""Keys that identify the items of a list; other items go by their place."""
ABSENT = "absent"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mismatch:
    """A place of the report: what it states there, and what is recomputed."""

    place: str
    stated: str
    recomputed: str

    def __str__(self) -> str:
        return f"{self.place}: stated {self.stated}, recomputed {self.recomputed}"


def mismatches(stated: Mapping[str, Any], recomputed: Mapping[str, Any]) -> tuple[Mismatch, ...]:
    """Return where two documents differ, in the order of the recomputed one; none where they are equal."""
    return tuple(_of_maps(stated, recomputed, ""))


def _differ(stated: Any, recomputed: Any, place: str) -> Iterator[Mismatch]:
    if isinstance(stated, Mapping) and isinstance(recomputed, Mapping):
        yield from _of_maps(stated, recomputed, place)
    elif isinstance(stated, list) and isinstance(recomputed, list):
        yield from _of_maps(_named(stated), _named(recomputed), place)
        if _order(stated) != _order(recomputed) and {*_order(stated)} == {*_order(recomputed)}:
            yield Mismatch(place=place, stated="another order", recomputed="this order")
    elif stated != recomputed or type(stated) is not type(recomputed):
        yield Mismatch(place=place, stated=_said(stated), recomputed=_said(recomputed))


def _of_maps(
    stated: Mapping[Any, Any], recomputed: Mapping[Any, Any], place: str
) -> Iterator[Mismatch]:
    for key in dict.fromkeys((*recomputed, *stated)):
        here = f"{place}.{key}" if place else str(key)
        if key not in stated:
            yield Mismatch(place=here, stated=ABSENT, recomputed=_said(recomputed[key]))
        elif key not in recomputed:
            yield Mismatch(place=here, stated=_said(stated[key]), recomputed=ABSENT)
        else:
            yield from _differ(stated[key], recomputed[key], here)


def _named(items: Sequence[Any]) -> dict[str, Any]:
    """Return the items of a list by what they are called; what is there more than once, by its place too."""
    by_name: dict[str, Any] = {}
    for index, item in enumerate(items):
        name = _name(item, index)
        by_name[f"{name}#{index}" if name in by_name else name] = item
    return by_name


def _order(items: Sequence[Any]) -> list[str]:
    return [*_named(items)]


def _name(item: Any, index: int) -> str:
    if isinstance(item, Mapping):
        return next((str(item[key]) for key in NAMES if key in item), str(index))
    return str(item) if isinstance(item, str | int) else str(index)


def _said(value: Any) -> str:
    """Return a value in a few words: of what has parts only how many."""
    if isinstance(value, Mapping):
        return f"an entry of {len(value)} keys"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    return repr(value)
