"""Over forged, mixed, kept and living runs: what somebody owns stays, and what nobody owns goes."""

from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import HealthCheck, event, example, given, settings
from hypothesis import strategies as st

from nettests.cluster import Connection
from nettests.cluster.collect import remove
from nettests.cluster.leftovers import find
from nettests.cluster.owner_marks import Ownership
from nettests.model.labels import KEPT, RUN_LABEL
from tests.cluster.api import Request
from tests.cluster.memory import KINDS, SECONDS, Memory, connected, few_threads, marks

OF_STRANGERS = sorted(set(KINDS) - {"Namespace", "Event", "PodMetrics"})
LEAVING = {"deletionTimestamp": "2026-11-22T00:00:00Z"}


@dataclass(slots=True)
class World:
    """A cluster, and the UIDs in it that have to stay and that have to go."""

    memory: Memory = field(default_factory=Memory)
    stay: set[str] = field(default_factory=set)
    go: set[str] = field(default_factory=set)
    waking: dict[str, set[str]] = field(default_factory=dict)
    """By namespace the UIDs of a dead run that may yet renew its Lease."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One run: where it stands, what it has there, and what others put beside it."""

    fate: str
    siblings: tuple[bool, ...]
    """For each namespace beside the first: whether it is terminating."""
    terminating: bool
    with_lease: bool
    pods: int
    services: int
    strangers: tuple[tuple[str, int, bool], ...]
    """Kind, which of its namespaces, and whether the object carries the run's marks."""
    forged: str


CASES = st.builds(
    Case,
    fate=st.sampled_from(["dead", "dead", "dead", "alive", "kept", "expired", "waking"]),
    siblings=st.lists(st.booleans(), max_size=2).map(tuple),
    terminating=st.integers(0, 4).map(lambda number: number == 0),
    with_lease=st.booleans(),
    pods=st.integers(0, 2),
    services=st.integers(0, 2),
    strangers=st.lists(
        st.tuples(st.sampled_from(OF_STRANGERS), st.integers(0, 2), st.booleans()), max_size=2
    ).map(tuple)
    | st.just(()),
    forged=st.sampled_from(["", "", "", "name", "label", "copy"]),
)


def half_gone(fate: str, *strangers: tuple[str, int, bool]) -> Case:
    """Return a run whose first namespace is terminating, and whose second one is not."""
    return Case(
        fate=fate,
        siblings=(False,),
        terminating=True,
        with_lease=False,
        pods=0,
        services=0,
        strangers=strangers,
        forged="",
    )


def build(world: World, number: int, case: Case) -> None:
    """Put one run into the cluster, and note what is whose."""
    memory, run = world.memory, f"r{number}"
    own = marks(run, hours=-1 if case.fate == "expired" else 1)
    home = f"nettests-{run}"
    levels = ("baseline", "restricted")[: len(case.siblings)]
    names = [home, *(f"{home}-{level}" for level in levels)]
    before = set(memory.uids())
    for name, leaving in zip(names, (case.terminating, *case.siblings), strict=True):
        memory.put_namespace(name, own, **(LEAVING if leaving else {}))
    if case.with_lease or case.fate in {"alive", "kept", "expired", "waking"}:
        lease = memory.put_lease(own, home, alive=case.fate == "alive")
        if case.fate in {"kept", "expired"}:
            lease["metadata"]["annotations"][KEPT] = "true"
    for index in range(case.pods):
        memory.put_marked(own, "Pod", f"probe-{index}", names[index % len(names)])
    for index in range(case.services):
        memory.put_service(own, f"service-{index}", home)
    mine = set(memory.uids()) - before
    others = _put_strangers(memory, case, own, names)
    world.stay |= _forge(memory, case, own, number) | {
        uid for uids in others.values() for uid in uids
    }
    # A stranger in the first namespace holds all of them, one beside it that alone.
    beside = {uid for name in others for uid in memory.uids_in(name)} & mine
    if case.fate in {"alive", "kept"} or home in others:
        world.stay |= mine
    elif case.fate == "waking":
        world.waking[home] = mine - beside
        world.stay |= beside
    else:
        world.go |= mine - beside
        world.stay |= beside


def _put_strangers(
    memory: Memory, case: Case, own: Ownership, names: list[str]
) -> dict[str, set[str]]:
    """Put objects of others into a run's namespaces; those in a terminating one go whatever we do."""
    found: dict[str, set[str]] = {}
    leaving = (case.terminating, *case.siblings)
    for index, (kind, where, marked) in enumerate(case.strangers):
        place = where % len(names)
        name = f"theirs-{index}"
        if marked:
            owner = {"kind": "Other", "name": "theirs", "uid": "elsewhere"}
            item = memory.put_marked(own, kind, name, names[place], ownerReferences=[owner])
        else:
            item = memory.put(kind, name, names[place])
        if not leaving[place]:
            found.setdefault(names[place], set()).add(item["metadata"]["uid"])
    return found


def _forge(memory: Memory, case: Case, own: Ownership, number: int) -> set[str]:
    """Put marks of the run where they do not belong; return the UIDs of what is somebody's: it stays, and holds nothing."""
    name = f"team-{number}"
    if case.forged == "name":
        made = memory.put_namespace(name, own)
        memory.put("ConfigMap", "theirs", name)
        return {made["metadata"]["uid"]}
    if case.forged == "label":  # not all marks: found by nobody, and holds nothing
        memory.put_namespace(name, None, labels={RUN_LABEL: own.run})
    if case.forged == "copy":
        memory.put_namespace(name)
        return {memory.put_marked(own, "Pod", "copy", name)["metadata"]["uid"]}
    return set()


def collect(connection: Connection) -> dict[str, str]:
    """Remove what may go, as ``nettests gc --yes`` does."""
    problems: dict[str, str] = {}
    chosen = [one for one in find(connection, seconds=SECONDS) if one.removable]
    for run in dict.fromkeys(one.ownership.run for one in chosen):
        places = [one for one in chosen if one.ownership.run == run]
        problems |= remove(connection, places, wait=0)
    return problems


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(cases=st.lists(CASES, min_size=1, max_size=3), moment=st.integers(5, 150))
@example(cases=[half_gone("expired", ("ConfigMap", 0, False))], moment=5)
@example(cases=[half_gone("waking")], moment=20)
def test_what_somebody_owns_stays_and_what_nobody_owns_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cases: list[Case], moment: int
) -> None:
    """A run that wakes up at any moment keeps all that it has, or reads that it was collected."""
    few_threads(monkeypatch)
    world = World()
    memory = world.memory
    memory.put_namespace("production")
    memory.put("Pod", "theirs", "production")
    world.stay |= set(memory.uids())
    for number, case in enumerate(cases):
        build(world, number, case)
    requests: list[Request] = []
    alive: set[str] = set()

    def before(request: Request) -> None:
        requests.append(request)
        if len(requests) == moment:
            alive.update(name for name in world.waking if memory.renew(name))

    memory.before = before
    every = memory.uids()
    collect(connected(memory, tmp_path))
    left = set(memory.uids())
    for name, mine in world.waking.items():
        if name in alive:  # it renewed, and reads later whether it was collected
            told = not memory.renew(name)
            assert mine <= left or told, f"{name} was removed in its life"
            event("a run woke up in time" if mine <= left else "a run woke up too late")
    lost = sorted(every[uid] for uid in world.stay - left)
    assert not lost, f"removed although somebody owns it: {lost}"
    gone = {uid for uid in world.go if every[uid].count("/")}  # all of it
    terminating = {
        uid
        for place, item in memory.objects.items()
        for uid in [item["metadata"].get("uid")]
        if _leaves(memory, place[1] or place[2])
    }
    litter = sorted(every[uid] for uid in (gone & left) - terminating)
    assert not litter, f"left although nobody owns it: {litter}"
    event(f"{'something' if world.go - left else 'nothing'} went")


def _leaves(memory: Memory, namespace: str) -> bool:
    """Whether a namespace was terminating before: it goes, or stays, without us."""
    found = memory.objects.get(("/api/v1/namespaces", "", namespace))
    return found is not None and "deletionTimestamp" in found["metadata"]
