"""Objects of a node speak for a finding or against it: load balancers, endpoints, networks, routes."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from nettests.diagnose.inventory import LINUX as LINUX_TOOLS
from nettests.diagnose.inventory import WINDOWS as WINDOWS_TOOLS
from nettests.tracing.confirming import FILES, confirmations
from nettests.tracing.finding import Finding, Trace
from nettests.tracing.path import trace
from tests.tracing.frames import BACKEND, MARK, PATH, WIRE_OUT, captures, packet, scene, seen

STALE = packet(destination="10.244.1.250", destination_port=18080)


def of(finding: Finding, node: str = "win-1") -> Trace:
    """A trace with that finding on a node."""
    whole = captures((PATH[0], seen("win-1", WIRE_OUT, STALE)))
    one = trace(scene(vni=4096), MARK, whole, answered=False)
    return replace(one, finding=finding, node=node)


def said(one: Trace, files: Mapping[tuple[str, str], str]) -> tuple[str, ...]:
    return confirmations(one, lambda node, file: files.get((node, file)))


@pytest.mark.parametrize(
    ("finding", "file", "text", "told"),
    [
        (
            Finding.UNTRANSLATED,
            "hns-load-balancers.json",
            '{"VIPs": ["10.96.7.70"]}',
            "win-1 has no HNS load balancer with 10.96.7.7 (hns-load-balancers.json)",
        ),
        (
            Finding.UNTRANSLATED,
            "hns-load-balancers.json",
            '{"VIPs": ["10.96.7.7"]}',
            "win-1 has an HNS load balancer with 10.96.7.7 (hns-load-balancers.json)",
        ),
        (
            Finding.DEAD_BACKEND,
            "nftables.txt",
            "dnat to 10.244.1.250:18080",
            "win-1 has an nftables rule with 10.244.1.250 (nftables.txt)",
        ),
        (
            Finding.LOST_IN_SOURCE_NODE,
            "routes.txt",
            "10.244.3.0  255.255.255.0  On-link",
            f"win-1 has no route to {BACKEND} and no default (routes.txt)",
        ),
        (
            Finding.NOT_ENCAPSULATED,
            "routes.txt",
            "10.244.1.0/24 via 172.30.0.11",
            f"win-1 has a route to {BACKEND}, 10.244.1.0/24 (routes.txt)",
        ),
        (
            Finding.NOT_ENCAPSULATED,
            "routes.txt",
            "0.0.0.0 0.0.0.0 172.30.0.1 172.30.0.21 25\n  10.244.0.0  255.255.0.0  172.30.0.11  172.30.0.21 15",
            f"win-1 has a route to {BACKEND}, 10.244.0.0/16 (routes.txt)",
        ),
        (
            Finding.NOT_ENCAPSULATED,
            "routes.txt",
            "default via 172.30.0.1 dev eth0\nunreachable 10.244.1.0/24\n172.30.0.0/24 dev eth0 src 10.244.1.1",
            f"win-1 has no route to {BACKEND} but a default (routes.txt)",
        ),
        (
            Finding.NOT_ENCAPSULATED,
            "routes.txt",
            "          0.0.0.0          0.0.0.0       172.30.0.1      172.30.0.21     25",
            f"win-1 has no route to {BACKEND} but a default (routes.txt)",
        ),
        (
            Finding.NOT_ENCAPSULATED,
            "routes.txt",
            "default via fe80::1 dev eth0 metric 1024\nunreachable default dev lo\n172.30.0.0/24 dev eth0",
            f"win-1 has no route to {BACKEND} and no default (routes.txt)",
        ),
        (
            Finding.WRONG_VNI,
            "hns-networks.json",
            '{"VSID": 4097}',
            "win-1 has no HNS network with 4096 (hns-networks.json)",
        ),
    ],
)
def test_an_object_is_named_with_its_file(
    finding: Finding, file: str, text: str, told: str
) -> None:
    """It confirms the finding, or speaks against it; an address that begins alike is another one."""
    assert said(of(finding), {("win-1", file): text}) == (told,)


def test_the_destinations_endpoint_is_looked_for_on_its_own_node() -> None:
    """A packet that was not delivered: has its node an endpoint for it at all?"""
    files = {("linux-1", "hns-endpoints.json"): f'[{{"IPAddress": "{BACKEND}"}}]'}
    (told,) = said(of(Finding.NOT_DELIVERED, "linux-1"), files)
    assert told == f"linux-1 has an HNS endpoint with {BACKEND} (hns-endpoints.json)"


@pytest.mark.parametrize("finding", Finding)
def test_what_was_not_collected_says_nothing(finding: Finding) -> None:
    """Of no finding anything is told without a file, and none is an error."""
    assert said(of(finding), {}) == ()
    empty = {(node, file): "" for node in ("win-1", "linux-1") for file in FILES}
    assert said(of(finding), empty) == ()


def test_the_files_are_those_that_are_collected() -> None:
    """Names are those of the inventory."""
    assert set(FILES) <= {one.file for one in (*WINDOWS_TOOLS, *LINUX_TOOLS)}
