"""Client ``scripts`` for one connection or flow that report what was sent and answered. Pure.

In bash and PowerShell: for each word on standard input they print ``took WORD`` once it is written
to the connection, then ``back LINE`` or ``none WHY``; ``failed WORD`` if it cannot be written.
Neither sends TCP keep-alives. ``parse.idle`` and ``parse.endpoint_changes`` read their output.

A web client sends a request for each word, and prints ``back WORD`` when it is answered. It first
checks whether unrequested data arrived, which ends the connection. A flow client sends a datagram
for each word, and prints ``back WORD LINE``.
"""

from dataclasses import dataclass
from importlib.resources import files
from ipaddress import ip_address
from typing import assert_never

from nettests.model.powershell import powershell
from nettests.model.words import OS


@dataclass(frozen=True, slots=True)
class Client:
    """A client as one script per OS."""

    bash: str
    powershell: str

    def words(self, system: OS, host: str, port: int, seconds: int) -> tuple[str, ...]:
        """Return the client's argv; it waits ``seconds`` for the answer to each word."""
        address = str(ip_address(host))
        name = f"[{address}]:{port}" if ":" in address else f"{address}:{port}"
        match system:
            case OS.LINUX:
                named = (name,) if "$3" in self.bash else ()
                return ("bash", "-c", self.bash, address, str(port), str(seconds), *named)
            case OS.WINDOWS:
                script = self.powershell.replace("HOST", address).replace("PORT", str(port))
                return powershell(script.replace("SECONDS", str(seconds)).replace("NAME", name))
            case _:
                assert_never(system)


def _lines(name: str) -> list[str]:
    """Return the lines of a script without its comments; both systems' clients are one line each."""
    text = (files("nettests.probes") / "scripts" / name).read_text("utf-8")
    return [line for line in text.splitlines() if not line.startswith("#")]


_CONNECT = _lines("connect.ps1")
ECHO = Client(" ".join(_lines("echo.sh")), "".join(_CONNECT + _lines("echo.ps1")))
WEB = Client(" ".join(_lines("web.sh")), "".join(_CONNECT + _lines("web.ps1")))
FLOW = Client(" ".join(_lines("flow.sh")), "".join(_lines("flow.ps1")))

TRIALS = {
    "bash": ("bash", "-c", "exec 3<>/dev/udp/127.0.0.1/9"),
    "powershell": powershell("[Net.Sockets.TcpClient].FullName"),
}
"""Commands that test whether an image can run such a client; they send no packet."""
