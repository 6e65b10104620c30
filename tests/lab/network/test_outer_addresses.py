"""Services at addresses of load balancers and at externalIPs, as both systems' nodes treat them."""

from dataclasses import replace

import pytest

from nettests.lab.topology import Driver
from tests.lab.network.clusters import (
    LINUX,
    NODE_ADDRESS,
    NODE_PORT,
    SOURCE_VIP,
    VIP,
    WIN_A,
    WIN_B,
    WS2019_EARLY,
    WS2022,
    backend,
    profile,
    service,
)
from tests.lab.network.conftest import StartLab
from tests.lab.network.laboratory import Laboratory
from tests.lab.network.requests_of_pods import Ask

BALANCED, EXTERNAL = "203.0.113.7", "192.0.2.7"
OUTSIDE = "198.51.100.20"
NOBODY = "192.0.2.128/25"


def answers(lab: Laboratory, *requested: tuple[str, str]) -> list[str]:
    """Query port 80 from each source at each address, at the same time: silence is waited for once."""
    return lab.send_all(
        *[Ask(source=source, address=address, port=80) for source, address in requested]
    )


def with_clients(start_lab: StartLab, *arguments: object, **settings: object) -> Laboratory:
    """Start a lab with a client pod on every node."""
    lab = start_lab(profile(*arguments, **settings))  # type: ignore[arg-type]
    for node in (LINUX, WIN_A):
        lab.attach(node, f"{node}-client")
    return lab


@pytest.mark.parametrize("driver", [Driver.L2BRIDGE, Driver.OVERLAY])
@pytest.mark.parametrize("protocol", ["TCP", "UDP"])
def test_pods_reach_outer_addresses(start_lab: StartLab, driver: Driver, protocol: str) -> None:
    """Pods of both systems reach load balancer and externalIP; the backend sees the client's node."""
    lab = with_clients(start_lab, driver)
    own = backend(lab.attach(WIN_B, "server"), WIN_B)
    lab.program(service(own, protocol=protocol, ingress=(BALANCED,), external=(EXTERNAL,)))
    overlay = driver is Driver.OVERLAY
    seen = {
        "lin-client": "10.244.1.0" if overlay else NODE_ADDRESS[LINUX],
        "win-a-client": SOURCE_VIP[WIN_A] if overlay else NODE_ADDRESS[WIN_A],
    }
    for client, source in seen.items():
        for address in (BALANCED, EXTERNAL):
            assert lab.request(client, address, 80, protocol.lower()) == f"server sees {source}"


@pytest.mark.parametrize("driver", [Driver.L2BRIDGE, Driver.OVERLAY])
def test_what_the_gateway_delivers_to_a_node_is_served(start_lab: StartLab, driver: Driver) -> None:
    """A client outside reaches a load balancer's address through any node, on overlay too."""
    lab = with_clients(start_lab, driver)
    lab.program(service(backend(lab.attach(WIN_B, "server"), WIN_B), ingress=(BALANCED,)))
    assert lab.request("outside-client", BALANCED, 80) == "timed out"
    for node in (LINUX, WIN_A):
        lab.announce({BALANCED: NODE_ADDRESS[node]})
        assert lab.request("outside-client", BALANCED, 80).startswith("server sees "), node
    lab.announce({})
    assert lab.request("outside-client", BALANCED, 80) == "timed out"


@pytest.mark.parametrize("driver", [Driver.L2BRIDGE, Driver.OVERLAY])
@pytest.mark.parametrize("node", [LINUX, WIN_A])
def test_local_policy_keeps_the_clients_address(
    start_lab: StartLab, driver: Driver, node: str
) -> None:
    """With externalTrafficPolicy Local the backend on the node sees who sent it the load balancer."""
    lab = with_clients(start_lab, driver)
    own = backend(lab.attach(node, "server"), node)
    lab.program(service(own, ingress=(BALANCED,), external_local=True))
    lab.announce({BALANCED: NODE_ADDRESS[node]})
    assert lab.request("outside-client", BALANCED, 80) == f"server sees {OUTSIDE}"


def test_local_policy_seen_from_pods_without_a_local_backend(start_lab: StartLab) -> None:
    """Linux leads them to the ClusterIP's backends; on Windows nothing takes the packet."""
    lab = with_clients(start_lab)
    far = backend(lab.attach(WIN_B, "far"), WIN_B)
    lab.program(service(far, ingress=(BALANCED,), external_local=True))
    assert lab.request("lin-client", BALANCED, 80) == "far sees 10.244.1.2"
    assert lab.request("win-a-client", BALANCED, 80) == "timed out"


def test_source_ranges(start_lab: StartLab) -> None:
    """Linux lets in nobody outside the ranges, at the balancer's address only; Windows lets in all."""
    lab = with_clients(start_lab)
    own = backend(lab.attach(WIN_B, "server"), WIN_B)
    guarded = service(own, ingress=(BALANCED,), external=(EXTERNAL,), ranges=(NOBODY,))
    lab.program(guarded)
    shut_out = [("lin-client", BALANCED), (LINUX, BALANCED)]
    assert answers(lab, *shut_out, ("win-a-client", BALANCED)) == [
        "timed out",
        "timed out",
        f"server sees {NODE_ADDRESS[WIN_A]}",
    ]
    for address, port in ((VIP, 80), (EXTERNAL, 80), (NODE_ADDRESS[LINUX], NODE_PORT)):
        assert lab.request("lin-client", address, port).startswith("server sees ")
    network = profile().cluster_cidr
    lab.program(replace(guarded, source_ranges=(network,)))
    assert lab.request("lin-client", BALANCED, 80).startswith("server sees ")


def test_source_ranges_can_be_switched_on(start_lab: StartLab) -> None:
    """The mechanism ``source-ranges`` makes Windows nodes enforce them."""
    lab = with_clients(start_lab, mechanisms=(("source-ranges", 1),))
    own = backend(lab.attach(WIN_B, "server"), WIN_B)
    lab.program(service(own, ingress=(BALANCED,), ranges=(NOBODY,)))
    assert lab.request("win-a-client", BALANCED, 80) == "timed out"


@pytest.mark.parametrize("driver", [Driver.L2BRIDGE, Driver.OVERLAY])
def test_preserved_destination(start_lab: StartLab, driver: Driver) -> None:
    """A backend gets the balancer's address as destination: it answers only if it holds that address."""
    lab = with_clients(start_lab, driver, release=WS2022)
    own = backend(lab.attach(WIN_A, "server"), WIN_A, port=8080)
    made = service(own, ingress=(BALANCED,), preserved=True, port=8080)
    lab.program(made)
    assert lab.request("win-a-client", BALANCED, 8080) == "timed out"
    assert lab.request("win-a-client", VIP, 8080).startswith("server sees ")
    assert lab.request("lin-client", BALANCED, 8080).startswith("server sees ")
    lab.hold("server", BALANCED)
    assert lab.request("win-a-client", BALANCED, 8080) == "server sees 10.244.2.3"
    lab.announce({BALANCED: NODE_ADDRESS[WIN_A]})
    assert lab.request("outside-client", BALANCED, 8080) == f"server sees {OUTSIDE}"
    lab.program(replace(made, preserve_destination=False))
    rewritten = SOURCE_VIP if driver is Driver.OVERLAY else NODE_ADDRESS
    assert lab.request("win-a-client", BALANCED, 8080) == f"server sees {rewritten[WIN_A]}"


@pytest.mark.parametrize("driver", [Driver.L2BRIDGE, Driver.OVERLAY])
def test_the_client_of_a_kept_destination_can_be_hidden(
    start_lab: StartLab, driver: Driver
) -> None:
    """The mechanism ``preserved-sources``: the backend that holds the address sees its node instead."""
    seen = {}
    for on in (0, 1):
        lab = start_lab(
            replace(profile(driver, release=WS2022), mechanisms=(("preserved-sources", on),))
        )
        lab.attach(WIN_A, "client")
        own = backend(lab.attach(WIN_A, "server"), WIN_A, port=8080)
        lab.program(service(own, ingress=(BALANCED,), preserved=True, port=8080))
        lab.hold("server", BALANCED)
        seen[on] = lab.request("client", BALANCED, 8080)
    assert seen[0] == f"server sees {NODE_ADDRESS[WIN_A]}"
    assert seen[1].startswith("server sees 10.244.2.")


def test_older_windows_translates_in_spite_of_the_annotation(start_lab: StartLab) -> None:
    """Before Windows Server 1903 the annotation changes nothing."""
    lab = with_clients(start_lab, release=WS2019_EARLY)
    own = backend(lab.attach(WIN_A, "server"), WIN_A)
    lab.program(service(own, ingress=(BALANCED,), preserved=True))
    assert lab.request("win-a-client", BALANCED, 80) == f"server sees {NODE_ADDRESS[WIN_A]}"


@pytest.mark.parametrize(
    ("version", "balanced"), [("v1.27.0", True), ("v1.26.1", True), ("v1.26.0", False)]
)
def test_terminating_backends(start_lab: StartLab, version: str, balanced: bool) -> None:
    """Windows falls back on them from 1.27 and the picks of #113776 on, for Services with a balancer's address; Linux always."""
    lab = with_clients(start_lab, kubernetes=version)
    staying = backend(lab.attach(WIN_B, "leaving"), WIN_B)
    leaving = replace(staying, ready=False, terminating=True)
    lab.program(
        service(leaving, ingress=(BALANCED,)),
        service(leaving, name="plain", vip="10.96.7.9", node_port=None, external=(EXTERNAL,)),
    )
    for address in (BALANCED, VIP, "10.96.7.9", EXTERNAL):
        assert lab.request("lin-client", address, 80).startswith("leaving sees ")
    reached = {BALANCED: balanced, VIP: balanced, "10.96.7.9": False, EXTERNAL: False}
    found = answers(lab, *[("win-a-client", address) for address in reached])
    assert [answer != "timed out" for answer in found] == list(reached.values())


def test_a_balanced_service_without_endpoints(start_lab: StartLab) -> None:
    """Linux refuses at every address of it; Windows is silent."""
    lab = with_clients(start_lab)
    lab.program(service(ingress=(BALANCED,), external=(EXTERNAL,)))
    for client, wanted in (("lin-client", "refused"), ("win-a-client", "timed out")):
        assert answers(lab, (client, BALANCED), (client, EXTERNAL)) == [wanted, wanted]
