"""Remove the objects of a dead run, but only those that were listed, and only if nothing has changed since.

``leftovers`` finds dead runs; time passes before the removal. So each run is checked again, its Lease is updated
only if it was not updated since, and every deletion names the UID that was listed. A run that renews its Lease meanwhile
keeps its objects, or sees the mark on its Lease and ends.
"""

from collections.abc import Collection, Sequence
from functools import partial
from typing import Any

from nettests.cluster.apply import COLLECTIONS, delete_object, owned_namespaces, path_of, wait_gone
from nettests.cluster.connection import ApiError, Connection
from nettests.cluster.leftovers import Leftover, State, is_named_after, look_at, namespace_of
from nettests.cluster.ownership import Ownership, collect_lease, holder_of
from nettests.errors import ClusterError

Object = dict[str, Any]


def remove(
    connection: Connection, places: Sequence[Leftover], *, wait: float, ignore: Collection[str] = ()
) -> dict[str, str]:
    """Remove everything that one run left, and wait until it is gone; return by namespace why something stays.

    ``places`` are all that ``find`` returned for the run. If one of them has to stay, or has changed, all stay.
    """
    try:
        versions = _unchanged(connection, places, ignore)
        leases = [_mark_collected(connection, place) for place in places]
    except ClusterError as error:
        return {place.namespace: error.message for place in places}
    problems = {}
    for place, lease in zip(places, leases, strict=True):
        try:
            if not place.own_namespace:
                _remove_objects(connection, place, lease, wait)
            elif place.state is not State.TERMINATING and place.namespace in versions:
                _delete_namespace(connection, place, versions[place.namespace])
        except ClusterError as error:
            problems[place.namespace] = error.message
    for place in places:
        if place.own_namespace and place.namespace not in problems:
            try:
                itself = {
                    "kind": "Namespace",
                    "metadata": {"name": place.namespace, "uid": place.uid},
                }
                wait_gone(partial(_standing, connection, [itself]), "namespace", wait)
            except ClusterError as error:
                problems[place.namespace] = error.message
    return problems


def _unchanged(
    connection: Connection, places: Sequence[Leftover], ignore: Collection[str]
) -> dict[str, str]:
    """Return the versions of the run's own namespaces; ``ClusterError`` if anything has changed."""
    for place in places:
        if not place.removable:
            raise ClusterError(place.obstacle or place.spared)
    run = places[0].ownership.run
    by_uid = {place.uid: place for place in places if place.own_namespace}
    current = [
        item
        for item in owned_namespaces(connection, run)
        if is_named_after(item["metadata"]["name"], run)
    ]
    for item in current:
        seen = by_uid.get(item["metadata"]["uid"])
        if seen is None or Ownership.of(item) != seen.ownership:
            name = item["metadata"]["name"]
            raise ClusterError(f"namespace {name} of run {run} is not the one that was looked at")
    for place in look_at(
        connection, [place for place in places if place.own_namespace], ignore=ignore
    ):
        if place.obstacle:
            raise ClusterError(f"namespace {place.namespace} has changed: {place.obstacle}")
    return {item["metadata"]["name"]: item["metadata"]["resourceVersion"] for item in current}


def _mark_collected(connection: Connection, leftover: Leftover) -> Object | None:
    """Mark the run's Lease as collected; ``ClusterError`` if the run is alive again."""
    # Nothing can be created in a terminating namespace, but an existing Lease may still be renewed.
    leaving = leftover.state is State.TERMINATING
    first = leftover.own_namespace and leftover.namespace == namespace_of(leftover.ownership.run)
    if not leftover.lease and (leaving or not first):
        return None
    try:
        return collect_lease(connection, leftover.ownership, leftover.namespace, leftover.lease)
    except ApiError as error:
        if error.status == 409:
            raise ClusterError(
                f"the Lease in namespace {leftover.namespace} was renewed or taken: its run lives"
            ) from error
        if error.status == 404 and leaving:
            return None  # it was removed with its namespace; its run ends when it finds none
        if error.status == 404:
            raise ClusterError(
                f"the Lease in namespace {leftover.namespace} is gone: somebody else removes this run"
            ) from error
        raise


def _delete_namespace(connection: Connection, leftover: Leftover, version: str) -> None:
    try:
        connection.delete(
            f"/api/v1/namespaces/{leftover.namespace}", uid=leftover.uid, version=version
        )
    except ApiError as error:
        if error.status == 409:
            raise ClusterError(
                f"namespace {leftover.namespace} was changed in the moment of its removal"
            ) from error
        raise


def _remove_objects(
    connection: Connection, leftover: Leftover, lease: Object | None, wait: float
) -> None:
    """Remove the listed objects from an existing namespace, the Lease last."""
    current = {**lease, "kind": "Lease"} if lease else None
    for kind in COLLECTIONS:
        listed = [item for item in leftover.items if item["kind"] == kind]
        items = [current or item if kind == "Lease" else item for item in listed]
        for item in items:
            delete_object(connection, item)
        wait_gone(partial(_standing, connection, items), kind.lower(), wait)


def _standing(connection: Connection, items: Sequence[Object]) -> list[Object]:
    return [item for item in items if _stands(connection, item)]


def _stands(connection: Connection, item: Object) -> bool:
    try:
        current = connection.get(f"{path_of(item)}/{item['metadata']['name']}")
    except ApiError as error:
        if error.status == 404:
            return False
        raise
    if item["kind"] == "Lease" and holder_of(current) != holder_of(item):
        return False  # another run has taken it over
    same: bool = current["metadata"]["uid"] == item["metadata"]["uid"]
    return same
