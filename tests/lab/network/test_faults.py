"""Faults at mechanism level change what they stand for, and nothing stays behind when cleared."""

import pytest

from tests.lab.network.clusters import (
    LINUX,
    NODE_ADDRESS,
    VIP,
    WIN_A,
    WIN_B,
    backend,
    profile,
    service,
)
from tests.lab.network.conftest import StartLab
from tests.lab.network.laboratory import Laboratory


@pytest.fixture
def lab(start_lab: StartLab) -> Laboratory:
    """One Service, clients on Windows and Linux."""
    lab = start_lab(profile())
    lab.attach(WIN_A, "client")
    lab.attach(LINUX, "linux")
    server = backend(lab.attach(WIN_B, "server"), WIN_B)
    lab.program(service(server), service(server, name="other", vip="10.96.7.8", node_port=None))
    return lab


@pytest.mark.parametrize(("node", "source"), [(WIN_A, "client"), (LINUX, "linux")])
def test_missing_service_rules(lab: Laboratory, node: str, source: str) -> None:
    """Without its rules on one node a Service is silent there only, until they are restored."""
    working = lab.request(source, VIP, 80)
    lab.suppress(node, "default/web:tcp")
    assert lab.request(source, VIP, 80) == "timed out"
    assert lab.request(source, "10.96.7.8", 80) == working
    other = "linux" if source == "client" else "client"
    assert lab.request(other, VIP, 80).startswith("server sees")
    lab.restore(node)
    assert lab.request(source, VIP, 80) == working


def test_missing_rules_stay_missing_when_services_change(lab: Laboratory) -> None:
    """A new table does not bring suppressed Services back."""
    lab.suppress(WIN_A, "default/web:tcp")
    lab.program(service(backend("10.244.3.3", WIN_B)))
    assert lab.request("client", VIP, 80) == "timed out"


def test_dropped_traffic(lab: Laboratory) -> None:
    """What matches is lost on its way into the namespace; the rest passes; clearing twice is fine."""
    number = lab.drop("server", "udp dport 8080")
    assert lab.request("client", "10.244.3.3", protocol="udp") == "timed out"
    assert lab.request("client", "10.244.3.3") == "server sees 10.244.2.3"
    lab.clear(number)
    lab.clear(number)
    assert lab.request("client", "10.244.3.3", protocol="udp") == "server sees 10.244.2.3"


def test_drops_are_independent(lab: Laboratory) -> None:
    """Clearing one drop leaves another in force."""
    udp = lab.drop("server", "udp dport 8080")
    lab.drop("server", "tcp dport 8080")
    lab.clear(udp)
    assert lab.request("client", "10.244.3.3", protocol="udp") == "server sees 10.244.2.3"
    assert lab.request("client", "10.244.3.3") == "timed out"


def test_clearing_after_the_pod_is_gone(lab: Laboratory) -> None:
    """A drop in a namespace that was removed clears without an error."""
    number = lab.drop("client", "udp dport 53")
    lab.detach(WIN_A, "client")
    lab.clear(number)


def test_a_drop_in_a_switch_cuts_a_node_off(lab: Laboratory) -> None:
    """Forwarded traffic enters the switch too."""
    lab.drop(f"{WIN_B}/switch", f"ip saddr {NODE_ADDRESS[WIN_A]}")
    assert lab.request("client", VIP, 80) == "timed out"
