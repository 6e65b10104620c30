"""The faults of one lab: inject by name, list, clear."""

import difflib
import itertools
from dataclasses import dataclass

from nettests.lab.client import Json
from nettests.lab.errors import LabError
from nettests.lab.faults.admission_faults import WebhookFaults
from nettests.lab.faults.api import ApiFaults
from nettests.lab.faults.controllers import ControllerFaults
from nettests.lab.faults.edited_objects import ObjectFaults
from nettests.lab.faults.following import Pods
from nettests.lab.faults.kinds import KINDS, Kind
from nettests.lab.faults.names import NameFaults
from nettests.lab.faults.nodes import NodeFaults
from nettests.lab.faults.packets import PacketFaults
from nettests.lab.faults.programs import ProgramFaults
from nettests.lab.faults.services import ServiceFaults
from nettests.lab.faults.targets import Inject, Targets, Undo


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
        pods = Pods(targets.client)
        self._actions: dict[str, Inject] = {
            **PacketFaults(targets, pods).actions(),
            **ServiceFaults(targets).actions(),
            **NameFaults(targets).actions(),
            **NodeFaults(targets, pods).actions(),
            **ProgramFaults(targets, pods).actions(),
            **ObjectFaults(targets).actions(),
            **ApiFaults(targets).actions(),
            **WebhookFaults(targets).actions(),
            **ControllerFaults(targets).actions(),
        }
        self._numbers = itertools.count(1)
        self._injected: dict[int, Injected] = {}

    async def inject(self, name: str, options: Json) -> Injected:
        """Put a fault in force."""
        checked(name, options)
        undo = await self._actions[name](options)
        fault = Injected(number=next(self._numbers), name=name, options=options, undo=undo)
        self._injected[fault.number] = fault
        return fault

    def list(self) -> tuple[Injected, ...]:
        """Return the faults in force, oldest first."""
        return tuple(self._injected.values())

    async def clear(self, name: str | None = None) -> int:
        """Undo all faults, or those called ``name``; return how many there were."""
        chosen = [f for f in self._injected.values() if name in {None, f.name}]
        for fault in reversed(chosen):
            await fault.undo()
            del self._injected[fault.number]
        return len(chosen)


def checked(name: str, options: Json) -> Kind:
    """Return the kind of that name; ``LabError`` where there is none, or where options do not fit."""
    kinds = {kind.name: kind for kind in KINDS}
    if name not in kinds:
        near = difflib.get_close_matches(name, kinds, n=1, cutoff=0.5)
        meant = f'Did you mean "{near[0]}"? ' if near else ""
        raise LabError(
            f'There is no fault "{name}".', hint=f"{meant}Faults: {', '.join(sorted(kinds))}."
        )
    kind = kinds[name]
    missing = [f"--{need}" for need in kind.needs if need not in options]
    if missing:
        raise LabError(f"{name} needs {', '.join(missing)}.", hint=kind.synopsis)
    unknown = [f"--{option}" for option in options if option not in kind.options]
    if unknown:
        raise LabError(f"{name} takes no {', '.join(unknown)}.", hint=kind.synopsis)
    return kind
