"""Clients of one flow of datagrams that keep their source port, and say what came of each. Pure.

Scripts for ``bash`` and for PowerShell, beside those of ``idle_client``: for each word of their standard input they send
one datagram to agnhost's UDP server, which answers with its host name, and print ``back WORD NAME`` or ``none WORD``.
``during_changes`` speaks to them; ``parse.during`` knows what they say.
"""

from ipaddress import ip_address
from typing import assert_never

from nettests.model.powershell import powershell
from nettests.model.words import OS

_BASH = (
    "exec 2>/dev/null; trap '' PIPE; "
    'exec 3<>"/dev/udp/$0/$1" || exit 7; '
    "echo open; "
    "while read -r word; do "
    "printf hostname >&3; "
    'if back=$(timeout "$2" dd bs=2048 count=1 <&3) && [[ -n $back ]]; '
    'then echo "back $word $back"; else echo "none $word"; fi; '
    "done"
)
"""``dd`` reads a whole datagram; bash's ``read`` reads its first byte, and loses the others."""

_POWERSHELL = (
    "$o=[Console]::Out;"
    "$a=[Net.IPAddress]::Parse('HOST');"
    "$c=New-Object Net.Sockets.UdpClient($a.AddressFamily);"
    "$c.Connect($a,PORT);$c.Client.ReceiveTimeout=1000*SECONDS;"
    "$b=[Text.Encoding]::ASCII.GetBytes('hostname');"
    "$e=New-Object Net.IPEndPoint($a,PORT);"
    "$o.WriteLine('open');"
    "while($null -ne ($w=[Console]::In.ReadLine())){"
    "try{[void]$c.Send($b,$b.Length);"
    "$l=[Text.Encoding]::ASCII.GetString($c.Receive([ref]$e));$o.WriteLine('back '+$w+' '+$l)}"
    "catch{$o.WriteLine('none '+$w)}}"
)
"""Without double quotes, as in ``idle_client``."""


def flow_words(system: OS, host: str, port: int, seconds: int) -> tuple[str, ...]:
    """Return the argv of a client that waits ``seconds`` for the reply to each datagram."""
    address = str(ip_address(host))
    match system:
        case OS.LINUX:
            return ("bash", "-c", _BASH, address, str(port), str(seconds))
        case OS.WINDOWS:
            script = _POWERSHELL.replace("HOST", address).replace("PORT", str(port))
            return powershell(script.replace("SECONDS", str(seconds)))
        case _:
            assert_never(system)
