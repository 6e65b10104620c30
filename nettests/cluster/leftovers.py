"""What dead runs left in a cluster: found by its marks alone, and told apart from what lives.

No state file is read. A run lives while somebody renews its Lease; that is watched, so that neither a
clock nor a process list has to be believed. Only marked objects are found, and so only they are removed;
a namespace of ours that holds objects of others is shown and left alone.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from nettests.cluster.apply import (
    COLLECTIONS,
    collection,
    delete_run,
    owned_namespaces,
    owned_objects,
)
from nettests.cluster.connection import ApiError, Connection
from nettests.cluster.lease import holder_of, is_renewed, read_lease
from nettests.cluster.ownership import KEPT, Ownership
from nettests.errors import ClusterError

Object = dict[str, Any]

LOOKING_AT_ONCE = 8
STRANGERS = ("Pod", "Service")
"""Kinds by which others would be noticed in a namespace of ours."""


class State(StrEnum):
    """What is known of the run that left something."""

    ALIVE = "alive"
    DEAD = "dead"
    KEPT = "kept"
    EXPIRED = "expired"
    TERMINATING = "terminating"


@dataclass(frozen=True, slots=True, kw_only=True)
class Leftover:
    """What a run has in one namespace; ``own`` says that the namespace itself is the run's."""

    ownership: Ownership
    namespace: str
    own: bool
    state: State
    objects: tuple[str, ...] = ()
    """``kind/name``; empty where the namespace goes as a whole and could not be looked into."""
    strangers: tuple[str, ...] = ()
    """Objects of others in a namespace of the run's; with any of them it is not removed."""

    @property
    def removable(self) -> bool:
        """Whether it may go unasked: nobody lives on it, kept it, or put something of theirs into it."""
        return not self.strangers and self.state not in {State.ALIVE, State.KEPT}


def find(
    connection: Connection,
    *,
    namespaces: Iterable[str] = (),
    seconds: float = 30,
    watch: bool = True,
) -> tuple[Leftover, ...]:
    """Return what runs have in the cluster, the oldest first; living ones included.

    Objects in namespaces of others are looked for everywhere, or where that is denied in
    ``namespaces``. A Lease that does not stand yet may appear within ``seconds``. Without ``watch`` every
    run counts as alive that may be, and nothing is waited for.
    """
    own = [_own(connection, item) for item in owned_namespaces(connection)]
    names = {found.namespace for found in own}
    foreign = [found for found in _foreign(connection, namespaces) if found.namespace not in names]
    with ThreadPoolExecutor(LOOKING_AT_ONCE) as pool:
        known = list(
            pool.map(
                lambda found: _judged(connection, found, seconds if watch else 0), own + foreign
            )
        )
    shared = _with_their_runs(known)
    return tuple(sorted(shared, key=lambda found: (found.ownership.created, found.namespace)))


def _with_their_runs(known: Sequence[Leftover]) -> Iterator[Leftover]:
    """Yield what was found; a run's namespaces share the fate of the one that holds its Lease."""
    for found in known:
        others = {one.state for one in known if one.ownership.run == found.ownership.run}
        spared = found.state is State.DEAD and others & {State.ALIVE, State.KEPT}
        yield replace(found, state=min(spared)) if spared else found


def remove(connection: Connection, found: Leftover, *, wait: float) -> None:
    """Remove what was found and wait for its end; ``ClusterError`` when it stays."""
    namespace = None if found.own else found.namespace
    delete_run(connection, found.ownership.run, wait=wait, namespace=namespace)


def _own(connection: Connection, item: Object) -> Leftover:
    ownership = Ownership.of(item)
    assert ownership is not None, "only marked namespaces are listed"
    name = item["metadata"]["name"]
    leaving = bool(item["metadata"].get("deletionTimestamp"))
    ours, others = _inside(connection, name, ownership.run)
    return Leftover(
        ownership=ownership,
        namespace=name,
        own=True,
        state=State.TERMINATING if leaving else State.ALIVE,
        objects=ours,
        strangers=others,
    )


def _inside(
    connection: Connection, namespace: str, run: str
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return a run's objects in its namespace, and those of others, as far as they may be listed."""
    ours: list[str] = []
    others: list[str] = []
    for kind in STRANGERS:
        try:
            items = connection.items(collection(kind, namespace))
        except ApiError as error:
            if error.status not in {403, 404}:
                raise
            continue
        for item in items:
            marks = Ownership.of(item)
            mine = marks is not None and marks.run == run
            (ours if mine else others).append(_name(kind, item))
    return tuple(ours), tuple(others)


def _foreign(connection: Connection, namespaces: Iterable[str]) -> list[Leftover]:
    found: defaultdict[tuple[str, str], list[tuple[str, Object]]] = defaultdict(list)
    for kind in COLLECTIONS:
        for item in _everywhere(connection, kind, namespaces):
            marks = Ownership.of(item)
            assert marks is not None, "only marked objects are listed"
            found[marks.run, item["metadata"]["namespace"]].append((kind, item))
    return [_together(namespace, items) for (_, namespace), items in found.items()]


def _together(namespace: str, items: Sequence[tuple[str, Object]]) -> Leftover:
    marks = [Ownership.of(item) for _, item in items]
    newest = max((mark for mark in marks if mark), key=lambda mark: mark.expires)
    return Leftover(
        ownership=newest,
        namespace=namespace,
        own=False,
        state=State.ALIVE,
        objects=tuple(_name(kind, item) for kind, item in items),
    )


def _everywhere(connection: Connection, kind: str, namespaces: Iterable[str]) -> list[Object]:
    try:
        return owned_objects(connection, kind)
    except ApiError as error:
        if error.status != 403:
            raise
    return [item for name in namespaces for item in owned_objects(connection, kind, None, name)]


def _judged(connection: Connection, found: Leftover, seconds: float) -> Leftover:
    """Return what was found with the state of its run; without ``seconds`` nothing is watched."""
    if found.state is State.TERMINATING:
        return found
    lease = read_lease(connection, found.namespace)
    if lease is not None and holder_of(lease) != found.ownership.run:
        if found.own:  # another run was sent into it
            guest = f"lease of run {holder_of(lease)}"
            return replace(found, strangers=(*found.strangers, guest))
        return replace(found, state=State.DEAD)
    if lease is not None and KEPT in (lease["metadata"].get("annotations") or {}):
        expired = found.ownership.expires < datetime.now(UTC)
        return replace(found, state=State.EXPIRED if expired else State.KEPT)
    if not seconds:
        return found
    try:
        alive = is_renewed(connection, found.namespace, lease, seconds=seconds)
    except ClusterError:
        alive = True  # not known to be dead
    return replace(found, state=State.ALIVE if alive else State.DEAD)


def _name(kind: str, item: Object) -> str:
    return f"{kind.lower()}/{item['metadata']['name']}"
