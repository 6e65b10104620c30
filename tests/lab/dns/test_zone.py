"""The answers of the cluster zone."""

import dns.flags
import dns.message
import dns.rcode
import dns.reversename
import pytest

from nettests.lab.dns import zone
from nettests.lab.dns.zone import DnsView, view_from_objects
from tests.lab.dns.test_view import POD, endpoints, service


@pytest.fixture
def view() -> DnsView:
    """A ClusterIP, a headless and two ExternalName Services in namespace ``demo``."""
    return view_from_objects(
        [
            service("web", clusterIP="10.96.0.20"),
            service("servers", clusterIP="None"),
            service("empty", clusterIP="None"),
            service("ext", type="ExternalName", externalName="server.outside.test"),
            service("near", type="ExternalName", externalName="web.demo.svc.cluster.local"),
        ],
        [endpoints("servers", POD)],
        "cluster.local",
        namespaces=["demo", "kube-system"],
    )


def query_servers(view: DnsView, name: str, kind: str = "A") -> dns.message.Message:
    """Query the zone for a name it must answer itself."""
    response = zone.answer(view, dns.message.make_query(name, kind))
    assert response is not None
    return response


def data(response: dns.message.Message) -> list[str]:
    """The record data of the answer section."""
    return [record.to_text() for rrset in response.answer for record in rrset]


@pytest.mark.parametrize(
    ("name", "kind", "expected"),
    [
        ("web.demo.svc.cluster.local.", "A", ["10.96.0.20"]),
        ("WEB.Demo.svc.cluster.local.", "A", ["10.96.0.20"]),
        ("servers.demo.svc.cluster.local.", "A", ["10.244.1.2"]),
        ("server-a.servers.demo.svc.cluster.local.", "A", ["10.244.1.2"]),
        ("10-244-1-2.demo.pod.cluster.local.", "A", ["10.244.1.2"]),
        (
            "_http._tcp.web.demo.svc.cluster.local.",
            "SRV",
            ["0 100 80 web.demo.svc.cluster.local."],
        ),
        ("near.demo.svc.cluster.local.", "A", ["web.demo.svc.cluster.local.", "10.96.0.20"]),
        ("ext.demo.svc.cluster.local.", "A", ["server.outside.test."]),
        ("dns-version.cluster.local.", "TXT", ['"1.1.0"']),
        ("20.0.96.10.in-addr.arpa.", "PTR", ["web.demo.svc.cluster.local."]),
    ],
)
def test_a_name_of_the_cluster_is_answered(
    view: DnsView, name: str, kind: str, expected: list[str]
) -> None:
    """Services, endpoints, pods, ports and pointers are answered with authority."""
    response = query_servers(view, name, kind)
    assert data(response) == expected
    assert response.flags & dns.flags.AA
    assert response.rcode() == dns.rcode.NOERROR


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("nosuch.demo.svc.cluster.local.", "A"),
        ("web.demo.", "A"),
        ("empty.demo.svc.cluster.local.", "A"),
        ("web.demo.cluster.local.", "A"),
        ("10-244-1-2.nosuch.pod.cluster.local.", "A"),
        ("not-an-address.demo.pod.cluster.local.", "A"),
    ],
)
def test_a_name_that_does_not_exist_in_the_zone_is_nxdomain(
    view: DnsView, name: str, kind: str
) -> None:
    """NXDOMAIN carries the zone's SOA; a name outside the zone is not answered at all."""
    response = zone.answer(view, dns.message.make_query(name, kind))
    if not name.endswith("cluster.local."):
        assert response is None
        return
    assert response is not None
    assert response.rcode() == dns.rcode.NXDOMAIN
    assert [rrset.name.to_text() for rrset in response.authority] == ["cluster.local."]


@pytest.mark.parametrize(
    "name", ["web.demo.svc.cluster.local.", "demo.svc.cluster.local.", "svc.cluster.local."]
)
def test_a_name_without_records_of_the_queried_type_is_no_data(view: DnsView, name: str) -> None:
    """AAAA of an IPv4 name, and anything of an empty name above others, is NOERROR with an SOA."""
    response = query_servers(view, name, "AAAA")
    assert response.rcode() == dns.rcode.NOERROR
    assert data(response) == []
    assert response.authority


def test_any_namespace_has_pod_records_when_namespaces_are_not_known() -> None:
    """``pods insecure`` answers from the name alone."""
    view = view_from_objects([], [], "cluster.local")
    assert data(query_servers(view, "10-1-2-3.whatever.pod.cluster.local.")) == ["10.1.2.3"]


def test_a_pointer_that_is_not_the_clusters_falls_through(view: DnsView) -> None:
    """Reverse names of other addresses are left to the outside."""
    name = dns.reversename.from_address("198.51.100.10")
    assert zone.answer(view, dns.message.make_query(name, "PTR")) is None


def test_only_an_alias_to_the_outside_is_followed_there(view: DnsView) -> None:
    """The server queries the outside for an ExternalName's target, not for one in the cluster."""
    outside = query_servers(view, "ext.demo.svc.cluster.local.")
    inside = query_servers(view, "near.demo.svc.cluster.local.")
    assert zone.alias_target(view, outside) == "server.outside.test."
    assert zone.alias_target(view, inside) is None


def test_a_service_of_both_families_has_both_records() -> None:
    """A and AAAA each give the addresses of their family; a PTR of either leads back to the name."""
    both = service("web", clusterIP="10.96.0.20", clusterIPs=["10.96.0.20", "fd00:10:96::14"])
    view = view_from_objects([both], [], "cluster.local", namespaces=["demo"])
    name = "web.demo.svc.cluster.local."
    assert data(query_servers(view, name)) == ["10.96.0.20"]
    assert data(query_servers(view, name, "AAAA")) == ["fd00:10:96::14"]
    back = dns.reversename.from_address("fd00:10:96::14").to_text()
    assert data(query_servers(view, back, "PTR")) == [name]


def test_a_name_of_one_family_exists_in_the_other() -> None:
    """Requested the family that it has not, a Service has no data; it is not said to be missing."""
    view = view_from_objects([service("web", clusterIP="10.96.0.20")], [], "cluster.local")
    answer = query_servers(view, "web.demo.svc.cluster.local.", "AAAA")
    assert (answer.rcode(), data(answer)) == (dns.rcode.NOERROR, [])


def test_pod_names_of_ipv6_addresses_resolve() -> None:
    """With "pods insecure" the dashes of a pod's name stand for colons too."""
    view = view_from_objects([], [], "cluster.local", namespaces=["demo"])
    name = "fd00-10-244-1--5.demo.pod.cluster.local."
    assert data(query_servers(view, name, "AAAA")) == ["fd00:10:244:1::5"]
    assert data(query_servers(view, name)) == []


def test_data_is_parsed_once(view: DnsView) -> None:
    """It is immutable, and clients repeat the same few queries."""
    first, again = (query_servers(view, "nosuch.demo.svc.cluster.local").authority[0] for _ in "12")
    assert first[0] is again[0]
    assert first.name is again.name
