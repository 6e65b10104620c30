"""The rules about adapters and ports, on the output of Windows' tools in English and in German."""

import pytest

from nettests.rules import UnreadableError
from tests.rules.made import found

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
