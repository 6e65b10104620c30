"""Admission webhooks: only their effect on new Pods is emulated, not the server that the API server would call.

Pods are matched by a part of a Pod, in which ``null`` matches an unset field, and changed by a merge patch. Pure,
except that the Pod is changed in place.
"""

from collections.abc import Callable
from typing import Any

from nettests.lab.apiserver.patch import merged
from nettests.lab.interfaces import Json

Mutating = Callable[[Json], Json]
"""Takes a new Pod and returns it as the webhook changes it."""

Validating = Callable[[Json], str]
"""Takes a new Pod and returns why the webhook refuses it, or ``""``."""

NAME = "pods.policy.example.com"


def mutating(patch: Json, match: Json) -> Mutating:
    """Return a webhook that applies a merge patch to the Pods that match."""

    def change(pod: Json) -> Json:
        return merged(pod, patch) if matches(pod, match) else pod

    return change


def validating(match: Json) -> Validating:
    """Return a webhook that refuses the Pods that match."""

    def refusal(pod: Json) -> str:
        if not matches(pod, match):
            return ""
        return f'admission webhook "{NAME}" denied the request: such Pods are not allowed here'

    return refusal


def matches(item: Any, part: Any) -> bool:
    """Whether ``item`` has all fields of ``part``; lists and scalars have to be equal."""
    if not isinstance(part, dict):
        return bool(item == part)
    fields = item if isinstance(item, dict) else {}
    return all(
        fields.get(key) is None if below is None else matches(fields.get(key), below)
        for key, below in part.items()
    )
