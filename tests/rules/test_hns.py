"""Objects of HNS in both schemas, and in every shape that ConvertTo-Json gives a list."""

import json
from typing import Any

import pytest

from nettests.rules import UnreadableError
from nettests.rules.hns import PROPERTIES, endpoint_of, network_of, objects_in, of_kind
from nettests.rules.hns_load_balancers import load_balancers_in
from nettests.rules.reduction import named

SECOND = {"Major": 2, "Minor": 0}
NETWORK = {
    "ID": "A1",
    "Name": "vxlan0",
    "Type": "Overlay",
    "Policies": [{"Type": "VxlanPort", "Port": 4789}],
    "Subnets": [
        {
            "AddressPrefix": "10.244.3.0/24",
            "GatewayAddress": "10.244.3.1",
            "Policies": [{"Type": "VSID", "VSID": 4096}],
        }
    ],
}
NETWORK_2 = {
    "ID": "A1",
    "Name": "vxlan0",
    "Type": "Overlay",
    "Policies": [{"Type": "VxlanPort", "Settings": {"Port": 4789}}],
    "Ipams": [
        {
            "Type": "Static",
            "Subnets": [
                {
                    "IpAddressPrefix": "10.244.3.0/24",
                    "Routes": [{"NextHop": "10.244.3.1", "DestinationPrefix": "0.0.0.0/0"}],
                    "Policies": [{"Type": "VSID", "Settings": {"IsolationId": 4096}}],
                }
            ],
        }
    ],
    "SchemaVersion": SECOND,
}
ENDPOINT = {
    "ID": "B2",
    "IPAddress": "10.244.3.7",
    "VirtualNetworkName": "vxlan0",
    "GatewayAddress": "10.244.3.1",
    "DNSServerList": "10.96.0.10,10.96.0.11",
    "DNSSuffix": "demo.svc.cluster.local,svc.cluster.local",
    "Policies": [{"Type": "OutBoundNAT", "ExceptionList": ["10.96.0.0/12"]}],
}
ENDPOINT_2 = {
    "ID": "B2",
    "IpConfigurations": [{"IpAddress": "10.244.3.7", "PrefixLength": 24}],
    "HostComputeNetwork": "A1",
    "Routes": [{"NextHop": "10.244.3.1", "DestinationPrefix": "0.0.0.0/0"}],
    "Dns": {"Domain": "demo.svc.cluster.local", "ServerList": ["10.96.0.10", "10.96.0.11"]},
    "Policies": [{"Type": "OutBoundNAT", "Settings": {"Exceptions": ["10.96.0.0/12"]}}],
    "Flags": 0,
    "SchemaVersion": SECOND,
}
BALANCER = {
    "ID": "C3",
    "References": ["/endpoints/B2", "/endpoints/B3"],
    "Policies": [
        {
            "Type": "ELB",
            "VIPs": ["10.96.0.7"],
            "SourceVIP": "10.244.3.2",
            "IsDSR": True,
            "Protocol": 17,
            "ExternalPort": 53,
            "InternalPort": 5353,
        }
    ],
}
BALANCER_2 = {
    "ID": "C3",
    "HostComputeEndpoints": ["B2", "B3"],
    "FrontendVIPs": ["10.96.0.7"],
    "SourceVIP": "10.244.3.2",
    "PortMappings": [{"Protocol": 17, "ExternalPort": 53, "InternalPort": 5353}],
    "Flags": 1,
    "SchemaVersion": SECOND,
}


@pytest.mark.parametrize("row", [NETWORK, NETWORK_2])
def test_a_network_is_read_in_both_schemas(row: dict[str, Any]) -> None:
    """Subnets, gateways, the network id and the port of VXLAN stand elsewhere in the second."""
    network = network_of(named(row, PROPERTIES))
    assert (network.name, network.is_of("overlay")) == ("vxlan0", True)
    (subnet,) = network.subnets
    assert (subnet.prefix, subnet.gateway) == ("10.244.3.0/24", "10.244.3.1")
    (vsid,) = of_kind(subnet.policies, "VSID")
    assert {vsid.get("VSID"), vsid.get("IsolationId")} >= {4096}
    assert [policy["Port"] for policy in of_kind(network.policies, "vxlanport")] == [4789]


@pytest.mark.parametrize(("row", "network"), [(ENDPOINT, "vxlan0"), (ENDPOINT_2, None)])
def test_an_endpoint_is_read_in_both_schemas(row: dict[str, Any], network: str | None) -> None:
    """The second names its network by the id alone, which is no name."""
    endpoint = endpoint_of(named(row, PROPERTIES))
    assert (endpoint.id, endpoint.addresses, endpoint.remote) == ("b2", ("10.244.3.7",), False)
    assert (endpoint.gateway, endpoint.network) == ("10.244.3.1", network)
    assert endpoint.dns_servers == ("10.96.0.10", "10.96.0.11")
    assert endpoint.dns_suffix == "demo.svc.cluster.local"
    (nat,) = of_kind(endpoint.policies, "OutBoundNAT")
    assert (nat.get("ExceptionList") or nat.get("Exceptions")) == ["10.96.0.0/12"]


@pytest.mark.parametrize(
    "row", [{**ENDPOINT, "IsRemoteEndpoint": True}, {**ENDPOINT_2, "Flags": 1}]
)
def test_a_remote_endpoint_is_known_in_both_schemas(row: dict[str, Any]) -> None:
    """By its property, or by the first of its flags."""
    assert endpoint_of(row).remote


@pytest.mark.parametrize("row", [BALANCER, BALANCER_2])
def test_a_load_balancer_is_read_in_both_schemas(row: dict[str, Any]) -> None:
    """Frontend, source, backends and DSR."""
    (balancer,) = load_balancers_in(json.dumps(named(row, PROPERTIES)))
    assert balancer.fronts == (("10.96.0.7", 53, "UDP"),)
    assert balancer.references == ("b2", "b3")
    assert (balancer.id, balancer.port, balancer.source) == ("C3", 5353, "10.244.3.2")
    assert balancer.direct


def test_one_list_may_mix_both_schemas() -> None:
    """A node with another module may show objects of either."""
    shown = load_balancers_in(json.dumps([BALANCER, BALANCER_2]))
    assert [balancer.fronts for balancer in shown] == [(("10.96.0.7", 53, "UDP"),)] * 2


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ('[{"Name":"nat"},{"Name":"cbr0"}]', ["nat", "cbr0"]),
        ('{"Name":"nat"}', ["nat"]),
        ('{"value":[{"Name":"nat"},{"Name":"cbr0"}],"Count":2}', ["nat", "cbr0"]),
        ("[]", []),
        ('\ufeff[{"Name":"nat"}]\r\n', ["nat"]),
        (
            '#< CLIXML\r\n<Objs Version="1.1.0.1"><Obj S="progress"/></Objs>\r\n[{"Name":"nat"}]',
            ["nat"],
        ),
    ],
)
def test_a_list_is_read_in_every_shape(text: str, names: list[str]) -> None:
    """None, one or several objects; a mark of the encoding and progress records are no part of it."""
    assert [row["Name"] for row in objects_in(text)] == names


def test_a_list_inside_an_object_may_have_a_count() -> None:
    """Windows PowerShell gives arrays of some origins such a property on any level."""
    subnets = {"value": NETWORK["Subnets"], "Count": 1}
    (row,) = objects_in(json.dumps({**NETWORK, "Subnets": subnets}))
    assert network_of(row) == network_of(NETWORK)


@pytest.mark.parametrize(
    "text", ["", "\r\n", "null", "true", '["nat"]', "Get-HnsNetwork : RPC", "[{"]
)
def test_what_is_no_list_is_no_empty_list(text: str) -> None:
    """HNS that hiccups, a lost output and an error: nothing follows from them."""
    with pytest.raises(UnreadableError, match="no list of HNS' objects"):
        objects_in(text)


@pytest.mark.parametrize("left", ["System.Object[]", "@{Type=OutBoundNAT}"])
def test_levels_that_powershell_left_out_are_not_empty(left: str) -> None:
    """What a policy would say is not known then."""
    with pytest.raises(UnreadableError, match="left out"):
        endpoint_of(named({**ENDPOINT, "Policies": left}, PROPERTIES))


def test_a_load_balancer_of_another_form_is_not_read() -> None:
    """A later release of Windows may show other properties."""
    with pytest.raises(UnreadableError, match="in a form that HNS does not show"):
        load_balancers_in('[{"ID": "C3", "Policies": [{"Type": "ELB"}]}]')
