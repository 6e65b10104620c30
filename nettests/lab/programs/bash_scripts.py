"""Scripts of ``bash -c``, known word for word, that hold one TCP connection, or one flow of datagrams, and say what came back.

Conformance probes send them, and what finds out whether they would work. One speaks in words, another in HTTP requests, one for each
word; the third sends ``hostname`` from the same source port for each word. No script is interpreted: a text that differs in a single
character is not known. What each prints is what the real bash does. PowerShell's scripts are interpreted (``windows.powershell``).
"""

import asyncio
import errno
import os
import socket
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from nettests.lab.interfaces import Process
from nettests.lab.programs.sockets import transport
from nettests.lab.programs.terminal import err, out

BASH = (
    "exec 4>&2 2>&1; trap '' PIPE; exec 3<>\"/dev/tcp/$0/$1\" || exit 7; echo open; "
    'while read -r word; do echo "$word" >&3 || { echo "failed $word"; exit 55; }; '
    'echo "took $word"; '
    'if read -r -t "$2" back <&3; then echo "back $back"; else echo "none $?"; fi; done'
)
BASH_TRIAL = "exec 3<>/dev/udp/127.0.0.1/9"
BASH_WEB = (
    "exec 4>&2 2>&1; trap '' PIPE; exec 3<>\"/dev/tcp/$0/$1\" || exit 7; echo open; "
    "while read -r word; do "
    'if read -t 0 -u 3; then echo "took $word"; read -r -t "$2" back <&3; echo "none 1"; exit 0; fi; '
    "printf 'HEAD / HTTP/1.1\\r\\nHost: %s\\r\\n\\r\\n' \"$3\" >&3 || "
    '{ echo "failed $word"; exit 55; }; echo "took $word"; '
    'if read -r -t "$2" back <&3; then '
    "while read -r -t \"$2\" rest <&3 && [[ $rest != $'\\r' && -n $rest ]]; do :; done; "
    'case "$back" in HTTP/*) echo "back $word";; *) echo "none other";; esac; '
    'else echo "none $?"; fi; done'
)
_READ_SIZE = 65536
_TIMED_OUT = 142
"""``read -t`` of bash: 128 and the number of SIGALRM."""
_SCRIPT_ENDS, _CONNECT_FAILS, _SEND_FAILS, _UNKNOWN = 0, 7, 55, 2


@dataclass(frozen=True, slots=True, kw_only=True)
class _Manner:
    """How one of the two says what went wrong."""

    refused: Callable[[str, OSError], str]
    unsent: Callable[[str, OSError], str]
    silent: str
    closed: str
    broken: Callable[[OSError], str]


def _of_bash(name: str) -> _Manner:
    def text(error: OSError) -> str:
        return os.strerror(error.errno or errno.EINVAL)

    return _Manner(
        refused=lambda place, error: (
            f"{name}: connect: {text(error)}\n{name}: line 1: {place}: {text(error)}\n"
        ),
        unsent=lambda word, error: (
            f"{name}: line 1: echo: write error: {text(error)}\nfailed {word}\n"
        ),
        silent=f"none {_TIMED_OUT}\n",
        closed="none 1\n",
        broken=lambda error: f"{name}: line 1: read: read error: 0: {text(error)}\nnone 1\n",
    )


async def bash(process: Process, words: Sequence[str]) -> int:
    """``bash -c TEXT …``, for two texts; any other is refused before anything is done."""
    match list(words):
        case ["-c", text] if text == BASH_TRIAL:
            return _SCRIPT_ENDS
        case ["-c", text, address, port, seconds] if text == BASH and port.isdecimal():
            return await _hold(process, address, int(port), float(seconds), _of_bash(address))
        case ["-c", text, address, port, seconds, name] if text == BASH_WEB and port.isdecimal():
            return await _hold(
                process, address, int(port), float(seconds), _of_bash(address), name=name
            )
    await err(process, "bash: the lab's bash knows the script of probes with /dev/tcp only\n")
    return _UNKNOWN


async def _hold(
    process: Process, address: str, port: int, seconds: float, manner: _Manner, *, name: str = ""
) -> int:
    """Send each line of the input, or a request to the server of that name for it, and say what came of it."""
    try:
        connection = await transport.connect(process.machine, address, port)
    except OSError as error:
        await out(process, manner.refused(f"/dev/tcp/{address}/{port}", error))
        return _CONNECT_FAILS
    with connection:
        await out(process, "open\n")
        words, answers = _Lines(process.stdin), _Lines(lambda: _receive(connection))
        while (word := await words.next()) is not None:
            if name and (end := manner.closed if answers.left else _end(connection, manner)):
                await out(process, f"took {word}\n{end}")
                return _SCRIPT_ENDS
            request = f"HEAD / HTTP/1.1\r\nHost: {name}\r\n\r\n" if name else f"{word}\n"
            try:
                await asyncio.get_running_loop().sock_sendall(connection, request.encode())
            except OSError as error:
                await out(process, manner.unsent(word, error))
                return _SEND_FAILS
            await out(process, f"took {word}\n")
            answer = await _answer(answers, seconds, manner, whole=bool(name))
            await out(process, _of_http(answer, word) if name else answer)
    return _SCRIPT_ENDS


def _end(connection: socket.socket, manner: _Manner) -> str:
    """Return what came of a connection over which something can be read that answers nothing; nothing if it is silent."""
    try:
        connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
    except BlockingIOError:
        return ""
    except OSError as error:
        return manner.broken(error)
    return manner.closed


def _of_http(answer: str, word: str) -> str:
    """Return what is said of an answer's first line: that of a web server stands for the word."""
    if not answer.startswith("back "):
        return answer
    return f"back {word}\n" if answer.startswith("back HTTP/") else "none other\n"


async def _receive(connection: socket.socket) -> bytes:
    return await asyncio.get_running_loop().sock_recv(connection, _READ_SIZE)


async def _answer(
    answers: "_Lines", seconds: float, manner: _Manner, *, whole: bool = False
) -> str:
    """Return what came back: a line, of which others up to an empty one are part if it is the ``whole`` answer."""
    try:
        async with asyncio.timeout(seconds):
            line = back = await answers.next()
            while whole and line:
                line = await answers.next()
    except TimeoutError as error:
        return manner.broken(error) if error.errno else manner.silent
    except OSError as error:
        return manner.broken(error)
    return manner.closed if back is None else f"back {back}\n"


@dataclass(slots=True)
class _Lines:
    """The lines of a stream, one at a time; what is left without a line end is none."""

    read: Callable[[], Awaitable[bytes]]
    left: bytes = field(default=b"")
    """What was read beyond the last line."""

    async def next(self) -> str | None:
        """Return the next line without its end, ``None`` at the end."""
        while b"\n" not in self.left:
            data = await self.read()
            if not data:
                return None
            self.left += data
        line, _, self.left = self.left.partition(b"\n")
        return line.decode(errors="replace").removesuffix("\r")


BASH_DATAGRAMS = (
    "exec 2>/dev/null; trap '' PIPE; exec 3<>\"/dev/udp/$0/$1\" || exit 7; echo open; "
    "while read -r word; do printf hostname >&3; "
    'if back=$(timeout "$2" dd bs=2048 count=1 <&3) && [[ -n $back ]]; '
    'then echo "back $word $back"; else echo "none $word"; fi; done'
)
_DATAGRAM_SIZE = 2048
_CANNOT_OPEN = 7


async def bash_datagrams(process: Process, words: Sequence[str]) -> int | None:
    """``bash -c TEXT ADDRESS PORT SECONDS`` for one text; ``None`` when it is another."""
    match list(words):
        case ["-c", text, address, port, seconds] if text == BASH_DATAGRAMS and port.isdecimal():
            return await _hold_datagrams(process, address, int(port), float(seconds))
    return None


async def _hold_datagrams(process: Process, address: str, port: int, seconds: float) -> int:
    """Send a datagram for each line of the input, and say what came of it."""
    try:
        flow = transport.Conversation(process.machine, address, port)
    except OSError:
        return _CANNOT_OPEN
    with flow:
        await out(process, "open\n")
        left = b""
        while True:
            while b"\n" not in left:
                data = await process.stdin()
                if not data:
                    return 0
                left += data
            line, _, left = left.partition(b"\n")
            word = line.decode(errors="replace").removesuffix("\r")
            answer = await _datagram_answer(flow, seconds)
            await out(process, f"back {word} {answer}\n" if answer else f"none {word}\n")


async def _datagram_answer(flow: transport.Conversation, seconds: float) -> str:
    """Return what came back of one datagram, nothing where nothing did."""
    try:
        async with asyncio.timeout(seconds):
            await flow.send(b"hostname")
            return (await flow.receive(_DATAGRAM_SIZE)).decode(errors="replace").strip()
    except OSError:  # a time-out is one
        return ""
