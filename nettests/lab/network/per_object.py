"""Derive something from each of many values, only for those that are new since the last time.

For the rules of a node: of hundreds of Service ports a few change at a time, and an unchanged one is the same object.
Values are compared by identity, which costs nothing.
"""

from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

Value = TypeVar("Value")
Result = TypeVar("Result")


class PerObject(Generic[Value, Result]):
    """Remembers what ``make`` returned, for the values of the last call and no others."""

    def __init__(self, make: Callable[[Value], Result]) -> None:
        self._make = make
        self._kept: dict[int, tuple[Value, Result]] = {}

    def __call__(self, values: Iterable[Value]) -> list[Result]:
        """Return what is made of each value, in order."""
        before = self._kept
        kept: dict[int, tuple[Value, Result]] = {}
        results = []
        for value in values:
            # The value is kept with its result, so that no other object can get its id.
            pair = before.get(id(value)) or kept.get(id(value)) or (value, self._make(value))
            kept[id(value)] = pair
            results.append(pair[1])
        self._kept = kept
        return results
