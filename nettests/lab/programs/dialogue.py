"""Scripts that hold one TCP connection, say which words they took, and what came back: four, known word for word.

Two of ``bash -c``, two of PowerShell, as conformance probes send them, and for each shell what finds out whether they
would work. One of each speaks in words, the other in HTTP requests, one for each word. No script is interpreted: a text that differs in a single character is not known. What each prints
is what the real bash does, and what the documents of .NET say of PowerShell's.
"""

import asyncio
import errno
import os
import re
import socket
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from nettests.lab.interfaces import Process
from nettests.lab.programs.sockets import tcp
from nettests.lab.programs.terminal import err, out

BASH = (
    "exec 4>&2 2>&1; trap '' PIPE; exec 3<>\"/dev/tcp/$0/$1\" || exit 7; echo open; "
    'while read -r word; do echo "$word" >&3 || { echo "failed $word"; exit 55; }; '
    'echo "took $word"; '
    'if read -r -t "$2" back <&3; then echo "back $back"; else echo "none $?"; fi; done'
)
BASH_TRIAL = "exec 3<>/dev/udp/127.0.0.1/9"
POWERSHELL = (
    "$o=[Console]::Out;"
    "function Why($e){$e.Exception.GetBaseException().SocketErrorCode};"
    "$a=[Net.IPAddress]::Parse('<address>');"
    "$c=New-Object Net.Sockets.TcpClient($a.AddressFamily);"
    "try{$c.Connect($a,<port>)}catch{$o.WriteLine('error '+(Why $_));exit 7};"
    "$s=$c.GetStream();$s.ReadTimeout=1000*<seconds>;"
    "$r=New-Object IO.StreamReader($s);$o.WriteLine('open');"
    "while($null -ne ($w=[Console]::In.ReadLine())){"
    "$b=[Text.Encoding]::ASCII.GetBytes($w+[char]10);"
    "try{$s.Write($b,0,$b.Length)}catch{$o.WriteLine('failed '+$w+' '+(Why $_));exit 55};"
    "$o.WriteLine('took '+$w);"
    "try{$l=$r.ReadLine()}catch{$o.WriteLine('none '+(Why $_));continue};"
    "if($null -eq $l){$o.WriteLine('none closed')}else{$o.WriteLine('back '+$l)}}"
)
POWERSHELL_TRIAL = "[Net.Sockets.TcpClient].FullName"

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
POWERSHELL_WEB = (
    "$o=[Console]::Out;"
    "function Why($e){$e.Exception.GetBaseException().SocketErrorCode};"
    "$a=[Net.IPAddress]::Parse('<address>');"
    "$c=New-Object Net.Sockets.TcpClient($a.AddressFamily);"
    "try{$c.Connect($a,<port>)}catch{$o.WriteLine('error '+(Why $_));exit 7};"
    "$s=$c.GetStream();$s.ReadTimeout=1000*<seconds>;"
    "$r=New-Object IO.StreamReader($s);$n=[string][char]13+[char]10;$o.WriteLine('open');"
    "while($null -ne ($w=[Console]::In.ReadLine())){"
    "if($c.Client.Poll(0,'SelectRead')){$o.WriteLine('took '+$w);"
    "try{$l=$r.ReadLine();$o.WriteLine('none closed')}catch{$o.WriteLine('none '+(Why $_))};exit 0};"
    "$b=[Text.Encoding]::ASCII.GetBytes('HEAD / HTTP/1.1'+$n+'Host: <name>'+$n+$n);"
    "try{$s.Write($b,0,$b.Length)}catch{$o.WriteLine('failed '+$w+' '+(Why $_));exit 55};"
    "$o.WriteLine('took '+$w);"
    "try{$l=$r.ReadLine();$h=$l;while($h){$h=$r.ReadLine()}}"
    "catch{$o.WriteLine('none '+(Why $_));continue};"
    "if($null -eq $l){$o.WriteLine('none closed')}"
    "elseif($l.StartsWith('HTTP/')){$o.WriteLine('back '+$w)}else{$o.WriteLine('none other')}}"
)

_ARGUMENTS = {
    "name": r"[0-9A-Fa-f:.\[\]]+",
    "address": r"[0-9A-Fa-f:.]+",
    "port": r"[0-9]+",
    "seconds": r"[0-9]+",
}
_READ_SIZE = 65536
_TIMED_OUT = 142
"""``read -t`` of bash: 128 and the number of SIGALRM."""
_SCRIPT_ENDS, _CONNECT_FAILS, _SEND_FAILS, _UNKNOWN = 0, 7, 55, 2
_CODES = {
    errno.ECONNREFUSED: "ConnectionRefused",
    errno.ECONNRESET: "ConnectionReset",
    errno.EHOSTUNREACH: "HostUnreachable",
    errno.ENETUNREACH: "NetworkUnreachable",
    errno.ETIMEDOUT: "TimedOut",
    errno.EPIPE: "ConnectionAborted",
}
"""Members of .NET's SocketError."""


def _pattern(script: str) -> re.Pattern[str]:
    text = re.escape(script)
    for name, value in _ARGUMENTS.items():
        text = text.replace(re.escape(f"<{name}>"), f"(?P<{name}>{value})")
    return re.compile(text)


_POWERSHELL, _POWERSHELL_WEB = _pattern(POWERSHELL), _pattern(POWERSHELL_WEB)


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


def _code(error: OSError) -> str:
    return _CODES.get(error.errno or 0, "SocketError")


_OF_POWERSHELL = _Manner(
    refused=lambda _place, error: f"error {_code(error)}\n",
    unsent=lambda word, error: f"failed {word} {_code(error)}\n",
    silent="none TimedOut\n",
    closed="none closed\n",
    broken=lambda error: f"none {_code(error)}\n",
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


async def powershell(process: Process, text: str) -> int | None:
    """Run one of two texts; ``None`` when it is another."""
    if text == POWERSHELL_TRIAL:
        await out(process, "System.Net.Sockets.TcpClient\n")
        return _SCRIPT_ENDS
    match = _POWERSHELL.fullmatch(text) or _POWERSHELL_WEB.fullmatch(text)
    if match is None:
        return None
    port, seconds = int(match["port"]), float(match["seconds"])
    name = match.groupdict().get("name", "")
    return await _hold(process, match["address"], port, seconds, _OF_POWERSHELL, name=name)


async def _hold(
    process: Process, address: str, port: int, seconds: float, manner: _Manner, *, name: str = ""
) -> int:
    """Send each line of the input, or a request to the server of that name for it, and say what came of it."""
    try:
        connection = await tcp.connect(process.machine, address, port)
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
