"""Operators of PowerShell: arithmetic, comparison, strings, ranges. Pure."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from nettests.lab.programs.windows.powershell import values as v

_MOST = 64 * 1024 * 1024
"""The maximum length of a string."""


@dataclass(frozen=True, slots=True)
class Matched:
    """The groups of ``-match``, for ``$Matches``."""

    groups: v.Hashtable


def unary(operator: str, value: Any) -> Any:
    """Return ``operator value``."""
    match operator:
        case "!" | "-not":
            return not v.truth(value)
        case ",":
            return [value]
        case "+":
            return v.number(value)
        case "-":
            return -v.number(value)
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
    raise v.runtime(
        f"The operator {operator} is not one that the lab's PowerShell has.", "OperatorNotSupported"
    )


def index(target: Any, place: Any) -> Any:
    """Return ``target[place]``, ``$null`` beyond the ends."""
    if isinstance(target, v.Hashtable):
        return target.get(target.find(place))
    if isinstance(place, list):
        return [index(target, each) for each in place]
    if isinstance(target, str | list | bytes | bytearray):
        position = v.whole(place)
        if -len(target) <= position < len(target):
            return v.Char(target[position]) if isinstance(target, str) else target[position]
        return None
    if target is None:
        raise v.runtime("Cannot index into a null array.", "NullArray")
    return target if v.whole(place) == 0 else None


def store(target: Any, place: Any, value: Any) -> None:
    """Set ``target[place]``."""
    if isinstance(target, v.Hashtable):
        target[target.find(place)] = value
    elif isinstance(target, list) and -len(target) <= v.whole(place) < len(target):
        target[v.whole(place)] = value
    else:
        raise v.runtime(
            "Index was outside the bounds of the array.", "System.IndexOutOfRangeException"
        )


def _arithmetic(operator: str, left: Any, right: Any) -> Any:
    if operator == "+":
        if isinstance(left, list):
            return [*left, *v.many(right)]
        if isinstance(left, v.Hashtable) and isinstance(right, v.Hashtable):
            return v.Hashtable({**left, **right})
        if isinstance(left, str):
            return v.text(left) + v.text(right)
        if left is None and not isinstance(right, int | float):
            return right
    if operator == "*" and isinstance(left, str | list):
        times = v.whole(right)
        if len(left) * max(times, 1) > _MOST:
            raise v.runtime(
                "Exception of type 'System.OutOfMemoryException' was thrown.",
                "System.OutOfMemoryException",
            )
        return left * times
    return _calculated(operator, v.number(left), v.number(right))


def _calculated(operator: str, first: Any, second: Any) -> Any:
    if operator in {"+", "-", "*"}:
        return {"+": first + second, "-": first - second, "*": first * second}[operator]
    if second == 0 and not isinstance(first, float):
        raise v.runtime("Attempted to divide by zero.", "RuntimeException", "NotSpecified")
    if operator == "%":
        return first - second * int(first / second)
    quotient = first / second
    return int(quotient) if isinstance(quotient, float) and quotient.is_integer() else quotient


def _like(left: Any, right: Any, exact: bool) -> bool:  # noqa: FBT001
    pattern = re.escape(v.text(right)).replace(r"\*", ".*").replace(r"\?", ".")
    return bool(re.fullmatch(pattern, v.text(left), re.DOTALL | (0 if exact else re.IGNORECASE)))


_COMPARISONS: dict[str, Callable[[Any, Any, bool], bool]] = {
    "eq": lambda left, right, exact: v.equal(left, right, exact=exact),
    "ne": lambda left, right, exact: not v.equal(left, right, exact=exact),
    "gt": lambda left, right, _: v.order(left, right) > 0,
    "ge": lambda left, right, _: v.order(left, right) >= 0,
    "lt": lambda left, right, _: v.order(left, right) < 0,
    "le": lambda left, right, _: v.order(left, right) <= 0,
    "like": _like,
    "notlike": lambda left, right, exact: not _like(left, right, exact),
}


def _contains(left: Any, right: Any) -> bool:
    return any(v.equal(each, right) for each in v.many(left))


_OTHERS: dict[str, Callable[[Any, Any], Any]] = {
    "contains": _contains,
    "notcontains": lambda left, right: not _contains(left, right),
    "in": lambda left, right: _contains(right, left),
    "notin": lambda left, right: not _contains(right, left),
}


def _match(left: Any, right: Any, *, exact: bool, wanted: bool) -> Any:
    pattern = re.compile(v.text(right), 0 if exact else re.IGNORECASE)
    if isinstance(left, list):
        return [each for each in left if bool(pattern.search(v.text(each))) == wanted]
    result = pattern.search(v.text(left))
    if result is None or not wanted:
        return (result is not None) == wanted
    groups = v.Hashtable({0: result[0]})
    groups.update(
        {place: each for place, each in enumerate(result.groups(), 1) if each is not None}
    )
    groups.update({name: each for name, each in result.groupdict().items() if each is not None})
    return Matched(groups)


def _replace(left: Any, right: Any, *, exact: bool) -> Any:
    if isinstance(left, list):
        return [_replace(each, right, exact=exact) for each in left]
    pattern, *substitutes = v.many(right)
    substitute = v.text(substitutes[0]) if substitutes else ""
    # $1 and ${name} of .NET
    template = re.sub(r"\$\{?(\w+)\}?", r"\\g<\1>", substitute.replace("\\", r"\\"))
    return re.sub(v.text(pattern), template, v.text(left), flags=0 if exact else re.IGNORECASE)
