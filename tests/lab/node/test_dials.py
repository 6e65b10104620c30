"""What a node dials and answers itself, in namespaces with real packets: probes, health checks, port 10250."""

import asyncio
import socket
import ssl
from collections.abc import Sequence
from ipaddress import IPv4Address
from typing import Any

import pytest
import trustme

from nettests.lab.interfaces import Namespace
from nettests.lab.node.health import Ended, ProbeFailedError, Prober
from nettests.lab.node.serving import HealthChecks, answering, connect, kubelet_server
from nettests.lab.topology import OS, Backend, ServicePort
from tests.lab.programs.worlds import World, in_world

Json = dict[str, Any]

POD, NODE = "10.244.1.2", "172.30.0.11"


async def _no_command(argv: Sequence[str]) -> Ended:
    raise AssertionError(argv)


def prober(world: World, *ports: Json, os: OS = OS.LINUX) -> Prober:
    """Return what probes the pod from the node ``n1``."""
    return Prober(node=world.n1.namespace, os=os, address=POD, ports=ports, execute=_no_command)


async def failed(caller: Prober, handler: Json) -> str:
    """Return why an attempt failed."""
    with pytest.raises(ProbeFailedError) as error:
        await caller.request(handler)
    return str(error.value)


@in_world()
async def test_an_http_probe_is_a_request_from_the_node(world: World) -> None:
    """Any status from 200 to 399 will do; another is named; ports may be called by name."""
    await world.serve(world.pod, ["/agnhost", "netexec", "--udp-port=-1"], [8080])
    caller = prober(world, {"name": "web", "containerPort": 8080})
    await caller.request({"httpGet": {"port": "web", "path": "/hostname"}})
    await caller.request({"httpGet": {"port": 8080, "path": "/echo?msg=a&code=302"}})
    for code in (404, 500):
        handler = {"httpGet": {"port": 8080, "path": f"/echo?msg=a&code={code}"}}
        assert await failed(caller, handler) == f"HTTP probe failed with statuscode: {code}"


@in_world()
async def test_a_probe_sends_the_headers_that_it_is_given(world: World) -> None:
    """And says that it is kube-probe."""
    server = await world.serve(world.pod, ["/agnhost", "netexec", "--udp-port=-1"], [8080])
    headers = [{"name": "X-Asked-By", "value": "test"}]
    path = "/header?key=X-Asked-By"
    await prober(world).request({"httpGet": {"port": 8080, "path": path, "httpHeaders": headers}})
    assert b"GET /header?key=X-Asked-By" in server.stderr


@in_world()
async def test_a_closed_port_fails_in_the_words_of_go(world: World) -> None:
    """Over HTTP with the URL before it; over TCP alone; on a Windows node with Winsock's sentence."""
    refused = f"dial tcp {POD}:9: connect: connection refused"
    caller = prober(world)
    assert await failed(caller, {"tcpSocket": {"port": 9}}) == refused
    expected = f'Get "http://{POD}:9/x": {refused}'
    assert await failed(caller, {"httpGet": {"port": 9, "path": "/x"}}) == expected
    windows = await failed(prober(world, os=OS.WINDOWS), {"tcpSocket": {"port": 9}})
    assert windows.endswith("connectex: No connection could be made because the target machine actively refused it.")  # fmt: skip


@in_world()
async def test_a_tcp_probe_wants_a_connection_and_nothing_more(world: World) -> None:
    """Another address than the pod's is dialled where the probe names one."""
    await world.serve(world.peer, ["/agnhost", "netexec", "--udp-port=-1"], [8080])
    await prober(world).request({"tcpSocket": {"host": "10.244.2.5", "port": 8080}})
    assert "refused" in await failed(prober(world), {"tcpSocket": {"port": 8080}})


@in_world()
async def test_https_is_believed_whatever_its_certificate(world: World) -> None:
    """Kubelets verify nothing; a server without TLS is no success."""
    words = "--tls-cert-file=/localhost.crt --tls-private-key-file=/localhost.key"
    argv = ["/agnhost", "netexec", "--udp-port=-1", *words.split()]
    await world.serve(world.pod, argv, [8080])
    await prober(world).request({"httpGet": {"scheme": "HTTPS", "port": 8080, "path": "/hostname"}})
    await world.serve(world.peer, ["/agnhost", "netexec", "--udp-port=-1"], [8080])
    handler = {"httpGet": {"scheme": "HTTPS", "host": "10.244.2.5", "port": 8080}}
    assert (await failed(prober(world), handler)).startswith('Get "https://10.244.2.5:8080/": ')


@in_world()
async def test_a_server_that_hangs_up_is_a_failure(world: World) -> None:
    """It answered nothing."""
    await world.serve(world.pod, ["/agnhost", "tcp-reset", "--port=8080"], [8080])
    assert (await failed(prober(world), {"httpGet": {"port": 8080}})).startswith("Get ")


def port(name: str, *nodes: str | None, number: int | None = 30000) -> ServicePort:
    """Return a port of the Service ``ns/web`` with a ready backend on each of these nodes."""
    return ServicePort(
        namespace="ns",
        service="web",
        port_name=name,
        protocol="TCP",
        cluster_ip=IPv4Address("10.96.0.7"),
        port=80,
        health_check_port=number,
        endpoints=tuple(
            Backend(address=IPv4Address(f"10.244.1.{index}"), port=80, node=node)
            for index, node in enumerate(nodes, 10)
        ),
    )


async def requested(namespace: Namespace, address: str, number: int, path: str = "/") -> str:
    """Return what a server says to a GET."""
    stream = await connect(namespace, address, number)
    stream.writer.write(f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
    text = (await stream.reader.read()).decode()
    stream.writer.close()
    return text


@in_world()
async def test_a_health_check_port_tells_how_many_backends_are_on_the_node(world: World) -> None:
    """503 where there is none; ports of one Service are counted once; any path will do."""
    checks = HealthChecks(world.n1.namespace, "n1")
    await checks.follow((port("a", "n1", "n2", "n1"), port("b", "n1", "n2", "n1")))
    text = await requested(world.pod.namespace, NODE, 30000, "/any")
    assert text.startswith("HTTP/1.1 200 ")
    assert "X-Load-Balancing-Endpoint-Weight: 2" in text
    assert '"localEndpoints": 2' in text
    await checks.follow((port("a", "n2"),))
    assert (await requested(world.pod.namespace, NODE, 30000)).startswith("HTTP/1.1 503 ")
    await checks.follow(())
    with pytest.raises(ConnectionRefusedError):
        await requested(world.pod.namespace, NODE, 30000)


@in_world()
async def test_a_health_check_port_that_is_taken_disturbs_no_other(world: World) -> None:
    """kube-proxy logs it and goes on."""
    checks = HealthChecks(world.n1.namespace, "n1")
    async with answering(world.n1.namespace, "0.0.0.0", 30000, {}):
        await checks.follow((port("a", "n1"), port("b", "n1", number=30001)))
        assert (await requested(world.pod.namespace, NODE, 30000)).startswith("HTTP/1.1 404 ")
        assert (await requested(world.pod.namespace, NODE, 30001)).startswith("HTTP/1.1 200 ")
    await checks.follow(())


def contexts() -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """Return a server's context and a client's that trusts it."""
    authority = trustme.CA()
    server, client = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), ssl.create_default_context()
    authority.issue_cert(NODE).configure_cert(server)
    authority.configure_trust(client)
    return server, client


@in_world()
async def test_a_kubelet_speaks_tls_and_tells_strangers_nothing(world: World) -> None:
    """``/healthz`` is open, everything else wants credentials; plain HTTP is refused as Go does."""
    tls, trusting = contexts()
    serving = asyncio.create_task(kubelet_server(world.n1.namespace, NODE, 10250, tls).serve())
    await asyncio.sleep(0)
    for path, status in (("/healthz", 200), ("/pods", 401), ("/run/ns/p/c", 401), ("/", 404)):
        stream = await connect(world.pod.namespace, NODE, 10250)
        await stream.writer.start_tls(trusting, server_hostname=NODE)
        stream.writer.write(f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
        assert (await stream.reader.readline()).split()[1] == str(status).encode()
        stream.writer.close()
    plain = await requested(world.pod.namespace, NODE, 10250, "/healthz")
    assert plain.startswith("HTTP/1.0 400 Bad Request")
    assert plain.endswith("Client sent an HTTP request to an HTTPS server.\n")
    serving.cancel()
    await asyncio.gather(serving, return_exceptions=True)


@in_world()
async def test_who_says_nothing_does_not_keep_others_waiting(world: World) -> None:
    """A connection without a byte on it stands beside the next one."""
    tls, _ = contexts()
    serving = asyncio.create_task(kubelet_server(world.n1.namespace, NODE, 10250, tls).serve())
    await asyncio.sleep(0)
    silent = world.pod.namespace.socket(socket.AF_INET, socket.SOCK_STREAM)
    with silent:
        await asyncio.get_running_loop().sock_connect(silent, (NODE, 10250))
        assert "400" in await requested(world.pod.namespace, NODE, 10250)
    serving.cancel()
    await asyncio.gather(serving, return_exceptions=True)
