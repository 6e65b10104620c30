"""The scripts that hold a flow of datagrams: what the lab's bash and PowerShell say, beside what a real bash says."""

import asyncio
import shutil
import socket
import subprocess
import threading
from dataclasses import replace

import pytest

from nettests.lab.programs.bash_scripts import BASH_DATAGRAMS as BASH
from nettests.lab.programs.images import run
from tests.lab.programs import worlds
from tests.lab.programs.scripts import POWERSHELL_UDP as POWERSHELL
from tests.lab.programs.worlds import World, in_world, start

PORT = 21081
HOST = "127.0.0.1"
SAID = "open\nback one server-1\nnone two\nback three server-1\n"


def script(**changes: str) -> list[str]:
    """Return what is required of PowerShell."""
    text = POWERSHELL
    for name, value in {"address": HOST, "port": str(PORT), "seconds": "1", **changes}.items():
        text = text.replace(f"<{name}>", value)
    return ["powershell", "-NoProfile", "-Command", text]


def answer(server: socket.socket, ports: list[int]) -> None:
    """Answer the first and the third of three datagrams, as agnhost does; note whence they came."""
    for number in range(3):
        data, sender = server.recvfrom(100)
        assert data == b"hostname"
        ports.append(sender[1])
        if number != 1:
            server.sendto(b"server-1", sender)


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash here")
def test_a_real_bash_keeps_its_port_and_takes_each_datagram_whole() -> None:
    """Three words, three datagrams from one port; one without an answer holds up no other."""
    ports: list[int] = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind((HOST, 0))
        server.settimeout(20)
        answering = threading.Thread(target=answer, args=(server, ports))
        answering.start()
        port = str(server.getsockname()[1])
        done = subprocess.run(
            ["bash", "-c", BASH, HOST, port, "1"],
            input="one\ntwo\nthree\n",
            capture_output=True,
            text=True,
            check=True,
        )
        answering.join()
    assert done.stdout == SAID
    assert len(set(ports)) == 1


@pytest.mark.parametrize("windows", [False, True])
def test_the_labs_shells_say_the_same(windows: bool) -> None:
    """The same dialogue from a namespace, in the manner of both systems."""

    @in_world()
    async def told(world: World) -> None:
        here = worlds.windows(world.spare) if windows else world.spare
        server = here.namespace.socket(socket.AF_INET, socket.SOCK_DGRAM)
        server.bind((HOST, PORT))
        server.setblocking(True)
        ports: list[int] = []
        answering = asyncio.create_task(asyncio.to_thread(answer, server, ports))
        running = start(here, script() if windows else ["bash", "-c", BASH, HOST, str(PORT), "1"])
        running.task.cancel()
        input_ = iter([b"one\ntw", b"o\nthree\n", b""])

        async def stdin() -> bytes:
            return next(input_)

        assert await run(replace(running.process, stdin=stdin)) == 0
        await answering
        assert running.stdout.decode().replace("\r", "") == SAID
        assert len(set(ports)) == 1
        server.close()

    told()
