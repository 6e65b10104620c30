"""What a Windows client says of connections that fail, and how long it takes."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from tests.lab.programs import worlds
from tests.lab.programs.worlds import World, finish, in_world

REFUSED = "No connection could be made because the target machine actively refused it."
FORCIBLY_CLOSED = "wsarecv: An existing connection was forcibly closed by the remote host."
NO_RESPONSE = "A connection attempt failed because the connected party did not properly respond"
CLOSED = "10.244.2.5:9999"


@asynccontextmanager
async def stopwatch() -> AsyncIterator[list[float]]:
    """Measure the block."""
    spent: list[float] = []
    started = time.monotonic()
    yield spent
    spent.append(time.monotonic() - started)


async def dial(world: World, query: str) -> dict[str, list[str]]:
    """Query a Windows netexec in the pod to dial."""
    pod = worlds.windows(world.pod)
    await world.serve(pod, ["/agnhost", "netexec"], [8080])
    url = f"http://127.0.0.1:8080/dial?{query}"
    answer = await finish(world.pod, ["curl", "-s", url])
    found: dict[str, list[str]] = json.loads(answer.stdout)
    return found


@in_world()
async def test_connect_says_other_when_refused_after_the_resends(world: World) -> None:
    """A closed TCP port prints ``OTHER`` with Winsock's sentence, one to two seconds later."""
    async with stopwatch() as spent:
        ended = await finish(worlds.windows(world.pod), ["/agnhost", "connect", CLOSED])
    assert ended.code == 1
    assert ended.stderr == f"OTHER: dial tcp {CLOSED}: connectex: {REFUSED}\n"
    assert 1.4 < spent[0] < 2.5


@in_world()
async def test_connect_times_out_before_the_resends_are_over(world: World) -> None:
    """A client timeout shorter than the re-sends hides the refusal."""
    command = ["/agnhost", "connect", CLOSED, "--timeout=700ms"]
    ended = await finish(worlds.windows(world.pod), command)
    assert (ended.code, ended.stderr) == (1, "TIMEOUT\n")


@in_world()
async def test_udp_connect_says_unknown_when_the_port_is_closed(world: World) -> None:
    """A closed UDP port prints ``UNKNOWN`` and the reset Winsock makes of it, at once."""
    command = ["/agnhost", "connect", CLOSED, "--protocol=udp", "--timeout=5s"]
    async with stopwatch() as spent:
        ended = await finish(worlds.windows(world.pod), command)
    assert ended.code == 1
    assert ended.stderr.startswith("UNKNOWN: read udp 10.244.1.2:")
    assert ended.stderr.endswith(f"->{CLOSED}: {FORCIBLY_CLOSED}\n")
    assert spent[0] < 1


@in_world()
async def test_a_dial_reports_the_refusal_in_windows_words(world: World) -> None:
    """``/dial`` carries the same sentence in its JSON."""
    found = await dial(world, "host=10.244.2.5&port=9999&request=hostname")
    expected = f'Get "http://{CLOSED}/hostname": dial tcp {CLOSED}: connectex: {REFUSED}'
    assert found == {"errors": [expected]}


@in_world()
async def test_an_unreachable_host_is_silence_to_windows(world: World) -> None:
    """A router's "network unreachable" does not end the attempt: the client's own timeout does."""
    found = await dial(world, "host=198.51.100.9&port=80&request=hostname")
    assert found["errors"][0].endswith("(Client.Timeout exceeded while awaiting headers)")


@in_world()
async def test_a_silent_peer_is_given_up_after_21_seconds(world: World) -> None:
    """Without a timeout of its own the client hears WSAETIMEDOUT after 3 + 6 + 12 seconds."""
    async with stopwatch() as spent:
        ended = await finish(worlds.windows(world.pod), ["/agnhost", "connect", "192.0.2.1:80"])
    assert ended.stderr.startswith(f"OTHER: dial tcp 192.0.2.1:80: connectex: {NO_RESPONSE}")
    assert 20.5 < spent[0] < 22


@in_world()
async def test_a_server_that_opens_during_the_resends_is_reached(world: World) -> None:
    """The re-sent SYNs are real connects: a port that opens meanwhile answers."""
    client = worlds.start(
        worlds.windows(world.pod), ["/agnhost", "connect", "10.244.2.5:8080", "--timeout=5s"]
    )
    await asyncio.sleep(0.2)
    await world.serve(world.peer, ["/agnhost", "netexec"], [8080])
    assert await client.task == 0


@in_world()
async def test_a_silent_dns_server_is_not_called_a_missing_name(world: World) -> None:
    """After ten seconds Windows quotes ``getaddrinfo``: "temporary error", not "no such host"."""
    silent = replace(world.n1.resolver, servers=("192.0.2.53",))
    machine = worlds.windows(world.n1, resolver=silent)
    ended = await finish(machine, ["/agnhost", "connect", "web.demo:80"])
    assert ended.stderr.startswith("DNS: lookup web.demo: getaddrinfow: This is usually")
