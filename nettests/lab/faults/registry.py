"""The faults of one lab: inject by name, list, clear."""

import itertools
from dataclasses import dataclass

from nettests.lab.client import Json
from nettests.lab.faults import control_plane, names, network, workloads
from nettests.lab.faults.kinds import checked
from nettests.lab.faults.targets import FAULTS, Options, Targets, Undo

DECLARING = (control_plane, names, network, workloads)
"""Modules that declare the faults when they are imported."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Injected:
    """A fault in force."""

    number: int
    name: str
    options: Json
    undo: Undo


class Faults:
    """The faults of one lab."""

    def __init__(self, targets: Targets) -> None:
        self._targets = targets
        self._numbers = itertools.count(1)
        self._injected: dict[int, Injected] = {}

    async def inject(self, name: str, options: Json) -> Injected:
        """Inject a fault; ``LabError`` if its kind or options are invalid."""
        checked(name, options)
        undo = await FAULTS[name](self._targets, Options(options))
        fault = Injected(number=next(self._numbers), name=name, options=options, undo=undo)
        self._injected[fault.number] = fault
        return fault

    def list(self) -> tuple[Injected, ...]:
        """Return the faults in force, oldest first."""
        return tuple(self._injected.values())

    async def clear(self, name: str | None = None) -> int:
        """Clear all faults, or those of kind ``name``; return how many there were."""
        chosen = [f for f in self._injected.values() if name in {None, f.name}]
        for fault in reversed(chosen):
            await fault.undo()
            del self._injected[fault.number]
        return len(chosen)
