"""Remove the objects of a dead run, only those that were listed, and only if nothing has changed.

``leftovers`` finds dead runs; time passes before the removal. So each run is checked again, its
Lease is only marked if it was not updated, and every deletion names the listed UID. A run that
renews its Lease meanwhile keeps its objects, or sees the mark on its Lease and ends.
"""

from collections.abc import Collection, Sequence
from functools import partial

from nettests.cluster.apply import COLLECTIONS, delete_object, owned_namespaces, path_of, wait_gone
from nettests.cluster.connection import ApiError, Connection
from nettests.cluster.leftovers import Leftover, State, look_at, namespace_of
from nettests.cluster.owner_marks import Ownership, collect_lease, holder_of
from nettests.errors import ClusterError
from nettests.model.json_text import Object


def remove(
    connection: Connection, places: Sequence[Leftover], *, wait: float, ignore: Collection[str] = ()
) -> dict[str, str]:
    """Remove all that one run left, and wait; return by namespace why something remains.

    ``places`` are all that ``find`` returned for the run. If the first must stay or has changed,
    all stay.
    """
    try:
        versions, problems = _unchanged(connection, places, ignore)
        places = [place for place in places if place.namespace not in problems]
        leases = [_mark_collected(connection, place) for place in places]
    except ClusterError as error:
        return {place.namespace: error.message for place in places}
    for place, lease in zip(places, leases, strict=True):
        try:
            if not place.own_namespace:
                # The Lease goes last.
                current = {**lease, "kind": "Lease"} if lease else None
                for kind in COLLECTIONS:
                    listed = [item for item in place.items if item["kind"] == kind]
                    items = [current or item if kind == "Lease" else item for item in listed]
                    for item in items:
                        delete_object(connection, item)
                    wait_gone(partial(_standing, connection, items), kind.lower(), wait)
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
) -> tuple[dict[str, str], dict[str, str]]:
    """Return the versions of the run's namespaces, and what has changed; or ``ClusterError``."""
    if kept := [place for place in places if not place.removable]:
        raise ClusterError(kept[0].reason)
    run = places[0].ownership.run
    current = {item["metadata"]["name"]: item for item in owned_namespaces(connection, run)}
    versions, problems = {}, {}
    namespaces = [place for place in places if place.own_namespace]
    for place in look_at(connection, namespaces, ignore=ignore, counts=True):
        item, name = current.get(place.namespace), place.namespace
        if item is None:
            continue  # already removed
        versions[name] = item["metadata"]["resourceVersion"]
        if item["metadata"]["uid"] != place.uid or Ownership.of(item) != place.ownership:
            problems[name] = f"namespace {name} is not the one that was looked at"
        elif place.obstacle:
            problems[name] = f"namespace {name} has changed: {place.obstacle}"
    if first := problems.get(namespace_of(run)):
        raise ClusterError(first)
    return versions, problems


def _mark_collected(connection: Connection, leftover: Leftover) -> Object | None:
    """Mark the run's Lease as collected; ``ClusterError`` if the run is alive again."""
    # Nothing can be created in a terminating namespace, but an existing Lease may still be renewed.
    leaving = leftover.state is State.TERMINATING
    first = leftover.own_namespace and leftover.namespace == namespace_of(leftover.ownership.run)
    if leftover.own_namespace and not first:
        return None  # the Lease is in the first one
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
            return None  # removed with its namespace; without a Lease its run ends
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
