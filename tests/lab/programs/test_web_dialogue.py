"""The scripts that hold a connection to a web server: what the lab's shells say, beside what a real bash says."""

import asyncio
import socket
import struct

import pytest

from nettests.lab.interfaces import Machine
from nettests.lab.programs.bash_scripts import BASH_WEB
from tests.lab.programs import worlds
from tests.lab.programs.scripts import POWERSHELL_WEB
from tests.lab.programs.test_dialogue import (
    HOST,
    PORT,
    Begin,
    emulated,
    needs_bash,
    real,
    server,
)
from tests.lab.programs.worlds import World, in_world

NAME = f"{HOST}:{PORT}"
CLIENT = ["bash", "-c", BASH_WEB, HOST, str(PORT), "1", NAME]
OK = b"HTTP/1.1 200 OK\r\nDate: Mon\r\nContent-Length: 5\r\n\r\n"
GREETING = b"SSH-2.0-OpenSSH_9.2\r\n\r\n"
WAYS = ["words", "silence", "closed", "reset", "says more", "greeting"]


def script() -> list[str]:
    """Return what is required of PowerShell."""
    text = POWERSHELL_WEB.replace("<address>", HOST).replace("<port>", str(PORT))
    text = text.replace("<seconds>", "1").replace("<name>", NAME)
    return ["powershell", "-NoProfile", "-Command", text]


async def requested(connection: socket.socket) -> bytes:
    """Return a request; bash writes it line by line."""
    request = b""
    while not request.endswith(b"\r\n\r\n"):
        request += (data := await asyncio.get_running_loop().sock_recv(connection, 1000))
        assert data
    return request


async def serve(
    listener: socket.socket, way: str, done: asyncio.Event, over: asyncio.Event
) -> None:
    """Answer the first request, then do what ``way`` says."""
    loop = asyncio.get_running_loop()
    connection, _ = await loop.sock_accept(listener)
    with connection:
        request = await requested(connection)
        assert request == f"HEAD / HTTP/1.1\r\nHost: {NAME}\r\n\r\n".encode()
        await loop.sock_sendall(connection, GREETING if way == "greeting" else OK)
        if way == "reset":
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        if way in {"reset", "closed"}:
            connection.close()
        if way == "says more":
            await asyncio.sleep(0.2)  # a message of its own
            await loop.sock_sendall(connection, b"HTTP/1.1 408 Request Timeout\r\n\r\n")
        done.set()
        if way == "words":
            await requested(connection)
            await loop.sock_sendall(connection, OK)
        await over.wait()


async def spoken(machine: Machine, way: str, client: Begin) -> str:
    """Say two words to a client, the second one when the server has done what it does; return all that it says."""
    done, over = asyncio.Event(), asyncio.Event()
    with server(machine) as listener:
        serving = asyncio.create_task(serve(listener, way, done, over))
        async with client() as (say, hear):
            said = await hear()
            for word in ("before", "after"):
                await say(f"{word}\n".encode())
                line = ""
                while not line.startswith(("back", "none", "failed")):
                    line = (await hear()).rstrip()
                    said += f"{line}\n"
                await done.wait()
                await asyncio.sleep(0.1)  # what was sent is there
        over.set()
        await serving
    return said


@needs_bash
@pytest.mark.parametrize("way", WAYS)
def test_the_labs_bash_says_of_web_servers_what_a_real_one_says(way: str) -> None:
    """Word for word, however the connection ends."""

    @in_world()
    async def compared(world: World) -> None:
        here = world.spare
        said = await spoken(here, way, emulated(here, CLIENT))
        assert said == await spoken(here, way, real(here, CLIENT))

    compared()


@pytest.mark.parametrize(
    ("way", "end"),
    [
        ("words", "back before\ntook after\nback after\n"),
        ("silence", "back before\ntook after\nnone TimedOut\n"),
        ("closed", "back before\ntook after\nnone closed\n"),
        ("reset", "back before\ntook after\nnone ConnectionReset\n"),
        ("says more", "back before\ntook after\nnone closed\n"),
        ("greeting", "none other\ntook after\nnone TimedOut\n"),
    ],
)
def test_powershell_says_what_came_of_a_web_connection(way: str, end: str) -> None:
    """The same dialogue, with members of SocketError."""

    @in_world()
    async def told(world: World) -> None:
        here = worlds.windows(world.spare)
        said = await spoken(here, way, emulated(here, script()))
        assert said.replace("\r", "") == f"open\ntook before\n{end}"

    told()
