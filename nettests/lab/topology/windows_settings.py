"""The block ``windows`` of a lab profile: how its Windows nodes behave where build and runtime leave it open.

One row for each key: its type, its values, and the value that nothing has to state. ``profile_schema`` validates the
block by these rows, and ``settings`` makes one setting of each (``--set windows.hcsshim=0.12``). What a key does is the
matter of the module that reads it. Pure.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any


def _key(default: Any, example: str, **schema: Any) -> Any:
    """Return a field with what its values may be, as JSON Schema, and an example for messages."""
    return field(default=default, metadata={"schema": schema, "example": example})


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowsSettings:
    """What a profile states of all of its Windows nodes."""

    hcsshim: str = _key("", "0.12", type="string", pattern=r"^0\.\d+$")
    """Minor version of the shim, which is an executable of its own; empty: the one that their containerd ships."""
    bind_filter: bool | None = _key(None, "false", type="boolean")
    """Whether ``bindfltapi.dll`` is on the nodes; unless stated it follows from build and patch level."""
    lost_output: int = _key(0, "10", type="integer", minimum=0)
    """One of so many short commands loses its output, where the shim can lose it (before 0.12); 0: none."""


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
