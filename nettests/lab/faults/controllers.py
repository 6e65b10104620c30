"""Faults of the controllers that make Pods: one of them is stopped, as if left out of ``--controllers``."""

from collections.abc import Mapping

from nettests.lab.client import Json
from nettests.lab.errors import LabError
from nettests.lab.faults.targets import Inject, Targets, Undo, text

CONTROLLERS: Mapping[str, str] = {
    "cronjob": "cronjobs",
    "daemonset": "daemonsets",
    "deployment": "deployments",
    "job": "jobs",
    "replicaset": "replicasets",
    "statefulset": "statefulsets",
}
"""The controllers by kube-controller-manager's names, with the objects of each."""


class ControllerFaults:
    """Acts on the loop that has workloads' Pods."""

    def __init__(self, targets: Targets) -> None:
        self._targets = targets

    def actions(self) -> Mapping[str, Inject]:
        """Return what puts each kind in force."""
        return {"controller-stopped": self._stopped}

    async def _stopped(self, options: Json) -> Undo:
        """Stop a controller; its objects stay, and it catches up afterwards."""
        name = text(options, "controller")
        if name not in CONTROLLERS:
            raise LabError(
                f'There is no controller "{name}".', hint=f"Controllers: {', '.join(CONTROLLERS)}."
            )
        objects, stopped = CONTROLLERS[name], self._targets.stopped
        if objects in stopped:
            raise LabError(
                f"The controller {name} is stopped already.", hint="nettests lab fault clear"
            )
        stopped.add(objects)

        async def undo() -> None:
            stopped.discard(objects)

        return undo
