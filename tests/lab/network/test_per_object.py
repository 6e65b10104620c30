"""What is remembered of values by their identity."""

import gc
import weakref

from nettests.lab.network.services import PerObject


class Value:
    """Something that is equal to all of its kind."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Value)

    def __hash__(self) -> int:
        return 1


def test_only_what_was_not_there_before_is_made() -> None:
    """A value that stays is made of once; an equal one that is another, and one that comes back, are made of anew."""
    calls: list[Value] = []

    def number(one: Value) -> int:
        calls.append(one)
        return len(calls)

    made = PerObject(number)
    first, second, third = Value(), Value(), Value()
    assert made([first, second]) == [1, 2]
    assert made([second, third]) == [2, 3]
    assert made([third, first, third]) == [3, 4, 3]


def test_nothing_is_remembered_of_what_went() -> None:
    """Values that the last call did not name are let go."""
    made = PerObject[Value, int](lambda _one: 0)
    value = Value()
    gone = weakref.ref(value)
    made([value])
    made([])
    del value
    gc.collect()
    assert gone() is None
