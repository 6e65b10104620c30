"""Two to four named faults at the same time, at nodes of a profile that a seed chooses.

No fault may hide another: a node that is cut off does not show that it lacks a route. So no combination has a fault whose
nodes are all among those of another fault; and a fault without nodes excludes faults that turn no other flows than it does.
"""

import re
from fnmatch import fnmatchcase
from hashlib import sha256
from random import Random

from nettests.lab.selftest.named_faults import (
    SEED,
    NamedFault,
    of_topic,
    placeable,
    placed,
    slot_of,
)

JOINED = "+"
"""Separates the names of faults in the name of a combination."""
FEWEST, MOST = 2, 4
_TOPICS = ("packet", "path", "size_and_time", "service", "change", "name", "fleet")
"""Topics whose faults are in the network from the start of a run, and whose causes a run names."""
# samples: win-1, linux-12; server-windows-1-2
_NODE = re.compile(r"(?<![\w-])(?:win|linux)-\d+(?![\w-])")
_SLOT = re.compile(r"\b(?:windows|linux)-\d-\d+\b")


def combined(profile: str, seed: int) -> NamedFault:
    """Return the combination of faults that a seed selects for a profile."""
    named = [fault for topic in _TOPICS for fault in of_topic(topic)]
    names = [fault.name for fault in named if fault.must and not fault.enable]
    names = [fault.name for fault in named if fault.name in names and placeable(fault, profile)]
    names.sort(key=lambda name: sha256(f"{seed} {profile} {name}".encode()).digest())
    most = Random(seed).randint(FEWEST, MOST)  # noqa: S311  # no secret depends on it
    chosen: list[NamedFault] = []
    for name in names:
        fault = placed(name, profile, seed)
        if len(chosen) < most and not any(_hide(fault, other) for other in chosen):
            chosen.append(fault)
    return _together(profile, chosen)


def restored(name: str, profile: str) -> NamedFault:
    """Return the placed fault, or the combination of faults, of that name."""
    parts = [placed(each, profile, int(each.rpartition(SEED)[2])) for each in name.split(JOINED)]
    return parts[0] if len(parts) == 1 else _together(profile, parts)


def _together(profile: str, parts: list[NamedFault]) -> NamedFault:
    return NamedFault(
        name=JOINED.join(fault.name for fault in parts),
        summary="; ".join(fault.summary for fault in parts),
        profiles=(profile,),
        injections=tuple(each for fault in parts for each in fault.injections),
        must=tuple(checks for fault in parts for checks in fault.must),
        may=tuple(checks for fault in parts for checks in fault.may),
        names=tuple(word for fault in parts for word in fault.names),
        parts=tuple(parts),
    )


def _hide(fault: NamedFault, other: NamedFault) -> bool:
    places, others = _places(fault), _places(other)
    if places and others:
        return places <= others or others <= places
    return _turns_all_of(fault, other) or _turns_all_of(other, fault)


def _turns_all_of(fault: NamedFault, other: NamedFault) -> bool:
    flows = [checks.flow for checks in (*fault.must, *fault.may)]
    return all(any(fnmatchcase(checks.flow, flow) for flow in flows) for checks in other.must)


def _places(fault: NamedFault) -> frozenset[str]:
    """Return the affected nodes, as slots (``windows-1-1``)."""
    texts = " ".join(value for each in fault.injections for value in each.options.values())
    if "kube-dns" in texts:  # of the DNS nothing shows while its node is cut off
        texts += " linux-1"
    return frozenset({*map(slot_of, _NODE.findall(texts)), *_SLOT.findall(texts)})
