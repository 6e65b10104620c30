"""A pod that reaches itself through a DSR Service needs the CNI plugin's loopbackDSR."""

import pytest

from nettests.lab.topology import Driver
from tests.lab.network.clusters import NODE_ADDRESS, VIP, WIN_A, WS2022, backend, profile, service
from tests.lab.network.conftest import StartLab


@pytest.mark.parametrize("driver", [Driver.L2BRIDGE, Driver.OVERLAY])
def test_hairpin_with_loopback_dsr_shows_the_node(start_lab: StartLab, driver: Driver) -> None:
    """With loopbackDSR a pod reaches itself, and sees its node's address as the client's."""
    lab = start_lab(profile(driver, dsr=True, loopback_dsr=True, release=WS2022))
    lab.program(service(backend(lab.attach(WIN_A, "client"), WIN_A)))
    assert lab.request("client", VIP, 80) == f"client sees {NODE_ADDRESS[WIN_A]}"


def test_loopback_dsr_rewrites_nothing_else(start_lab: StartLab) -> None:
    """Another pod's connection to the same backend keeps its own address."""
    lab = start_lab(profile(Driver.L2BRIDGE, dsr=True, loopback_dsr=True, release=WS2022))
    lab.program(service(backend(lab.attach(WIN_A, "server"), WIN_A)))
    other = lab.attach(WIN_A, "other")
    assert lab.request("other", VIP, 80) == f"server sees {other}"
