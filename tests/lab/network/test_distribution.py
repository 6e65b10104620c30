"""How Windows switches spread connections over backends, and what session affinity does by build."""

import time
from dataclasses import replace

import pytest

from nettests.lab.topology import Driver
from tests.lab.network.clusters import (
    VIP,
    WIN_A,
    WIN_B,
    WS2019_LATE,
    WS2022,
    backend,
    profile,
    service,
)
from tests.lab.network.conftest import StartLab
from tests.lab.network.laboratory import Laboratory
from tests.lab.network.requests_of_pods import Ask

CONNECTIONS = 64
REMEMBERS = ("affinity-timeout", 1)
"""The switch remembers clients, as Open vSwitch does, instead of hashing their addresses."""


def _lab(start_lab: StartLab, release: tuple[int, int], *, affinity: bool) -> Laboratory:
    lab = start_lab(profile(Driver.L2BRIDGE, release=release))
    lab.attach(WIN_A, "client")
    servers = [backend(lab.attach(node, f"server-{node}"), node) for node in (WIN_A, WIN_B)]
    lab.program(*(service(*servers, protocol=p, affinity=affinity) for p in ("TCP", "UDP")))
    return lab


def _servers(lab: Laboratory, protocol: str) -> set[str]:
    request = Ask(source="client", address=VIP, port=80, protocol=protocol)
    return {answer.split()[0] for answer in lab.send_all(*[request] * CONNECTIONS)}


@pytest.mark.parametrize("protocol", ["tcp", "udp"])
def test_connections_spread_over_all_backends(start_lab: StartLab, protocol: str) -> None:
    """Without affinity the 5-tuple decides, so 64 connections reach both backends."""
    lab = _lab(start_lab, WS2022, affinity=False)
    assert _servers(lab, protocol) == {f"server-{WIN_A}", f"server-{WIN_B}"}


@pytest.mark.parametrize("protocol", ["tcp", "udp"])
def test_affinity_holds_on_windows_server_2022(start_lab: StartLab, protocol: str) -> None:
    """From build 20348 on, one client address stays with one backend."""
    lab = _lab(start_lab, WS2022, affinity=True)
    assert len(_servers(lab, protocol)) == 1


def test_affinity_is_ignored_on_windows_server_2019(start_lab: StartLab) -> None:
    """Build 17763 accepts the setting and spreads all the same."""
    lab = _lab(start_lab, WS2019_LATE, affinity=True)
    assert _servers(lab, "tcp") == {f"server-{WIN_A}", f"server-{WIN_B}"}


@pytest.mark.parametrize("mechanisms", [(), (REMEMBERS,)], ids=["by-hash", "remembered"])
def test_affinity_survives_the_change_of_another_service(
    start_lab: StartLab, mechanisms: tuple[tuple[str, int], ...]
) -> None:
    """Programming an unrelated Service does not move a client to another backend."""
    lab = start_lab(profile(release=WS2022, mechanisms=mechanisms))
    lab.attach(WIN_A, "client")
    servers = [backend(lab.attach(WIN_B, f"server-{n}"), WIN_B) for n in range(8)]
    sticky = service(*servers, affinity=True)
    lab.program(sticky)
    before = _servers(lab, "tcp")
    lab.program(sticky, service(*servers, name="other", vip="10.96.7.9", node_port=None))
    assert _servers(lab, "tcp") == before
    assert len(before) == 1


def _learning(start_lab: StartLab, seconds: int) -> Laboratory:
    """A lab whose switches remember clients for so long, as Open vSwitch does."""
    lab = start_lab(profile(release=WS2022, mechanisms=(REMEMBERS,)))
    lab.attach(WIN_A, "client")
    servers = [backend(lab.attach(WIN_B, f"server-{n}"), WIN_B) for n in range(8)]
    lab.program(replace(service(*servers, affinity=True), affinity_timeout=seconds))
    return lab


def test_a_client_that_is_remembered_stays(start_lab: StartLab) -> None:
    """Within the time-out all connections of a client reach one of eight backends."""
    assert len(_servers(_learning(start_lab, 600), "tcp")) == 1


def test_a_remembered_client_is_forgotten_after_the_time_out(start_lab: StartLab) -> None:
    """Its time counts from its first connection, so that it gets another backend while it goes on querying."""
    lab = _learning(start_lab, 1)
    ends = time.monotonic() + 60
    met = _servers(lab, "tcp")
    while len(met) == 1 and time.monotonic() < ends:
        met |= _servers(lab, "tcp")
    assert len(met) > 1
