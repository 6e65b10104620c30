"""Values of PowerShell, and its conversions: to text, number, truth, and of one thing into many. Pure.

Texts, numbers, booleans, lists and ``None`` are Python's own. After Microsoft, "Windows PowerShell Language
Specification", chapter 6.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any


class Char(str):
    """``[char]``: one character, which is no text."""

    __slots__ = ()


class Wrapped(list[Any]):
    """An array that a cmdlet put into a pipeline as one object, which 5.1 shows as ``{value, Count}`` in JSON."""

    __slots__ = ()


class Hashtable(dict[Any, Any]):
    """``@{}``: keys of any case."""

    def find(self, key: object) -> object:
        """Return the key as it was written; the given one if there is none."""
        wanted = str(key).lower()
        return next((name_there for name_there in self if str(name_there).lower() == wanted), key)


class Thing:
    """An object with properties, such as cmdlets print: ``kind`` is its type's name."""

    __slots__ = ("kind", "properties")

    def __init__(
        self,
        properties: Mapping[str, Any],
        kind: str = "System.Management.Automation.PSCustomObject",
    ) -> None:
        self.properties, self.kind = dict(properties), kind

    def find(self, name: str) -> str:
        """Return a property's name as it was written; the given one if there is none."""
        return next(
            (name_there for name_there in self.properties if name_there.lower() == name.lower()),
            name,
        )


class DotNet:
    """An object of .NET: its members are the public attributes, whose names are those of .NET without case and ``_``."""

    kind = "System.Object"

    def __str__(self) -> str:
        return self.kind


class ScriptBlock:
    """``{ }`` with its parameters; ``node`` is a ``syntax.Block``."""

    __slots__ = ("node",)

    def __init__(self, node: Any) -> None:
        self.node = node


VOID = object()
"""What a method without a result returns: nothing is emitted."""


class NetError(Exception):
    """An exception of .NET: type, message, cause, and properties of its own."""

    def __init__(
        self, kind: str, message: str, inner: "NetError | None" = None, **properties: Any
    ) -> None:
        super().__init__(message)
        self.kind, self.message, self.inner, self.properties = kind, message, inner, properties

    @property
    def base(self) -> "NetError":
        """The innermost cause."""
        return self.inner.base if self.inner else self


def from_json(value: Any) -> Any:
    """Return what JSON's values are in PowerShell."""
    if isinstance(value, Mapping):
        return Thing({name: from_json(each) for name, each in value.items()})
    return [from_json(each) for each in value] if isinstance(value, list) else value


def many(value: Any) -> list[Any]:
    """Return what a pipeline makes of a value: a list's items, nothing of ``$null`` as output of a command."""
    if isinstance(value, list) and not isinstance(value, Wrapped):
        return list(value)
    return [value]


def one(values: Iterable[Any]) -> Any:
    """Return what a variable gets of output: nothing, the one value, or a list."""
    result = list(values)
    return None if not result else result[0] if len(result) == 1 else result


def truth(value: Any) -> bool:
    """Return a value as a condition."""
    if isinstance(value, list):
        return truth(value[0]) if len(value) == 1 else bool(value)
    return bool(value) if isinstance(value, str | int | float | type(None)) else True


def text(value: Any) -> str:
    """Return ``[string]value``."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "True" if value else "False"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    if isinstance(value, list):
        return " ".join(text(each) for each in value)
    if isinstance(value, Thing):
        if not value.kind.endswith("PSCustomObject"):
            return value.kind
        return (
            f"@{{{'; '.join(f'{name}={nested(each)}' for name, each in value.properties.items())}}}"
        )
    if isinstance(value, Hashtable):
        return "System.Collections.Hashtable"
    return str(value.message if isinstance(value, NetError) else value)


def nested(value: Any) -> str:
    """Return the text of a value inside another's."""
    return (
        "System.Object[]"
        if isinstance(value, list)
        else ""
        if isinstance(value, Thing)
        else text(value)
    )


def number(value: Any) -> Any:
    """Return a value as a number."""
    if isinstance(value, Char):
        return ord(value)
    if isinstance(value, bool) or value is None:
        return int(bool(value))
    if isinstance(value, int | float):
        return value
    written = text(value).strip()
    try:
        if written.lower().startswith("0x"):
            return int(written, 16)
        return int(written) if written.lstrip("+-").isdigit() else float(written or 0)
    except ValueError:
        raise NetError(
            "System.Management.Automation.PSInvalidCastException",
            f'Cannot convert value "{written}" to type "System.Int32". Error: "Input string was not in a correct format."',
        ) from None


def whole(value: Any) -> int:
    """Return ``[int]value``, which rounds half to even."""
    result = number(value)
    return round(result) if isinstance(result, float) and math.isfinite(result) else int(result)


def equal(left: Any, right: Any, *, exact: bool = False) -> bool:
    """Whether ``left -eq right``: the right one is converted to the left one's type."""
    if left is None or right is None:
        return left is None and right is None
    if isinstance(left, bool) or isinstance(right, bool):
        return truth(left) == truth(right)
    if isinstance(left, int | float):
        try:
            return bool(left == number(right))
        except NetError:
            return False
    if isinstance(left, Thing | Hashtable | list):
        return left is right
    first, second = text(left), text(right)
    return first == second if exact else first.lower() == second.lower()


def order(left: Any, right: Any) -> int:
    """Return -1, 0 or 1, as ``-lt`` and Sort-Object compare."""
    if isinstance(left, int | float) or (left is None and isinstance(right, int | float)):
        first, second = number(left), number(right)
    else:
        first, second = text(left).lower(), text(right).lower()
    return int(first > second) - int(first < second)


def flat(values: Iterable[Any]) -> Iterator[Any]:
    """Yield the items of lists among values."""
    for value in values:
        yield from value if isinstance(value, list) else (value,)
