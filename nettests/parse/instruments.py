"""Which instruments an answer depends on: exec channel, tool, modules of a script. Pure.

Not calibrated: processes that idle or follow a Service, which answer a known word first; captures,
which hold what the run itself sent; and the harness's own client outside the cluster.
"""

from collections.abc import Iterator, Mapping, Sequence

from nettests.model.calibration import Instrument
from nettests.model.check import UNTIL_DENIED
from nettests.model.observation import Raw

_TOOLS: Mapping[str, Instrument] = {
    "dial": Instrument.DIAL,
    "train": Instrument.DIAL,
    "connect": Instrument.CONNECT,
}
"""By ``Raw.tool``, where the first word of the command does not name the tool."""
OWN_POD = "start"
"""``Raw.tool`` of checks with a Pod of their own."""
_BY_EXEC = frozenset({"exec", UNTIL_DENIED})
"""Follow-up actions that use exec (``Afterwards.how``)."""
_PROGRAMS: Mapping[str, tuple[Instrument, ...]] = {
    "ping": (Instrument.PING,),
    "curl": (Instrument.CURL,),
    "nslookup": (Instrument.NSLOOKUP,),
    "cmd": (Instrument.CMD,),
    "reg": (Instrument.REG,),
    "ipconfig": (Instrument.IPCONFIG,),
    "netsh": (Instrument.NETSH,),
    "tasklist": (Instrument.TASKLIST,),
    "powershell": (Instrument.POWERSHELL,),
}
_CMDLETS: Mapping[str, Instrument] = {
    "\\Get-Hns": Instrument.HNS,
    "Resolve-DnsName": Instrument.RESOLVE_DNSNAME,
}
"""By a substring of the script."""


def of_words(words: Sequence[str]) -> tuple[Instrument, ...]:
    """Return a command's instruments, most specific last; only exec for uncalibrated programs."""
    program = words[0].rpartition("\\")[2].removesuffix(".exe").lower() if words else ""
    scripts = (each for part, each in _CMDLETS.items() if part in words[-1]) if words else ()
    return (Instrument.EXEC, *_PROGRAMS.get(program, ()), *scripts)


def of_raw(raw: Raw) -> tuple[Instrument, ...]:
    """Return the instruments that an answer depends on, the most specific last."""
    return tuple(dict.fromkeys(_of_raw(raw)))


def _of_raw(raw: Raw) -> Iterator[Instrument]:
    if raw.tool in _TOOLS:
        yield from (Instrument.EXEC,) if raw.channel == "exec" else ()
        yield _TOOLS[raw.tool]
    elif raw.tool == OWN_POD:
        yield from (Instrument.EXEC,) if raw.context.get("then") in _BY_EXEC else ()
    elif raw.tool == "inspection":
        # samples: GET /api/v1/nodes/win-1, netsh.exe int ipv4 show dynamicport tcp
        for line in raw.command:
            first, _, rest = line.partition(" ")
            yield from of_words((first, rest)) if first != "GET" else ()
    elif raw.channel == "exec":
        yield from of_words(raw.command)
