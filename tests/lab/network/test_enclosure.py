"""The lab is closed, and nothing of it outlives its process."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

from nettests.lab.topology import Driver
from tests.lab.network.clusters import LINUX, NODE_ADDRESS, WIN_A, WIN_B, profile
from tests.lab.network.conftest import StartLab
from tests.lab.network.laboratory import laboratory
from tests.lab.network.requests_of_pods import Ask


def test_the_labs_own_namespace_has_no_link_but_loopback(start_lab: StartLab) -> None:
    """No interface joins the lab to the machine's network, and every link is one of the plan."""
    lab = start_lab(profile(Driver.OVERLAY))
    lab.attach(WIN_A, "pod")
    assert lab.links("root") == ["lo"]
    assert lab.links(f"{WIN_A}/switch") == ["lo", "uplink", "host", "vxlan", "pod-2-3"]
    assert lab.links(WIN_A) == ["lo", "eth0"]
    assert sorted(lab.links("gateway")) == ["client", "eth0", "lo", "outside", "server"]


def test_the_gateway_leads_nowhere(start_lab: StartLab) -> None:
    """Addresses beyond the plan are black holes, from pods, nodes and outside."""
    lab = start_lab(profile())
    lab.attach(WIN_A, "pod")
    lab.attach(LINUX, "linux")
    sources = ("pod", "linux", WIN_A, LINUX, "outside-client")
    requests_sent = [Ask(source=source, address="192.0.2.1", port=80) for source in sources]
    assert lab.send_all(*requests_sent) == ["timed out"] * len(sources)


def test_the_machines_loopback_is_not_the_labs(start_lab: StartLab) -> None:
    """A server on a node's 127.0.0.1 is that node's alone."""
    lab = start_lab(profile())
    lab.serve(LINUX, 9090)
    assert lab.request(LINUX, "127.0.0.1", 9090) == f"{LINUX} sees 127.0.0.1"
    assert lab.request("root", "127.0.0.1", 9090) != f"{LINUX} sees 127.0.0.1"


def _held_namespaces() -> Iterator[int]:
    """Inodes of network namespaces that a process is in or holds open."""
    for process in Path("/proc").glob("[0-9]*"):
        for link in (process / "ns/net", *_descriptors(process)):
            try:
                if str(link.readlink()).startswith("net:["):
                    yield link.stat().st_ino
            except OSError:
                continue


def _descriptors(process: Path) -> list[Path]:
    try:
        return list((process / "fd").iterdir())
    except OSError:
        return []


def test_everything_goes_when_the_process_is_killed() -> None:
    """After kill -9 no process holds any of the lab's namespaces, and none of them has a name."""
    with laboratory(profile()) as lab:
        lab.attach(WIN_A, "pod")
        inodes = set(lab.inodes())
        assert len(inodes) == 4 + 5 + 1  # underlay, outside; hosts and switches; the pod
        assert inodes <= set(_held_namespaces())
        os.kill(lab.child.pid, signal.SIGKILL)
        lab.child.wait()
        assert inodes.isdisjoint(_held_namespaces())


def test_closing_gives_every_descriptor_back(start_lab: StartLab) -> None:
    """The fabric leaks no descriptors: none per pod, and none once closed."""
    lab = start_lab(profile(Driver.OVERLAY))
    lab.attach_bare(WIN_A, "first")
    lab.detach(WIN_A, "first")
    before = lab.open_descriptors()
    for number in range(5):
        lab.attach_bare(WIN_A, f"pod-{number}")
    assert lab.open_descriptors() == before + 5
    for number in range(5):
        lab.detach(WIN_A, f"pod-{number}")
    assert lab.open_descriptors() == before
    lab.close_fabric()
    assert lab.open_descriptors() == before - len(lab_namespaces())


def lab_namespaces() -> list[str]:
    """The namespaces of a fabric without pods."""
    outer = ["underlay", "gateway", "outside-server", "outside-client"]
    return [
        *outer,
        f"{LINUX}/host",
        *(f"{n}/{part}" for n in (WIN_A, WIN_B) for part in ("host", "switch")),
    ]


def test_a_removed_pod_is_out_of_reach_and_its_address_rests(start_lab: StartLab) -> None:
    """A detached pod times out; the next pod gets another address; detaching twice is no error."""
    lab = start_lab(profile())
    address = lab.attach(WIN_A, "old")
    lab.attach(WIN_B, "client")
    assert lab.request("client", address) == "old sees 10.244.3.3"
    lab.detach(WIN_A, "old")
    lab.detach(WIN_A, "old")
    assert lab.request("client", address) == "timed out"
    assert lab.attach(WIN_A, "new") != address


def test_attaching_twice_is_attaching_once(start_lab: StartLab) -> None:
    """The same pod keeps its address."""
    lab = start_lab(profile())
    assert lab.attach_bare(WIN_A, "pod") == lab.attach_bare(WIN_A, "pod")


def test_description_is_enough_to_enter(start_lab: StartLab) -> None:
    """``describe`` names process and descriptor of every namespace."""
    lab = start_lab(profile())
    lab.attach_bare(WIN_A, "pod")
    described = lab.describe()
    assert described["pid"] == lab.child.pid
    fd = described["namespaces"][f"{WIN_A}/pod/pod"]
    held = Path(f"/proc/{described['pid']}/fd/{fd}")
    assert str(held.readlink()).startswith("net:[")
    assert f"{LINUX}/switch" not in described["namespaces"]
    assert {f"{node}/host" for node in NODE_ADDRESS} <= described["namespaces"].keys()
