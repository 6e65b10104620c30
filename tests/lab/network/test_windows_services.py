"""Limits and switches of HNS load balancing that the reachability table does not show."""

from dataclasses import replace

import pytest

from nettests.lab.topology import Driver
from tests.lab.network.clusters import (
    LINUX,
    NODE_ADDRESS,
    NODE_PORT,
    VIP,
    WIN_A,
    WIN_B,
    WS2019_EARLY,
    WS2019_LATE,
    backend,
    profile,
    service,
)
from tests.lab.network.conftest import StartLab


@pytest.mark.parametrize(("release", "limited"), [(WS2019_EARLY, True), (WS2019_LATE, False)])
def test_more_than_64_backends(
    start_lab: StartLab, release: tuple[int, int], limited: bool
) -> None:
    """Before 17763.2746 a Service with 65 backends is not programmed at all; later it works."""
    lab = start_lab(profile(release=release))
    lab.attach(WIN_A, "client")
    servers = [backend(lab.attach(WIN_B, f"server-{n}"), WIN_B) for n in range(65)]
    lab.program(service(*servers[:64]))
    assert lab.request("client", VIP, 80).endswith(f"sees {NODE_ADDRESS[WIN_A]}")
    lab.program(service(*servers))
    assert (lab.request("client", VIP, 80) == "timed out") == limited


def test_a_node_port_reaches_a_linux_backend_through_windows(start_lab: StartLab) -> None:
    """Another node's pod → NodePort of a Windows node with any pod → Linux pod works on overlay."""
    lab = start_lab(profile(Driver.OVERLAY))
    lab.attach(WIN_A, "any")
    lab.attach(WIN_B, "client")
    lab.program(service(backend(lab.attach(LINUX, "server"), LINUX)))
    assert lab.request("client", NODE_ADDRESS[WIN_A], NODE_PORT) == "server sees 10.244.2.2"


@pytest.mark.parametrize("mechanisms", [(), (("empty-node-ports", 1),)], ids=["as is", "switched"])
def test_a_windows_node_without_pods_forwards_no_node_ports(
    start_lab: StartLab, mechanisms: tuple[tuple[str, int], ...]
) -> None:
    """As soon as a pod is there it does, and no longer once the last one is gone; the mechanism lifts it."""
    lab = start_lab(replace(profile(), mechanisms=mechanisms))
    lab.attach(WIN_B, "client")
    lab.program(service(backend(lab.attach(LINUX, "server"), LINUX)))

    def answers() -> bool:
        said = lab.request("client", NODE_ADDRESS[WIN_A], NODE_PORT)
        return said.startswith("server sees")

    assert answers() == bool(mechanisms)
    lab.attach(WIN_A, "any")
    assert answers()
    lab.detach(WIN_A, "any")
    assert answers() == bool(mechanisms)


def test_internal_traffic_policy_by_kubernetes_version(start_lab: StartLab) -> None:
    """internalTrafficPolicy Local without a local pod: silence from 1.26.1 on, ignored before."""
    for version, expected in (("v1.26.1", "timed out"), ("v1.26.0", "far sees 172.30.0.12")):
        lab = start_lab(profile(kubernetes=version))
        lab.attach(WIN_A, "client")
        lab.program(service(backend(lab.attach(WIN_B, "far"), WIN_B), internal_local=True))
        assert lab.request("client", VIP, 80) == expected


def test_existing_connections_outlive_a_change_of_rules(start_lab: StartLab) -> None:
    """A UDP client keeps its backend after the Service is gone: winkernel forgets no flows."""
    lab = start_lab(profile())
    lab.attach(WIN_A, "client")
    lab.program(service(backend(lab.attach(WIN_B, "server"), WIN_B), protocol="UDP"))
    expected = f"server sees {NODE_ADDRESS[WIN_A]}"
    assert lab.request("client", VIP, 80, "udp", source_port=5555) == expected
    lab.program()
    assert lab.request("client", VIP, 80, "udp", source_port=5555) == expected
    assert lab.request("client", VIP, 80, "udp") == "timed out"


def test_an_unnamed_port_is_programmed(start_lab: StartLab) -> None:
    """A Service with a single port need not name it; a SCTP port beside it disturbs nothing."""
    lab = start_lab(profile())
    lab.attach(WIN_A, "client")
    lab.attach(LINUX, "linux")
    web = service(backend(lab.attach(WIN_B, "server"), WIN_B))
    lab.program(replace(web, port_name=""), replace(web, service="calls", protocol="SCTP"))
    assert lab.request("client", VIP, 80) == f"server sees {NODE_ADDRESS[WIN_A]}"
    assert lab.request("linux", VIP, 80) == "server sees 10.244.1.2"
