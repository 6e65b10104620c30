"""Mechanisms of the emulation that a user may switch, whatever builds and settings imply.

``nettests lab up --mechanism NAME=VALUE``. The API does not show a switched mechanism: nodes keep their builds and
kube-proxy its arguments, so that behaviour deviates from the documents. Each switch changes how packets, names or
pods are handled; none names an outcome. ``mechanisms.yaml`` lists them.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from nettests.lab.data_files import read_yaml
from nettests.lab.errors import LabError, nearest

Switched = tuple[tuple[str, int], ...]
"""Names with their values; on and off are 1 and 0."""

_WORDS = {"on": 1, "off": 0}


@dataclass(frozen=True, slots=True)
class Mechanism:
    """One switch; with ``counts`` its value is a number, otherwise it is on or off."""

    name: str
    summary: str
    counts: bool = False


def _read() -> tuple[Mechanism, ...]:
    rows = read_yaml(__package__, "mechanisms.yaml")
    return tuple(
        Mechanism(name, row["number"], counts=True)
        if isinstance(row, dict)
        else Mechanism(name, row)
        for name, row in rows.items()
    )


MECHANISMS = _read()
"""All switches, in the order of the data plane: kube-proxy, switch, host, names, pods."""


def read(texts: Iterable[str]) -> Switched:
    """Parse ``NAME=VALUE`` texts; ``LabError`` names the nearest valid name or value."""
    switched: dict[str, int] = {}
    for text in texts:
        name, _, value = text.partition("=")
        switched[_mechanism(name).name] = _value(_mechanism(name), value)
    return tuple(sorted(switched.items()))


def _mechanism(name: str) -> Mechanism:
    names = {mechanism.name: mechanism for mechanism in MECHANISMS}
    if name in names:
        return names[name]
    hint = nearest(name, names).rstrip() or "nettests lab mechanisms lists them."
    raise LabError(f'There is no mechanism "{name}".', hint=hint)


def _value(mechanism: Mechanism, text: str) -> int:
    if mechanism.counts and text.isdecimal():
        return int(text)
    if not mechanism.counts and text in _WORDS:
        return _WORDS[text]
    wanted = "a number" if mechanism.counts else "on or off"
    raise LabError(
        f'Mechanism "{mechanism.name}" takes {wanted}, not "{text}".',
        hint=f"--mechanism {mechanism.name}={'64' if mechanism.counts else 'on'}",
    )
