"""How a Deployment's ReplicaSets grow and shrink: a new one first, old ones as its Pods get Ready."""

from typing import Any

import pytest

from nettests.lab.controllers.rollouts import scales

Json = dict[str, Any]


def deployment(replicas: int, **limits: Any) -> Json:
    """Return a Deployment with these limits of a rolling update."""
    return {"spec": {"replicas": replicas, "strategy": {"rollingUpdate": limits}}}


def replica_set(name: str, replicas: int, ready: int) -> Json:
    """Return a ReplicaSet as its controller reports it."""
    status = {"readyReplicas": ready}
    return {"metadata": {"name": name}, "spec": {"replicas": replicas}, "status": status}


def steps(item: Json, *, ready: bool = True) -> list[tuple[int, int]]:
    """Follow a roll-out from ``old`` to ``new``: sizes after each step, new Pods Ready at the next one or never."""
    wanted = item["spec"]["replicas"]
    old, new = (wanted, wanted), (0, 0)
    found: list[tuple[int, int]] = []
    while True:
        sets = [replica_set("old", *old), replica_set("new", *new)]
        sizes = scales(item, "new", sets)
        after = (sizes["old"], sizes["new"])
        if found and found[-1] == after:
            return found
        found.append(after)
        old = (sizes["old"], min(old[1], sizes["old"]))
        new = (sizes["new"], sizes["new"] if ready else 0)


def test_without_room_below_the_new_pod_comes_first() -> None:
    """Of one Pod: two, then one; the old one stays as long as the new one is not Ready."""
    item = deployment(1, maxSurge=1, maxUnavailable=0)
    assert steps(item) == [(1, 1), (0, 1)]
    assert steps(item, ready=False) == [(1, 1)]


def test_without_room_above_the_old_pod_goes_first() -> None:
    """One at a time, down to what may be lacking."""
    assert steps(deployment(2, maxSurge=0, maxUnavailable=1))[0] == (1, 0)
    assert steps(deployment(2, maxSurge=0, maxUnavailable=1))[-1] == (0, 2)
    assert steps(deployment(2, maxSurge=0, maxUnavailable=1), ready=False)[-1] == (1, 1)


@pytest.mark.parametrize(("replicas", "first"), [(4, (3, 1)), (8, (6, 2)), (1, (1, 1))])
def test_shares_are_rounded_as_kubernetes_rounds_them(
    replicas: int, first: tuple[int, int]
) -> None:
    """A quarter more is rounded up and a quarter less down; both are the default."""
    assert steps(deployment(replicas))[0] == first
    assert steps(deployment(replicas))[-1] == (0, replicas)


def test_pods_that_are_not_ready_go_first() -> None:
    """They serve nobody; as many stay as are wanted beside those of the new set that lack."""
    limits = {"maxSurge": 1, "maxUnavailable": 0}
    sets = [replica_set("old", 3, 1), replica_set("new", 1, 1)]
    assert scales(deployment(3, **limits), "new", sets)["old"] == 2
    waiting = [replica_set("old", 3, 1), replica_set("new", 1, 0)]
    assert scales(deployment(3, **limits), "new", waiting)["old"] == 3


def test_an_old_pod_of_which_nobody_knows_yet_that_it_is_ready_stays() -> None:
    """Its set may not have told yet; that the new one is not Ready holds it."""
    sets = [replica_set("old", 1, 0), replica_set("new", 0, 0)]
    item = deployment(1, maxSurge=1, maxUnavailable=0)
    assert scales(item, "new", sets) == {"old": 1, "new": 1}
    sets = [replica_set("old", 1, 0), replica_set("new", 1, 0)]
    assert scales(item, "new", sets) == {"old": 1, "new": 1}


def test_the_first_template_has_all_its_pods_at_once() -> None:
    """Nothing is replaced; a set that is empty says nothing."""
    sets = [replica_set("older", 0, 0), replica_set("new", 0, 0)]
    assert scales(deployment(3), "new", sets) == {"older": 0, "new": 3}


def test_a_switched_mechanism_replaces_all_at_once() -> None:
    """The old set is emptied before the new one has a Pod."""
    sets = [replica_set("old", 1, 1), replica_set("new", 0, 0)]
    item = deployment(1, maxSurge=1, maxUnavailable=0)
    assert scales(item, "new", sets, rolling=False) == {"old": 0, "new": 1}
