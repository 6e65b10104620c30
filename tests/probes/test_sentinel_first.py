"""In a large fleet, what a node serves is polled after its sentinel; in a small one all at once."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from nettests.model.words import TargetKind
from nettests.probes.sentinel_first import SentinelFirst
from nettests.probes.service_pairs import Pair

SENTINEL = "sentinel"
NODES = ("probe-a", "probe-b")
SERVICE = TargetKind.SERVICE_CLUSTERIP


def pairs() -> list[Pair]:
    """Return what is waited for on two nodes."""
    kinds = ((SERVICE, "svc"), (TargetKind.NODEPORT, "port"), (TargetKind.SERVICE_PQDN, "svc"))
    return [
        *(Pair(kind, name, probe) for kind, name in kinds for probe in NODES),
        *(Pair(TargetKind.POD_IP, "server", probe) for probe in NODES),
        *(Pair(SERVICE, SENTINEL, probe) for probe in NODES),
    ]


def many(*, seconds: float = 60.0) -> SentinelFirst:
    """Return the order of more pairs than can be polled at once."""
    return SentinelFirst(pairs(), SENTINEL, at_once=len(pairs()) - 1, seconds=seconds)


def waits(first: SentinelFirst, pair: Pair) -> threading.Event:
    """Wait for a pair's turn in a thread; return what says that it came."""
    came, stopped = threading.Event(), threading.Event()

    def turn() -> None:
        first.wait(pair, stopped)
        came.set()

    threading.Thread(target=turn, daemon=True).start()
    return came


def test_all_are_polled_at_once_where_there_is_room() -> None:
    """Nobody waits: each pair says when it began to answer."""
    first = SentinelFirst(pairs(), SENTINEL, at_once=len(pairs()))
    with ThreadPoolExecutor(1) as pool:
        for pair in first.in_order():
            pool.submit(first.wait, pair, threading.Event()).result(timeout=5)


@pytest.mark.parametrize("kind", [SERVICE, TargetKind.NODEPORT, TargetKind.SERVICE_PQDN])
def test_a_node_s_services_wait_for_its_sentinel(kind: TargetKind) -> None:
    """They are polled when it has answered there; another node's says nothing of them."""
    first = many()
    name = "port" if kind is TargetKind.NODEPORT else "svc"
    came = waits(first, Pair(kind, name, "probe-a"))
    first.settle(Pair(SERVICE, SENTINEL, "probe-b"))
    first.settle(Pair(SERVICE, "svc", "probe-a"))
    assert not came.wait(0.1)
    first.settle(Pair(SERVICE, SENTINEL, "probe-a"))
    assert came.wait(5)


@pytest.mark.parametrize(
    "pair", [Pair(TargetKind.POD_IP, "server", "probe-a"), Pair(SERVICE, SENTINEL, "probe-a")]
)
def test_servers_and_sentinels_wait_for_nothing(pair: Pair) -> None:
    """No rule of a node stands between a Pod and its own node's."""
    assert waits(many(), pair).wait(5)


def test_those_that_wait_come_last() -> None:
    """Threads are few: what waits for others may not hold them up."""
    ordered = many().in_order()
    free = [one.name == SENTINEL or one.kind is TargetKind.POD_IP for one in ordered]
    assert free == sorted(free, reverse=True)
    assert [one.name for one in ordered[: len(NODES)]] == [SENTINEL] * len(NODES)
    assert sorted(ordered) == sorted(pairs())


def test_a_sentinel_that_stays_silent_holds_nothing_up_for_long() -> None:
    """Services may answer where it never will: they are polled all the same."""
    began = time.monotonic()
    assert waits(many(seconds=0.2), Pair(SERVICE, "svc", "probe-a")).wait(5)
    assert time.monotonic() - began >= 0.2


def test_a_run_that_is_stopped_waits_for_nothing() -> None:
    """Its threads end."""
    stopped = threading.Event()
    stopped.set()
    with ThreadPoolExecutor(1) as pool:
        pool.submit(many().wait, Pair(SERVICE, "svc", "probe-a"), stopped).result(timeout=5)


def test_a_node_without_a_sentinel_waits_for_nothing() -> None:
    """Where none was made, or a node is not polled for it, there is nothing to wait for."""
    first = SentinelFirst(pairs(), None, at_once=1)
    assert waits(first, Pair(SERVICE, "svc", "probe-a")).wait(5)
