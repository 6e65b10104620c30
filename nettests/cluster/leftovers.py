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
from nettests.cluster.inside import look_inside, namespaced_kinds, owned
from nettests.cluster.ownership import Ownership, holder_of, is_renewed, read_lease
from nettests.cluster.threads import threads
from nettests.errors import ClusterError
from nettests.model.labels import KEPT

Object = dict[str, Any]


class State(StrEnum):
    """The state of the run that left something."""

    ALIVE = "alive"
    DEAD = "dead"
    KEPT = "kept"
    EXPIRED = "expired"
    TERMINATING = "terminating"


@dataclass(frozen=True, slots=True, kw_only=True)
class Leftover:
    """What a run has in one namespace; ``own_namespace`` is true if the namespace itself is the run's."""

    ownership: Ownership
    namespace: str
    own_namespace: bool
    state: State
    objects: tuple[str, ...] = ()
    """``kind/name``; in the run's own namespace as far as its kinds can be listed."""
    strangers: tuple[str, ...] = ()
    """Objects of others in the run's own namespace."""
    unseen: tuple[str, ...] = ()
    """Resources that could not be listed, with the reason: others may have such objects in the namespace."""
    spared: str = ""
    """Why it stays although nothing in this namespace prevents its removal."""
    named: bool = False
    """Whether its run was named, so that objects kept on purpose may be removed too."""
    uid: str = ""
    """The UID of the namespace, if it is the run's."""
    items: tuple[Object, ...] = field(default=(), compare=False, repr=False)
    """In an existing namespace: the listed objects."""
    lease: Object | None = field(default=None, compare=False, repr=False)
    """The run's own Lease in this namespace, as it was last read."""

    @property
    def removable(self) -> bool:
        """Whether it may be removed: the run is dead, and all of it was listed and is the run's."""
        return not (self.obstacle or self.spared)

    @property
    def obstacle(self) -> str:
        """What prevents the removal here; empty if nothing does."""
        if self.state is State.ALIVE:
            return "its run lives"
        if self.state is State.KEPT and not self.named:
            return "its run was told to keep it"
        if self.forged:
            return f"it carries the marks of run {self.ownership.run}, and not its name"
        if self.state is State.TERMINATING:  # it is terminating, and nothing would stop that
            return ""
        if self.strangers:
            return f"it holds objects of others: {_some(self.strangers)}"
        if self.unseen:
            return f"it could not be looked into: {_some(self.unseen)}"
        return ""

    @property
    def forged(self) -> bool:
        """Whether a namespace carries a run's marks and not its name: anybody may have put them there."""
        return self.own_namespace and not is_named_after(self.namespace, self.ownership.run)


_LEVELS = frozenset({"privileged", "baseline", "restricted"})


def namespace_of(run: str) -> str:
    """Return the name of a run's own namespace; one of another Pod Security level adds ``-<level>``."""
    return f"nettests-{run}"


def is_named_after(namespace: str, run: str) -> bool:
    """Whether a namespace has a name that a run gives its own namespaces: with another suffix it is somebody's copy."""
    name = namespace_of(run)
    return namespace == name or namespace.removeprefix(f"{name}-") in _LEVELS


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
    """Return what runs have in the cluster, the oldest first, living runs included.

    Objects in existing namespaces are listed everywhere, or, if that is denied, in ``namespaces``. A missing Lease may
    appear within ``seconds``. Without ``watch`` every run that may be alive counts as alive, without a wait.
    What run ``named`` kept on purpose may be removed; objects whose ``kind/name`` is in ``ignore`` do not count,
    like those that a cluster puts into each namespace.
    """
    run_namespaces = [_own_namespace(item) for item in owned_namespaces(connection)]
    names = {leftover.namespace for leftover in run_namespaces}
    foreign = [
        leftover for leftover in _foreign(connection, namespaces) if leftover.namespace not in names
    ]
    with threads(connection, "leftovers") as pool:
        leftovers = list(
            pool.map(
                lambda leftover: _judged(connection, leftover, seconds if watch else 0),
                run_namespaces + foreign,
            )
        )
    # After the watch, to see what was created meanwhile.
    seen = look_at(connection, leftovers, ignore=ignore)
    marked = [replace(leftover, named=leftover.ownership.run == named) for leftover in seen]
    return tuple(
        sorted(
            _by_run(marked), key=lambda leftover: (leftover.ownership.created, leftover.namespace)
        )
    )


def look_at(
    connection: Connection, leftovers: Sequence[Leftover], *, ignore: Collection[str] = ()
) -> list[Leftover]:
    """Return the same leftovers with the current objects in the runs' own namespaces."""
    if not any(leftover.own_namespace for leftover in leftovers):
        return list(leftovers)
    kinds = namespaced_kinds(connection)
    looked = []
    for leftover in leftovers:
        if not leftover.own_namespace:
            looked.append(leftover)
            continue
        inside = look_inside(connection, kinds, leftover.namespace, leftover.ownership)
        others = tuple(name for name in inside.strangers if name not in ignore)
        guests = tuple(name for name in leftover.strangers if name.startswith(_GUEST))
        looked.append(
            replace(
                leftover, objects=inside.objects, strangers=(*guests, *others), unseen=inside.unseen
            )
        )
    return looked


def _by_run(leftovers: Sequence[Leftover]) -> Iterator[Leftover]:
    """Yield the leftovers; a run is removed as a whole or not at all, and is alive where its Lease is renewed."""
    yield from (leftover for leftover in leftovers if leftover.forged)
    runs: defaultdict[str, list[Leftover]] = defaultdict(list)
    for leftover in leftovers:
        if (
            not leftover.forged
        ):  # it is no part of the run, and must not keep the run from being removed
            runs[leftover.ownership.run].append(leftover)
    for run, all_places in runs.items():
        # A run with a namespace of its own creates nothing elsewhere: marks there are somebody's copies.
        homes = [place for place in all_places if place.own_namespace]
        for place in all_places:
            if homes and not place.own_namespace:
                yield replace(
                    place, spared=f"run {run} has namespaces of its own: these are copies"
                )
        places = homes or all_places
        living = {place.state for place in places} & {State.ALIVE, State.KEPT}
        siblings = [
            replace(place, state=min(living)) if living and place.state is State.DEAD else place
            for place in places
        ]
        why = _disagreement(siblings)
        for leftover in siblings:
            held = [
                other.namespace for other in siblings if other is not leftover and other.obstacle
            ]
            sibling = f"a run goes as a whole, and namespace {held[0]} stays" if held else ""
            yield replace(leftover, spared=why or sibling)


def _disagreement(places: Sequence[Leftover]) -> str:
    run = places[0].ownership.run
    if len({place.ownership for place in places}) > 1:
        return f"not all that says it is run {run}'s carries the same marks"
    return ""


def _own_namespace(item: Object) -> Leftover:
    ownership = Ownership.of(item)
    assert ownership is not None, "only marked namespaces are listed"
    leaving = bool(item["metadata"].get("deletionTimestamp"))
    return Leftover(
        ownership=ownership,
        namespace=item["metadata"]["name"],
        own_namespace=True,
        state=State.TERMINATING if leaving else State.ALIVE,
        uid=item["metadata"]["uid"],
    )


def _foreign(connection: Connection, namespaces: Iterable[str]) -> list[Leftover]:
    groups: defaultdict[tuple[Ownership, str], list[Object]] = defaultdict(list)
    for kind in COLLECTIONS:
        for item in _everywhere(connection, kind, namespaces):
            marks = Ownership.of(item)
            assert marks is not None, "only marked objects are listed"
            groups[marks, item["metadata"]["namespace"]].append(item)
    return [
        Leftover(
            ownership=marks,
            namespace=namespace,
            own_namespace=False,
            state=State.ALIVE,
            objects=tuple(f"{item['kind'].lower()}/{item['metadata']['name']}" for item in mine),
            items=tuple(mine),
        )
        for (marks, namespace), items in groups.items()
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
    """Return the leftover with the state of its run; without ``seconds`` nothing is watched."""
    lease = read_lease(connection, leftover.namespace)
    if leftover.state is State.TERMINATING and (lease is None or not seconds):
        return leftover
    if lease is not None and holder_of(lease) != leftover.ownership.run:
        if leftover.own_namespace:  # another run uses it as its existing namespace
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
    """Return the state of a run that has ended; a terminating namespace stays terminating."""
    return leftover.state if leftover.state is State.TERMINATING else state
