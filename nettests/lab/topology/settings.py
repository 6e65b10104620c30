"""Change facts of a lab profile by hand: ``kubernetes=1.34.2``, ``windows.build=20348.3207``, ``kubeProxy.dsr=true``.

Settings edit a profile's document before ``profiles`` validates it, so that the rules for files apply to them, too.
Keys are those of ``nettests forecast --to``, so that one list of facts serves for the forecast and for the lab; the
driver follows the backend, as it does there.
"""

import re
from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from nettests.lab.errors import ProfileError, nearest
from nettests.lab.topology import windows_settings
from nettests.lab.topology.windows_settings import WindowsSettings

Document = MutableMapping[str, Any]
Drivers = Mapping[str, Sequence[tuple[str, str]]]
"""Backends of each plugin with the driver of its Windows nodes, the default first."""
_WORDS = {"true": True, "on": True, "false": False, "off": False}
# samples: "1.34.2", "v1.34.2"; "20348.3207", "10.0.20348.3207"
_RELEASE = re.compile(r"v?(?P<release>\d+\.\d+\.\d+)")
_BUILD = re.compile(r"(?:10\.0\.)?(?P<build>\d{5})\.(?P<patch>\d+)")


@dataclass(frozen=True, slots=True)
class Setting:
    """One key: how its value is read, and how it changes a profile's document."""

    name: str
    example: str
    read: Callable[[str], Any]
    """Parses a value, or raises ``ValueError``."""
    change: Callable[[Document, Any], None]


def change(document: Document, texts: Iterable[str], drivers: Drivers) -> None:
    """Change a profile's document by ``KEY=VALUE`` texts; its name and summary show the change."""
    given = tuple(texts)
    if not given:
        return
    read = [_read(text) for text in given]
    values = dict(read)
    if len(values) < len(read):
        names = [name for name, _ in read]
        twice = next(name for name in names if names.count(name) > 1)
        raise ProfileError(f'Setting "{twice}" is given twice.')
    for name, value in values.items():
        SETTINGS[name].change(document, value)
    if {"cni.plugin", "cni.backend"} & values.keys():
        _choose_driver(document["cni"], drivers, backend_stated="cni.backend" in values)
    document["summary"] = f"{document['name']} with {', '.join(given)}"
    document["name"] = f"{str(document['name'])[:55]}-changed"


def _read(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if name not in SETTINGS:
        raise ProfileError(
            f'There is no setting "{name}" of a profile.',
            hint=f"{nearest(name, SETTINGS)}Settings: {', '.join(SETTINGS)}.",
        )
    setting = SETTINGS[name]
    try:
        return name, setting.read(value.strip())
    except ValueError:
        what = f'not "{value}"' if equals else "and no value is given"
        raise ProfileError(
            f'Setting "{name}" takes a value such as {setting.example}, {what}.',
            hint=f"--set {name}={setting.example}",
        ) from None


def _choose_driver(cni: Document, drivers: Drivers, *, backend_stated: bool) -> None:
    """Set the driver of a changed backend, and the default backend of a changed plugin; validation finds wrong pairs."""
    pairs = drivers.get(cni["plugin"], ())
    if pairs and not backend_stated and cni["backend"] not in dict(pairs):
        cni["backend"] = pairs[0][0]
    cni["driver"] = dict(pairs).get(cni["backend"], cni["driver"])


def _matched(pattern: re.Pattern[str], text: str) -> re.Match[str]:
    if (match := pattern.fullmatch(text)) is None:
        raise ValueError(text)
    return match


def _release(text: str) -> str:
    return f"v{_matched(_RELEASE, text)['release']}"


def _build(text: str) -> tuple[int, int]:
    match = _matched(_BUILD, text)
    return int(match["build"]), int(match["patch"])


def _on_off(text: str) -> bool:
    if text.lower() not in _WORDS:
        raise ValueError(text)
    return _WORDS[text.lower()]


def _word(text: str) -> str:
    if not text:
        raise ValueError(text)
    return text


def _networks(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _set(*path: str) -> Callable[[Document, Any], None]:

    def change_(document: Document, value: Any) -> None:
        *outer, last = path
        place = document
        for key in outer:
            place = place.setdefault(key, {})
        place[last] = value

    return change_


def _of_nodes(os: str, *keys: str) -> Callable[[Document, Any], None]:

    def change_(document: Document, value: Any) -> None:
        nodes = [node for node in document["nodes"] if node["os"] == os]
        if not nodes:
            raise ProfileError(
                f"The profile {document['name']} has no {os} node, of which {keys[0]} is a fact."
            )
        values = value if isinstance(value, tuple) else (value,)
        for node in nodes:
            node.update(zip(keys, values, strict=True))

    return change_


_READERS: Mapping[str, Callable[[str], Any]] = {"boolean": _on_off, "integer": int, "string": _word}


def _of_windows() -> tuple[Setting, ...]:
    rows = ((windows_settings.key(each.name), each.metadata) for each in fields(WindowsSettings))
    return tuple(
        Setting(
            f"windows.{key}", row["example"], _READERS[row["schema"]["type"]], _set("windows", key)
        )
        for key, row in rows
    )


_TABLE = (
    Setting("kubernetes", "1.34.2", _release, _set("kubernetesVersion")),
    Setting("cni.plugin", "flannel", _word, _set("cni", "plugin")),
    Setting("cni.backend", "vxlan", _word, _set("cni", "backend")),
    Setting("cni.natExceptions", "192.0.2.0/24", _networks, _set("cni", "natExceptions")),
    Setting("cni.loopbackDSR", "true", _on_off, _set("cni", "loopbackDSR")),
    Setting("linux.runtime", "containerd://2.1.9", _word, _of_nodes("linux", "runtime")),
    Setting("windows.runtime", "containerd://2.1.9", _word, _of_nodes("windows", "runtime")),
    Setting("windows.build", "20348.3207", _build, _of_nodes("windows", "build", "patch")),
    Setting("kubeProxy.dsr", "true", _on_off, _set("kubeProxy", "dsr")),
    Setting("kubeProxy.windows.mode", "kernelspace", _word, _set("kubeProxy", "mode")),
    *_of_windows(),
)
SETTINGS = {setting.name: setting for setting in _TABLE}
"""Every setting by its name."""
