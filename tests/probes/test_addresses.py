"""Where questions go and what is needed to read their answers."""

from dataclasses import replace

import pytest

from nettests.model.check import Ask
from nettests.model.words import Family, Protocol, Question, TargetKind
from nettests.probes.addresses import Directory, NotStandingError, seen_of
from tests.probes.made import FACTS, ask, deployed, without_target

DIRECTORY = Directory(facts=FACTS, deployment=deployed())
FQDN = "{service}.{namespace}.svc.{domain}"


@pytest.mark.parametrize(
    ("question", "host", "tcp", "udp"),
    [
        (ask("probe-windows-1-1", TargetKind.POD_IP), "10.244.1.11", (18080, 18082), (18081, 18081)),
        (ask("probe-windows-1-1", TargetKind.POD_NAME, name_form="{pod}.{subdomain}.{namespace}.svc.{domain}"),
         "server-linux-1-1.servers.nettests-run.svc.cluster.local", (18080, 18082), (18081, 18081)),
        (ask("probe-windows-1-1", TargetKind.POD_NAME, name_form="{pod_address}.{namespace}.pod.{domain}"),
         "10-244-1-11.nettests-run.pod.cluster.local", (18080, 18082), (18081, 18081)),
        (ask("probe-windows-1-1", TargetKind.SERVICE_CLUSTERIP), "10.96.1.1", (80, 82), (81, 81)),
        (ask("probe-windows-1-1", TargetKind.SERVICE_PQDN, name_form="{service}"),
         "svc-server-linux-1-1", (80, 82), (81, 81)),
        (ask("probe-windows-1-1", TargetKind.SERVICE_FQDN, name_form=FQDN),
         "svc-server-linux-1-1.nettests-run.svc.cluster.local", (80, 82), (81, 81)),
        (ask("probe-linux-1-1", TargetKind.NODEPORT, on="w1"), "172.30.0.21", (30080, 30082), (30081, 30081)),
        (ask("probe-windows-1-1", TargetKind.NODE_IP), "172.30.0.11", (10250,), (19081,)),
        (ask("probe-windows-1-1", TargetKind.EXTERNAL_IP), "198.51.100.10", (80,), (8081,)),
        (ask("probe-windows-1-1", TargetKind.EXTERNAL_NAME), "server.outside.test", (80,), (8081,)),
        (ask("probe-windows-1-1", TargetKind.EXTERNAL_NAME, name_form="{external}."),
         "server.outside.test.", (80,), (8081,)),
    ],
)  # fmt: skip
def test_every_kind_of_target_has_its_host_and_ports(
    question: Ask, host: str, tcp: tuple[int, ...], udp: tuple[int, ...]
) -> None:
    """Pods, names, Services, NodePorts, nodes and the outside become host and ports."""
    endpoint = DIRECTORY.endpoint(question)
    assert endpoint.host == host
    assert tuple(port for _, port in endpoint.requests(Protocol.TCP)) == tcp
    assert tuple(port for _, port in endpoint.requests(Protocol.UDP)) == udp


def test_only_servers_can_be_asked_who_they_are() -> None:
    """A node's exposed server tells whom it saw and nothing else."""
    node_port = DIRECTORY.endpoint(ask("probe-linux-1-1", TargetKind.NODE_IP))
    assert [request for request, _ in node_port.requests(Protocol.UDP)] == ["clientip"]
    service = DIRECTORY.endpoint(ask("probe-linux-1-1", TargetKind.SERVICE_CLUSTERIP))
    assert [request for request, _ in service.requests(Protocol.TCP)] == ["hostname", "clientip"]


def test_what_does_not_stand_says_why() -> None:
    """A question to a pod that did not come up carries deployment's reason."""
    directory = Directory(
        facts=FACTS, deployment=deployed(**{"server-linux-1-1": "ImagePullBackOff"})
    )
    with pytest.raises(NotStandingError, match="server-linux-1-1 does not stand: ImagePullBackOff"):
        directory.endpoint(ask("probe-windows-1-1", TargetKind.POD_IP))


def test_without_a_declared_target_nothing_outside_is_asked() -> None:
    """A question to the outside needs the profile's declaration."""
    directory = Directory(facts=without_target(), deployment=deployed())
    with pytest.raises(NotStandingError, match="declares no such external target"):
        directory.endpoint(ask("probe-linux-1-1", TargetKind.EXTERNAL_IP))


def test_a_family_that_nothing_has_is_said() -> None:
    """An IPv6 question to an IPv4 pod cannot be asked."""
    question = replace(ask("probe-linux-1-1", TargetKind.POD_IP), family=Family.IPV6)
    with pytest.raises(NotStandingError, match=r"no IPv6 address among 10\.244\.1\.11"):
        DIRECTORY.endpoint(question)


def test_the_context_holds_every_address_that_a_server_may_see() -> None:
    """A pod's own, its node's and the target node's addresses, and the source VIPs on the way."""
    context = DIRECTORY.context(ask("probe-windows-1-1", TargetKind.SERVICE_CLUSTERIP))
    assert context == {
        "client-pod": "10.244.3.10",
        "client-node": "172.30.0.21",
        "target-node": "172.30.0.11,10.244.1.1,10.244.1.0",
        "source-vip": "10.244.3.2",
    }


def test_a_node_vantage_has_no_pod_address() -> None:
    """From a node the client's address is the node's: there is no pod to compare with."""
    assert "client-pod" not in DIRECTORY.context(ask("node-linux-1-1", TargetKind.POD_IP))


def test_a_linux_node_is_seen_by_its_bridge_too() -> None:
    """A pod sees its own Linux node as the bridge's address, another one as Flannel's."""
    assert [str(address) for address in seen_of(FACTS.node("n1"))] == [
        "172.30.0.11",
        "10.244.1.1",
        "10.244.1.0",
    ]
    assert seen_of(FACTS.node("w1")) == FACTS.node("w1").addresses


def test_a_name_alone_comes_with_the_addresses_that_are_right() -> None:
    """Asked what a name resolves to, the Service's addresses are recorded beside the answer."""
    by_name = replace(
        ask("probe-windows-1-1", TargetKind.SERVICE_FQDN, name_form=FQDN),
        question=Question.RESOLVE,
    )
    assert DIRECTORY.context(by_name)["resolved"] == "10.96.1.1"


def test_nobody_knows_what_an_external_name_resolves_to() -> None:
    """A name outside may have any address: nothing is compared."""
    outside = replace(ask("probe-windows-1-1", TargetKind.EXTERNAL_NAME), question=Question.RESOLVE)
    assert "resolved" not in DIRECTORY.context(outside)
