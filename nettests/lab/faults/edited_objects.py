"""Configuration faults in API objects: an object is edited, and edited back when the fault is cleared."""

import json
from collections.abc import Mapping

from nettests.lab.client import MERGE, STRATEGIC, ApiError, Json
from nettests.lab.errors import LabError
from nettests.lab.faults.rollouts import rolled_out
from nettests.lab.faults.targets import Inject, Targets, Undo, text

_KINDS = {
    "node": "/api/v1/nodes/{}",
    "node-status": "/api/v1/nodes/{}/status",
    "configmap": "/api/v1/namespaces/{}/configmaps/{}",
    "daemonset": "/apis/apps/v1/namespaces/{}/daemonsets/{}",
}


class ObjectFaults:
    """Acts through the API, as an administrator does."""

    def __init__(self, targets: Targets) -> None:
        self._targets = targets

    def actions(self) -> Mapping[str, Inject]:
        """Return what puts each kind in force."""
        return {"object-edited": self._edited}

    async def _edited(self, options: Json) -> Undo:
        path, patch = path_of(text(options, "object")), json_object(options, "patch")
        rolls = "/daemonsets/" in path
        async with self._targets.client("faults") as client:
            try:
                before = await client.get(path.removesuffix("/status"))
                await client.patch(path, patch, kind=STRATEGIC if rolls else MERGE)
            except ApiError as error:
                raise LabError(f"The object was not edited: {error.message}") from error
            if rolls:
                await rolled_out(client, path)

        async def undo() -> None:
            async with self._targets.client("faults") as client:
                await client.patch(path, inverse(patch, before))
                if rolls:
                    await rolled_out(client, path)

        return undo


def path_of(named: str) -> str:
    """Return the path of ``kind/name`` or ``kind/namespace/name``; ``LabError`` for what is none."""
    kind, *words = named.split("/")
    form = _KINDS.get(kind, "")
    if not form or len(words) != form.count("{}") or not all(words):
        raise LabError(
            f'"{named}" names no object that can be edited.',
            hint="node/NAME, node-status/NAME, configmap/NAMESPACE/NAME or daemonset/NAMESPACE/NAME",
        )
    return form.format(*words)


def inverse(patch: Json, before: Json) -> Json:
    """Return the merge patch that takes another back (RFC 7396)."""
    back: Json = {}
    for key, value in patch.items():
        old = before.get(key)
        back[key] = (
            inverse(value, old) if isinstance(value, dict) and isinstance(old, dict) else old
        )
    return back


def json_object(options: Json, name: str) -> Json:
    """Return an option that is a JSON object; ``LabError`` for what is none."""
    try:
        read = json.loads(text(options, name))
    except ValueError as error:
        raise LabError(f"--{name} is no JSON: {error}") from error
    if not isinstance(read, dict):
        example = '{"spec": {"replicas": 2}}'
        raise LabError(f"--{name} is no JSON object.", hint=f"--{name} '{example}'")
    return read
