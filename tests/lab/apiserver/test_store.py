"""The store: versions, conflicts, history."""

import asyncio
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import pytest

from nettests.lab.apiserver.store import (
    ExistsError,
    HistoryGoneError,
    MissingError,
    Record,
    Store,
    Subscription,
)


def _item(name: str, **fields: Any) -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": "a"}, **fields}


def test_every_write_has_a_higher_version() -> None:
    """Creation, update and deletion each take the next number, across collections."""
    store = Store()
    versions = [
        store.create("pods", _item("p")).version,
        store.create("services", _item("s")).version,
        store.update("pods", _item("p", x=1)).version,
        store.delete("pods", "a", "p").version,
    ]
    assert versions == list(range(versions[0], versions[0] + 4))


def test_a_stored_object_carries_its_version() -> None:
    """``resourceVersion`` in the body is the version of the write."""
    record = Store().create("pods", _item("p"))
    assert record.body["metadata"]["resourceVersion"] == str(record.version)


def test_names_are_unique_within_a_collection_and_namespace() -> None:
    """A second object of one name is refused; the same name elsewhere is not."""
    store = Store()
    store.create("pods", _item("p"))
    store.create("services", _item("p"))
    with pytest.raises(ExistsError):
        store.create("pods", _item("p"))


def test_what_is_not_there_can_be_neither_updated_nor_deleted() -> None:
    """Both raise ``MissingError``."""
    with pytest.raises(MissingError):
        Store().update("pods", _item("p"))
    with pytest.raises(MissingError):
        Store().delete("pods", "a", "p")


def test_records_come_by_namespace_and_name() -> None:
    """A list is sorted as etcd sorts keys, and may be of one namespace."""
    store = Store()
    for namespace, name in (("b", "a"), ("a", "z"), ("a", "b")):
        store.create("pods", {"metadata": {"name": name, "namespace": namespace}})
    assert [r.name for r in store.records("pods")] == [("a", "b"), ("a", "z"), ("b", "a")]
    assert [r.name for r in store.records("pods", "b")] == [("b", "a")]


def test_history_tells_what_happened_after_a_version() -> None:
    """Changes come in order, each with the state before."""
    store = Store()
    created = store.create("pods", _item("p"))
    store.update("pods", _item("p", x=1))
    store.delete("pods", "a", "p")
    changes = store.changes("pods", created.version)
    assert [change.type for change in changes] == ["MODIFIED", "DELETED"]
    assert changes[1].previous is not None
    assert changes[1].previous.body["x"] == 1


def test_history_older_than_what_is_kept_is_gone() -> None:
    """Resuming from before the trimmed part raises and names where the history begins."""
    store = Store(history=5)
    first = store.create("pods", _item("p"))
    for number in range(20):
        store.update("pods", _item("p", x=number))
    with pytest.raises(HistoryGoneError) as gone:
        store.changes("pods", first.version)
    assert store.changes("pods", gone.value.oldest)


def test_a_subscription_wakes_for_its_collection_only() -> None:
    """A write elsewhere lets it sleep; a write to its collection ends the wait."""

    async def run() -> tuple[bool, bool]:
        store = Store()
        with store.subscribe("pods") as subscription:
            store.create("services", _item("s"))
            elsewhere = await subscription.wait(0.01)
            store.create("pods", _item("p"))
            return elsewhere, await subscription.wait(5)

    assert asyncio.run(run()) == (False, True)


def _named(name: str) -> Callable[[Record], bool]:
    return lambda record: record.name[1] == name


def test_a_subscription_sleeps_through_what_it_does_not_select() -> None:
    """Of a hundred that each follow one name, one write wakes one; it is woken too when its object stops to match."""

    async def run() -> tuple[int, bool]:
        store = Store()
        named = [store.subscribe("pods", _named(f"p{n}")) for n in range(100)]
        marked = store.subscribe("pods", lambda record: record.body.get("x") == 1)
        with ExitStack() as stack:
            for one in (*named, marked):
                stack.enter_context(one)
            store.create("pods", _item("p7", x=1))
            woken = await asyncio.gather(*(one.wait(0.01) for one in (*named, marked)))
            store.update("pods", _item("p7", x=2))
            return sum(woken), await marked.wait(0.01)

    assert asyncio.run(run()) == (2, True)


def test_text_is_the_body() -> None:
    """The cached JSON text of a record is its body."""
    record = Store().create("pods", _item("p", spec={"x": [1, "ä"]}))
    import json

    assert json.loads(record.text) == record.body


def _pod(name: str, node: str) -> dict[str, Any]:
    return _item(name, spec={"nodeName": node})


def test_a_subscription_to_one_node_sleeps_through_the_pods_of_others() -> None:
    """It is woken by a Pod that comes to its node, that changes there, and that leaves it, and by no other."""
    store = Store()
    with store.subscribe("pods", pinned=("spec.nodeName", "win-1")) as subscription:
        store.create("pods", _pod("elsewhere", "win-2"))
        store.create("pods", _item("nowhere"))
        assert not subscription.pending
        writes: tuple[Callable[[], Record], ...] = (
            lambda: store.create("pods", _pod("p", "win-1")),
            lambda: store.update("pods", _pod("p", "win-2")),
            lambda: store.update("pods", _pod("p", "win-1")),
            lambda: store.delete("pods", "a", "p"),
        )
        assert [_woke(subscription, write) for write in writes] == [True] * len(writes)


def _woke(subscription: Subscription, write: Callable[[], Record]) -> bool:
    """Write, and say whether the subscription was woken by that very write."""
    written = write()
    woken = subscription.pending and asyncio.run(subscription.wait(5))
    return woken and subscription.first == written.version


def test_a_subscription_knows_the_first_write_since_it_last_waited() -> None:
    """Later ones do not hide it: a watch reads the history from there."""
    store = Store()
    with store.subscribe("pods", pinned=("metadata.name", "p")) as subscription:
        first = store.create("pods", _item("p"))
        store.update("pods", _item("p", x=1))
        assert subscription.first == first.version


def test_a_subscription_that_ended_leaves_nothing() -> None:
    """Watches of one object come and go by the hundred: what they were kept under goes with the last of them."""
    store = Store()
    one = store.subscribe("pods", pinned=("metadata.name", "p"))
    other = store.subscribe("pods", pinned=("metadata.name", "p"))
    held = store._of("pods").watchers
    with one:
        with other:
            assert len(held) == 1
        store.create("pods", _item("p"))
        assert one.pending
    assert held == {}
