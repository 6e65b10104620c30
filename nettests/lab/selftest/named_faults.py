"""All named faults, read from ``faults/*.yaml``, and the choice among them.

A file holds the faults of one topic, each with the fields of ``NamedFault``: ``inject`` lists injections (``kind``,
``after`` in seconds, and the options of ``nettests lab fault inject``); in ``must`` and ``may`` a mapping is a pattern
of checks (``Checks``), and a word, with the nodes that it is about, a group of ``places``.
"""

import difflib
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

from ruamel.yaml import YAML

from nettests.lab.errors import LabError
from nettests.lab.selftest.declared import Checks, Injection, NamedFault
from nettests.lab.selftest.places import GROUPS, PROFILES

TOPICS = (
    *("packet", "size_and_time", "service", "change", "name", "node", "setting"),
    *("configuration", "pod", "fleet", "scale", "witness"),
)
"""The files, in the order in which their faults are tried."""


def of_topic(topic: str) -> tuple[NamedFault, ...]:
    """Return the named faults of one file."""
    text = files("nettests.lab.selftest").joinpath(f"faults/{topic}.yaml").read_text("utf-8")
    return tuple(_fault(entry) for entry in YAML(typ="safe").load(text))


def _fault(entry: Mapping[str, Any]) -> NamedFault:
    """Return a fault; ``TypeError`` names a field that it does not have."""
    fields: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value
        for key, value in entry.items()
        if key not in {"inject", "must", "may"}
    }
    return NamedFault(
        **fields,
        injections=tuple(map(_injection, entry.get("inject", ()))),
        must=_checks(entry.get("must", ())),
        may=_checks(entry.get("may", ())),
    )


def _injection(entry: Mapping[str, Any]) -> Injection:
    options = {name: str(value) for name, value in entry.items() if name not in {"kind", "after"}}
    return Injection(kind=entry["kind"], options=options, after=entry.get("after", 0))


def _checks(entries: Sequence[str | Mapping[str, str]]) -> tuple[Checks, ...]:
    patterns: list[Checks] = []
    for entry in entries:
        if isinstance(entry, str):
            group, *nodes = entry.split()
            patterns += GROUPS[group](*nodes)
        else:
            patterns.append(Checks(**entry))
    return tuple(patterns)


FAULTS: tuple[NamedFault, ...] = tuple(fault for topic in TOPICS for fault in of_topic(topic))
"""Every named fault of a cluster, in the order in which they are tried."""
ASSUMPTIONS = of_topic("assumption")
"""What breaks an assumption of the harness about tools, and nothing of the network."""


def chosen(names: Sequence[str], faults: tuple[NamedFault, ...] = FAULTS) -> tuple[NamedFault, ...]:
    """Return those of these names, all of them for none; ``LabError`` names the nearest."""
    by_name = {fault.name: fault for fault in faults}
    for name in names:
        if name not in by_name:
            near = difflib.get_close_matches(name, by_name, n=1, cutoff=0.5)
            meant = f'Did you mean "{near[0]}"?' if near else "nettests lab selftest --list"
            raise LabError(f'There is no named fault "{name}".', hint=meant)
    return tuple(by_name[name] for name in dict.fromkeys(names)) if names else faults


def profiles_of(names: Sequence[str], faults: Sequence[NamedFault]) -> tuple[str, ...]:
    """Return the profiles to run, those that are named or all that the faults are for."""
    for name in names:
        if name not in PROFILES:
            raise LabError(
                f'No named fault is for the profile "{name}".',
                hint=f"Profiles: {', '.join(PROFILES)}.",
            )
    chosen = names or PROFILES
    return tuple(
        profile for profile in chosen if any(profile in fault.profiles for fault in faults)
    )
