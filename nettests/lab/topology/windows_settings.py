"""The block ``windows`` of a lab profile: behaviour of Windows nodes that build and runtime do not determine. Pure.

One row for each key: its type, its values and its default. ``profile_schema`` validates the block by these rows, and
``settings`` makes a setting of each (``--set windows.hcsshim=0.12``). ``Shim`` says how a Windows node starts HostProcess
containers: hcsshim, which containerd ships, decides where the host sees the image and whether ``cmd /c`` precedes each
command (microsoft/hcsshim, ``internal/jobcontainers``). A node reports only containerd's version, so a profile may state
another shim.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

ENGLISH = "en-US"
LOCALES = ("en-US", "de-DE", "fr-FR", "es-ES", "pt-BR", "ru-RU", "zh-CN", "ja-JP", "ko-KR")


def _key(default: Any, example: str, **schema: Any) -> Any:
    """Return a field with the JSON Schema of its values, and an example for messages."""
    return field(default=default, metadata={"schema": schema, "example": example})


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowsSettings:
    """A profile's settings for all of its Windows nodes."""

    hcsshim: str = _key("", "0.12", type="string", pattern=r"^(0\.\d+)?$")
    """Minor version of the shim; empty: the one that containerd ships."""
    bind_filter: bool | None = _key(None, "false", type="boolean")
    """Whether nodes have ``bindfltapi.dll``; by default it follows from build and patch level."""
    lost_output: int = _key(0, "10", type="integer", minimum=0)
    """One in so many short commands loses its output, if the shim can lose it (before 0.12); 0: none."""
    locale: str = _key("en-US", "ko-KR", enum=LOCALES, type="string")
    """The nodes' language; container images are always English."""
    english_messages: bool | None = _key(None, "true", type="boolean")
    """Whether nodes of another language also have English system messages, which Go requests first; default no."""
    hns_module: str = _key("inbox", "psgallery", enum=("inbox", "psgallery", "none"), type="string")
    """HNS cmdlets of the nodes: those of Windows, the PowerShell Gallery's module HNS before them, or none."""
    hns_hiccup: int = _key(0, "5", type="integer", minimum=0)
    """One in so many calls of HNS cmdlets succeeds without output; 0: none."""
    hns_accounts: str = _key("system", "all", enum=("system", "all"), type="string")
    """The accounts that HNS answers."""
    account: str = _key("", r"NT AUTHORITY\Local service", type="string")
    """The account of HostProcess containers; empty: the one that their Pods request."""
    powershell_first_seconds: int = _key(0, "20", type="integer", minimum=0)
    """How long PowerShell on a node needs to find a module's cmdlet before it has a module cache."""
    refusal_seconds: int = _key(2, "0", type="integer", minimum=0)
    """How long Winsock retries a refused SYN, every half second, before the program gets the error."""
    curl: str = _key("", "8.7.1", type="string", pattern=r"^\d+\.\d+\.\d+$")
    """Version of curl on Windows nodes; empty: that of their build."""

    @property
    def message_locale(self) -> str:
        """The language of system errors in Go programs: English if nodes have English messages."""
        return ENGLISH if self.english_messages else self.locale


def key(name: str) -> str:
    """Return the key of a field in profiles: ``bindFilter``."""
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


SHIMS = {(1, 6): 9, (1, 7): 11, (2, 0): 12, (2, 1): 13, (2, 2): 14, (2, 3): 15}
"""hcsshim 0.N by containerd minor (its ``go.mod``; the first releases of 1.7 had 0.10, which starts containers alike)."""

# containerd://2.0.5  containerd://1.7.28+unknown  docker://20.10.9
_CONTAINERD = re.compile(r"containerd://(\d+)\.(\d+)\.(\d+)")
_OLDEST = min(SHIMS)
_IMAGE_IN_HPC = 10
"""hcsshim 0.10: images at ``C:\\hpc``, by a bind mount if the host supports it; groups as accounts; PATH extended."""
_WHOLE_OUTPUT = 12
"""hcsshim 0.12 no longer closes its ends of the pipes when a process exits (5eb195256)."""
_HPC_IS_DIRECTORY = (1, 7, 16)
"""containerd 1.7.16 starts HostProcess containers in ``C:\\hpc`` unless Pod or image state a folder."""
_BIND_FILTER_BUILD, _BIND_FILTER_UPDATE = 19041, (17763, 3165)
"""Windows since 20H1 has ``bindfltapi.dll``; Server 2019 got it in July 2022 (KEP-1981; KB5015811)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shim:
    """hcsshim 0.``minor``; ``binds`` means that the host can bind files into a container's silo."""

    minor: int = max(SHIMS.values())
    binds: bool = True
    directory: str = r"C:\hpc"
    """The default working directory, as containerd writes it into the container's spec."""

    @property
    def behind_cmd(self) -> bool:
        """Whether ``cmd /c`` precedes each command of a HostProcess container."""
        return self.binds and self.images_in_hpc

    @property
    def images_in_hpc(self) -> bool:
        """Whether images are at ``C:\\hpc`` (0.10 or newer)."""
        return self.minor >= _IMAGE_IN_HPC

    @property
    def loses_output(self) -> bool:
        """Whether a command's last output may be lost."""
        return self.minor < _WHOLE_OUTPUT

    def root(self, container_id: str) -> str:
        """Return the folder of a HostProcess container's image, without a trailing backslash."""
        if not self.images_in_hpc:
            return rf"C:\C\{container_id}"
        return r"C:\hpc" if self.binds else rf"C:\hpc\{container_id}"


def shim_of(
    runtime: str, release: tuple[int, int], settings: WindowsSettings | None = None
) -> Shim:
    """Return the shim of a node, by its ``containerd://1.7.28``, build and patch level, and the settings."""
    given = settings or WindowsSettings()
    version = _version(runtime)
    minor = SHIMS[max(each for each in SHIMS if each <= version or each == _OLDEST)]
    binds = release[0] >= _BIND_FILTER_BUILD or (
        release[0] == _BIND_FILTER_UPDATE[0] and release >= _BIND_FILTER_UPDATE
    )
    return Shim(
        minor=int(given.hcsshim.partition(".")[2]) if given.hcsshim else minor,
        binds=binds if given.bind_filter is None else given.bind_filter,
        directory=r"C:\hpc" if version >= _HPC_IS_DIRECTORY else "C:\\",
    )


def _version(runtime: str) -> tuple[int, int, int]:
    match = _CONTAINERD.match(runtime)
    return (int(match[1]), int(match[2]), int(match[3])) if match else (1, 6, 0)
