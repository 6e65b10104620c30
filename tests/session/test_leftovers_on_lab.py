"""What dead runs left is found by its marks, told from what lives, and removed; nothing else is."""

import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from importlib.util import find_spec
from typing import Any

import pytest

from nettests.cluster import ApiError, Connection
from nettests.cluster import owner_marks as module
from nettests.cluster.apply import create, delete_object
from nettests.cluster.collect import remove
from nettests.cluster.leftovers import Leftover, State, find
from nettests.cluster.owner_marks import Lease, Ownership, holder_of, read_lease
from nettests.errors import ClusterError
from tests.session.labs import Lab, eventually, namespaces

pytestmark = [
    pytest.mark.lab,
    pytest.mark.skipif(
        find_spec("nettests.lab") is None, reason="the lab is not part of this tree"
    ),
]

SHORT = 1.0


def marks(run: str) -> Ownership:
    """Marks of a run that has just begun."""
    now = datetime.now(UTC).replace(microsecond=0)
    return Ownership(run=run, owner="me.here", created=now, expires=now + timedelta(hours=1))


def namespace_of(own: Ownership) -> dict[str, Any]:
    """A run's own namespace."""
    return own.marked({"kind": "Namespace", "metadata": {"name": f"nettests-{own.run}"}})


def pod(name: str, namespace: str) -> dict[str, Any]:
    """A pod that no node will run."""
    return {
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "nodeSelector": {"no": "node"},
            "containers": [{"name": "c", "image": "registry.k8s.io/pause:3.10"}],
        },
    }


def held(connection: Connection, own: Ownership, namespace: str) -> Lease:
    """A Lease that is short and not yet taken."""
    return Lease(connection, namespace, own, SHORT, lambda _: None)


def dies(lease: Lease) -> None:
    """Let the holder die: nobody renews any more, and nothing is tidied up."""
    lease.end()


@pytest.fixture
def connection(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> Iterator[Connection]:
    """A connection to the lab, and nothing left of any run after the test."""
    monkeypatch.setattr(module, "LOOK_SECONDS", 0.05)
    opened = lab.connect()
    yield opened
    for found in find(opened, watch=False):
        for item in found.items:
            delete_object(opened, item)
        if found.own_namespace:
            opened.delete(f"/api/v1/namespaces/{found.namespace}")
    eventually(lambda: not namespaces(opened))
    opened.close()


def one(connection: Connection, **how: Any) -> Leftover:
    """The only leftover that is found."""
    (found,) = find(connection, seconds=SHORT, **how)
    return found


def test_a_run_that_renews_its_lease_is_alive_and_one_that_died_is_not(
    connection: Connection,
) -> None:
    """The same namespace is left alone while its Lease is renewed, and removed when nobody does."""
    own = marks("r1")
    create(connection, namespace_of(own))
    lease = held(connection, own, "nettests-r1")
    lease.take()
    assert one(connection).state is State.ALIVE
    assert not one(connection).removable
    dies(lease)
    found = one(connection)
    assert (found.state, found.removable, found.own_namespace) == (State.DEAD, True, True)
    assert remove(connection, [found], wait=30) == {}
    assert find(connection) == ()


def test_a_run_that_died_before_its_lease_stood_is_dead(connection: Connection) -> None:
    """Between the namespace and its Lease a run can be killed too."""
    create(connection, namespace_of(marks("r2")))
    assert one(connection).state is State.DEAD


def test_a_namespace_beside_the_one_with_the_lease_shares_its_fate(connection: Connection) -> None:
    """A run's second namespace has no Lease: it lives as long as the run does, and dies with it."""
    own = marks("r1")
    create(connection, namespace_of(own))
    lease = held(connection, own, "nettests-r1")
    lease.take()
    beside = own.marked({"kind": "Namespace", "metadata": {"name": "nettests-r1-restricted"}})
    create(connection, beside)
    assert {found.state for found in find(connection, seconds=SHORT)} == {State.ALIVE}
    dies(lease)
    assert [found.state for found in find(connection, seconds=SHORT)] == [State.DEAD] * 2


def test_a_run_that_is_just_beginning_is_alive(connection: Connection) -> None:
    """A Lease that appears while it is looked for belongs to a living run."""
    own = marks("r3")
    create(connection, namespace_of(own))
    lease = held(connection, own, "nettests-r3")
    later = threading.Timer(0.2, lease.take)
    later.start()
    assert one(connection).state is State.ALIVE
    later.join()
    dies(lease)


def test_a_namespace_without_all_marks_is_never_found(connection: Connection) -> None:
    """A label that somebody put on a namespace of theirs does not make it ours."""
    theirs = {"name": "production", "labels": marks("r4").labels}
    connection.create("/api/v1/namespaces", {"metadata": theirs})
    try:
        assert find(connection) == ()
    finally:
        connection.delete("/api/v1/namespaces/production")


def test_objects_of_others_in_a_namespace_of_ours_hold_it(connection: Connection) -> None:
    """What somebody put into a run's namespace is named, and the namespace stays."""
    create(connection, namespace_of(marks("r5")))
    eventually(lambda: has_account(connection, "nettests-r5"))
    connection.create("/api/v1/namespaces/nettests-r5/pods", pod("theirs", "nettests-r5"))
    found = one(connection)
    assert (found.state, found.removable) == (State.DEAD, False)
    assert found.strangers == ("pod/theirs",)


def test_in_a_namespace_of_others_only_marked_objects_go(connection: Connection) -> None:
    """A run that used an existing namespace leaves it and everybody else's objects standing."""
    own = marks("r6")
    lease = held(connection, own, "default")
    lease.take()
    create(connection, own.marked(pod("ours", "default")))
    connection.create("/api/v1/namespaces/default/pods", pod("theirs", "default"))
    dies(lease)
    found = one(connection)
    assert (found.state, found.own_namespace, found.namespace) == (State.DEAD, False, "default")
    assert set(found.objects) == {"pod/ours", "lease/nettests"}
    assert remove(connection, [found], wait=30) == {}
    left = connection.items("/api/v1/namespaces/default/pods")
    assert [item["metadata"]["name"] for item in left] == ["theirs"]
    assert read_lease(connection, "default") is None
    connection.delete("/api/v1/namespaces/default/pods/theirs")


def test_two_runs_do_not_meet_in_one_namespace(connection: Connection) -> None:
    """A second run is refused while the first lives, by name and owner, and takes over when it died."""
    first, second = held(connection, marks("a"), "default"), held(connection, marks("b"), "default")
    first.take()
    with pytest.raises(ClusterError, match=r"holds the objects of run a \(by me\.here\)"):
        second.take()
    dies(first)
    second.take()
    lease = read_lease(connection, "default")
    assert lease is not None
    assert holder_of(lease) == "b"
    dies(second)


def test_a_run_whose_lease_was_taken_hears_of_it(connection: Connection) -> None:
    """A harness that was stopped for too long learns that its namespace is another run's."""
    told: list[str] = []
    heard = threading.Event()

    def lost(why: str) -> None:
        told.append(why)
        heard.set()

    slow = Lease(connection, "default", marks("slow"), 3 * SHORT, lost)
    slow.take()
    lease = read_lease(connection, "default")
    assert lease is not None
    lease["spec"]["holderIdentity"] = "other"
    connection.request("PUT", module.path_of_lease("default"), body=lease)
    assert heard.wait(30)
    assert told == ["namespace default was taken over by run other"]
    slow.end()


def test_a_lease_that_was_made_by_a_lost_answer_is_ones_own(connection: Connection) -> None:
    """A repeated create that meets the run's own Lease has succeeded."""
    own = marks("again")
    first, repeat = held(connection, own, "default"), held(connection, own, "default")
    first.take()
    repeat.take()
    dies(first)
    dies(repeat)


def test_what_is_kept_stays_until_it_expires(connection: Connection) -> None:
    """Objects that a run was told to keep are no leftovers before their time, and are afterwards."""
    own = marks("kept")
    create(connection, namespace_of(own))
    lease = held(connection, own, "nettests-kept")
    lease.take()
    lease.keep()
    found = one(connection)
    assert (found.state, found.removable) == (State.KEPT, False)
    assert remove(connection, [found], wait=30) == {"nettests-kept": found.obstacle}
    assert remove(connection, [one(connection, named="kept")], wait=30) == {}
    past = own.created - timedelta(hours=9)
    old = replace(marks("old"), created=past, expires=past + timedelta(hours=6))
    create(connection, namespace_of(old))
    lease = held(connection, old, "nettests-old")
    lease.take()
    lease.keep()
    assert (one(connection).state, one(connection).removable) == (State.EXPIRED, True)


def test_gc_lists_first_and_removes_when_told(lab: Lab, connection: Connection) -> None:
    """The command names run, owner and next step; ``--yes`` removes, and then nothing is found."""
    profile = lab.directory / "short.yaml"
    profile.write_text(
        "apiVersion: nettests.dev/v1alpha1\nkind: ClusterProfile\ntiming: {lease: 1}\n"
    )
    create(connection, namespace_of(marks("cli")))
    listed = gc(lab, f"--cluster-profile={profile}")
    assert listed.returncode == 0
    assert "cli  dead" in listed.stdout
    assert "me.here" in listed.stdout
    assert "nettests gc --yes" in listed.stdout
    assert len(find(connection, watch=False)) == 1
    removed = gc(lab, f"--cluster-profile={profile}", "--yes")
    assert "Removed the leftovers of 1 dead run." in removed.stdout
    assert gc(lab).stdout == "No run has left anything.\n"


def gc(lab: Lab, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run ``nettests gc`` on the lab."""
    return subprocess.run(
        [sys.executable, "-m", "nettests", "gc", f"--kubeconfig={lab.kubeconfig}", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def has_account(connection: Connection, namespace: str) -> bool:
    """Whether the namespace has its default ServiceAccount, without which no pod is made."""
    try:
        connection.get(f"/api/v1/namespaces/{namespace}/serviceaccounts/default")
    except ApiError:
        return False
    return True
