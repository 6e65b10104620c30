"""All named faults, read from ``faults/*.yaml``, and the choice among them.

A file holds the faults of one topic, each with the fields of ``NamedFault``: ``inject`` lists injections (``kind``,
``after`` in seconds, and the options of ``nettests lab fault inject``); in ``must`` and ``may`` a mapping is a pattern
of checks (``Checks``), and a word, with the nodes that it is about, a group of ``places``.
"""

import difflib
import re
from collections.abc import Mapping, Sequence
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any

from ruamel.yaml import YAML

from nettests.lab.errors import LabError
from nettests.lab.selftest.declared import Checks, Injection, NamedFault
from nettests.lab.selftest.places import BRIDGE, GROUPS, NODES, PROFILES, slot_of

TOPICS = (
    *("packet", "size_and_time", "service", "change", "name", "node", "setting"),
    *("configuration", "pod", "fleet", "scale", "witness"),
)
"""The files, in the order in which their faults are tried."""


Entry = Mapping[str, Any]


@cache
def _entries(topic: str) -> list[Entry]:
    text = files("nettests.lab.selftest").joinpath(f"faults/{topic}.yaml").read_text("utf-8")
    listed: list[Entry] = YAML(typ="safe").load(text)
    return listed


def of_topic(topic: str) -> tuple[NamedFault, ...]:
    """Return the named faults of one file."""
    return tuple(map(_fault, _entries(topic)))


# samples: win-1, linux-12; server-windows-1-2, svc-server-linux-1-1, but no node pool alone
_NODE = re.compile(r"(?<![\w-])(win|linux)-\d+(?![\w-])")
_SLOT = re.compile(r"\b(windows|linux)-(\d)-(\d+)\b")


def placed(name: str, profile: str, seed: int) -> NamedFault:
    """Return a fault at nodes that a seed chooses among those of a profile, instead of those that its file names.

    Nodes of a system change places with each other, in what is injected, in what must and may turn, and in what it is called;
    where the API server and the cluster's DNS run, and which node is cordoned, is the profile's.
    """
    places: dict[str, str] = {}
    for system, count in NODES.get(profile, NODES[BRIDGE]).items():
        nodes = [f"{system}-{number}" for number in range(1, count + 1)]
        chosen = sorted(nodes, key=lambda node: sha256(f"{seed} {name} {node}".encode()).digest())
        places |= zip(nodes, chosen, strict=True)
    slots = {slot_of(node): slot_of(place) for node, place in places.items()}
    entry = next(entry for topic in TOPICS for entry in _entries(topic) if entry["name"] == name)
    kept = {key: entry[key] for key in ("name", "profiles") if key in entry}
    return _fault({**_moved(entry, "", places, slots), **kept})


def _moved(value: Any, key: str, places: Mapping[str, str], slots: Mapping[str, str]) -> Any:
    """Return a part of an entry with other nodes: as nodes, and in the names of Pods and Services."""
    if isinstance(value, list):
        return [_moved(item, key, places, slots) for item in value]
    if isinstance(value, Mapping):
        return {name: _moved(item, name, places, slots) for name, item in value.items()}
    if not isinstance(value, str):
        return value
    text = _SLOT.sub(lambda match: slots.get(match[0], match[0]), value)
    if key in {"service", "pod", "id"}:
        return text
    return _NODE.sub(lambda match: places.get(match[0], match[0]), text)


def _fault(entry: Entry) -> NamedFault:
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


def _injection(entry: Entry) -> Injection:
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
