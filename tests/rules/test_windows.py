"""The rules about what Windows' own tools say, on their output in English and in German."""

import json

import pytest

from nettests.rules import UnreadableError
from tests.rules.made import found, log, node, pods

DYNAMIC = (
    "\r\nProtocol tcp Dynamic Port Range\r\n---------------------------------\r\n"
    "Start Port      : {start}\r\nNumber of Ports : {count}\r\n\r\n"
)
DYNAMIC_GERMAN = (
    "\r\nDynamischer Portbereich für Protokoll tcp\r\n---------------------------------\r\n"
    "Startport       : {start}\r\nAnzahl von Ports: {count}\r\n\r\n"
)
EXCLUDED = (
    "\r\nProtocol tcp Port Exclusion Ranges\r\n\r\n"
    "Start Port    End Port      \r\n----------    --------      \r\n"
    "      5985        5985      \r\n{rows}"
    "     50000       50059     *\r\n\r\n* - Administered port exclusions.\r\n\r\n"
)
IPCONFIG = (
    "\r\nWindows IP Configuration\r\n\r\n\r\n"
    "Ethernet adapter {name}:\r\n\r\n"
    "   Connection-specific DNS Suffix  . : \r\n"
    "   IPv4 Address. . . . . . . . . . . : 172.30.0.13\r\n"
    "   Subnet Mask . . . . . . . . . . . : 255.255.255.0\r\n\r\n"
    "Ethernet adapter Ethernet 3:\r\n\r\n"
    "   IPv4 Address. . . . . . . . . . . : 192.0.2.7\r\n"
)
TASKS = '"System Idle Process","0","Services","0","8 K"\r\n"kubelet.exe","3716","Services","0","80 K"\r\n'


@pytest.mark.parametrize(("said", "conforms"), [("17763.1339", True), ("17763.1432", False)])
def test_the_running_build_is_the_one_that_the_api_shows(said: str, conforms: bool) -> None:
    """A node updated without restarting its kubelet shows the old one."""
    readings = {
        "windows-version": f"\r\nMicrosoft Windows [Version 10.0.{said}]\r\n",
        "node": json.dumps(node("10.0.17763.1339")),
    }
    assert found("running-build", readings).conforms is conforms


@pytest.mark.parametrize(
    ("name", "conforms"), [("vEthernet (Ethernet)", True), ("Ethernet", False)]
)
def test_the_nodes_address_is_on_a_virtual_adapter(name: str, conforms: bool) -> None:
    """Making the virtual switch moves the address from the physical adapter."""
    assert found("virtual-adapter", {"ipconfig": IPCONFIG.format(name=name)}).conforms is conforms


def test_an_address_that_no_adapter_shows_cannot_be_judged() -> None:
    """ipconfig of another machine says nothing of this one."""
    with pytest.raises(UnreadableError):
        found("virtual-adapter", {"ipconfig": "Windows IP Configuration"})


@pytest.mark.parametrize("words", [DYNAMIC, DYNAMIC_GERMAN])
@pytest.mark.parametrize(
    ("start", "count", "rows", "conforms"),
    [
        (49152, 16384, "", True),
        (32768, 16384, "", True),
        (20000, 16384, "", False),
        (1024, 64511, "", False),
        (49152, 16384, "     30080       30080      \r\n", False),
    ],
)
def test_node_ports_are_left_alone(
    words: str, start: int, count: int, rows: str, conforms: bool
) -> None:
    """Neither range reaches into 30000-32767; the tool's language does not matter."""
    readings = {
        "dynamic-ports": words.format(start=start, count=count),
        "excluded-ports": EXCLUDED.format(rows=rows),
    }
    assert found("node-ports-free", readings).conforms is conforms


@pytest.mark.parametrize(("free", "conforms"), [(11, True), (10, False)])
def test_blocks_of_ports_are_left_for_load_balancers(free: int, conforms: bool) -> None:
    """Of 256 blocks more than ten have to be free; one exclusion inside a block spoils it."""
    last = 49152 + 64 * (256 - free) - 1
    rows = f"     49152       {last}      \r\n"
    readings = {
        "dynamic-ports": DYNAMIC.format(start=49152, count=16384),
        "excluded-ports": EXCLUDED.format(rows=rows),
    }
    assert found("port-pools-left", readings).conforms is conforms
    spoilt = rows + f"     {last + 5}       {last + 5}      \r\n"
    readings["excluded-ports"] = EXCLUDED.format(rows=spoilt)
    assert not found("port-pools-left", readings).conforms


def test_a_port_range_in_no_known_form_cannot_be_judged() -> None:
    """No numbers, no finding."""
    readings = {"dynamic-ports": "Access denied.", "excluded-ports": EXCLUDED.format(rows="")}
    with pytest.raises(UnreadableError):
        found("node-ports-free", readings)


def tasks(*names: str) -> str:
    """Return what tasklist prints beside kubelet."""
    return TASKS + "".join(f'"{name}","1234","Services","0","43,148 K"\r\n' for name in names)


def test_flannels_three_processes_run() -> None:
    """All of them, in any order."""
    listed = tasks("flanneld.exe", "kube-proxy.exe")
    assert found("processes-running", {"processes": listed}).conforms


@pytest.mark.parametrize("running", ["kube-proxy.exe", "flanneld.exe"])
def test_a_process_that_is_missing_is_named(running: str) -> None:
    """One of the two others does not run."""
    finding = found("processes-running", {"processes": tasks(running)})
    assert not finding.conforms
    assert f"no {({'kube-proxy.exe', 'flanneld.exe'} - {running}).pop()};" in finding.detail


@pytest.mark.parametrize(
    ("text", "conforms"),
    [
        ("FLANNEL_NETWORK=10.244.0.0/16\r\nFLANNEL_SUBNET=10.244.3.1/24\r\n", True),
        ("FLANNEL_SUBNET=10.244.9.1/24\r\n", False),
        ("FLANNEL_MTU=1500\r\n", False),
    ],
)
def test_flannels_lease_is_the_nodes_pod_cidr(text: str, conforms: bool) -> None:
    """A file of before the node rejoined, or without a subnet, deviates."""
    assert found("subnet-file", {"flannel-subnet-file": text}).conforms is conforms


def configuration(key: str, exceptions: list[str], route: str, *, encap: bool = True) -> str:
    """Return a CNI configuration in the manner of win-bridge (``Value``) or sdnbridge (``Settings``)."""
    nat = {"ExceptionList" if key == "Value" else "Exceptions": exceptions}
    way = {"DestinationPrefix": route, "NeedEncap": encap}
    if key == "Value":
        values = [{"Type": "OutBoundNAT", **nat}, {"Type": "ROUTE", **way}]
    else:
        values = [{"Type": "OutBoundNAT", "Settings": nat}, {"Type": "SDNRoute", "Settings": way}]
    policies = [{"Name": "EndpointPolicy", "Value": value} for value in values]
    return json.dumps({"name": "cbr0", "delegate": {"policies": policies}}, indent=2) + "\r\n"


@pytest.mark.parametrize("key", ["Value", "Settings"])
@pytest.mark.parametrize(
    ("exceptions", "conforms"),
    [
        (["10.244.0.0/16", "10.96.0.0/12"], True),
        (["10.0.0.0/8"], True),
        (["10.244.0.0/16"], False),
        ([], False),
    ],
)
def test_the_configuration_excepts_pods_and_services(
    key: str, exceptions: list[str], conforms: bool
) -> None:
    """Both plugins' manners of writing it are read."""
    text = configuration(key, exceptions, "10.96.0.0/12")
    assert found("cni-exceptions", {"cni-configuration": text}).conforms is conforms


FLANNEL = {"driver": "l2bridge", "plugin": "flannel"}
CLUSTER = ["10.244.0.0/16", "10.96.0.0/12"]


@pytest.mark.parametrize(
    ("nodes", "facts", "conforms"),
    [
        (["172.30.0.0/24"], FLANNEL, True),
        (["172.30.0.10/31", "172.30.0.12/32", "172.30.0.13/32"], FLANNEL, True),
        (["172.30.0.13/32"], FLANNEL, False),
        ([], FLANNEL, False),
        ([], {**FLANNEL, "plugin": "sdnbridge"}, False),
        ([], {**FLANNEL, "driver": "overlay"}, True),
        ([], {**FLANNEL, "plugin": "calico"}, True),
    ],
)
def test_nodes_are_excepted_where_the_documents_say_so(
    nodes: list[str], facts: dict[str, str], conforms: bool
) -> None:
    """The l2bridge sample has the management subnet and the overlay one has not; Calico's pools leave it out."""
    text = configuration("Value", [*CLUSTER, *nodes], "10.96.0.0/12")
    finding = found("cni-exceptions", {"cni-configuration": text}, **facts)
    assert finding.conforms is conforms
    assert conforms or "lacks 172.30.0.10/31" in finding.detail


@pytest.mark.parametrize(
    ("entry", "management", "conforms"),
    [
        ("0.0.0.0/0", "172.30.0.13/32", False),
        ("0.0.0.0/0", "131.107.0.4/32", False),
        ("203.0.112.0/20", "172.30.0.13/32", False),
        ("172.0.0.0/6", "172.30.0.13/32", False),
        ("2000::/3", "172.30.0.13/32", False),
        ("131.107.0.0/16", "131.107.0.4/32", True),
        ("131.107.0.0/16", "172.30.0.13/32", False),
        ("192.168.0.0/16", "172.30.0.13/32", True),
        ("168.63.129.16/32", "172.30.0.13/32", True),
        ("fd00::/8", "172.30.0.13/32", True),
    ],
)
def test_no_outside_address_is_excepted(entry: str, management: str, conforms: bool) -> None:
    """An address of the internet is not asked with a Pod's own; sites' private networks and the nodes' may be."""
    text = configuration("Value", [*CLUSTER, entry], "10.96.0.0/12")
    facts = {"management-addresses": management}
    finding = found("cni-exceptions", {"cni-configuration": text}, **facts)
    assert finding.conforms is conforms
    assert conforms or f"where {entry} holds outside addresses" in finding.detail


def test_a_service_network_of_public_addresses_may_be_excepted_wholly() -> None:
    """Microsoft's sample has 11.0.0.0/8, and a cluster may use a part of it."""
    text = configuration("Value", ["10.244.0.0/16", "11.0.0.0/8"], "11.0.0.0/8")
    facts = {"service-cidrs": "11.0.0.0/16"}
    assert found("cni-exceptions", {"cni-configuration": text}, **facts).conforms


@pytest.mark.parametrize(
    ("driver", "management", "conforms"),
    [
        ("l2bridge", "10.96.3.4/32", True),
        ("l2bridge", "172.30.0.13/32", False),
        ("overlay", "172.30.0.13/32", True),
    ],
)
def test_on_l2bridge_the_nodes_own_address_is_routed_too(
    driver: str, management: str, conforms: bool
) -> None:
    """Without the policy a Pod's packet to its own node leaves on the wire."""
    text = configuration("Value", [], "10.96.0.0/12")
    facts = {"driver": driver, "management-address": management}
    assert found("cni-routes", {"cni-configuration": text}, **facts).conforms is conforms


@pytest.mark.parametrize("key", ["Value", "Settings"])
@pytest.mark.parametrize(
    ("route", "encap", "conforms"),
    [("10.96.0.0/12", True, True), ("10.96.0.0/12", False, False), ("10.97.0.0/16", True, False)],
)
def test_service_addresses_are_routed_to_the_host(
    key: str, route: str, encap: bool, conforms: bool
) -> None:
    """A ROUTE policy with NeedEncap covers the Service network."""
    text = configuration(key, [], route, encap=encap)
    assert found("cni-routes", {"cni-configuration": text}).conforms is conforms


@pytest.mark.parametrize(("network", "conforms"), [("cbr0", True), ("vxlan0", False)])
def test_pods_are_attached_to_kube_proxys_network(network: str, conforms: bool) -> None:
    """One of the configurations names it; several are printed one after the other."""
    readings = {
        "cni-configuration": '{"name": "loopback"}\r\n' + configuration("Value", [], "10.0.0.0/8"),
        "node-pods": pods(),
        "kube-proxy-log": log(network_name=network),
    }
    assert found("cni-network", readings).conforms is conforms


@pytest.mark.parametrize("text", ["", "\r\n", "{ broken"])
def test_no_configuration_is_no_finding(text: str) -> None:
    """The folders that are read may be others on this node."""
    with pytest.raises(UnreadableError):
        found("cni-exceptions", {"cni-configuration": text})


@pytest.mark.parametrize(
    ("kernel", "given", "conforms"),
    [
        ("10.0.17763.1431", True, False),
        ("10.0.17763.1432", True, True),
        ("10.0.17763.1", False, True),
    ],
)
def test_loopback_dsr_needs_an_hns_with_dsr(kernel: str, given: bool, conforms: bool) -> None:
    """On older updates the plugin refuses the option, and no pod starts."""
    text = json.dumps({"name": "cbr0", "delegate": {"loopbackDSR": given}})
    readings = {"cni-configuration": text, "node": json.dumps(node(kernel))}
    assert found("loopback-dsr-update", readings).conforms is conforms
