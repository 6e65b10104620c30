"""A trace names the hop and the reason, of packets that really travel: on l2bridge, with DSR, on an overlay, on Open vSwitch."""

import asyncio
import json
import os
import traceback
from collections.abc import Callable
from typing import Any, TypeVar

import pytest

from nettests.lab.network.alterations import Which, with_stale_endpoint, with_wrong_port
from nettests.lab.network.isolation import enter_isolated_namespaces
from nettests.lab.network.packets import Packets
from nettests.lab.network.wire_faults import Path
from tests.lab.traces import Broken, Question, Stage, of_each, traced, witnessed

T = TypeVar("T")
ALL = Which()
TO_LINUX = Question(source="win-1", target="linux-1")
FROM_LINUX = Question(source="linux-1", target="win-1")
DIRECT = Question(source="win-1", target="win-2", service=False)
LARGE = Question(source="win-1", target="linux-1", service=False, size=3000)
Case = tuple[Question, Broken | None, str]


def lost(source: str, target: str = "", *, both: bool = False, larger: int = 0) -> Broken:
    path = Path(source=source, target=target, both=both)
    return lambda on: on.fabric.wire_faults.lose(path, Packets(larger_than=larger), 1)


def lossy(node: str) -> Broken:
    return lambda on: on.fabric.wire_faults.lose(Path(source=node, both=True), Packets(), 0.3)


def unserved(node: str) -> Broken:
    async def broken(on: Stage) -> object:
        await on.fabric.nodes[node].alter_services([lambda _table: ()])

        async def undo() -> None:
            await on.fabric.nodes[node].alter_services([])

        return undo

    return broken


def altered(node: str, *, stale: bool) -> Broken:
    async def broken(on: Stage) -> object:
        change = with_stale_endpoint(ALL, on.profile) if stale else with_wrong_port(ALL)
        await on.fabric.nodes[node].alter_services([change])

        async def undo() -> None:
            await on.fabric.nodes[node].alter_services([])

        return undo

    return broken


def silent(server: str) -> Broken:
    return lambda on: on.fabric.node_faults.lose_entering(on.pods[server].namespace, Packets(), 1)


def node_fault(name: str, *arguments: object) -> Broken:
    return lambda on: getattr(on.fabric.node_faults, name)(*arguments)


ANYWHERE: dict[str, Case] = {
    "healthy": (TO_LINUX, None, "nothing-wrong"),
    "healthy from Linux": (FROM_LINUX, None, "nothing-wrong"),
    "healthy large": (LARGE, None, "nothing-wrong"),
    "cut off": (DIRECT, lost("win-2", both=True), "lost-between-nodes"),
    "one way": (TO_LINUX, lost("linux-1", "win-1"), "reply-lost"),
    "no rules": (TO_LINUX, unserved("win-1"), "untranslated"),
    "no rules on Linux": (FROM_LINUX, unserved("linux-1"), "untranslated"),
    "stale endpoint": (TO_LINUX, altered("win-1", stale=True), "dead-backend"),
    "wrong port": (TO_LINUX, altered("win-1", stale=False), "dead-backend"),
    "silent server": (DIRECT, silent("server-win-2"), "unanswered"),
    "no route": (DIRECT, node_fault("forget_route", "win-1", "win-2"), "lost-between-nodes"),
    "large packets": (LARGE, lost("win-1", both=True, larger=1300), "too-big-untold"),
}
TUNNELLED: dict[str, Case] = {
    # Without its tunnel's route a Pod's packet passes no uplink of a Windows overlay: only nodes' addresses do.
    "no route": (DIRECT, node_fault("forget_route", "win-1", "win-2"), "dropped"),
}
OVERLAY: dict[str, Case] = {
    "other VNI": (
        DIRECT,
        lambda on: on.fabric.wire_faults.change_network_id("win-2", 4097),
        "wrong-vni",
    ),
    "no tunnel on Windows": (DIRECT, node_fault("send_plainly", "win-1"), "dropped"),
    "no tunnel on Linux": (FROM_LINUX, node_fault("send_plainly", "linux-1"), "not-encapsulated"),
}
REWRITTEN: dict[str, Case] = {
    "source rewritten": (
        Question(source="win-1", target="win-2", service=False, source_kept=True),
        node_fault("rewrite_sources", "win-1"),
        "source-rewritten",
    ),
}
PROFILES = {
    "win2019-l2bridge": ANYWHERE | REWRITTEN,
    "win2022-l2bridge-dsr": ANYWHERE | REWRITTEN,
    "win2019-overlay": ANYWHERE | TUNNELLED | OVERLAY,
    "antrea-transparent": ANYWHERE | TUNNELLED,
}


def findings(profile: str, names: tuple[str, ...]) -> dict[str, list[str]]:
    """Trace these cases of a profile in a child process, which has namespaces of its own."""

    def child() -> dict[str, list[str]]:
        cases = {name: PROFILES[profile][name][:2] for name in names}
        traces = asyncio.run(of_each(profile, cases, traced))
        return {
            name: [one.finding.value, one.node, one.detail, *one.remarks]
            for name, one in traces.items()
        }

    return in_namespaces(child)


def in_namespaces(work: Callable[[], T]) -> T:
    """Return what work returns in a child process, which has namespaces of its own; its failure fails the test."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        try:
            enter_isolated_namespaces()
            text = json.dumps({"told": work()})
        except BaseException:  # noqa: BLE001  told to the parent, which fails the test
            text = json.dumps({"failed": traceback.format_exc()})
        with os.fdopen(write, "w") as pipe:
            pipe.write(text)
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        told: dict[str, Any] = json.loads(pipe.read())
    os.waitpid(child, 0)
    assert "failed" not in told, told["failed"]
    result: T = told["told"]
    return result


def wrong(profile: str, names: tuple[str, ...]) -> dict[str, list[str]]:
    """Return what was not found as it should be."""
    told = findings(profile, names)
    right = {name: PROFILES[profile][name][2] for name in names}
    return {name: told[name] for name in names if told[name][0] != right[name]}


def test_a_healthy_path_and_two_faults_are_told_apart() -> None:
    """On an overlay of Windows and Linux nodes: nothing wrong, no rules of the Service, another network id."""
    assert not wrong("win2019-overlay", ("healthy", "no rules", "other VNI"))


UNNOTICED: dict[str, dict[str, tuple[str, *tuple[object, ...]]]] = {
    "win2022-l2bridge-dsr": {"MAC address": ("keep_macs", "win-1")},
    "win2019-overlay": {"encapsulation": ("disguise_network_id", "win-1", 9999)},
}
"""By profile, what is unnoticed by servers, by the subject whose two witnesses it makes differ."""


def told_twice(profile: str) -> dict[str, list[list[object]]]:
    """Have connections of a profile witnessed in a child process, healthy and with disguised sources."""

    def child() -> dict[str, list[list[object]]]:
        cases = {
            f"{name} {one.source} → {one.target}": (one, broken)
            for one in (TO_LINUX, FROM_LINUX, DIRECT)
            for name, broken in (
                ("healthy", None),
                ("disguised", node_fault("disguise_sources", one.source)),
                *((name, node_fault(*fault)) for name, fault in UNNOTICED[profile].items()),
            )
        }
        told = asyncio.run(of_each(profile, cases, witnessed))
        return {
            name: [[one.subject.value, one.agree, one.shows] for one in each]
            for name, each in told.items()
        }

    return in_namespaces(child)


@pytest.mark.nightly
@pytest.mark.parametrize("profile", ["win2022-l2bridge-dsr", "win2019-overlay"])
def test_only_the_wire_tells_of_disguises(profile: str) -> None:
    """Healthy connections are told alike by servers, configuration and captures; with each fault one subject is not."""
    for name, subjects in told_twice(profile).items():
        assert {"source address", "way of the reply", "encapsulation"} <= {
            one[0] for one in subjects
        }
        different = {one[0] for one in subjects if not one[1]}
        assert different == expected(name), name


def expected(case: str) -> set[str]:
    """The subjects of which two witnesses differ: of what leaves win-1 alone, but for disguises, which are of each source."""
    word = case.partition(" → ")[0].rpartition(" ")
    if word[0] in {"healthy", ""}:
        return set()
    if word[0] == "disguised":
        return {"source address"}
    from_linux = word[2] == "linux-1"
    return set() if from_linux and word[0] == "MAC address" else {word[0]}


@pytest.mark.nightly
@pytest.mark.parametrize("profile", PROFILES)
def test_every_fault_is_named_by_its_trace(profile: str) -> None:
    """Each fault of a profile gives the finding that is right for it, and a healthy path none."""
    assert not wrong(profile, tuple(PROFILES[profile]))
