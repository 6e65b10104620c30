"""Scripts for clients of one connection, or of one flow of datagrams, that report what they sent and what came back. Pure.

For ``bash`` and PowerShell: for each word on standard input they print ``took WORD`` once it is written to the
connection, and then ``back LINE`` or ``none WHY``; ``failed WORD`` if it cannot be written. Neither sends TCP
keep-alives. ``parse.idle`` and ``parse.during`` read their output.

A client of a web server sends a request for each word, and prints ``back WORD`` when it was answered. It first checks
whether something arrived meanwhile, which answers nothing and is an end of the connection. A client of a flow sends a
datagram for each word, and prints ``back WORD LINE``.
"""

from dataclasses import dataclass
from ipaddress import ip_address
from typing import assert_never

from nettests.model.powershell import powershell
from nettests.model.words import OS


@dataclass(frozen=True, slots=True)
class Client:
    """A client as a script for each system."""

    bash: str
    powershell: str

    def words(self, system: OS, host: str, port: int, seconds: int) -> tuple[str, ...]:
        """Return the argv of the client, which waits ``seconds`` for the answer to each word."""
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


_BASH = (
    "exec 4>&2 2>&1; trap '' PIPE; "
    'exec 3<>"/dev/tcp/$0/$1" || exit 7; '
    "echo open; "
    "while read -r word; do "
    'echo "$word" >&3 || { echo "failed $word"; exit 55; }; '
    'echo "took $word"; '
    'if read -r -t "$2" back <&3; then echo "back $back"; else echo "none $?"; fi; '
    "done"
)
"""Errors go to the same stream as the words, so that they precede the word that they belong to. Stderr is kept
open as 4: containerd 2.1 takes its end for the end of the process's output, and closes its input."""

_CONNECT = (
    "$o=[Console]::Out;"
    "function Why($e){$e.Exception.GetBaseException().SocketErrorCode};"
    "$a=[Net.IPAddress]::Parse('HOST');"
    "$c=New-Object Net.Sockets.TcpClient($a.AddressFamily);"
    "try{$c.Connect($a,PORT)}catch{$o.WriteLine('error '+(Why $_));exit 7};"
)
"""Reads ``[Console]::In`` and not ``$input``: the host itself reads the latter's words. No double quotes: a
Windows command line would need them escaped."""

_POWERSHELL = (
    _CONNECT + "$s=$c.GetStream();$s.ReadTimeout=1000*SECONDS;"
    "$r=New-Object IO.StreamReader($s);"
    "$o.WriteLine('open');"
    "while($null -ne ($w=[Console]::In.ReadLine())){"
    "$b=[Text.Encoding]::ASCII.GetBytes($w+[char]10);"
    "try{$s.Write($b,0,$b.Length)}catch{$o.WriteLine('failed '+$w+' '+(Why $_));exit 55};"
    "$o.WriteLine('took '+$w);"
    "try{$l=$r.ReadLine()}catch{$o.WriteLine('none '+(Why $_));continue};"
    "if($null -eq $l){$o.WriteLine('none closed')}else{$o.WriteLine('back '+$l)}"
    "}"
)

_BASH_WEB = (
    "exec 4>&2 2>&1; trap '' PIPE; "
    'exec 3<>"/dev/tcp/$0/$1" || exit 7; '
    "echo open; "
    "while read -r word; do "
    'if read -t 0 -u 3; then echo "took $word"; read -r -t "$2" back <&3; echo "none 1"; exit 0; fi; '
    "printf 'HEAD / HTTP/1.1\\r\\nHost: %s\\r\\n\\r\\n' \"$3\" >&3 || "
    '{ echo "failed $word"; exit 55; }; '
    'echo "took $word"; '
    'if read -r -t "$2" back <&3; then '
    "while read -r -t \"$2\" rest <&3 && [[ $rest != $'\\r' && -n $rest ]]; do :; done; "
    'case "$back" in HTTP/*) echo "back $word";; *) echo "none other";; esac; '
    'else echo "none $?"; fi; '
    "done"
)

_POWERSHELL_WEB = (
    _CONNECT + "$s=$c.GetStream();$s.ReadTimeout=1000*SECONDS;"
    "$r=New-Object IO.StreamReader($s);$n=[string][char]13+[char]10;"
    "$o.WriteLine('open');"
    "while($null -ne ($w=[Console]::In.ReadLine())){"
    "if($c.Client.Poll(0,'SelectRead')){$o.WriteLine('took '+$w);"
    "try{$l=$r.ReadLine();$o.WriteLine('none closed')}catch{$o.WriteLine('none '+(Why $_))};exit 0};"
    "$b=[Text.Encoding]::ASCII.GetBytes('HEAD / HTTP/1.1'+$n+'Host: NAME'+$n+$n);"
    "try{$s.Write($b,0,$b.Length)}catch{$o.WriteLine('failed '+$w+' '+(Why $_));exit 55};"
    "$o.WriteLine('took '+$w);"
    "try{$l=$r.ReadLine();$h=$l;while($h){$h=$r.ReadLine()}}"
    "catch{$o.WriteLine('none '+(Why $_));continue};"
    "if($null -eq $l){$o.WriteLine('none closed')}"
    "elseif($l.StartsWith('HTTP/')){$o.WriteLine('back '+$w)}"
    "else{$o.WriteLine('none other')}"
    "}"
)

_BASH_FLOW = (
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

_POWERSHELL_FLOW = (
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

ECHO = Client(_BASH, _POWERSHELL)
WEB = Client(_BASH_WEB, _POWERSHELL_WEB)
FLOW = Client(_BASH_FLOW, _POWERSHELL_FLOW)

TRIALS = {
    "bash": ("bash", "-c", "exec 3<>/dev/udp/127.0.0.1/9"),
    "powershell": powershell("[Net.Sockets.TcpClient].FullName"),
}
"""Commands that test whether an image has what such a client needs; they send no packet."""
