"""Derive something from each of many values, only for those that are new since the last time.

For the rules of a node: of hundreds of Service ports a few change at a time, and an unchanged one is the same object.
Values are compared by identity, which costs nothing.
"""

from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

Given = TypeVar("Given")
Made = TypeVar("Made")


class PerObject(Generic[Given, Made]):
    """Remembers what ``make`` returned, for the values of the last call and no others."""

    def __init__(self, make: Callable[[Given], Made]) -> None:
        self._make = make
        self._kept: dict[int, tuple[Given, Made]] = {}

    def __call__(self, values: Iterable[Given]) -> list[Made]:
        """Return what is made of each value, in order."""
        before = self._kept
        kept: dict[int, tuple[Given, Made]] = {}
        made = []
        for one in values:
            # The value is held beside what was made of it, so that nothing else can come to have its id.
            known = before.get(id(one)) or kept.get(id(one)) or (one, self._make(one))
            kept[id(one)] = known
            made.append(known[1])
        self._kept = kept
        return made
