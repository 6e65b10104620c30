"""Create and delete the objects of a run; delete only what carries its label.

All of a run's objects stand in one namespace that the run creates, so that whatever happens to the
harness, one label finds and one deletion removes everything. Waiting is ``wait``'s work.
"""

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nettests.cluster.connection import Answer, ApiError, Connection
from nettests.errors import ClusterError

Object = dict[str, Any]

RUN_LABEL = "nettests.dev/run"
OWNER_LABEL = "nettests.dev/owner"
EXPIRES_LABEL = "nettests.dev/expires"
POLL_SECONDS = 0.2
ACCOUNT_SECONDS = 15.0

_PLURALS = {"Pod": "pods", "Service": "services"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Ownership:
    """Who made an object, for which run, and when anybody may remove it (seconds since 1970)."""

    run: str
    owner: str
    expires: int

    @property
    def labels(self) -> dict[str, str]:
        """The labels that every object of the run carries."""
        return {
            RUN_LABEL: self.run,
            OWNER_LABEL: label_value(self.owner),
            EXPIRES_LABEL: str(self.expires),
        }


def label_value(text: str) -> str:
    """Return ``text`` as a valid label value: other characters become dashes, 63 at most."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text)[:63].strip("-_.")


def path_of(item: Object) -> str:
    """Return the collection that an object is created in."""
    if item["kind"] == "Namespace":
        return "/api/v1/namespaces"
    return f"/api/v1/namespaces/{item['metadata']['namespace']}/{_PLURALS[item['kind']]}"


def create(connection: Connection, item: Object) -> Object:
    """Create an object, or return it when an earlier try of the same run made it already."""
    try:
        return _create(connection, item)
    except ApiError as error:
        if error.status != 409 or error.reason != "AlreadyExists":
            raise
        existing = connection.get(f"{path_of(item)}/{item['metadata']['name']}")
        if _labels(existing).get(RUN_LABEL) == _labels(item).get(RUN_LABEL):
            return existing
        raise


def _create(connection: Connection, item: Object) -> Object:
    """Create an object; a pod waits for the default ServiceAccount of a namespace just made."""
    deadline = time.monotonic() + ACCOUNT_SECONDS
    while True:
        try:
            return connection.create(path_of(item), item)
        except ApiError as error:
            # sample: error looking up service account x/default: serviceaccount "default" not found
            missing = error.status == 403 and "serviceaccount" in error.message
            if not missing or time.monotonic() > deadline:
                raise
            time.sleep(POLL_SECONDS)


def dry_run(connection: Connection, item: Object) -> Answer:
    """Ask for an object to be created without being stored, and return the answer whatever it is.

    Like ``create`` it waits for the default ServiceAccount of a namespace just made.
    """
    deadline = time.monotonic() + ACCOUNT_SECONDS
    while True:
        answer = connection.send("POST", path_of(item), query={"dryRun": "All"}, body=item)
        missing = answer.status == 403 and "serviceaccount" in answer.text
        if not missing or time.monotonic() > deadline:
            return answer
        time.sleep(POLL_SECONDS)


def namespaces_of(connection: Connection, run: str) -> list[str]:
    """Return the namespaces that carry the run's label."""
    listed = connection.items("/api/v1/namespaces", labelSelector=f"{RUN_LABEL}={run}")
    return [item["metadata"]["name"] for item in listed]


def delete_run(connection: Connection, run: str, *, wait: float) -> None:
    """Delete the run's namespaces and wait until they are gone; nothing else is touched."""
    for name in namespaces_of(connection, run):
        connection.delete(f"/api/v1/namespaces/{name}")
    deadline = time.monotonic() + wait
    while left := namespaces_of(connection, run):
        if time.monotonic() > deadline:
            raise ClusterError(
                f"namespace {', '.join(left)} is still terminating after {wait:.0f} s",
                hint="it goes by itself; `kubectl describe namespace` says what holds it",
            )
        time.sleep(POLL_SECONDS)


def _labels(item: Object) -> Mapping[str, str]:
    return item["metadata"].get("labels") or {}
