"""Packets of each profile's Service flow, captured in the lab: source addresses and encapsulation."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import ip_address

import pytest

from nettests.wire import Packet, read_capture
from tests.acceptance.labs import UpLab, lab
from tests.acceptance.objects import Objects, connect, wait_for

# The official client leaves some of its TLS connections to the garbage collector.
pytestmark = [
    pytest.mark.nightly,
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
CAPTURE = """
import sys
from scapy.all import AsyncSniffer, raw
from scapy.utils import PcapWriter
sniffer = AsyncSniffer(iface=sys.argv[1], store=True, started_callback=lambda: print("ready", file=sys.stderr, flush=True))
sniffer.start()
sys.stdin.read()
sniffer.stop()
with PcapWriter(sys.stdout.buffer, linktype=1) as writer:
    for packet in sniffer.results:
        writer.write(packet)
"""
"""Sniffs an interface with scapy until its standard input closes, then writes a pcap."""


class Captured:
    """Packets of one capture, filled when it ends."""

    packets: tuple[Packet, ...] = ()


@contextmanager
def capturing(up: UpLab, namespace: str, interface: str) -> Iterator[Captured]:
    """Capture on an interface inside one of the lab's namespaces while the block runs."""
    captured = Captured()
    with subprocess.Popen(
        [*up.entering(namespace), sys.executable, "-W", "ignore", "-c", CAPTURE, interface],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as sniffer:
        assert sniffer.stderr is not None
        assert sniffer.stderr.readline() == b"ready\n"
        yield captured
        pcap, said = sniffer.communicate(timeout=30)
        assert sniffer.returncode == 0, said.decode()
    captured.packets = tuple(read_capture(pcap))


def service_flow(objects: Objects) -> tuple[str, str, str]:
    """Make a server on ``win-2`` and a probe on ``win-1``; return both addresses and the ClusterIP."""
    netexec = ("netexec", "--http-port=8080", "--udp-port=-1")
    objects.start()
    server = objects.pod("server", "win-2", *netexec)
    probe = objects.pod("probe", "win-1", *netexec)
    cluster_ip = objects.service("web", "server")
    wait_for(lambda: objects.dial("probe", cluster_ip, 80) == "connected")
    return probe, server, cluster_ip


@pytest.mark.parametrize(
    ("profile", "source", "vni"),
    [
        ("win2019-l2bridge", "node", None),
        ("win2022-l2bridge-dsr", "pod", None),
        ("win2019-overlay", "source VIP", 4096),
    ],
)
def test_a_service_flow_crosses_the_wire_as_driver_and_dsr_say(
    profile: str, source: str, vni: int | None, request: pytest.FixtureRequest
) -> None:
    """Towards a remote backend the wire carries the source and the encapsulation of the profile."""
    with lab(profile) as up:
        objects = connect(up.kubeconfig)
        request.addfinalizer(objects.close)
        probe, server, cluster_ip = service_flow(objects)
        node = objects.api.read_node("win-1").status.addresses[0].address
        with capturing(up, "win-2/switch", "uplink") as captured:
            assert objects.dial("probe", cluster_ip, 80) == "connected"
    syns = [
        packet
        for packet in captured.packets
        if packet.syn and not packet.ack and packet.destination_port == 8080
    ]
    assert [str(packet.destination) for packet in syns] == [server]
    (syn,) = syns
    subnet = str(ip_address(probe)).rpartition(".")[0]
    expected = {"node": node, "pod": probe, "source VIP": f"{subnet}.2"}[source]
    assert str(syn.source) == expected
    if vni is None:
        assert syn.encapsulation is None
    else:
        assert syn.encapsulation is not None
        assert (syn.encapsulation.vni, syn.encapsulation.port) == (vni, 4789)
        assert str(syn.encapsulation.source) == node
