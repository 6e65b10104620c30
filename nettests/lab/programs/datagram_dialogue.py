"""The script of ``bash -c`` that holds one flow of datagrams and says who answered each, known word for word.

Conformance probes send it; beside ``dialogue``, which holds connections. No script is interpreted. For each word of its input it sends ``hostname`` from the same source port, and prints what came back
as ``back WORD ANSWER``, or ``none WORD``.
"""

import asyncio
from collections.abc import Sequence

from nettests.lab.interfaces import Process
from nettests.lab.programs.sockets import udp
from nettests.lab.programs.terminal import out

BASH = (
    "exec 2>/dev/null; trap '' PIPE; exec 3<>\"/dev/udp/$0/$1\" || exit 7; echo open; "
    "while read -r word; do printf hostname >&3; "
    'if back=$(timeout "$2" dd bs=2048 count=1 <&3) && [[ -n $back ]]; '
    'then echo "back $word $back"; else echo "none $word"; fi; done'
)
_SIZE = 2048
_CANNOT_OPEN = 7


async def bash(process: Process, words: Sequence[str]) -> int | None:
    """``bash -c TEXT ADDRESS PORT SECONDS`` for one text; ``None`` when it is another."""
    match list(words):
        case ["-c", text, address, port, seconds] if text == BASH and port.isdecimal():
            return await _hold(process, address, int(port), float(seconds))
    return None


async def _hold(process: Process, address: str, port: int, seconds: float) -> int:
    """Send a datagram for each line of the input, and say what came of it."""
    try:
        flow = udp.Conversation(process.machine, address, port)
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
            answer = await _answer(flow, seconds)
            await out(process, f"back {word} {answer}\n" if answer else f"none {word}\n")


async def _answer(flow: udp.Conversation, seconds: float) -> str:
    """Return what came back of one datagram, nothing where nothing did."""
    try:
        async with asyncio.timeout(seconds):
            await flow.send(b"hostname")
            return (await flow.receive(_SIZE)).decode(errors="replace").strip()
    except OSError:  # a time-out is one
        return ""
