"""Services from Linux pods and nodes, as kube-proxy in nftables mode treats them."""

import pytest

from nettests.lab.topology import Profile
from tests.lab.network.clusters import (
    LINUX,
    NODE_ADDRESS,
    NODE_PORT,
    VIP,
    WIN_A,
    backend,
    profile,
    service,
)
from tests.lab.network.conftest import StartLab
from tests.lab.network.laboratory import Laboratory
from tests.lab.network.requests_of_pods import Ask

GATEWAY = "10.244.1.1"
CONNECTIONS = 64
PROTOCOLS = ("TCP", "UDP")


@pytest.fixture
def lab(start_lab: StartLab) -> Laboratory:
    """A Linux node with a client and a server pod, and a Windows node."""
    made: Profile = profile()
    lab = start_lab(made)
    lab.attach(LINUX, "client")
    return lab


def _program(lab: Laboratory, *backends: str, **settings: bool) -> None:
    made = [backend(address, LINUX) for address in backends]
    lab.program(*(service(*made, protocol=p, **settings) for p in PROTOCOLS))  # type: ignore[arg-type]


@pytest.mark.parametrize("protocol", ["tcp", "udp"])
def test_a_service_without_endpoints_refuses(lab: Laboratory, protocol: str) -> None:
    """Pods and outside clients are told at once that nothing serves."""
    _program(lab)
    assert lab.request("client", VIP, 80, protocol) == "refused"
    for source in ("client", "outside-client"):
        assert lab.request(source, NODE_ADDRESS[LINUX], NODE_PORT, protocol) == "refused"


def test_the_node_itself_is_refused_a_service_without_endpoints(lab: Laboratory) -> None:
    """On the node the rejection happens while sending, so UDP fails with EPERM, as it does on Linux."""
    _program(lab)
    assert lab.request(LINUX, VIP, 80) == "refused"
    assert lab.request(LINUX, VIP, 80, "udp") == "Operation not permitted"
    assert lab.request(LINUX, NODE_ADDRESS[LINUX], NODE_PORT) == "refused"


def test_refusals_over_udp_are_told_at_the_rate_of_a_linux_kernel(lab: Laboratory) -> None:
    """Of twelve datagrams at once six are refused: icmp_ratelimit is 1 s, and its burst is 6."""
    _program(lab)
    requested = [Ask(source="client", address=VIP, port=80, protocol="udp") for _ in range(12)]
    answers = lab.send_all(*requested)
    assert (answers.count("refused"), answers.count("timed out")) == (6, 6)


def test_an_unused_port_of_a_cluster_ip_refuses(lab: Laboratory) -> None:
    """A ClusterIP does not swallow what goes to ports it has not."""
    _program(lab, lab.attach(LINUX, "server"))
    assert lab.request("client", VIP, 81) == "refused"


@pytest.mark.parametrize("protocol", ["tcp", "udp"])
def test_the_node_reaches_services(lab: Laboratory, protocol: str) -> None:
    """From a Linux node both ClusterIP and its own NodePort work, masqueraded on the pod's link."""
    _program(lab, lab.attach(LINUX, "server"))
    assert lab.request(LINUX, VIP, 80, protocol) == f"server sees {GATEWAY}"
    assert lab.request(LINUX, NODE_ADDRESS[LINUX], NODE_PORT, protocol) == f"server sees {GATEWAY}"


def test_a_pod_keeps_its_address(lab: Laboratory) -> None:
    """pod → ClusterIP is not masqueraded, except to itself."""
    _program(lab, lab.attach(LINUX, "server"))
    assert lab.request("client", VIP, 80) == "server sees 10.244.1.2"
    assert lab.request("server", VIP, 80) == f"server sees {GATEWAY}"


def test_a_host_network_backend_is_reached_everywhere(lab: Laboratory) -> None:
    """A backend on the node's own address answers pods of that node and the node itself."""
    lab.serve(LINUX, 9090)
    lab.program(service(backend(NODE_ADDRESS[LINUX], LINUX, port=9090, own=True)))
    assert lab.request("client", VIP, 80) == f"{LINUX} sees 10.244.1.2"
    assert lab.request(LINUX, VIP, 80) == f"{LINUX} sees {NODE_ADDRESS[LINUX]}"


def test_external_traffic_policy_local(lab: Laboratory) -> None:
    """Local: an outside client's address is kept where a backend runs; other nodes drop."""
    _program(lab, lab.attach(LINUX, "server"), external_local=True)
    assert (
        lab.request("outside-client", NODE_ADDRESS[LINUX], NODE_PORT) == "server sees 198.51.100.20"
    )
    lab.program(service(backend(lab.attach(WIN_A, "far"), WIN_A), external_local=True))
    assert lab.request("outside-client", NODE_ADDRESS[LINUX], NODE_PORT) == "timed out"
    assert lab.request("client", NODE_ADDRESS[LINUX], NODE_PORT) == "far sees 10.244.1.2"


def test_internal_traffic_policy_local_drops_without_local_endpoint(lab: Laboratory) -> None:
    """internalTrafficPolicy Local with remote backends only is silence, not refusal."""
    lab.program(service(backend(lab.attach(WIN_A, "far"), WIN_A), internal_local=True))
    assert lab.request("client", VIP, 80) == "timed out"


def _servers(lab: Laboratory) -> set[str]:
    requests_sent = [Ask(source="client", address=VIP, port=80)] * CONNECTIONS
    return {answer.split()[0] for answer in lab.send_all(*requests_sent)}


def test_connections_spread(lab: Laboratory) -> None:
    """Without affinity 64 connections reach both backends."""
    _program(lab, lab.attach(LINUX, "one"), lab.attach(LINUX, "two"))
    assert _servers(lab) == {"one", "two"}


def test_affinity_survives_other_changes(lab: Laboratory) -> None:
    """A client stays with its backend, also while other Services and backends come and go."""
    pods = [lab.attach(LINUX, "one"), lab.attach(LINUX, "two")]
    sticky = service(*(backend(pod, LINUX) for pod in pods), affinity=True)
    lab.program(sticky)
    before = _servers(lab)
    assert len(before) == 1
    lab.program(
        sticky, service(backend(pods[0], LINUX), name="other", vip="10.96.7.9", node_port=None)
    )
    assert _servers(lab) == before


def test_affinity_ends_with_its_backend(lab: Laboratory) -> None:
    """When the remembered backend goes, the client gets the other one."""
    pods = {"one": lab.attach(LINUX, "one"), "two": lab.attach(LINUX, "two")}
    _program(lab, *pods.values(), affinity=True)
    (stuck,) = _servers(lab)
    _program(lab, *(address for name, address in pods.items() if name != stuck), affinity=True)
    assert _servers(lab) == pods.keys() - {stuck}


def test_udp_flows_to_a_removed_backend_are_forgotten(lab: Laboratory) -> None:
    """A client that keeps its source port is sent to the new backend at once."""
    one, two = lab.attach(LINUX, "one"), lab.attach(LINUX, "two")
    _program(lab, one)
    assert lab.request("client", VIP, 80, "udp", source_port=5555) == "one sees 10.244.1.2"
    _program(lab, two)
    assert lab.request("client", VIP, 80, "udp", source_port=5555) == "two sees 10.244.1.2"
