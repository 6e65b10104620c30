"""Find the objects of earlier runs by their labels, tell dead runs from living ones, and list what is inside.

No state file is read. A run is alive if its Lease is renewed; this is watched, so neither a clock nor a process list
has to be trusted. Every namespace is listed by every kind that the API serves, and reports what prevents its removal.
``collect`` removes.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from nettests.cluster.apply import COLLECTIONS, owned_namespaces, owned_objects
from nettests.cluster.connection import ApiError, Connection
from nettests.cluster.inside import look_inside, owned
from nettests.cluster.lease import holder_of, is_renewed, read_lease
from nettests.cluster.ownership import Ownership
from nettests.cluster.served import namespaced_kinds
from nettests.cluster.threads import threads
from nettests.errors import ClusterError
from nettests.model.labels import KEPT

Object = dict[str, Any]


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
    """``kind/name``; of a namespace of the run's as far as its kinds can be listed."""
    strangers: tuple[str, ...] = ()
    """Objects of others in a namespace of the run's."""
    unseen: tuple[str, ...] = ()
    """Resources of which it is not known whether others have objects in the namespace, with the reason."""
    spared: str = ""
    """Why it stays although nothing in this namespace stands in the way."""
    named: bool = False
    """Whether its run was named, so that what was kept on purpose may go too."""
    uid: str = ""
    """Of the namespace that was looked at, if it is the run's."""
    items: tuple[Object, ...] = field(default=(), compare=False, repr=False)
    """In a namespace of others: the objects that were looked at."""
    lease: Object | None = field(default=None, compare=False, repr=False)
    """The run's own Lease in this namespace, as it was last seen."""

    @property
    def removable(self) -> bool:
        """Whether it may go: the run is dead, and all of it was looked at and is the run's."""
        return not (self.obstacle or self.spared)

    @property
    def obstacle(self) -> str:
        """What in this place stands in the way of the removal; empty where nothing does."""
        if self.state is State.ALIVE:
            return "its run lives"
        if self.state is State.KEPT and not self.named:
            return "its run was told to keep it"
        if self.own and not self._called_after_its_run:
            return f"it carries the marks of run {self.ownership.run}, and not its name"
        if self.state is State.TERMINATING:  # its end has begun, and nothing would stop it
            return ""
        if self.strangers:
            return f"it holds objects of others: {_some(self.strangers)}"
        if self.unseen:
            return f"it could not be looked into: {_some(self.unseen)}"
        return ""

    @property
    def _called_after_its_run(self) -> bool:
        name = namespace_of(self.ownership.run)
        return self.namespace == name or self.namespace.startswith(f"{name}-")


def namespace_of(run: str) -> str:
    """Return the name of a run's own namespace; one of another Pod Security level adds ``-<level>``."""
    return f"nettests-{run}"


def _some(names: Sequence[str], most: int = 4) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def find(
    connection: Connection,
    *,
    namespaces: Iterable[str] = (),
    seconds: float = 30,
    watch: bool = True,
    named: str | None = None,
    ignore: Collection[str] = (),
) -> tuple[Leftover, ...]:
    """Return what runs have in the cluster, the oldest first; living ones included.

    Objects in namespaces of others are looked for everywhere, or where that is denied in
    ``namespaces``. A Lease that does not stand yet may appear within ``seconds``. Without ``watch`` every
    run counts as alive that may be, and nothing is waited for. What run ``named`` was told to keep may go;
    objects whose ``kind/name`` is in ``ignore`` are nobody's, as what a cluster puts into each namespace.
    """
    own = [_own(item) for item in owned_namespaces(connection)]
    names = {leftover.namespace for leftover in own}
    foreign = [
        leftover for leftover in _foreign(connection, namespaces) if leftover.namespace not in names
    ]
    with threads(connection, "leftovers") as pool:
        known = list(
            pool.map(
                lambda found: _judged(connection, found, seconds if watch else 0), own + foreign
            )
        )
    # After the watch, so that what somebody put there meanwhile is seen.
    seen = look_at(connection, known, ignore=ignore)
    marked = [replace(leftover, named=leftover.ownership.run == named) for leftover in seen]
    return tuple(
        sorted(_by_run(marked), key=lambda found: (found.ownership.created, found.namespace))
    )


def look_at(
    connection: Connection, known: Sequence[Leftover], *, ignore: Collection[str] = ()
) -> list[Leftover]:
    """Return the same leftovers with what stands in the runs' own namespaces now."""
    if not any(leftover.own for leftover in known):
        return list(known)
    kinds = namespaced_kinds(connection)
    looked = []
    for leftover in known:
        if not leftover.own:
            looked.append(leftover)
            continue
        inside = look_inside(connection, kinds, leftover.namespace, leftover.ownership)
        others = tuple(name for name in inside.strangers if name not in ignore)
        guests = tuple(name for name in leftover.strangers if name.startswith(_GUEST))
        looked.append(
            replace(
                leftover, objects=inside.own, strangers=(*guests, *others), unseen=inside.unseen
            )
        )
    return looked


def _by_run(known: Sequence[Leftover]) -> Iterator[Leftover]:
    """Yield what was found; a run goes as a whole or not at all, and lives where its Lease is renewed."""
    runs: defaultdict[str, list[Leftover]] = defaultdict(list)
    for found in known:
        runs[found.ownership.run].append(found)
    for places in runs.values():
        living = {place.state for place in places} & {State.ALIVE, State.KEPT}
        told = [
            replace(place, state=min(living)) if living and place.state is State.DEAD else place
            for place in places
        ]
        why = _disagreement(told)
        for leftover in told:
            held = [other.namespace for other in told if other is not leftover and other.obstacle]
            sibling = f"a run goes as a whole, and namespace {held[0]} stays" if held else ""
            yield replace(leftover, spared=why or sibling)


def _disagreement(places: Sequence[Leftover]) -> str:
    """Return what makes it doubtful that all these places are one run's."""
    run = places[0].ownership.run
    if len({place.ownership for place in places}) > 1:
        return f"not all that says it is run {run}'s carries the same marks"
    if len({place.own for place in places}) > 1:
        strange = next(place.namespace for place in places if not place.own)
        return f"run {run} has namespaces of its own, and its marks are in namespace {strange} too"
    return ""


def _own(item: Object) -> Leftover:
    ownership = Ownership.of(item)
    assert ownership is not None, "only marked namespaces are listed"
    leaving = bool(item["metadata"].get("deletionTimestamp"))
    return Leftover(
        ownership=ownership,
        namespace=item["metadata"]["name"],
        own=True,
        state=State.TERMINATING if leaving else State.ALIVE,
        uid=item["metadata"]["uid"],
    )


def _foreign(connection: Connection, namespaces: Iterable[str]) -> list[Leftover]:
    found: defaultdict[tuple[Ownership, str], list[Object]] = defaultdict(list)
    for kind in COLLECTIONS:
        for item in _everywhere(connection, kind, namespaces):
            marks = Ownership.of(item)
            assert marks is not None, "only marked objects are listed"
            found[marks, item["metadata"]["namespace"]].append(item)
    return [
        Leftover(
            ownership=marks,
            namespace=namespace,
            own=False,
            state=State.ALIVE,
            objects=tuple(f"{item['kind'].lower()}/{item['metadata']['name']}" for item in mine),
            items=tuple(mine),
        )
        for (marks, namespace), items in found.items()
        if (mine := list(owned(items, marks)))
    ]


def _everywhere(connection: Connection, kind: str, namespaces: Iterable[str]) -> list[Object]:
    try:
        return owned_objects(connection, kind)
    except ApiError as error:
        if error.status != 403:
            raise
    return [item for name in namespaces for item in owned_objects(connection, kind, None, name)]


_GUEST = "lease of run "


def _judged(connection: Connection, leftover: Leftover, seconds: float) -> Leftover:
    """Return what was found with the state of its run; without ``seconds`` nothing is watched."""
    lease = read_lease(connection, leftover.namespace)
    if leftover.state is State.TERMINATING and (lease is None or not seconds):
        return leftover
    if lease is not None and holder_of(lease) != leftover.ownership.run:
        if leftover.own:  # another run was sent into it
            guest = f"{_GUEST}{holder_of(lease)}"
            return replace(leftover, state=State.DEAD, strangers=(guest,))
        return replace(leftover, state=State.DEAD)
    if lease is not None and Ownership.of(lease) == leftover.ownership:
        leftover = replace(leftover, lease=lease)
    if lease is not None and KEPT in (lease["metadata"].get("annotations") or {}):
        if leftover.ownership.expires >= datetime.now(UTC):
            return replace(leftover, state=State.KEPT)
        return replace(leftover, state=_ended(leftover, State.EXPIRED))
    if not seconds:
        return leftover
    try:
        alive = is_renewed(connection, leftover.namespace, lease, seconds=seconds)
    except ClusterError:
        alive = True  # not known to be dead
    return replace(leftover, state=State.ALIVE if alive else _ended(leftover, State.DEAD))


def _ended(leftover: Leftover, state: State) -> State:
    """Return the state of a run that has ended: of a namespace that is terminating, that it is."""
    return leftover.state if leftover.state is State.TERMINATING else state
