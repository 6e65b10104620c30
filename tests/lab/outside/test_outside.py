"""The door to the emulated outside: a forward proxy in squid's manner, and its cluster profile."""

import socket
from collections.abc import Iterator
from typing import Any

import pytest
import requests
from ruamel.yaml import YAML

from tests.lab.running import Lab, pod, until


@pytest.fixture(scope="module")
def profile(lab: Lab) -> dict[str, Any]:
    """The cluster profile that the lab wrote."""
    found: dict[str, Any] = YAML(typ="safe").load(lab.cluster_profile.read_text())
    return found


@pytest.fixture
def session(profile: dict[str, Any]) -> Iterator[requests.Session]:
    """Requests that go through the proxy."""
    with requests.Session() as made:
        made.trust_env = False
        made.proxies = {"http": profile["externalProxy"]}
        yield made


@pytest.fixture(scope="module")
def node_port(lab: Lab) -> Iterator[int]:
    """A NodePort Service in front of a pod on a Windows node."""
    lab.run("behind", "win-1", os={"name": "windows"})
    ports = [{"port": 80, "targetPort": 8080}]
    spec = {"type": "NodePort", "selector": {"app": "behind"}, "ports": ports}
    made = lab.core.create_namespaced_service(
        "default", {"metadata": {"name": "behind"}, "spec": spec}
    )
    yield made.spec.ports[0].node_port
    lab.core.delete_namespaced_service("behind", "default")
    lab.remove("behind")


def test_the_profile_names_the_outside(profile: dict[str, Any]) -> None:
    """External target and vantage, in the form that any user writes."""
    assert profile["kind"] == "ClusterProfile"
    assert profile["externalVantage"] == "proxy"
    assert profile["externalTarget"] == {
        "address": "198.51.100.10",
        "name": "server.outside.test",
        "tcpPort": 80,
        "udpPort": 8081,
        "reportsClientAddress": True,
    }


def test_a_node_port_is_reached_from_outside(
    lab: Lab, session: requests.Session, node_port: int
) -> None:
    """The answer comes from the pod, queried by the outside client through a node."""
    url = f"http://172.30.0.13:{node_port}/hostname"
    # A connection begun before the node has the rules is never translated: query anew.
    until(lambda: session.get(url, timeout=15).text == "behind", seconds=40)


def test_the_proxy_connects_from_the_outside_client(session: requests.Session) -> None:
    """The external server sees the outside client's address."""
    found = session.get("http://198.51.100.10/clientip", timeout=10)
    assert found.text.startswith("198.51.100.20:")


def test_a_body_is_passed_on(session: requests.Session) -> None:
    """POST reaches the target with its body."""
    found = session.post("http://198.51.100.10/echo", data={"msg": "hello"}, timeout=10)
    assert found.text == "hello"


@pytest.mark.parametrize(
    ("url", "error"),
    [
        ("http://172.30.0.11:9/", "ERR_CONNECT_FAIL 111"),
        ("http://no.such.name/", "ERR_DNS_FAIL 0"),
    ],
)
def test_what_cannot_be_reached_is_said_in_squids_words(
    session: requests.Session, url: str, error: str
) -> None:
    """503, and a header with the errno, so that refused and timed out differ."""
    found = session.get(url, timeout=15)
    assert (found.status_code, found.headers["X-Squid-Error"]) == (503, error)


def test_a_connection_that_gets_no_answer_times_out(lab: Lab, session: requests.Session) -> None:
    """A Windows node drops packets to a port where nobody listens (stealth mode)."""
    found = session.get("http://172.30.0.13:9/", timeout=20)
    assert (found.status_code, found.headers["X-Squid-Error"]) == (503, "ERR_CONNECT_FAIL 110")


def test_a_connection_that_is_closed_without_a_word_is_told(
    lab: Lab, session: requests.Session
) -> None:
    """502 and squid's word for an empty reply: the target took the connection, and nobody answered."""
    lab.run("resets", "linux-2", hostNetwork=True, args=["tcp-reset", "--port", "9099"])
    found = session.get("http://172.30.0.12:9099/", timeout=15)
    assert (found.status_code, found.headers["X-Squid-Error"]) == (502, "ERR_ZERO_SIZE_OBJECT 0")
    lab.remove("resets")


def test_without_the_token_there_is_no_way_out(profile: dict[str, Any]) -> None:
    """Other users of the machine get 407."""
    port = profile["externalProxy"].rsplit(":", 1)[1]
    with requests.Session() as session:
        session.trust_env = False
        session.proxies = {"http": f"http://127.0.0.1:{port}"}
        found = session.get("http://198.51.100.10/", timeout=10)
    assert found.status_code == 407
    assert found.headers["Proxy-Authenticate"] == 'Basic realm="lab"'


def test_tunnels_are_opened(profile: dict[str, Any]) -> None:
    """CONNECT gives a raw connection to the target."""
    address = profile["externalProxy"]
    token = address.split("//")[1].split("@")[0]
    port = int(address.rsplit(":", 1)[1])
    with socket.create_connection(("127.0.0.1", port), timeout=10) as sock:
        authorization = requests.auth._basic_auth_str(*token.split(":"))
        sock.sendall(
            b"CONNECT 198.51.100.10:80 HTTP/1.1\r\nHost: x\r\n"
            b"Proxy-Authorization: " + authorization.encode() + b"\r\n\r\n"
        )
        assert sock.recv(200).startswith(b"HTTP/1.1 200 ")
        sock.sendall(b"GET /hostname HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        answer = b""
        while data := sock.recv(4096):
            answer += data
    assert answer.endswith(b"server")


def test_pods_reach_the_outside_by_address_and_name(lab: Lab) -> None:
    """From a Windows pod: the external server sees the node's address (OutBoundNAT)."""
    lab.create(pod("goes-out", "win-1", os={"name": "windows"}))
    lab.ready("goes-out")
    for host in ("198.51.100.10", "server.outside.test"):
        code, text = lab.exec("goes-out", "curl", "-s", "-m", "5", f"http://{host}/clientip")
        assert (code, text.split(":")[0]) == (0, "172.30.0.13")
    lab.remove("goes-out")
