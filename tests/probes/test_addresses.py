"""Where questions go and what is needed to read their answers."""

from dataclasses import replace
from ipaddress import ip_address

import pytest

from nettests.model.check import Action
from nettests.model.facts import unknown
from nettests.model.service import ServiceSettings
from nettests.model.words import Family, Protocol, Question, TargetKind
from nettests.probes.addresses import Directory, NotOfferedError, NotStandingError
from nettests.probes.deployment import StandingService
from nettests.probes.sources_seen import seen_of
from tests.probes.made import FACTS, action, deployed, without_target

DIRECTORY = Directory(facts=FACTS, deployment=deployed())
FQDN = "{service}.{namespace}.svc.{domain}"


@pytest.mark.parametrize(
    ("question", "host", "tcp", "udp"),
    [
        (action("probe-windows-1-1", TargetKind.POD_IP), "10.244.1.11", (18080, 18082), (18081, 18081)),
        (action("probe-windows-1-1", TargetKind.POD_NAME, name_form="{pod}.{subdomain}.{namespace}.svc.{domain}"),
         "server-linux-1-1.servers.nettests-run.svc.cluster.local", (18080, 18082), (18081, 18081)),
        (action("probe-windows-1-1", TargetKind.POD_NAME, name_form="{pod_address}.{namespace}.pod.{domain}"),
         "10-244-1-11.nettests-run.pod.cluster.local", (18080, 18082), (18081, 18081)),
        (action("probe-windows-1-1", TargetKind.SERVICE_CLUSTERIP), "10.96.1.1", (80, 82), (81, 81)),
        (action("probe-windows-1-1", TargetKind.SERVICE_PQDN, name_form="{service}"),
         "svc-server-linux-1-1", (80, 82), (81, 81)),
        (action("probe-windows-1-1", TargetKind.SERVICE_FQDN, name_form=FQDN),
         "svc-server-linux-1-1.nettests-run.svc.cluster.local", (80, 82), (81, 81)),
        (action("probe-linux-1-1", TargetKind.NODEPORT, on="w1"), "172.30.0.21", (30080, 30082), (30081, 30081)),
        (action("probe-windows-1-1", TargetKind.NODE_IP), "172.30.0.11", (10250,), (19081,)),
        (action("probe-windows-1-1", TargetKind.EXTERNAL_IP), "198.51.100.10", (80,), (8081,)),
        (action("probe-windows-1-1", TargetKind.EXTERNAL_NAME), "server.outside.test", (80,), (8081,)),
        (action("probe-windows-1-1", TargetKind.EXTERNAL_NAME, name_form="{external}."),
         "server.outside.test.", (80,), (8081,)),
    ],
)  # fmt: skip
def test_every_kind_of_target_has_its_host_and_ports(
    question: Action, host: str, tcp: tuple[int, ...], udp: tuple[int, ...]
) -> None:
    """Pods, names, Services, NodePorts, nodes and the outside become host and ports."""
    endpoint = DIRECTORY.endpoint(question)
    assert endpoint.host == host
    assert tuple(port for _, port in endpoint.requests(Protocol.TCP)) == tcp
    assert tuple(port for _, port in endpoint.requests(Protocol.UDP)) == udp


def test_only_servers_can_be_queried_who_they_are() -> None:
    """A node's exposed server tells whom it saw and nothing else."""
    node_port = DIRECTORY.endpoint(action("probe-linux-1-1", TargetKind.NODE_IP))
    assert [request for request, _ in node_port.requests(Protocol.UDP)] == ["clientip"]
    service = DIRECTORY.endpoint(action("probe-linux-1-1", TargetKind.SERVICE_CLUSTERIP))
    assert [request for request, _ in service.requests(Protocol.TCP)] == ["hostname", "clientip"]


def test_what_does_not_stand_says_why() -> None:
    """A question to a pod that did not come up carries deployment's reason."""
    directory = Directory(
        facts=FACTS, deployment=deployed(**{"server-linux-1-1": "ImagePullBackOff"})
    )
    with pytest.raises(NotStandingError, match="server-linux-1-1 does not stand: ImagePullBackOff"):
        directory.endpoint(action("probe-windows-1-1", TargetKind.POD_IP))


@pytest.mark.parametrize(
    ("pod", "question"),
    [
        ("server-linux-1-1", action("probe-windows-1-1", TargetKind.SERVICE_CLUSTERIP)),
        ("server-linux-1-1", action("probe-linux-1-1", TargetKind.NODEPORT, on="w1")),
        ("server-windows-1-1", action("probe-linux-1-1", TargetKind.NODEPORT, on="w1")),
        ("node-linux-1-1", action("probe-linux-1-1", TargetKind.NODE_IP, Protocol.UDP)),
    ],
    ids=[
        "the only backend",
        "behind a NodePort",
        "on the Windows node probed",
        "a node's UDP server",
    ],
)
def test_a_question_that_needs_a_pod_is_not_run_without_it(pod: str, question: Action) -> None:
    """Silence would blame the network for a Pod that never became Ready, so nothing is probed."""
    directory = Directory(facts=FACTS, deployment=deployed(**{pod: "ImagePullBackOff"}))
    with pytest.raises(NotStandingError, match=f"pod {pod} does not stand: ImagePullBackOff"):
        directory.endpoint(question)


def test_without_a_declared_target_nothing_outside_is_contacted() -> None:
    """A question to the outside needs the profile's declaration."""
    directory = Directory(facts=without_target(), deployment=deployed())
    with pytest.raises(NotStandingError, match="declares no such external target"):
        directory.endpoint(action("probe-linux-1-1", TargetKind.EXTERNAL_IP))


def test_a_family_that_nothing_has_is_said() -> None:
    """An IPv6 question to an IPv4 pod cannot be run."""
    question = replace(action("probe-linux-1-1", TargetKind.POD_IP), family=Family.IPV6)
    with pytest.raises(NotStandingError, match=r"no IPv6 address among 10\.244\.1\.11"):
        DIRECTORY.endpoint(question)


def test_the_context_holds_every_address_that_a_server_may_see() -> None:
    """A pod's own, its node's and the target node's addresses, and the source VIPs on the way."""
    context = DIRECTORY.context(action("probe-windows-1-1", TargetKind.SERVICE_CLUSTERIP))
    assert context == {
        "client-pod": "10.244.3.10",
        "client-node": "172.30.0.21",
        "target-node": "172.30.0.11,10.244.1.1,10.244.1.0",
        "source-vip": "10.244.3.2",
    }


def test_a_node_vantage_has_no_pod_address() -> None:
    """From a node the client's address is the node's: there is no pod to compare with."""
    assert "client-pod" not in DIRECTORY.context(action("node-linux-1-1", TargetKind.POD_IP))


def test_a_linux_node_is_seen_by_its_bridge_too() -> None:
    """A pod sees its own Linux node as the bridge's address, another one as Flannel's."""
    assert [str(address) for address in seen_of(FACTS.node("n1"))] == [
        "172.30.0.11",
        "10.244.1.1",
        "10.244.1.0",
    ]
    assert seen_of(FACTS.node("w1")) == FACTS.node("w1").addresses


def test_a_name_alone_comes_with_the_addresses_that_are_right() -> None:
    """Probed what a name resolves to, the Service's addresses are recorded beside the answer."""
    by_name = replace(
        action("probe-windows-1-1", TargetKind.SERVICE_FQDN, name_form=FQDN),
        question=Question.RESOLVE,
    )
    assert DIRECTORY.context(by_name)["resolved"] == "10.96.1.1"


def test_nobody_knows_what_an_external_name_resolves_to() -> None:
    """A name outside may have any address: nothing is compared."""
    outside = replace(
        action("probe-windows-1-1", TargetKind.EXTERNAL_NAME), question=Question.RESOLVE
    )
    assert "resolved" not in DIRECTORY.context(outside)


def before(pod: str, settings: ServiceSettings) -> Directory:
    """Return a directory in which Service ``s`` with these settings stands before one pod."""
    service = StandingService(
        name="s",
        addresses=() if settings.headless else (ip_address("10.96.7.7"),),
        node_ports={"hostname": 30080, "clientip": 30082, "udp": 30081},
        backends=(pod,),
        settings=settings,
    )
    return Directory(facts=FACTS, deployment=replace(deployed(), services={"s": service}))


def test_a_service_before_a_probe_tells_whom_it_saw_as_netexec_does() -> None:
    """Behind a hairpin's Service stands a full netexec: the path is its own."""
    question = action("probe-windows-1-1", TargetKind.SERVICE_CLUSTERIP, service="s")
    hairpin = before("probe-windows-1-1", ServiceSettings(label="hairpin", behind="probe"))
    assert hairpin.endpoint(question).path("clientip", Protocol.TCP) == "clientip"
    server = before("server-linux-1-1", ServiceSettings(label="svc"))
    assert server.endpoint(question).path("clientip", Protocol.TCP) == "whoami"


def test_a_headless_name_leads_to_the_pods_own_ports_and_address() -> None:
    """Nothing translates ports behind a headless Service, and its name resolves to its pods."""
    directory = before("server-linux-1-1", ServiceSettings(label="headless", headless=True))
    question = action("probe-windows-1-1", TargetKind.SERVICE_FQDN, name_form=FQDN, service="s")
    endpoint = directory.endpoint(question)
    assert endpoint.host == "s.nettests-run.svc.cluster.local"
    assert endpoint.hostname_port == 18080
    resolve = replace(question, question=Question.RESOLVE)
    assert directory.context(resolve)["resolved"] == "10.244.1.11"


def test_an_external_name_leads_to_the_declared_targets_ports() -> None:
    """The Service's name is queried, on the ports of the host outside."""
    settings = ServiceSettings(label="s", type="ExternalName", external_name=True)
    question = action("probe-windows-1-1", TargetKind.SERVICE_FQDN, name_form=FQDN, service="s")
    endpoint = before("server-linux-1-1", settings).endpoint(question)
    assert endpoint.host == "s.nettests-run.svc.cluster.local"
    assert (endpoint.hostname_port, endpoint.clientip_port, endpoint.udp_port) == (None, 80, 8081)


def test_a_nodeport_at_the_loopback_address_keeps_its_port() -> None:
    """The host is 127.0.0.1, the port the Service's NodePort."""
    question = action("node-windows-1-1", TargetKind.NODEPORT_LOCALHOST, on="w1", service="s")
    endpoint = before("server-windows-1-1", ServiceSettings(label="svc")).endpoint(question)
    assert (endpoint.host, endpoint.hostname_port) == ("127.0.0.1", 30080)


def test_from_outside_all_of_the_clusters_networks_are_recorded() -> None:
    """An outside client's address is known by being none of nodes, pods and source VIPs."""
    question = action("external", TargetKind.NODEPORT, on="w1")
    cluster = DIRECTORY.context(question)["cluster"].split(",")
    assert {"172.30.0.11", "172.30.0.21", "10.244.1.0/24", "10.244.3.0/24", "10.244.3.2"} <= set(
        cluster
    )


def exposed(*, declined: dict[str, str] | None = None, **service: object) -> Directory:
    """A directory whose Service has more addresses than its ClusterIP."""
    made = deployed()
    name = "svc-server-linux-1-1"
    standing = replace(made.services[name], **service)  # type: ignore[arg-type]
    return Directory(
        facts=FACTS,
        deployment=replace(made, services={name: standing}, declined=declined or {}),
    )


def test_exposed_addresses_are_probed_at_the_services_own_ports() -> None:
    """A load balancer's address and an externalIP have the Service's ports."""
    directory = exposed(balanced=(ip_address("203.0.113.7"),), external=(ip_address("192.0.2.1"),))
    for kind, host in (
        (TargetKind.LOADBALANCER, "203.0.113.7"),
        (TargetKind.SERVICE_EXTERNAL_IP, "192.0.2.1"),
    ):
        endpoint = directory.endpoint(action("probe-windows-1-1", kind))
        assert (endpoint.host, endpoint.hostname_port, endpoint.udp_port) == (host, 80, 81)


def test_a_service_behind_a_load_balancer_carries_tcp_alone() -> None:
    """Not every balancer takes two protocols at one address, so such a Service has no UDP port."""
    settings = ServiceSettings(label="lb", type="LoadBalancer")
    directory = exposed(balanced=(ip_address("203.0.113.7"),), settings=settings)
    endpoint = directory.endpoint(action("probe-windows-1-1", TargetKind.LOADBALANCER))
    assert endpoint.requests(Protocol.UDP) == ()


def test_the_node_port_of_a_service_without_udp_is_probed_by_tcp_alone() -> None:
    """A load balancer's Service has no node port for datagrams, and is probed without one."""
    directory = exposed(node_ports={"hostname": 30080, "clientip": 30082})
    endpoint = directory.endpoint(action("probe-linux-1-1", TargetKind.NODEPORT, on="w1"))
    assert endpoint.requests(Protocol.TCP) == (("hostname", 30080), ("clientip", 30082))
    assert [port for _, port in endpoint.requests(Protocol.UDP) if port] == []


def test_what_a_cluster_does_not_offer_is_said() -> None:
    """Neither a balancer's address nor a Service that was forbidden can be probed; the ClusterIP can."""
    directory = exposed(declined={"svc-server-linux-1-1": "no load balancer here"})
    with pytest.raises(NotOfferedError, match="no load balancer here"):
        directory.endpoint(action("probe-windows-1-1", TargetKind.LOADBALANCER))
    assert directory.endpoint(action("probe-windows-1-1", TargetKind.SERVICE_CLUSTERIP)).host
    forbidden = replace(directory.deployment, services={})
    with pytest.raises(NotOfferedError):
        replace(directory, deployment=forbidden).endpoint(
            action("probe-windows-1-1", TargetKind.SERVICE_EXTERNAL_IP)
        )


def test_a_balancer_that_is_missing_is_no_offer_declined() -> None:
    """An address that others got and this Service did not is a problem of its own."""
    with pytest.raises(NotStandingError, match="load balancer of Service") as raised:
        exposed().endpoint(action("probe-windows-1-1", TargetKind.LOADBALANCER))
    assert not isinstance(raised.value, NotOfferedError)


def test_a_health_check_port_is_run_one_thing_at_its_nodes_address() -> None:
    """It is no port of the Service: it belongs to the target node."""
    question = action("probe-linux-1-1", TargetKind.HEALTH_CHECK_PORT, on="w1")
    endpoint = exposed(health_check_port=31000).endpoint(question)
    assert endpoint.host == "172.30.0.21"
    assert endpoint.requests(Protocol.TCP) == (("health", 31000),)
    assert endpoint.path("health", Protocol.TCP) == "healthz"
    with pytest.raises(NotStandingError, match="no health check port"):
        DIRECTORY.endpoint(question)


def test_the_clusterip_of_a_balanced_service_takes_its_balancer() -> None:
    """Where rules at a ClusterIP depend on a balancer, a Service without one is another question."""
    settings = ServiceSettings(label="lb", type="LoadBalancer")
    question = action("probe-windows-1-1", TargetKind.SERVICE_CLUSTERIP)
    question = replace(question, target=replace(question.target, settings=settings))
    assert exposed(balanced=(ip_address("203.0.113.7"),)).endpoint(question).host
    with pytest.raises(NotOfferedError, match="no load balancer here"):
        exposed(declined={"svc-server-linux-1-1": "no load balancer here"}).endpoint(question)
    with pytest.raises(NotStandingError, match="load balancer of Service"):
        exposed().endpoint(question)


def test_a_name_of_an_unknown_domain_is_not_guessed() -> None:
    """Kubernetes' default does not stand in for it; names outside the cluster need none."""
    facts = replace(FACTS, cluster_domain=unknown("no object tells it"))
    directory = Directory(facts=facts, deployment=deployed())
    whole = action("probe-linux-1-1", TargetKind.SERVICE_FQDN).target
    with pytest.raises(NotStandingError, match="domain is not known: no object tells it"):
        directory.name(replace(whole, name_form="web.demo.svc.{domain}"))
    assert directory.name(replace(whole, name_form="web.demo")) == "web.demo"
