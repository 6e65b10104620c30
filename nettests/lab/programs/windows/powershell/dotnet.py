"""Static members of .NET types: the console, encodings, the environment, files, and a few others.

Scripts do not find other types. ``dotnet_net`` has the types of the network.
"""

from collections.abc import Callable
from typing import Any

from nettests.lab.data_files import read_yaml
from nettests.lab.programs.windows.broken_tools import NO_CONSOLE
from nettests.lab.programs.windows.powershell import dotnet_net
from nettests.lab.programs.windows.powershell import values as v
from nettests.lab.programs.windows.powershell.session import Session
from nettests.lab.programs.windows.small_programs import account

_CODE_PAGES = {"utf-8": 65001, "utf-16-le": 1200, "ascii": 20127}


def unknown_type(name: str) -> v.PSError:
    """Return the error of a type that does not exist."""
    return v.runtime(f"Unable to find type [{name}].", "TypeNotFound")


class Type(v.DotNet):
    """``[type]``."""

    def __init__(self, key: str, name: str) -> None:
        self.key, self.name = key, name

    def __str__(self) -> str:
        return self.name

    @classmethod
    def named(cls, name: str) -> "Type":
        """Return the type of a full name, or of a name without ``System.``."""
        key = name.lower().removeprefix("system.")
        if key not in STATICS and key.removesuffix("[]") not in _PLAIN:
            raise unknown_type(name)
        return cls(key, _FULL_NAMES.get(key, f"System.{name.removeprefix('System.')}"))

    @classmethod
    def of(cls, value: Any) -> "Type":
        """Return a value's type."""
        kinds = (
            *((bool, "Boolean"), (v.Char, "Char"), (str, "String"), (int, "Int32")),
            *((float, "Double"), (list, "Object[]")),
        )
        name = next((f"System.{name}" for kind, name in kinds if isinstance(value, kind)), "")
        if isinstance(value, v.Thing | v.DotNet | v.NetError):
            name = value.kind
        if isinstance(value, v.Hashtable):
            name = "System.Collections.Hashtable"
        if isinstance(value, v.ErrorRecord):
            name = "System.Management.Automation.ErrorRecord"
        return cls("", name or "System.Object")


class Encoding(v.DotNet):
    """``[Text.Encoding]``."""

    kind = "System.Text.Encoding"

    def __init__(self, codec: str) -> None:
        self.body_name = self.web_name = codec
        self.code_page = _CODE_PAGES.get(codec) or int(codec.removeprefix("cp") or 0)

    def get_bytes(self, value: Any) -> list[int]:
        """Encode a text."""
        return list(v.text(value).encode(self.web_name, errors="replace"))

    def get_string(self, data: Any) -> str:
        """Decode bytes."""
        return bytes(data).decode(self.web_name, errors="replace")


class _Writer(v.DotNet):
    """``[Console]::Out`` and ``Error``."""

    kind = "System.IO.TextWriter"

    def __init__(self, session: Session, *, error: bool = False) -> None:
        self._write = session.warn if error else session.write

    async def write_line(self, value: Any = "", *more: Any) -> object:
        return await self.write(f"{_composed(value, more)}\n")

    async def write(self, value: Any = "", *more: Any) -> object:
        await self._write(_composed(value, more))
        return v.VOID

    def flush(self) -> object:
        return v.VOID


class _Reader(v.DotNet):
    """``[Console]::In``."""

    kind = "System.IO.TextReader"

    def __init__(self, session: Session) -> None:
        self._session = session

    async def read_line(self) -> str | None:
        """Read a line, ``$null`` at the end."""
        return await self._session.stdin.next(self._session.encoding)


def _composed(value: Any, more: tuple[Any, ...]) -> str:
    written = v.text(value)
    for place, each in enumerate(more):
        written = written.replace(f"{{{place}}}", v.text(each))
    return written


def _identity(session: Session) -> v.Thing:
    name, sid = account(session.process.machine)
    return v.Thing({"Name": name, "User": v.Thing({"Value": sid}), "IsSystem": sid == "S-1-5-18"})


Member = Callable[..., Any]
STATICS: dict[str, dict[str, Member]] = {
    "console": {
        "out": _Writer,
        "error": lambda session: _Writer(session, error=True),
        "in": _Reader,
        "write": lambda session, *values: _Writer(session).write(*values),
        "writeline": lambda session, *values: _Writer(session).write_line(*values),
        "readline": lambda session: _Reader(session).read_line(),
        "outputencoding": lambda session: Encoding(session.encoding),
    },
    "text.encoding": {
        "utf8": lambda _session: Encoding("utf-8"),
        "ascii": lambda _session: Encoding("ascii"),
    },
    "text.utf8encoding": {"new": lambda _session, *_options: Encoding("utf-8")},
    "security.principal.windowsidentity": {"getcurrent": _identity},
    **dotnet_net.STATICS,
}
_PLAIN = frozenset(read_yaml(__package__, "commands.yaml")["types"])
_FULL_NAMES = {"int": "System.Int32", "string": "System.String", "console": "System.Console"}


def static(target: Type, wanted: str) -> Member | None:
    """Return a static member, ``None`` if the type has none of that name."""
    return STATICS.get(target.key, {}).get(wanted)


def store(target: Type, wanted: str, session: Session, encoding: Any) -> None:
    """Set a static property: the console's encoding is the only one."""
    if (target.key, wanted) != ("console", "outputencoding"):
        raise v.runtime(
            f"The property '{wanted}' cannot be found on this object.", "PropertyNotFound"
        )
    if NO_CONSOLE in session.process.machine.troubles.tools:
        raise v.NetError("System.IO.IOException", "The handle is invalid.")
    session.encoding = encoding.web_name


def new(session: Session, name: str, arguments: list[Any]) -> Any:
    """Return the result of ``New-Object``."""
    target = Type.named(name)
    if target.key == "psobject":
        return v.Thing({})
    maker = static(target, "new")
    if maker is None:
        raise unknown_type(name)
    return maker(session, *arguments)
