"""The scripts that hold a connection: what the lab's bash and PowerShell say, beside what a real bash says."""

import asyncio
import shutil
import socket
import struct
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace

import pytest

from nettests.lab.interfaces import Machine
from nettests.lab.network import kernel
from nettests.lab.programs.bash_scripts import BASH, BASH_TRIAL
from nettests.lab.programs.images import run
from tests.lab.programs import worlds
from tests.lab.programs.scripts import POWERSHELL, POWERSHELL_TRIAL
from tests.lab.programs.worlds import World, finish, in_world, start

PORT = 21000
HOST = "127.0.0.1"
CLIENT = ["bash", "-c", BASH, HOST, str(PORT), "1"]
needs_bash = pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash here")

Speak = Callable[[bytes], Awaitable[None]]
Hear = Callable[[], Awaitable[str]]
Begin = Callable[[], AbstractAsyncContextManager[tuple[Speak, Hear]]]


def script(host: str = HOST) -> list[str]:
    """Return what is required of PowerShell."""
    text = POWERSHELL.replace("<address>", host).replace("<port>", str(PORT))
    return ["powershell", "-NoProfile", "-Command", text.replace("<seconds>", "1")]


def server(machine: Machine) -> socket.socket:
    """Listen in a machine's namespace."""
    listener = machine.namespace.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((HOST, PORT))
    listener.listen()
    return listener


async def serve(listener: socket.socket, way: str, over: asyncio.Event) -> None:
    """Send the first word back; then do what ``way`` says."""
    loop = asyncio.get_running_loop()
    connection, _ = await loop.sock_accept(listener)
    with connection:
        await loop.sock_sendall(connection, await loop.sock_recv(connection, 100))
        if way == "words":
            await loop.sock_sendall(connection, await loop.sock_recv(connection, 100))
        if way == "reset":
            await loop.sock_recv(connection, 100)
        if way in {"reset", "reset before"}:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            connection.close()
        if way == "closed":
            await loop.sock_recv(connection, 100)
            connection.close()
        await over.wait()


async def spoken(machine: Machine, way: str, client: Begin) -> str:
    """Say two words to a client, each when it has told of the one before; return all that it says."""
    over = asyncio.Event()
    with server(machine) as listener:
        serving = asyncio.create_task(serve(listener, way, over))
        async with client() as (say, hear):
            said = await hear()
            for word, end in ((b"before\n", "back before"), (b"after\n", "")):
                await say(word)
                line = ""
                while not line.startswith(("back", "none", "failed")):
                    line = (await hear()).rstrip()
                    said += f"{line}\n"
                assert line.startswith(end)
        over.set()
        await serving
    return said


def emulated(machine: Machine, argv: list[str]) -> Begin:
    """Return how to start the lab's client."""

    @asynccontextmanager
    async def begin() -> AsyncIterator[tuple[Speak, Hear]]:
        words: asyncio.Queue[bytes] = asyncio.Queue()
        output = asyncio.StreamReader()

        async def write(data: bytes) -> None:
            output.feed_data(data)

        running = start(machine, argv)
        running.task.cancel()
        process = replace(running.process, stdin=words.get, stdout=write)
        task = asyncio.create_task(run(process))

        async def hear() -> str:
            async with asyncio.timeout(10):
                return (await output.readline()).decode()

        async def say(word: bytes) -> None:
            assert not task.done()
            words.put_nowait(word)

        yield say, hear
        words.put_nowait(b"")
        await task

    return begin


def real(machine: Machine, argv: list[str] = CLIENT) -> Begin:
    """Return how to start a real bash in the machine's network."""

    @asynccontextmanager
    async def begin() -> AsyncIterator[tuple[Speak, Hear]]:
        with kernel.inside_network(machine.namespace.fd):
            process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert process.stdin is not None
        assert process.stdout is not None
        source, sink = process.stdout, process.stdin

        async def hear() -> str:
            async with asyncio.timeout(10):
                return (await asyncio.to_thread(source.readline)).decode()

        async def say(word: bytes) -> None:
            sink.write(word)
            sink.flush()

        yield say, hear
        sink.close()
        await asyncio.to_thread(process.wait, 10)
        source.close()

    return begin


@needs_bash
@pytest.mark.parametrize("way", ["words", "silence", "reset", "reset before", "closed"])
def test_the_labs_bash_says_what_a_real_one_says(way: str) -> None:
    """Word for word, however the connection ends."""

    @in_world()
    async def compared(world: World) -> None:
        here = world.spare
        said = await spoken(here, way, emulated(here, CLIENT))
        assert said == await spoken(here, way, real(here))

    compared()


@pytest.mark.parametrize(
    ("way", "end"),
    [
        ("words", "took after\nback after\n"),
        ("silence", "took after\nnone TimedOut\n"),
        ("reset", "took after\nnone ConnectionReset\n"),
        ("reset before", "failed after ConnectionReset\n"),
        ("closed", "took after\nnone closed\n"),
    ],
)
def test_powershell_names_dotnets_errors(way: str, end: str) -> None:
    """The same dialogue, with members of SocketError."""

    @in_world()
    async def told(world: World) -> None:
        here = worlds.windows(world.spare)
        said = await spoken(here, way, emulated(here, script()))
        assert said.replace("\r", "") == f"open\ntook before\nback before\n{end}"

    told()


@in_world()
async def test_a_refusal_is_told(world: World) -> None:
    """Nobody listens at the peer: either client says so in its own words, and ends with 7."""
    peer = "10.244.2.5"
    ended = await finish(world.pod, [*CLIENT[:3], peer, str(PORT), "1"])
    assert ended.code == 7
    assert ended.stdout == (
        f"{peer}: connect: Connection refused\n"
        f"{peer}: line 1: /dev/tcp/{peer}/{PORT}: Connection refused\n"
    )
    ended = await finish(worlds.windows(world.pod), script(peer))
    assert (ended.code, ended.stdout) == (7, "error ConnectionRefused\r\n")


@in_world()
async def test_trials_find_what_the_client_needs(world: World) -> None:
    """Both images have it."""
    assert (await finish(world.pod, ["bash", "-c", BASH_TRIAL])).code == 0
    queried = ["powershell", "-NonInteractive", "-Command", POWERSHELL_TRIAL]
    ended = await finish(worlds.windows(world.pod), queried)
    assert (ended.code, ended.stdout) == (0, "System.Net.Sockets.TcpClient\r\n")


@in_world()
async def test_nothing_else_is_run(world: World) -> None:
    """A text for bash that differs by one character is refused; PowerShell's are run as they stand."""
    for words in (["-c", f"{BASH} ", HOST, str(PORT), "1"], ["-c", "id"], []):
        ended = await finish(world.pod, ["bash", *words])
        assert ended.code == 2
        assert "knows the script of probes" in ended.stderr
    changed = script()
    changed[-1] += ";whoami"
    ended = await finish(worlds.windows(world.pod), changed)
    assert (ended.code, ended.stdout) == (7, "error ConnectionRefused\r\n")
