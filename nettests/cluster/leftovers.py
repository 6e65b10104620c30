"""Find objects of earlier runs by their labels, tell dead runs from live ones, and list objects.

No state file is read. A run is alive if its Lease is renewed; this is watched, so neither clocks
nor process lists have to be trusted. Every namespace is listed by every kind that the API serves;
the result says what prevents its removal. ``collect`` removes.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum

from nettests.cluster.apply import COLLECTIONS, owned_namespaces, owned_objects
from nettests.cluster.connection import ApiError, Connection
from nettests.cluster.inside import look_inside, namespaced_kinds, owned
from nettests.cluster.owner_marks import Ownership, holder_of, is_renewed, read_lease
from nettests.cluster.threads import threads
from nettests.errors import ClusterError
from nettests.model.json_text import Object
from nettests.model.labels import KEPT


class State(StrEnum):
    """The state of the run that left objects."""

    ALIVE = "alive"
    DEAD = "dead"
    KEPT = "kept"
    EXPIRED = "expired"
    TERMINATING = "terminating"


@dataclass(frozen=True, slots=True, kw_only=True)
class Leftover:
    """What a run has in one namespace; ``own_namespace`` is whether the run created it."""

    ownership: Ownership
    namespace: str
    own_namespace: bool
    state: State
    objects: tuple[str, ...] = ()
    """``kind/name``; in the run's own namespace as far as kinds can be listed."""
    strangers: tuple[str, ...] = ()
    """Objects of others in the run's own namespace."""
    unseen: tuple[str, ...] = ()
    """Resources that could not be listed, with the reason: others may have such objects there."""
    uncounted: tuple[str, ...] = ()
    """Resources that may not be listed, and are counted before the removal (``counting``)."""
    assumed: str = ""
    """Why objects count as those of others, although controllers may have copied them here."""
    spared: str = ""
    """Why it is kept although nothing in this namespace prevents its removal."""
    copied: str = ""
    """Why its marks are copied: it is kept, and says nothing about the run."""
    named: bool = False
    """Whether the user named its run, so that objects kept on purpose may be removed, too."""
    uid: str = ""
    """The UID of the namespace, if it is the run's."""
    items: tuple[Object, ...] = field(default=(), compare=False, repr=False)
    """The listed objects in an existing namespace."""
    lease: Object | None = field(default=None, compare=False, repr=False)
    """The run's Lease in this namespace, as last read."""

    @property
    def removable(self) -> bool:
        """Whether it may be removed: the run is dead, and all is listed and the run's own."""
        return not (self.obstacle or self.spared or self.copied)

    @property
    def reason(self) -> str:
        """Why it is kept; empty if it may be removed."""
        return self.copied or self.obstacle or self.spared

    @property
    def obstacle(self) -> str:
        """What prevents the removal here; empty if nothing does."""
        if self.state is State.ALIVE:
            return "its run lives"
        if self.state is State.KEPT and not self.named:
            return "its run was told to keep it"
        if self.state is State.TERMINATING:  # nothing can stop that
            return ""
        if self.strangers:
            assumed = f" ({self.assumed})" if self.assumed else ""
            return f"it holds objects of others: {_some(self.strangers)}{assumed}"
        if self.unseen:
            return f"it could not be looked into: {_some(self.unseen)}"
        return ""


_LEVELS = frozenset({"privileged", "baseline", "restricted"})


def namespace_of(run: str) -> str:
    """Return the name of a run's own namespace; one of another Pod Security level adds ``-<level>``."""
    return f"nettests-{run}"


def is_named_after(namespace: str, run: str) -> bool:
    """Whether a run names its own namespaces like this: any other suffix is a copy."""
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
    """Return what runs have in the cluster, the oldest first, live runs included.

    Objects in existing namespaces are listed in all of them, or, if that is denied, in
    ``namespaces``. A missing Lease may appear within ``seconds``. Without ``watch``, every run that
    may be alive counts as alive. What run ``named`` kept on purpose may be removed; objects whose
    ``kind/name`` is in ``ignore`` (a cluster's own in each namespace) do not count.
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
    # After watching, to see what was created meanwhile.
    seen = look_at(connection, leftovers, ignore=ignore)
    marked = [replace(leftover, named=leftover.ownership.run == named) for leftover in seen]
    return tuple(
        sorted(
            _by_run(marked), key=lambda leftover: (leftover.ownership.created, leftover.namespace)
        )
    )


def look_at(
    connection: Connection,
    leftovers: Sequence[Leftover],
    *,
    ignore: Collection[str] = (),
    counts: bool = False,
) -> list[Leftover]:
    """Return the leftovers with the current objects in the runs' own namespaces.

    With ``counts``, a ResourceQuota is created to count what may not be listed.
    """
    if not any(leftover.own_namespace for leftover in leftovers):
        return list(leftovers)
    kinds = namespaced_kinds(connection)
    looked = []
    for leftover in leftovers:
        if not leftover.own_namespace:
            looked.append(leftover)
            continue
        inside = look_inside(
            connection,
            kinds,
            leftover.namespace,
            leftover.ownership,
            counts=counts and leftover.state is not State.TERMINATING,
        )
        others = tuple(name for name in inside.strangers if name not in ignore)
        guests = tuple(name for name in leftover.strangers if name.startswith(_GUEST))
        looked.append(
            replace(
                leftover,
                objects=inside.objects,
                strangers=(*guests, *others),
                unseen=inside.unseen,
                uncounted=inside.uncounted,
                assumed=inside.assumed,
            )
        )
    return looked


def _by_run(leftovers: Sequence[Leftover]) -> Iterator[Leftover]:
    """Yield the leftovers; a run's first namespace decides over its others, never the reverse.

    Its name is taken while it exists, and its Lease shows whether the run lives. Others can create
    namespaces with the names of the rest, in which a run stores nothing.
    """
    firsts = {
        place.ownership.run: place
        for place in leftovers
        if place.own_namespace and place.namespace == namespace_of(place.ownership.run)
    }
    leases = {place.ownership.run for place in leftovers if place.lease is not None}
    for place in leftovers:
        run = place.ownership.run
        first = firsts.get(run)
        if place is first:
            yield place
        elif why := _copied(place, first, leased=run in leases):
            yield replace(place, copied=why)
        elif first is None:
            yield place
        else:
            leaving = State.TERMINATING in {place.state, first.state}
            whole = f"a run goes as a whole, and namespace {first.namespace} stays"
            yield replace(
                place,
                state=place.state if leaving else first.state,
                spared="" if first.removable else whole,
            )


def _copied(place: Leftover, first: Leftover | None, *, leased: bool) -> str:
    """Return why a place is not part of its run, although it carries the marks."""
    run = place.ownership.run
    if place.own_namespace and not is_named_after(place.namespace, run):
        return f"it carries the marks of run {run} but not its name"
    if first is None:
        if leased and place.lease is None and not place.own_namespace:
            return f"the Lease of run {run} is in another namespace: these objects are copies"
        return ""
    if not place.own_namespace:
        return f"run {run} has namespaces of its own: these objects are copies"
    if place.ownership != first.ownership:
        return f"its marks are not those of namespace {first.namespace}"
    if place.strangers and place.state is not State.TERMINATING:
        return f"it holds objects of others, and no run puts any there: {_some(place.strangers)}"
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
    """Return the leftover with the state of its run; without ``seconds`` do not watch."""
    lease = read_lease(connection, leftover.namespace)
    if leftover.state is State.TERMINATING and (lease is None or not seconds):
        return leftover
    if lease is not None and holder_of(lease) != leftover.ownership.run:
        if leftover.own_namespace:  # another run uses the namespace
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
        alive = True  # it may be alive
    return replace(leftover, state=State.ALIVE if alive else _ended(leftover, State.DEAD))


def _ended(leftover: Leftover, state: State) -> State:
    """Return the state of a run that has ended; a terminating namespace stays terminating."""
    return leftover.state if leftover.state is State.TERMINATING else state
