"""netexec where the transcript has no row."""

import asyncio
import json
import socket
from typing import Any
from urllib.parse import urlencode

from nettests.lab.network import nft
from nettests.lab.programs.agnhost import endpoints
from nettests.lab.programs.golang.requests import Request
from tests.lab.programs import worlds
from tests.lab.programs.worlds import World, finish, in_world


async def fetch(world: World, target: str, port: int = 8080) -> str:
    """Get a path of a server in the pod."""
    return (await finish(world.pod, ["curl", "-s", f"http://127.0.0.1:{port}{target}"])).stdout


async def dialled(world: World, request: str) -> Any:
    """Return what a pod's ``/dial`` brings from the server of its peer."""
    query = urlencode({"host": "10.244.2.5", "port": 8080, "request": request})
    asked = Request(method="GET", target=f"/dial?{query}", remote="")
    return json.loads((await endpoints.answer(world.pod, asked)).body)


@in_world()
async def test_an_overridden_client_ip_answers_nothing(world: World) -> None:
    """The overriding request has no peer, so ``--http-override=/clientip`` is an empty 200."""
    await world.serve(world.pod, ["agnhost", "netexec", "--http-override=/clientip"], [8080])
    command = ["curl", "-s", "-w", "%{http_code}", "http://127.0.0.1:8080/"]
    assert (await finish(world.pod, command)).stdout == "200"


@in_world()
async def test_an_override_hides_every_other_endpoint(world: World) -> None:
    """Nothing else of an overridden netexec can be reached."""
    await world.serve(world.pod, ["agnhost", "netexec", "--http-override=/hostname"], [8080])
    for target in ("/", "/shell?cmd=id", "/exit", "/dial?request=x"):
        assert await fetch(world, target) == "netexec-plj27"


@in_world()
async def test_no_snat_test_tells_the_peers_address(world: World) -> None:
    """``/whoami`` answers the address a server elsewhere saw."""
    environment = {"POD_IP": "10.244.2.5", "NODE_IP": "172.30.0.12"}
    argv = ["agnhost", "no-snat-test", "--port=18082"]
    await world.serve(world.peer, argv, [18082], environment)
    answer = await finish(world.pod, ["curl", "-s", "http://10.244.2.5:18082/whoami"])
    assert answer.stdout.startswith("10.244.1.2:")


@in_world()
async def test_no_snat_test_needs_its_addresses(world: World) -> None:
    """Without ``POD_IP`` it ends with a sentence and 1."""
    ended = await finish(world.pod, ["agnhost", "no-snat-test"])
    assert ended.code == 1
    assert ended.stderr == "POD_IP env var was not present in the environment\n"


@in_world()
async def test_an_answer_that_cannot_be_sent_ends_the_server(world: World) -> None:
    """As ``assertNoError`` does: exit code 1, and the log names client and system call."""
    running = await world.serve(world.pod, ["agnhost", "netexec"], [8080, 8081])
    drop = "add table ip local; add chain ip local out { type filter hook output priority 0; };"
    nft.load(
        world.pod.namespace.fd,
        f"{drop} add rule ip local out ip daddr 10.244.2.5 udp sport 8081 drop",
    )
    loop = asyncio.get_running_loop()
    with world.peer.namespace.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        await loop.sock_sendto(client, b"hostname", ("10.244.1.2", 8081))
        assert await running.task == 1
    said = running.stderr.decode()
    assert "Error occurred: failed to write hostname to UDP client 10.244.2.5:" in said
    assert said.endswith(": sendto: operation not permitted\n")


@in_world()
async def test_a_connection_is_kept_alive(world: World) -> None:
    """Two requests travel over one connection, in order."""
    await world.serve(world.pod, ["agnhost", "netexec"], [8080])
    sock = world.pod.namespace.socket(socket.AF_INET, socket.SOCK_STREAM)
    await asyncio.get_running_loop().sock_connect(sock, ("127.0.0.1", 8080))
    reader, writer = await asyncio.open_connection(sock=sock)
    seen = []
    for _ in range(2):
        writer.write(b"GET /clientip HTTP/1.1\r\nHost: x\r\n\r\n")
        await reader.readuntil(b"\r\n\r\n")
        seen.append(await reader.readexactly(len("127.0.0.1:40000")))
    writer.close()
    assert seen[0] == seen[1]


@in_world()
async def test_every_dial_has_a_source_port_of_its_own(world: World) -> None:
    """Two tries of one dial come from two ports."""
    await world.serve(world.pod, ["agnhost", "netexec"], [8080])
    await world.serve(world.peer, ["agnhost", "netexec"], [8080])
    answer = await fetch(world, "/dial?host=10.244.2.5&port=8080&request=clientip&tries=2")
    ports = {part.rpartition(":")[2] for part in answer.split('"') if part.startswith("10.244")}
    assert len(ports) == 2


@in_world()
async def test_many_dials_run_side_by_side(world: World) -> None:
    """Dials to a black hole do not wait for each other."""
    await world.serve(world.pod, ["agnhost", "netexec"], [8080])
    target = "/dial?host=192.0.2.1&port=80&request=hostname"
    started = asyncio.get_running_loop().time()
    answers = await asyncio.gather(*(fetch(world, target) for _ in range(20)))
    assert all("deadline exceeded" in answer for answer in answers)
    assert asyncio.get_running_loop().time() - started < 8


@in_world()
async def test_a_killed_server_frees_its_ports_at_once(world: World) -> None:
    """SIGKILL closes the listeners; a new server takes the same ports."""
    for _ in range(2):
        server = await world.serve(world.pod, ["agnhost", "netexec"], [8080, 8081])
        assert await fetch(world, "/hostname") == "netexec-plj27"
        await server.kill()


@in_world()
async def test_the_shell_is_refused(world: World) -> None:
    """``/shell`` answers with an error and runs nothing."""
    await world.serve(world.pod, ["agnhost", "netexec"], [8080])
    answer = await fetch(world, "/shell?cmd=touch%20/tmp/run-by-the-lab")
    assert answer == '{"error":"fork/exec /bin/sh: operation not permitted: the lab runs no shell"}'


@in_world()
async def test_a_taken_udp_port_ends_the_process(world: World) -> None:
    """netexec does not run without its UDP server."""
    await world.serve(world.pod, ["agnhost", "netexec"], [8080, 8081])
    ended = await finish(world.pod, ["agnhost", "netexec", "--http-port=8082"])
    assert ended.code == 1
    assert "listen udp :8081: bind: address already in use" in ended.stderr


@in_world()
async def test_plain_http_to_a_tls_port_is_an_answer_to_a_dial(world: World) -> None:
    """A dial to a TLS port gets the server's complaint, as from a kubelet."""
    tls = ["--tls-cert-file=/localhost.crt", "--tls-private-key-file=/localhost.key"]
    await world.serve(world.peer, ["agnhost", "netexec", "--http-port=10250", *tls], [10250])
    await world.serve(world.pod, ["agnhost", "netexec"], [8080])
    answer = await fetch(world, "/dial?host=10.244.2.5&port=10250&request=healthz")
    assert answer == ('{"responses":["Client sent an HTTP request to an HTTPS server.\\n"]}')


@in_world()
async def test_the_outside_server_answers_both_protocols(world: World) -> None:
    """The external target serves the profile's ports and tells the address it sees."""
    from ipaddress import IPv4Address

    from nettests.lab.outside.forward_proxy import OutsideServer
    from nettests.lab.topology import Cni, Driver, Plugin, Profile

    profile = Profile(
        name="test",
        summary="",
        kubernetes_version="v1.36.2",
        nodes=(),
        cni=Cni(plugin=Plugin.FLANNEL, backend="host-gw", driver=Driver.L2BRIDGE),
        outside_server=IPv4Address("10.244.2.5"),
    )

    async def log(_line: bytes) -> None:
        """Nobody reads it here."""

    serving = asyncio.create_task(OutsideServer(profile, world.peer.namespace).run(log))
    await worlds.listening(world.peer.namespace, 8081)
    seen = await finish(world.pod, ["curl", "-s", "http://10.244.2.5/clientip"])
    queried = ["/agnhost", "connect", "10.244.2.5:8081", "--protocol=udp", "--timeout=2s"]
    assert seen.stdout.startswith("10.244.1.2:")
    assert (await finish(world.pod, queried)).code == 0
    serving.cancel()
    await asyncio.gather(serving, return_exceptions=True)


@in_world()
async def test_an_override_redirects_an_unclean_path_with_all_of_its_query(world: World) -> None:
    """What stands in an address that is not clean goes to the server and back, and who follows is answered."""
    await world.serve(world.peer, ["agnhost", "netexec", "--http-override=/hostname"], [8080])
    for size in (2**16, 2**19 - 1024):
        got = await dialled(world, f"/hostname?pad={'x' * size}")
        assert got == {"responses": ["netexec-qncfp"]}


@in_world()
async def test_a_request_of_more_than_a_mebibyte_is_refused(world: World) -> None:
    """Go's server reads a head of 1 MiB and 4 KiB more, and answers a larger one with 431."""
    await world.serve(world.peer, ["agnhost", "netexec", "--http-override=/hostname"], [8080])
    got = await dialled(world, f"hostname?pad={'x' * (2**20 + 4096)}")
    assert got == {"responses": ["431 Request Header Fields Too Large"]}
