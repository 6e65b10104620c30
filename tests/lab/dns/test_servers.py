"""The DNS servers on real sockets, and the resolvers against them."""

import asyncio
import socket
from dataclasses import replace
from ipaddress import IPv4Address

import dns.flags
import dns.message
import dns.rcode
import pytest

from nettests.lab.dns import clients
from nettests.lab.dns.exchange import (
    Failure,
    NoAnswerError,
    ResolutionError,
    Silence,
    query_servers,
    question,
)
from nettests.lab.dns.server import ClusterDns, OutsideResolver, forward_to
from nettests.lab.dns.zone import view_from_objects
from nettests.lab.interfaces import ResolverConfig
from tests.lab.dns.test_view import POD, endpoints, service
from tests.lab.programs import worlds
from tests.lab.programs.worlds import World, in_world

CLUSTER, OUTSIDE = IPv4Address("10.96.0.10"), IPv4Address("198.18.0.53")
SERVICES = [
    service("web", clusterIP="10.96.0.20"),
    service("servers", clusterIP="None"),
    service("ext", type="ExternalName", externalName="server.outside.test"),
]


def prepare(world: World) -> None:
    """Addresses for both servers."""
    worlds.own(world, str(CLUSTER))
    worlds.own(world, str(OUTSIDE))


def start(world: World) -> ClusterDns:
    """Start both servers on the router."""
    outside = OutsideResolver({"server.outside.test": IPv4Address("198.51.100.10")})
    outside.start(world.router, OUTSIDE)
    view = view_from_objects(SERVICES, [endpoints("servers", POD)], "cluster.local")
    cluster = ClusterDns(view, forward=forward_to(world.router, OUTSIDE))
    cluster.start(world.router, CLUSTER)
    return cluster


@in_world(prepare)
async def test_a_pod_resolves_services_and_outside_names(world: World) -> None:
    """The cluster's names, an ExternalName and an outside name resolve from a pod."""
    start(world)
    expected = {
        "web": "10.96.0.20",
        "web.demo": "10.96.0.20",
        "web.demo.svc.cluster.local": "10.96.0.20",
        "server-a.servers": "10.244.1.2",
        "ext": "198.51.100.10",
        "server.outside.test": "198.51.100.10",
    }
    for name, address in expected.items():
        assert (await clients.resolve_on_linux(world.pod, name)).addresses == (address,)


@in_world(prepare)
async def test_windows_resolves_short_and_full_names_but_no_dotted_ones(world: World) -> None:
    """``web`` and the FQDN resolve, ``web.demo`` does not: NXDOMAIN from a server that answered."""
    start(world)
    pod = worlds.windows(world.pod)
    for name in ("web", "web.demo.svc.cluster.local"):
        assert (await clients.resolve_on_windows(pod, name)).addresses == ("10.96.0.20",)
    for name in ("web.demo", "web.demo.svc"):
        with pytest.raises(ResolutionError) as failed:
            await clients.resolve_on_windows(pod, name)
        assert failed.value.failure is Failure.NO_SUCH_HOST


@in_world(prepare)
async def test_an_update_changes_the_answers(world: World) -> None:
    """``update`` replaces what the server knows."""
    cluster = start(world)
    cluster.update(view_from_objects([service("web", clusterIP="10.96.0.99")], [], "cluster.local"))
    assert (await clients.resolve_on_linux(world.pod, "web")).addresses == ("10.96.0.99",)


@in_world(prepare)
async def test_a_stopped_server_refuses_and_its_port_is_free_again(world: World) -> None:
    """After ``stop`` the address can be bound again."""
    cluster = start(world)
    await cluster.stop()
    with pytest.raises(NoAnswerError) as refused:
        await query_servers(world.pod.namespace, str(CLUSTER), question("web."), limit=2)
    assert refused.value.silence is Silence.REFUSED
    cluster.start(world.router, CLUSTER)
    assert (await clients.resolve_on_linux(world.pod, "web")).addresses == ("10.96.0.20",)


@in_world(prepare)
async def test_a_silent_outside_resolver_is_a_server_failure(world: World) -> None:
    """Names that cannot be forwarded end with SERVFAIL, the cluster's own still resolve."""
    view = view_from_objects(SERVICES, [], "cluster.local")
    cluster = ClusterDns(view, forward=forward_to(world.router, IPv4Address("198.18.0.54")))
    cluster.start(world.router, CLUSTER)
    answer = await query_servers(
        world.pod.namespace, str(CLUSTER), question("server.outside.test."), limit=5
    )
    assert answer.rcode() == dns.rcode.SERVFAIL
    assert (await clients.resolve_on_linux(world.pod, "web")).addresses == ("10.96.0.20",)


@in_world(prepare)
async def test_an_answer_too_big_for_udp_comes_over_tcp(world: World) -> None:
    """A truncated UDP answer makes the client retry over TCP."""
    many = [
        {"addresses": [f"10.244.1.{number}"], "conditions": {"ready": True}}
        for number in range(2, 102)
    ]
    view = view_from_objects(
        [service("servers", clusterIP="None")], [endpoints("servers", *many)], "cluster.local"
    )
    cluster = ClusterDns(view, forward=forward_to(world.router, OUTSIDE))
    cluster.start(world.router, CLUSTER)
    assert len((await clients.resolve_on_linux(world.pod, "servers")).addresses) == 100


@in_world(prepare)
async def test_udp_answers_are_cut_to_what_the_client_takes(world: World) -> None:
    """A big answer over UDP carries TC and nothing else."""
    many = [
        {"addresses": [f"10.244.1.{number}"], "conditions": {"ready": True}}
        for number in range(2, 102)
    ]
    view = view_from_objects(
        [service("servers", clusterIP="None")], [endpoints("servers", *many)], "cluster.local"
    )
    cluster = ClusterDns(view, forward=forward_to(world.router, OUTSIDE))
    cluster.start(world.router, CLUSTER)
    loop = asyncio.get_running_loop()
    with world.pod.namespace.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.connect((str(CLUSTER), 53))
        await loop.sock_sendall(sock, question("servers.demo.svc.cluster.local.").to_wire())
        answer = dns.message.from_wire(await loop.sock_recv(sock, 4096))
    assert answer.flags & dns.flags.TC
    assert not answer.answer


@in_world(prepare)
async def test_garbage_is_not_answered_and_does_not_stop_the_server(world: World) -> None:
    """A datagram that is no DNS message is dropped."""
    start(world)
    loop = asyncio.get_running_loop()
    with world.pod.namespace.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.connect((str(CLUSTER), 53))
        await loop.sock_sendall(sock, b"not a message")
    assert (await clients.resolve_on_linux(world.pod, "web")).addresses == ("10.96.0.20",)


@in_world(prepare)
async def test_a_silent_server_and_a_missing_name_stay_apart(world: World) -> None:
    """Windows: no answer in ten seconds is ``TIMED_OUT``; a refused port is no answer either."""
    black_hole = ResolverConfig(servers=("192.0.2.53",))
    pod = replace(worlds.windows(world.pod), resolver=black_hole)
    started = asyncio.get_running_loop().time()
    with pytest.raises(ResolutionError) as failed:
        await clients.resolve_on_windows(pod, "web.demo")
    assert failed.value.failure is Failure.TIMED_OUT
    assert 9.5 < asyncio.get_running_loop().time() - started < 12


@in_world()
async def test_the_hosts_file_comes_before_any_server(world: World) -> None:
    """A name of the hosts file resolves with every server silent, in any case of letters."""
    for resolve, machine in (
        (clients.resolve_on_linux, world.pod),
        (clients.resolve_on_windows, worlds.windows(world.pod)),
    ):
        assert (await resolve(machine, "NETEXEC-plj27")).addresses == ("10.244.1.2",)
