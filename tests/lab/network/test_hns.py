"""What HNS shows of a node: read from pods and policies that are there, never made up."""

from dataclasses import replace
from ipaddress import IPv4Address, IPv4Network

import pytest

from nettests.lab.interfaces import Json
from nettests.lab.network.addressing import nat_exceptions
from nettests.lab.network.hns import NodeHns
from nettests.lab.topology import Driver, Plugin, Profile, ServicePort, profiles
from tests.lab.network.clusters import (
    NODE_ADDRESS,
    NODE_PORT,
    VIP,
    WIN_A,
    WIN_B,
    backend,
    load_balancers,
    profile,
    service,
)

LOCAL = backend("10.244.2.5", WIN_A)
REMOTE = backend("10.244.3.5", WIN_B)


def hns(cluster: Profile, *services: ServicePort, exceptions: str = "10.244.0.0/16") -> NodeHns:
    """Return HNS of a node with one pod and the policies of these Services."""
    return NodeHns(
        node=cluster.node(WIN_A),
        profile=cluster,
        exceptions=(IPv4Network(exceptions),),
        pods=lambda: {"0a1b2c3d-uid": (IPv4Address("10.244.2.5"),)},
        policies=lambda: load_balancers(services, cluster.node(WIN_A), cluster),
    )


def balanced(shown: NodeHns) -> list[Json]:
    """Return the load-balancing policies."""
    return [one["Policies"][0] for one in shown.policy_lists()]


@pytest.mark.parametrize(
    ("driver", "name", "kind"),
    [(Driver.L2BRIDGE, "cbr0", "L2Bridge"), (Driver.OVERLAY, "flannel.4096", "Overlay")],
)
def test_the_network_is_of_the_drivers_type(driver: Driver, name: str, kind: str) -> None:
    """Name and type follow the driver; the subnet is the node's."""
    (network,) = hns(profile(driver)).networks()
    assert (network["Name"], network["Type"]) == (name, kind)
    assert network["Subnets"][0]["AddressPrefix"] == "10.244.2.0/24"


def test_an_endpoint_shows_the_exceptions_that_the_switch_has() -> None:
    """Other exceptions of the data plane are other exceptions here."""
    for exceptions in ("10.244.0.0/16", "10.0.0.0/8"):
        (endpoint,) = hns(profile(), exceptions=exceptions).endpoints()
        assert endpoint["Policies"][0]["ExceptionList"] == [exceptions]
        assert endpoint["IPAddress"] == "10.244.2.5"


@pytest.mark.parametrize(
    ("driver", "routes"),
    [
        (Driver.L2BRIDGE, ["10.96.0.0/16", f"{NODE_ADDRESS[WIN_A]}/32"]),
        (Driver.OVERLAY, ["10.96.0.0/16"]),
    ],
)
def test_an_endpoint_shows_what_its_plugin_requested(driver: Driver, routes: list[str]) -> None:
    """OutBoundNAT, a ROUTE for each prefix of the host, on overlays the node that provides it, loopbackDSR last."""
    cluster = profile(driver, dsr=True, loopback_dsr=True)
    (endpoint,) = hns(cluster).endpoints()
    first, *others = endpoint["Policies"]
    provider = [{"Type": "PA", "PA": NODE_ADDRESS[WIN_A]}]
    assert first["Type"] == "OutBoundNAT"
    assert others == [
        *({"Type": "ROUTE", "DestinationPrefix": one, "NeedEncap": True} for one in routes),
        *(provider if driver is Driver.OVERLAY else []),
        {"Type": "OutBoundNAT", "Destinations": ["10.244.2.5"]},
    ]
    usual = profile(driver, dsr=True)
    (without,) = hns(usual).endpoints()
    assert [one for one in without["Policies"] if "Destinations" in one] == []


@pytest.mark.parametrize("driver", [Driver.L2BRIDGE, Driver.OVERLAY])
def test_a_remote_endpoint_names_the_node_behind_it(driver: Driver) -> None:
    """On overlays alone packets for it are carried to a node."""
    shown = hns(profile(driver), service(LOCAL, REMOTE)).endpoints()
    (remote,) = [one for one in shown if one.get("IsRemoteEndpoint")]
    provider = [{"Type": "PA", "PA": NODE_ADDRESS[WIN_B]}]
    assert remote["Policies"] == (provider if driver is Driver.OVERLAY else [])


def test_backends_elsewhere_are_remote_endpoints() -> None:
    """kube-proxy makes one for each, and load balancers refer to both kinds."""
    shown = hns(profile(), service(LOCAL, REMOTE))
    remote = {one["IPAddress"] for one in shown.endpoints() if one.get("IsRemoteEndpoint")}
    assert remote == {"10.244.3.5"}
    known = {f"/endpoints/{one['ID']}" for one in shown.endpoints()}
    assert all(set(one["References"]) == known for one in shown.policy_lists())


def test_calico_has_an_endpoint_for_the_source_vip() -> None:
    """kube-proxy's start script looks for it by its name; no pod has its address."""
    cluster = profile(Driver.OVERLAY)
    calico = replace(cluster, cni=replace(cluster.cni, plugin=Plugin.CALICO))
    assert [one["Name"] for one in hns(cluster).endpoints() if "_ep" in one["Name"]] == []
    shown = [one for one in hns(calico).endpoints() if one["Name"] == "Calico_ep"]
    assert [(one["IPAddress"], one["VirtualNetworkName"]) for one in shown] == [
        (str(calico.node(WIN_A).pod_cidr[2]), "Calico")
    ]


def test_a_load_balancer_for_each_frontend_that_is_in_force() -> None:
    """ClusterIP and NodePort, the latter without an address; none when there are no policies."""
    assert hns(profile()).policy_lists() == []
    shown = balanced(hns(profile(), service(LOCAL)))
    assert [(one["VIPs"], one["ExternalPort"]) for one in shown] == [([VIP], 80), ([], NODE_PORT)]


@pytest.mark.parametrize(
    ("driver", "dsr", "vip"),
    [
        (Driver.L2BRIDGE, False, ""),
        (Driver.L2BRIDGE, True, ""),
        (Driver.OVERLAY, False, "10.244.2.2"),
    ],
)
def test_a_load_balancer_shows_dsr_and_its_source_vip(driver: Driver, dsr: bool, vip: str) -> None:
    """As the policy in force rewrites the source."""
    first = balanced(hns(profile(driver, dsr=dsr), service(LOCAL)))[0]
    assert (first["IsDSR"], first["SourceVIP"]) == (dsr, vip)


def test_rewriting_reserves_a_pool_of_ports() -> None:
    """Without DSR one for each protocol in use; with nothing to rewrite none."""
    shown = hns(profile(), service(LOCAL))
    assert shown.port_pools("tcp") == [range(49152, 49216)]
    assert shown.port_pools("udp") == []
    direct = hns(profile(dsr=True), service(LOCAL, node_port=None))
    assert direct.port_pools("tcp") == []


def shown_on(name: str) -> NodeHns:
    """Return HNS of the first Windows node of a shipped profile, with one pod."""
    cluster = profiles.load(name)
    node = cluster.node("win-1")
    pod = node.pod_cidr[7]
    return NodeHns(
        node=node,
        profile=cluster,
        exceptions=nat_exceptions(cluster),
        pods=lambda: {"0a1b2c3d-uid": (pod,)},
        policies=tuple,
    )


def test_a_hybrid_overlay_has_a_base_network_beside_its_own() -> None:
    """OVN-Kubernetes' has network id 4097, the base the next; neither states the usual port (ho_node_windows.go)."""
    base, own = shown_on("ovn-hybrid-overlay").networks()
    assert own["Name"] == "OVNKubernetesHybridOverlayNetwork"
    assert base["Name"] == f"Base{own['Name']}"
    ids = [one["Subnets"][0]["Policies"][0]["VSID"] for one in (base, own)]
    assert ids == [4098, 4097]
    assert {one["Type"] for one in own["Policies"]} == {"RemoteSubnetRoute"}
    assert base["Policies"] == []


def test_openshift_excepts_services_alone_and_makes_an_endpoint_for_the_source_vip() -> None:
    """Its operator leaves Pods to HNS, and calls the endpoint VIPEndpoint."""
    pod, vip = shown_on("ovn-hybrid-overlay").endpoints()
    assert pod["Policies"][0]["ExceptionList"] == ["10.96.0.0/16"]
    assert (vip["Name"], vip["IPAddress"]) == ("VIPEndpoint", "10.244.3.2")


def test_amazons_network_is_named_after_the_nodes_interface() -> None:
    """Its subnet is the VPC's, and Services and the node itself are routed to the host (bridge_windows.go)."""
    hns_of_node = shown_on("eks-vpc-bridge")
    (network,) = hns_of_node.networks()
    assert network["Name"] == "vpcbr00155d1e000d"
    assert (network["Type"], network["Subnets"][0]["AddressPrefix"]) == (
        "L2Bridge",
        "172.30.0.0/16",
    )
    (endpoint,) = hns_of_node.endpoints()
    routes = [one["DestinationPrefix"] for one in endpoint["Policies"] if one["Type"] == "ROUTE"]
    assert routes == ["10.96.0.0/16", "172.30.0.13/32"]


def test_calicos_bridge_endpoint_is_its_pods_gateway() -> None:
    """On l2bridge the host has the second address of the block, as kube-proxy's source VIP on an overlay."""
    pod, own = shown_on("calico-bgp-l2bridge").endpoints()
    assert (own["Name"], own["IPAddress"], pod["GatewayAddress"]) == (
        "Calico_ep",
        "10.244.3.2",
        "10.244.3.2",
    )


def test_aks_overlay_excepts_pods_alone_and_routes_nothing_with_dsr() -> None:
    """AKS takes the ROUTE policy out of the file where DSR is on."""
    (endpoint,) = shown_on("azure-overlay-23h2").endpoints()
    nat, *others = endpoint["Policies"]
    assert nat["ExceptionList"] == ["10.244.0.0/16"]
    assert [one["Type"] for one in others] == ["OutBoundNAT"]
    assert endpoint["GatewayAddress"] == "10.244.3.1"


def test_an_endpoint_shows_the_dns_that_its_plugin_was_told() -> None:
    """Of endpoints whose Pod has none there is none."""
    plain = hns(profile())
    assert "DNSServerList" not in plain.endpoints()[0]
    told = replace(plain, dns={"10.244.2.5": ("10.96.0.10", "demo.svc.cluster.local")})
    shown = told.endpoints()[0]
    assert (shown["DNSServerList"], shown["DNSSuffix"]) == ("10.96.0.10", "demo.svc.cluster.local")
