"""Endpoints of Services, and the table of Service ports that nodes program: pure functions."""

from dataclasses import replace
from ipaddress import IPv4Address, IPv4Network
from typing import Any

import pytest

from nettests.lab.controllers.endpoints import endpoints_of, families, slice_of
from nettests.lab.controllers.service_table import as_slices
from nettests.lab.node.system import reads_slices
from nettests.lab.topology import Backend, profiles
from tests.lab.controllers.whole_table import service_table

Json = dict[str, Any]
PROFILE = profiles.load("win2019-l2bridge")


def service(**spec: Any) -> Json:
    """A Service ``default/web`` with port 80 to 8080."""
    return {
        "metadata": {"name": "web", "namespace": "default", "uid": "u"},
        "spec": {
            "clusterIP": "10.96.7.7",
            "type": "ClusterIP",
            "selector": {"app": "web"},
            "ports": [{"name": "http", "port": 80, "targetPort": 8080, "protocol": "TCP"}],
            **spec,
        },
    }


def pod(name: str, address: str, *, ready: bool = True, leaving: bool = False, **spec: Any) -> Json:
    """A pod that the Service selects."""
    metadata = {"name": name, "namespace": "default", "uid": name, "labels": {"app": "web"}}
    if leaving:
        metadata["deletionTimestamp"] = "2026-11-21T01:22:03Z"
    conditions = [{"type": "Ready", "status": "True" if ready else "False"}]
    return {
        "metadata": metadata,
        "spec": {"nodeName": "win-1", "containers": [{"name": "c"}], **spec},
        "status": {"podIP": address, "phase": "Running", "conditions": conditions},
    }


def table_of(subject: Json, *pods: Json) -> tuple[Backend, ...]:
    """The backends of the only port of the Service that selects ``pods``."""
    made = {**slice_of(subject, pods)}
    (port,) = service_table([subject], [made], PROFILE)
    return port.backends


def test_a_slice_has_the_recorded_shape() -> None:
    """Labels, owner, conditions, target and node as recorded from Kubernetes 1.36."""
    made = slice_of(service(), [pod("p1", "10.244.3.19")])
    assert made["metadata"]["labels"] == {
        "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
        "kubernetes.io/service-name": "web",
    }
    assert made["metadata"]["ownerReferences"][0]["kind"] == "Service"
    assert made["endpoints"] == [
        {
            "addresses": ["10.244.3.19"],
            "conditions": {"ready": True, "serving": True, "terminating": False},
            "targetRef": {"kind": "Pod", "namespace": "default", "name": "p1", "uid": "p1"},
            "nodeName": "win-1",
        }
    ]
    assert made["ports"] == [{"name": "http", "protocol": "TCP", "port": 8080}]


def test_endpoints_list_ready_and_unready_addresses_apart() -> None:
    """Pods that terminate are in neither list."""
    made = endpoints_of(
        service(),
        [
            pod("a", "10.244.3.3"),
            pod("b", "10.244.3.4", ready=False),
            pod("c", "10.244.3.5", leaving=True),
        ],
    )
    (subset,) = made["subsets"]
    assert [each["ip"] for each in subset["addresses"]] == ["10.244.3.3"]
    assert [each["ip"] for each in subset["notReadyAddresses"]] == ["10.244.3.4"]


def test_endpoints_without_pods_have_no_subsets() -> None:
    """As recorded: the object is there, empty."""
    assert "subsets" not in endpoints_of(service(), [])


def test_unready_pods_can_be_published() -> None:
    """``publishNotReadyAddresses`` makes every endpoint ready, as headless Services for peers need."""
    subject = service(publishNotReadyAddresses=True)
    made = slice_of(subject, [pod("a", "10.244.3.3", ready=False)])
    assert made["endpoints"][0]["conditions"] == {
        "ready": True,
        "serving": False,
        "terminating": False,
    }


@pytest.mark.parametrize(
    ("spec", "expected"),
    [({"hostname": "a", "subdomain": "web"}, "a"), ({"hostname": "a", "subdomain": "x"}, None)],
)
def test_a_hostname_is_published_by_the_service_of_its_subdomain(
    spec: Json, expected: str | None
) -> None:
    """DNS makes ``a.web.default.svc`` of it."""
    made = slice_of(service(clusterIP="None"), [pod("a", "10.244.3.3", **spec)])
    assert made["endpoints"][0].get("hostname") == expected


def test_a_named_target_port_is_looked_up_in_the_pod() -> None:
    """``targetPort: http`` is the container port of that name."""
    subject = service(ports=[{"port": 80, "targetPort": "http", "protocol": "TCP"}])
    container = {"name": "c", "ports": [{"name": "http", "containerPort": 9090}]}
    made = slice_of(subject, [pod("a", "10.244.3.3", containers=[container])])
    assert made["ports"] == [{"name": "", "protocol": "TCP", "port": 9090}]


def test_pods_that_ended_or_have_no_address_are_no_endpoints() -> None:
    """Finished pods keep their address in the API, but nobody answers there."""
    ended = pod("a", "10.244.3.3")
    ended["status"]["phase"] = "Succeeded"
    fresh = pod("b", "")
    assert slice_of(service(), [ended, fresh])["endpoints"] == []


def test_a_service_port_carries_the_services_settings() -> None:
    """NodePort, affinity and traffic policies reach the data plane."""
    subject = service(
        type="NodePort",
        sessionAffinity="ClientIP",
        sessionAffinityConfig={"clientIP": {"timeoutSeconds": 60}},
        externalTrafficPolicy="Local",
        internalTrafficPolicy="Local",
        ports=[{"port": 80, "targetPort": 8080, "protocol": "TCP", "nodePort": 30080}],
    )
    (port,) = service_table([subject], [slice_of(subject, [])], PROFILE)
    assert port.key == "default/web:"
    assert (port.node_port, port.client_ip_affinity, port.affinity_timeout) == (30080, True, 60)
    assert (port.external_traffic_local, port.internal_traffic_local) == (True, True)
    assert port.backends == ()


def test_only_ready_backends_are_programmed_in_order() -> None:
    """The same endpoints give the same table, sorted as texts, whatever their order in the slice."""
    pods = [
        pod("c", "10.244.3.10"),
        pod("a", "10.244.3.9"),
        pod("b", "10.244.3.11", ready=False),
    ]
    expected = ("10.244.3.10", "10.244.3.9")
    found = table_of(service(), *pods)
    assert tuple(str(backend.address) for backend in found) == expected
    assert found == table_of(service(), *reversed(pods))


def test_terminating_backends_serve_when_nothing_else_is_left() -> None:
    """Proxy terminating endpoints (GA in 1.28): better a leaving pod than none."""
    leaving = pod("a", "10.244.3.9", leaving=True)
    assert [str(b.address) for b in table_of(service(), leaving)] == ["10.244.3.9"]
    both = table_of(service(), leaving, pod("b", "10.244.3.10"))
    assert [str(backend.address) for backend in both] == ["10.244.3.10"]


def test_a_nodes_own_address_is_marked() -> None:
    """Source rewriting differs for backends that are nodes (hostNetwork, the API server)."""
    found = table_of(service(), pod("a", "172.30.0.13"), pod("b", "10.244.4.5"))
    assert [(str(b.address), b.node, b.node_address) for b in found] == [
        ("10.244.4.5", "win-1", False),
        ("172.30.0.13", "win-1", True),
    ]


@pytest.mark.parametrize("spec", [{"clusterIP": "None"}, {"type": "ExternalName", "clusterIP": ""}])
def test_services_without_an_address_have_no_rules(spec: Json) -> None:
    """Headless and ExternalName Services are DNS records only."""
    assert service_table([service(**spec)], [], PROFILE) == ()


def test_slices_of_other_services_and_families_do_not_count() -> None:
    """A slice belongs to the Service that its label names, in its namespace."""
    other = {**slice_of(service(), [pod("a", "10.244.3.3")])}
    other["metadata"] = {**other["metadata"], "namespace": "elsewhere"}
    sixth = {**slice_of(service(), [pod("a", "10.244.3.3")]), "addressType": "IPv6"}
    (port,) = service_table([service()], [other, sixth], PROFILE)
    assert port.backends == ()
    assert port.cluster_ip == IPv4Address("10.96.7.7")


def test_each_family_has_a_slice_and_rules_of_its_own() -> None:
    """A Service of two families is programmed once for each, with the pods' addresses of that family."""
    both = service(clusterIPs=["10.96.7.7", "fd00:10:96::77"], ipFamilies=["IPv4", "IPv6"])
    selected = pod("p1", "10.244.3.19")
    selected["status"]["podIPs"] = [{"ip": "10.244.3.19"}, {"ip": "fd00:10:244:3::13"}]
    slices = [slice_of(both, [selected], family) for family in families(both)]
    assert [item["addressType"] for item in slices] == ["IPv4", "IPv6"]
    table = service_table([both], slices, PROFILE)
    assert [(str(port.cluster_ip), str(port.backends[0].address)) for port in table] == [
        ("10.96.7.7", "10.244.3.19"),
        ("fd00:10:96::77", "fd00:10:244:3::13"),
    ]


def test_a_pod_of_one_family_backs_no_service_of_the_other() -> None:
    """A pod without an IPv6 address is no endpoint of an IPv6 slice."""
    both = service(clusterIPs=["fd00:10:96::77"], ipFamilies=["IPv6"])
    assert slice_of(both, [pod("p1", "10.244.3.19")], "IPv6")["endpoints"] == []
    assert "subsets" not in endpoints_of(both, [pod("p1", "10.244.3.19")])


def test_what_leads_in_from_outside_is_read() -> None:
    """Addresses of balancers for nodes, externalIPs, ranges, annotation and health check port."""
    made = service(
        type="LoadBalancer",
        externalIPs=["192.0.2.1", "2001:db8::1"],
        loadBalancerSourceRanges=["10.1.2.3/8", "2001:db8::/32"],
        healthCheckNodePort=31000,
    )
    made["metadata"]["annotations"] = {"preserve-destination": "true"}
    ingress = [
        {"ip": "203.0.113.7", "ipMode": "VIP"},
        {"ip": "203.0.113.8", "ipMode": "Proxy"},
        {"hostname": "lb.example.com"},
    ]
    made["status"] = {"loadBalancer": {"ingress": ingress}}
    (port,) = service_table([made], [], PROFILE)
    assert port.ingress_addresses == (IPv4Address("203.0.113.7"),)
    assert port.external_addresses == (IPv4Address("192.0.2.1"),)
    assert port.source_ranges == (IPv4Network("10.0.0.0/8"),)
    assert port.preserve_destination
    assert port.health_check_port == 31000


def test_what_a_slice_leaves_open_is_read_as_kube_proxy_reads_it() -> None:
    """Conditions that are null are unknown, which means ready and staying; a port without a number leads nowhere."""
    made = {**slice_of(service(), [pod("p1", "10.244.3.19")])}
    unknown = {"ready": None, "serving": None, "terminating": None}
    endpoints = [{**one, "conditions": unknown} for one in made["endpoints"]]
    (port,) = service_table([service()], [{**made, "endpoints": endpoints}], PROFILE)
    assert [(one.ready, one.serving, one.terminating) for one in port.endpoints] == [
        (True, True, False)
    ]
    (port,) = service_table([service()], [{**made, "ports": [{"name": "http"}]}], PROFILE)
    assert port.endpoints == ()


def test_terminating_backends_are_told_apart() -> None:
    """They are backends where no other is left."""
    leaving, staying = pod("p1", "10.244.3.19", leaving=True), pod("p2", "10.244.3.20")
    assert [one.terminating for one in table_of(service(), leaving)] == [True]
    assert [one.terminating for one in table_of(service(), leaving, staying)] == [False]


def test_endpoints_give_the_table_that_slices_give() -> None:
    """A kube-proxy that reads Endpoints finds the same backends of a Service with a selector."""
    pods = [pod("p1", "10.244.3.19"), pod("p2", "10.244.3.20", ready=False)]
    subject = service()
    parts = list(as_slices(endpoints_of(subject, pods)))
    assert service_table([subject], parts, PROFILE) == service_table(
        [subject], [slice_of(subject, pods)], PROFILE
    )
    assert [str(one.address) for one in service_table([subject], parts, PROFILE)[0].backends] == [
        "10.244.3.19"
    ]


def test_endpoints_of_nobody_give_no_backends() -> None:
    """An object without subsets is a Service without backends."""
    assert list(as_slices(endpoints_of(service(), []))) == []


@pytest.mark.parametrize(
    ("version", "switched", "slices"),
    [("v1.20.15", (), False), ("v1.21.0", (), True), ("v1.36.2", (("endpoint-slices", 0),), False)],
)
def test_kube_proxy_for_windows_reads_slices_from_1_21_on(
    version: str, switched: tuple[tuple[str, int], ...], slices: bool
) -> None:
    """Unless the mechanism is switched."""
    profile = replace(PROFILE, kubernetes_version=version, mechanisms=switched)
    assert reads_slices(profile) is slices
