"""Operators of PowerShell: arithmetic, comparison, strings, ranges. Pure."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from nettests.lab.programs.windows.powershell.values import (
    Char,
    Hashtable,
    equal,
    many,
    number,
    order,
    runtime,
    text,
    truth,
    whole,
)

_MOST = 64 * 1024 * 1024
"""The maximum length of a string."""


@dataclass(frozen=True, slots=True)
class Matched:
    """The groups of ``-match``, for ``$Matches``."""

    groups: Hashtable


def unary(operator: str, value: Any) -> Any:
    """Return ``operator value``."""
    match operator:
        case "!" | "-not":
            return not truth(value)
        case ",":
            return [value]
        case "+":
            return number(value)
        case "-":
            return -number(value)
    raise AssertionError(operator)


def binary(operator: str, left: Any, right: Any) -> Any:
    """Return ``left operator right``; ``Matched`` instead of true if there are groups for ``$Matches``."""
    if operator in {"+", "-", "*", "/", "%"}:
        return _arithmetic(operator, left, right)
    name = operator.removeprefix("-")
    exact = name.startswith("c") and name not in {"contains"}
    name = name[1:] if exact or (name.startswith("i") and name != "in") else name
    if name in _COMPARISONS:
        comparison = _COMPARISONS[name]
        if isinstance(left, list):
            return [each for each in left if comparison(each, right, exact)]
        return comparison(left, right, exact)
    if name in _OTHERS:
        return _OTHERS[name](left, right)
    if name in {"match", "notmatch"}:
        return _match(left, right, exact=exact, wanted=name == "match")
    if name == "replace":
        return _replace(left, right, exact=exact)
    raise runtime(
        f"The operator {operator} is not one that the lab's PowerShell has.", "OperatorNotSupported"
    )


def index(target: Any, place: Any) -> Any:
    """Return ``target[place]``, ``$null`` beyond the ends."""
    if isinstance(target, Hashtable):
        return target.get(target.find(place))
    if isinstance(place, list):
        return [index(target, each) for each in place]
    if isinstance(target, str | list | bytes | bytearray):
        position = whole(place)
        if -len(target) <= position < len(target):
            return Char(target[position]) if isinstance(target, str) else target[position]
        return None
    if target is None:
        raise runtime("Cannot index into a null array.", "NullArray")
    return target if whole(place) == 0 else None


def store(target: Any, place: Any, value: Any) -> None:
    """Set ``target[place]``."""
    if isinstance(target, Hashtable):
        target[target.find(place)] = value
    elif isinstance(target, list) and -len(target) <= whole(place) < len(target):
        target[whole(place)] = value
    else:
        raise runtime(
            "Index was outside the bounds of the array.", "System.IndexOutOfRangeException"
        )


def _arithmetic(operator: str, left: Any, right: Any) -> Any:
    if operator == "+":
        if isinstance(left, list):
            return [*left, *many(right)]
        if isinstance(left, Hashtable) and isinstance(right, Hashtable):
            return Hashtable({**left, **right})
        if isinstance(left, str):
            return text(left) + text(right)
        if left is None and not isinstance(right, int | float):
            return right
    if operator == "*" and isinstance(left, str | list):
        times = whole(right)
        if len(left) * max(times, 1) > _MOST:
            raise runtime(
                "Exception of type 'System.OutOfMemoryException' was thrown.",
                "System.OutOfMemoryException",
            )
        return left * times
    return _calculated(operator, number(left), number(right))


def _calculated(operator: str, first: Any, second: Any) -> Any:
    if operator in {"+", "-", "*"}:
        return {"+": first + second, "-": first - second, "*": first * second}[operator]
    if second == 0 and not isinstance(first, float):
        raise runtime("Attempted to divide by zero.", "RuntimeException", "NotSpecified")
    if operator == "%":
        return first - second * int(first / second)
    quotient = first / second
    return int(quotient) if isinstance(quotient, float) and quotient.is_integer() else quotient


def _like(left: Any, right: Any, exact: bool) -> bool:  # noqa: FBT001
    pattern = re.escape(text(right)).replace(r"\*", ".*").replace(r"\?", ".")
    return bool(re.fullmatch(pattern, text(left), re.DOTALL | (0 if exact else re.IGNORECASE)))


_COMPARISONS: dict[str, Callable[[Any, Any, bool], bool]] = {
    "eq": lambda left, right, exact: equal(left, right, exact=exact),
    "ne": lambda left, right, exact: not equal(left, right, exact=exact),
    "gt": lambda left, right, _: order(left, right) > 0,
    "ge": lambda left, right, _: order(left, right) >= 0,
    "lt": lambda left, right, _: order(left, right) < 0,
    "le": lambda left, right, _: order(left, right) <= 0,
    "like": _like,
    "notlike": lambda left, right, exact: not _like(left, right, exact),
}


def _contains(left: Any, right: Any) -> bool:
    return any(equal(each, right) for each in many(left))


_OTHERS: dict[str, Callable[[Any, Any], Any]] = {
    "contains": _contains,
    "notcontains": lambda left, right: not _contains(left, right),
    "in": lambda left, right: _contains(right, left),
    "notin": lambda left, right: not _contains(right, left),
}


def _match(left: Any, right: Any, *, exact: bool, wanted: bool) -> Any:
    pattern = re.compile(text(right), 0 if exact else re.IGNORECASE)
    if isinstance(left, list):
        return [each for each in left if bool(pattern.search(text(each))) == wanted]
    result = pattern.search(text(left))
    if result is None or not wanted:
        return (result is not None) == wanted
    groups = Hashtable({0: result[0]})
    groups.update(
        {place: each for place, each in enumerate(result.groups(), 1) if each is not None}
    )
    groups.update({name: each for name, each in result.groupdict().items() if each is not None})
    return Matched(groups)


def _replace(left: Any, right: Any, *, exact: bool) -> Any:
    if isinstance(left, list):
        return [_replace(each, right, exact=exact) for each in left]
    pattern, *substitutes = many(right)
    substitute = text(substitutes[0]) if substitutes else ""
    # $1 and ${name} of .NET
    template = re.sub(r"\$\{?(\w+)\}?", r"\\g<\1>", substitute.replace("\\", r"\\"))
    return re.sub(text(pattern), template, text(left), flags=0 if exact else re.IGNORECASE)
