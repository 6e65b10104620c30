"""Fixed scripts of ``bash -c`` that hold one TCP connection, or one flow of datagrams, and print the answers.

Probes of the harness use them, and a fourth text that tests whether they would work. One sends words, another an HTTP request for
each word; the third sends ``hostname`` from the same source port for each word. Scripts are not interpreted: a text that differs in
a single character is refused. The output is that of the real bash. PowerShell's scripts are interpreted (``windows.powershell``).
"""

import asyncio
import contextlib
import errno
import os
import socket
from collections.abc import Sequence
from dataclasses import dataclass

from nettests.lab.data_files import read_yaml
from nettests.lab.interfaces import Process
from nettests.lab.programs.sockets import transport
from nettests.lab.programs.terminal import Lines, err, out

BASH, BASH_TRIAL, BASH_WEB, BASH_DATAGRAMS = read_yaml(__package__, "bash_scripts.yaml").values()
_READ_SIZE, _DATAGRAM_SIZE = 65536, 2048
_TIMED_OUT = 142
"""The exit code of bash's ``read -t`` on a time-out: 128 plus the number of SIGALRM."""
_CLOSED = "none 1\n"
_SCRIPT_ENDS, _CONNECT_FAILS, _SEND_FAILS, _UNKNOWN = 0, 7, 55, 2


async def bash(process: Process, words: Sequence[str]) -> int:
    """Run ``bash -c TEXT …`` for four known texts; refuse any other."""
    match list(words):
        case ["-c", text] if text == BASH_TRIAL:
            return _SCRIPT_ENDS
        case ["-c", text, address, port, seconds] if text == BASH and port.isdecimal():
            return await _Connection(process, address, float(seconds)).hold(int(port))
        case ["-c", text, address, port, seconds, name] if text == BASH_WEB and port.isdecimal():
            return await _Connection(process, address, float(seconds), name).hold(int(port))
        case ["-c", text, address, port, seconds] if text == BASH_DATAGRAMS and port.isdecimal():
            return await _hold_flow(process, address, int(port), float(seconds))
    await err(process, "bash: the lab's bash knows the script of probes with /dev/tcp only\n")
    return _UNKNOWN


def _text(error: OSError) -> str:
    return os.strerror(error.errno or errno.EINVAL)


@dataclass(frozen=True, slots=True)
class _Connection:
    """A script that holds a connection; ``address`` is its ``$0``, ``name`` the host name for HTTP requests, if any."""

    process: Process
    address: str
    seconds: float
    name: str = ""

    async def hold(self, port: int) -> int:
        """Send each line of the input, or an HTTP request for it, and print the result."""
        process, loop = self.process, asyncio.get_running_loop()
        try:
            connection = await transport.connect(process.machine, self.address, port)
        except OSError as error:
            why = f"{self.address}: line 1: /dev/tcp/{self.address}/{port}: {_text(error)}"
            await out(process, f"{self.address}: connect: {_text(error)}\n{why}\n")
            return _CONNECT_FAILS
        with connection:
            await out(process, "open\n")
            words = Lines(process.stdin, whole=True)
            answers = Lines(lambda: loop.sock_recv(connection, _READ_SIZE), whole=True)
            while (word := await words.next()) is not None:
                if self.name and (end := _CLOSED if answers.left else self._end(connection)):
                    await out(process, f"took {word}\n{end}")
                    return _SCRIPT_ENDS
                head = f"HEAD / HTTP/1.1\r\nHost: {self.name}\r\n\r\n"
                sent = head if self.name else f"{word}\n"
                try:
                    await loop.sock_sendall(connection, sent.encode())
                except OSError as error:
                    why = f"{self.address}: line 1: echo: write error: {_text(error)}"
                    await out(process, f"{why}\nfailed {word}\n")
                    return _SEND_FAILS
                await out(process, f"took {word}\n")
                await out(process, await self._answer(answers, word))
        return _SCRIPT_ENDS

    def _end(self, connection: socket.socket) -> str:
        """Return how the connection ended if it is readable without a request; ``""`` if it is idle."""
        try:
            connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except BlockingIOError:
            return ""
        except OSError as error:
            return self._broken(error)
        return _CLOSED

    async def _answer(self, answers: Lines, word: str) -> str:
        """Return the answer: a line, or for a web server's head the word if its first line is as expected."""
        try:
            async with asyncio.timeout(self.seconds):
                line = back = await answers.next()
                while self.name and line:
                    line = await answers.next()
        except TimeoutError as error:
            return self._broken(error) if error.errno else f"none {_TIMED_OUT}\n"
        except OSError as error:
            return self._broken(error)
        if back is None:
            return _CLOSED
        if not self.name:
            return f"back {back}\n"
        return f"back {word}\n" if back.startswith("HTTP/") else "none other\n"

    def _broken(self, error: OSError) -> str:
        return f"{self.address}: line 1: read: read error: 0: {_text(error)}\n{_CLOSED}"


async def _hold_flow(process: Process, address: str, port: int, seconds: float) -> int:
    """Send a datagram for each line of the input, and print the result."""
    try:
        flow = transport.Conversation(process.machine, address, port)
    except OSError:
        return _CONNECT_FAILS
    with flow:
        await out(process, "open\n")
        words = Lines(process.stdin, whole=True)
        while (word := await words.next()) is not None:
            answer = ""
            with contextlib.suppress(OSError):  # a time-out is one
                async with asyncio.timeout(seconds):
                    await flow.send(b"hostname")
                    answer = (await flow.receive(_DATAGRAM_SIZE)).decode(errors="replace").strip()
            await out(process, f"back {word} {answer}\n" if answer else f"none {word}\n")
    return _SCRIPT_ENDS
