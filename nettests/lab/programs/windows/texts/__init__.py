"""Texts of Windows tools in the host's language: one YAML file for each language, beside this module. Pure.

Missing keys are English, as without installed resources. ``inferred`` lists the keys (or groups of keys) that no
public output shows: their form is like that of the others, the words may differ.
"""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nettests.lab.data_files import read_yaml
from nettests.lab.interfaces import Process


@dataclass(frozen=True, slots=True)
class Texts:
    """The texts of one language, and its code pages: for consoles (OEM), and for other programs (ANSI)."""

    oem: str
    ansi: str
    groups: Mapping[str, Mapping[Any, Any]]
    inferred: tuple[str, ...]

    def say(self, group: str, key: str | int, **values: object) -> str:
        """Return a text with its values filled in."""
        return str(self.groups[group][key]).format(**values)

    def system(self, number: int) -> str | None:
        """Return FormatMessage's text for an error of Winsock or Win32, or ``None`` if there is none here."""
        text = self.groups["winsock"].get(number) or self.groups["win32"].get(number)
        return None if text is None else str(text)


@functools.cache
def of(locale: str) -> Texts:
    """Return the texts of a locale such as ``ko-KR``."""
    language = locale.partition("-")[0]
    english, chosen = (read_yaml(__package__, f"{name}.yaml") for name in ("en", language))
    groups = {
        name: {**group, **chosen.get(name, {})}
        for name, group in english.items()
        if name not in {"code_pages", "inferred"}
    }
    pages = chosen["code_pages"]
    return Texts(pages["oem"], pages["ansi"], groups, tuple(chosen["inferred"]))


def say(group: str, process: Process, key: str, **values: object) -> str:
    """Return a text of a program, in the language of its machine."""
    return of(process.machine.locale).say(group, key, **values)
