"""Admission faults: a webhook that changes new Pods, or refuses them, without regard to Windows."""

from collections.abc import Mapping

from nettests.lab.apiserver import webhooks
from nettests.lab.client import Json
from nettests.lab.errors import LabError
from nettests.lab.faults.edited_objects import json_object
from nettests.lab.faults.targets import Inject, Targets, Undo


class WebhookFaults:
    """Adds admission webhooks for new Pods to the API server, at most one of each kind."""

    def __init__(self, targets: Targets) -> None:
        self._api = targets.api

    def actions(self) -> Mapping[str, Inject]:
        """Return what puts each kind in force."""
        return {"pods-changed": self._changed, "pods-refused": self._refused}

    async def _changed(self, options: Json) -> Undo:
        _only_one(self._api.mutating)
        match = json_object(options, "match") if "match" in options else {}
        self._api.mutating = webhooks.mutating(json_object(options, "patch"), match)

        async def undo() -> None:
            self._api.mutating = None

        return undo

    async def _refused(self, options: Json) -> Undo:
        _only_one(self._api.validating)
        self._api.validating = webhooks.validating(json_object(options, "match"))

        async def undo() -> None:
            self._api.validating = None

        return undo


def _only_one(webhook: object) -> None:
    if webhook is not None:
        raise LabError("A fault of webhooks is in force already.", hint="nettests lab fault clear")
