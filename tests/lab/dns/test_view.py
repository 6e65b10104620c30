"""The view of the cluster's DNS, from API objects."""

from ipaddress import IPv4Address
from typing import Any

from nettests.lab.dns.zone import ServiceTarget, view_from_objects


def service(name: str, **spec: Any) -> dict[str, Any]:
    """A Service in namespace ``demo``."""
    ports = [{"name": "http", "port": 80, "protocol": "TCP"}]
    return {
        "metadata": {"namespace": "demo", "name": name},
        "spec": {"type": "ClusterIP", "ports": ports, **spec},
    }


def endpoints(name: str, *items: dict[str, Any]) -> dict[str, Any]:
    """An EndpointSlice of that Service."""
    return {
        "metadata": {
            "namespace": "demo",
            "name": f"{name}-abc",
            "labels": {"kubernetes.io/service-name": name},
        },
        "addressType": "IPv4",
        "ports": [{"name": "http", "port": 18080, "protocol": "TCP"}],
        "endpoints": list(items),
    }


POD = {"addresses": ["10.244.1.2"], "hostname": "server-a", "conditions": {"ready": True}}
BARE = {"addresses": ["10.244.1.3"], "conditions": {"ready": True}}
UNREADY = {"addresses": ["10.244.1.4"], "hostname": "late", "conditions": {"ready": False}}


def test_a_cluster_ip_service_has_an_address_a_pointer_and_a_named_port() -> None:
    """A ClusterIP Service yields A, PTR and SRV records."""
    view = view_from_objects([service("web", clusterIP="10.96.0.20")], [], "cluster.local")
    name = "web.demo.svc.cluster.local."
    assert view.addresses == {name: (IPv4Address("10.96.0.20"),)}
    assert view.pointers == {IPv4Address("10.96.0.20"): (name,)}
    assert view.services[f"_http._tcp.{name}"] == (ServiceTarget(port=80, target=name),)


def test_a_headless_service_names_its_endpoints() -> None:
    """Endpoints of a headless Service are found together and by host name or dashed address."""
    objects = [service("servers", clusterIP="None")], [endpoints("servers", POD, BARE)]
    view = view_from_objects(*objects, "cluster.local")
    base = "servers.demo.svc.cluster.local."
    assert set(view.addresses[base]) == {IPv4Address("10.244.1.2"), IPv4Address("10.244.1.3")}
    assert view.addresses[f"server-a.{base}"] == (IPv4Address("10.244.1.2"),)
    assert view.addresses[f"10-244-1-3.{base}"] == (IPv4Address("10.244.1.3"),)
    assert (
        ServiceTarget(port=18080, target=f"server-a.{base}") in view.services[f"_http._tcp.{base}"]
    )


def test_an_endpoint_that_is_not_ready_has_no_name() -> None:
    """Endpoints that are not ready are left out."""
    objects = [service("servers", clusterIP="None")], [endpoints("servers", UNREADY)]
    assert view_from_objects(*objects, "cluster.local").addresses == {}


def test_publish_not_ready_addresses_names_endpoints_that_are_not_ready() -> None:
    """``publishNotReadyAddresses`` lets every endpoint in."""
    headless = service("servers", clusterIP="None", publishNotReadyAddresses=True)
    view = view_from_objects([headless], [endpoints("servers", UNREADY)], "cluster.local")
    assert view.addresses["late.servers.demo.svc.cluster.local."] == (IPv4Address("10.244.1.4"),)


def test_an_external_name_is_an_alias() -> None:
    """ExternalName becomes a CNAME target, absolute."""
    external = service("ext", type="ExternalName", externalName="Server.outside.test")
    view = view_from_objects([external], [], "cluster.local")
    assert view.aliases == {"ext.demo.svc.cluster.local.": "server.outside.test."}


def test_endpoint_slices_of_a_cluster_ip_service_are_not_named() -> None:
    """Only headless Services publish their endpoints."""
    objects = [service("web", clusterIP="10.96.0.20")], [endpoints("web", POD)]
    view = view_from_objects(*objects, "cluster.local")
    assert list(view.addresses) == ["web.demo.svc.cluster.local."]


def test_the_domain_is_taken_with_or_without_its_dots() -> None:
    """``Cluster.Local.`` and ``cluster.local`` make the same zone."""
    assert view_from_objects([], [], "Cluster.Local.").zone == "cluster.local."
