"""Values of PowerShell, its conversions (to string, number, boolean, and to pipeline items), and its errors. Pure.

Strings, numbers, booleans, lists and ``None`` are Python's. After Microsoft, "Windows PowerShell Language Specification", chapter 6.
Errors are records with a text for the console, in the layout of NormalView, and as CLIXML (PowerShell/PowerShell,
``PowerShellCore_format_ps1xml.cs``; posted transcripts); 6.2 has the same layout.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from xml.sax.saxutils import escape


class Char(str):
    """``[char]``: one character, which is not a string."""

    __slots__ = ()


class Wrapped(list[Any]):
    """An array that a cmdlet put into a pipeline as one object, which 5.1 shows as ``{value, Count}`` in JSON."""

    __slots__ = ()


class Hashtable(dict[Any, Any]):
    """``@{}``: a hash table whose keys are compared without case."""

    def find(self, key: object) -> object:
        """Return the existing key in its original case, or the given one."""
        wanted = str(key).lower()
        return next((name_there for name_there in self if str(name_there).lower() == wanted), key)


class Thing:
    """An object with properties; ``kind`` is the name of its type."""

    __slots__ = ("kind", "properties")

    def __init__(
        self,
        properties: Mapping[str, Any],
        kind: str = "System.Management.Automation.PSCustomObject",
    ) -> None:
        self.properties, self.kind = dict(properties), kind

    def find(self, name: str) -> str:
        """Return an existing property's name in its original case, or the given one."""
        return next((each for each in self.properties if each.lower() == name.lower()), name)


def thing(kind: str = "", **properties: Any) -> Thing:
    """Return an object with these properties."""
    return Thing(properties, kind) if kind else Thing(properties)


class DotNet:
    """A .NET object: its members are the public attributes, whose names match .NET's without case and ``_``."""

    kind = "System.Object"

    def __str__(self) -> str:
        return self.kind


class ScriptBlock:
    """``{ }`` with its parameters; ``node`` is a ``syntax.Block``."""

    __slots__ = ("node",)

    def __init__(self, node: Any) -> None:
        self.node = node


VOID = object()
"""The result of a method without a return value: nothing is emitted."""


class NetError(Exception):
    """A .NET exception: type, message, cause, and further properties."""

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
    """Convert JSON values to PowerShell's."""
    if isinstance(value, Mapping):
        return Thing({name: from_json(each) for name, each in value.items()})
    return [from_json(each) for each in value] if isinstance(value, list) else value


def many(value: Any) -> list[Any]:
    """Return the pipeline items of a value: a list's items, or the value itself."""
    if isinstance(value, list) and not isinstance(value, Wrapped):
        return list(value)
    return [value]


def one(values: Iterable[Any]) -> Any:
    """Return the value of output that is assigned: ``$null``, the only value, or a list."""
    result = list(values)
    return None if not result else result[0] if len(result) == 1 else result


def truth(value: Any) -> bool:
    """Return ``[bool]value``."""
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
        pairs = (f"{name}={nested(each)}" for name, each in value.properties.items())
        return f"@{{{'; '.join(pairs)}}}"
    if isinstance(value, Hashtable):
        return "System.Collections.Hashtable"
    return str(value.message if isinstance(value, NetError) else value)


def nested(value: Any) -> str:
    """Return the string of a value inside another value."""
    if isinstance(value, list):
        return "System.Object[]"
    return "" if isinstance(value, Thing) else text(value)


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
    """Whether ``left -eq right``: ``right`` is converted to the type of ``left``."""
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


RUNTIME = "System.Management.Automation.RuntimeException"


@dataclass(slots=True, kw_only=True)
class ErrorRecord:
    """One error: ``$_`` of ``catch``."""

    exception: NetError
    error_id: str
    category: str = "NotSpecified"
    target: str = ""
    target_type: str = ""
    activity: str = ""
    title: str = ""
    """Shown before the message instead of the activity."""
    start: int = 0
    end: int = 0

    def __str__(self) -> str:
        return self.exception.message

    def text(self, script: str, position: str) -> str:
        """Return the console's text; ``position`` is "At line:1 char:1" in the host's language."""
        before = script[: self.start]
        line, column = before.count("\n") + 1, self.start - (before.rfind("\n") + 1)
        whole = script.splitlines()[line - 1] if script else ""
        width = max(min(self.end - self.start, len(whole) - column), 1)
        shown = f"{self.target}:{self.target_type}" if self.target or self.target_type else ":"
        name = self.exception.kind.rpartition(".")[2]
        title = f"{self.title or self.activity} : " if self.title or self.activity else ""
        marks = f"{' ' * column}{'~' * width}"
        return (
            f"{title}{self.exception.message}\n"
            f"{position.format(line=line, column=column + 1)}\n"
            f"+ {whole.rstrip()}\n+ {marks}\n"
            f"    + CategoryInfo          : {self.category}: ({shown}) [{self.activity}], {name}\n"
            f"    + FullyQualifiedErrorId : {self.error_id}\n \n"
        )


class PSError(Exception):
    """A terminating error; with ``ends_script`` it ends the whole script unless it is caught."""

    def __init__(self, record: ErrorRecord, *, ends_script: bool = False) -> None:
        super().__init__(record.exception.message)
        self.record, self.ends_script = record, ends_script


def runtime(
    message: str, error_id: str, category: str = "InvalidOperation", **more: str
) -> PSError:
    """Return an error of the language itself, which ends its statement."""
    exception = NetError(more.pop("kind", RUNTIME), message)
    return PSError(
        ErrorRecord(exception=exception, error_id=error_id, category=category, **more)  # type: ignore[arg-type]
    )


def not_found(name: str) -> PSError:
    """Return the error of a command that does not exist."""
    message = (
        f"The term '{name}' is not recognized as the name of a cmdlet, function, script file, or operable program. "
        "Check the spelling of the name, or if a path was included, verify that the path is correct and try again."
    )
    return runtime(
        message,
        "CommandNotFoundException",
        "ObjectNotFound",
        target=name,
        target_type="String",
        kind="System.Management.Automation.CommandNotFoundException",
        title=name,
    )


@dataclass(slots=True)
class CliXml:
    """The document of objects that 5.1 writes to a redirected standard error after ``-EncodedCommand``.

    PowerShell/PowerShell, ``ConsoleHost.ErrorFormat``; posted by users of ``-EncodedCommand`` (diyan/pywinrm#245).
    """

    objects: list[str] = field(default_factory=list)

    def progress(self, activity: str) -> None:
        """Add a record of progress."""
        number = len(self.objects)
        types = f'<TN RefId="{number}"><T>System.Management.Automation.PSCustomObject</T><T>System.Object</T></TN>'
        record = f"<AV>{escape(activity)}</AV><AI>0</AI><Nil /><PI>-1</PI><PC>-1</PC><T>Completed</T><SR>-1</SR><SD> </SD>"
        self.objects.append(
            f'<Obj S="progress" RefId="{number}">{types}<MS><I64 N="SourceId">1</I64><PR N="Record">{record}</PR></MS></Obj>'
        )

    def error(self, text: str) -> None:
        """Add the lines of an error."""
        for line in text.splitlines():
            self.objects.append(f'<S S="Error">{escape(line)}_x000D__x000A_</S>')

    def document(self) -> str:
        """Return the whole text, empty without objects."""
        if not self.objects:
            return ""
        head = '<Objs Version="1.1.0.1" xmlns="http://schemas.microsoft.com/powershell/2004/04">'
        return f"#< CLIXML\n{head}{''.join(self.objects)}</Objs>"
