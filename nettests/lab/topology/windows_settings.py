"""The block ``windows`` of a lab profile: how its Windows nodes behave where build and runtime leave it open.

One row for each key: its type, its values, and the value that nothing has to state. ``profile_schema`` validates the
block by these rows, and ``settings`` makes one setting of each (``--set windows.hcsshim=0.12``). What a key does is the
matter of the module that reads it. Pure.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

ENGLISH = "en-US"
LOCALES = ("en-US", "de-DE", "fr-FR", "es-ES", "pt-BR", "ru-RU", "zh-CN", "ja-JP", "ko-KR")


def _key(default: Any, example: str, **schema: Any) -> Any:
    """Return a field with what its values may be, as JSON Schema, and an example for messages."""
    return field(default=default, metadata={"schema": schema, "example": example})


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowsSettings:
    """What a profile states of all of its Windows nodes."""

    hcsshim: str = _key("", "0.12", type="string", pattern=r"^(0\.\d+)?$")
    """Minor version of the shim, which is an executable of its own; empty: the one that their containerd ships."""
    bind_filter: bool | None = _key(None, "false", type="boolean")
    """Whether ``bindfltapi.dll`` is on the nodes; unless stated it follows from build and patch level."""
    lost_output: int = _key(0, "10", type="integer", minimum=0)
    """One of so many short commands loses its output, where the shim can lose it (before 0.12); 0: none."""
    locale: str = _key("en-US", "ko-KR", enum=LOCALES, type="string")
    """The nodes' language; images of containers are English whatever it is."""
    english_messages: bool | None = _key(None, "true", type="boolean")
    """Whether nodes of another language have the system's English messages too, which Go requests first; unless stated they have not."""
    hns_module: str = _key("inbox", "psgallery", enum=("inbox", "psgallery", "none"), type="string")
    """Which cmdlets of HNS nodes have: those of Windows, the module HNS of the PowerShell Gallery before them, or none."""
    hns_hiccup: int = _key(0, "5", type="integer", minimum=0)
    """One of so many calls of HNS' cmdlets prints nothing and succeeds; 0: none."""
    hns_accounts: str = _key("system", "all", enum=("system", "all"), type="string")
    """Which accounts HNS answers."""
    account: str = _key("", r"NT AUTHORITY\Local service", type="string")
    """The account that HostProcess containers run as, whatever their Pods request; empty: the one that they request."""
    powershell_first_seconds: int = _key(0, "20", type="integer", minimum=0)
    """How long PowerShell on a node looks for a module's cmdlet the first time, when it has no cache of modules yet."""
    refusal_seconds: int = _key(2, "0", type="integer", minimum=0)
    """For how long Winsock sends a refused SYN again, twice in a second, before a program learns of it."""
    curl: str = _key("", "8.7.1", type="string", pattern=r"^\d+\.\d+\.\d+$")
    """Version of the curl that Windows nodes have; empty: the one that came with their build."""

    @property
    def message_locale(self) -> str:
        """The language of the system's errors in Go's programs: English, where there is such a message."""
        return ENGLISH if self.english_messages else self.locale


def key(name: str) -> str:
    """Return the key of a field, as profiles spell it: ``bindFilter``."""
    first, *others = name.split("_")
    return "".join((first, *(word.title() for word in others)))


SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        key(each.name): dict(each.metadata["schema"]) for each in fields(WindowsSettings)
    },
}
"""JSON Schema of the block."""


def read(block: Mapping[str, Any]) -> WindowsSettings:
    """Return the settings of a block that ``SCHEMA`` validated."""
    return WindowsSettings(
        **{
            each.name: block[key(each.name)]
            for each in fields(WindowsSettings)
            if key(each.name) in block
        }
    )
