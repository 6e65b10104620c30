"""Known questions that calibrate a vantage's instruments, and their shell text. Pure.

Each probe runs one shell with its questions, each between marks in both streams, with an exit code
that has to arrive. A program that does not exist is a process of its own, which one probe of each
kind of vantage on a node runs for the others. On Windows the
shell is ``cmd``; its text has no character on which an outer ``cmd /c`` would act, which hcsshim
adds since 0.10 (``model.windows_programs``). Tools get the same argv as in checks and rules.
``parse.known_answers`` holds the right readings.
"""

import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import assert_never

from nettests.model.calibration import Instrument, KnownQuestion, begins, ended
from nettests.model.cluster_profile import Timing
from nettests.model.dns_names import DEFAULT_DOMAIN
from nettests.model.powershell import BEGIN, POWERSHELL
from nettests.model.windows_programs import CMD, OPERATORS, QUESTION, node_argv
from nettests.model.words import OS, Family, Protocol, VantageKind
from nettests.parse.known_answers import EXIT_CODE, LONG, NO_SUCH_PROGRAM, NOT_ASCII, WORDS_ECHOED
from nettests.probes.commands import IN_POD as AGNHOST_IN_POD
from nettests.probes.commands import dial, host_programs
from nettests.probes.objects import NODE_CLOSED, NODE_HTTP, NODE_UDP, POD_CLOSED, PROBE_HTTP
from nettests.rules.dns_suffixes import IN_POD
from nettests.rules.flannel import PROCESSES
from nettests.rules.hns import script_of
from nettests.rules.host import ADAPTERS, DYNAMIC, EXCLUDED
from nettests.rules.node import VERSION

TEST_NET = "192.0.2.1"
"""An address of TEST-NET-1, for documentation only; no network should route it (RFC 5737)."""
LOOPBACK = "127.0.0.1"
PATIENCE = 1
"""Seconds to wait for an answer that must not come; BusyBox's ``ping`` takes only whole seconds."""
NO_FILE = r"C:\nettests-no-such-file"
_NAMES = {"known": "kubernetes.default.svc", "unknown": "nettests-no-such-service.default.svc"}
"""In the cluster's domain."""
_NAMES_ELSEWHERE = {"known": "example.com", "unknown": "nettests.invalid"}
"""Both are reserved for such uses (RFC 2606)."""
_ALIKE: Mapping[Instrument, Mapping[str, Sequence[str]]] = {
    Instrument.CMD: {"version": VERSION.words[len(CMD) :]},
    Instrument.REG: {"key": IN_POD.words},
    Instrument.IPCONFIG: {"addresses": ADAPTERS.words},
    Instrument.NETSH: {"dynamic": DYNAMIC.words, "excluded": EXCLUDED.words},
    Instrument.TASKLIST: {"itself": PROCESSES.words},
}
"""Questions that are the same on every vantage: commands of rules."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Here:
    """Calibration of this machine instead of a node: two local ports, and how programs start."""

    opened: int
    closed: int
    how: str
    """``native``, or the shell."""
    alone: bool
    """Whether each question has a process of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A vantage whose instruments are calibrated, and the facts that its questions need."""

    node: str
    vantage: VantageKind
    os: OS
    probe: str
    instruments: frozenset[Instrument]
    address: str = ""
    """The node's address, on which its vantage serves UDP."""
    build: str = ""
    domain: str = DEFAULT_DOMAIN
    families: tuple[Family, ...] = (Family.IPV4,)
    here: Here | None = None

    @property
    def on_node(self) -> bool:
        """Whether it is a node vantage."""
        return self.vantage is VantageKind.NODE

    @property
    def context(self) -> dict[str, str]:
        """The values that readers compare answers with."""
        return {
            key: value for key, value in (("address", self.address), ("build", self.build)) if value
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """One process: its argv and its questions, in order."""

    words: tuple[str, ...]
    questions: tuple[KnownQuestion, ...]
    marked: bool = True
    """Whether it prints marks around answers; a process for a single question prints none."""


@dataclass(frozen=True, slots=True)
class _Part:
    """A command of the shell's text and its questions: none, one, or several with own marks."""

    words: tuple[str, ...]
    questions: tuple[KnownQuestion, ...]


def batches(place: Place) -> tuple[Batch, ...]:
    """Return the processes that calibrate a place."""
    # Windows shells start no file without an extension, such as the image's agnhost.
    alone = place.os is OS.WINDOWS and place.vantage is VantageKind.POD and not place.here
    shelled = place.instruments - ({Instrument.CONNECT} if alone else set())
    parts = [
        part
        for instrument in Instrument
        if instrument in shelled
        for part in _parts(instrument, place)
    ]
    without = [_process(part) for part in _connect(place)] if place.instruments > shelled else []
    missing = Batch(
        words=(NO_SUCH_PROGRAM,), questions=(KnownQuestion(name="exec/missing-program"),)
    )
    code = KnownQuestion(name="exec/exit-code")
    if place.here and place.here.alone:
        ends = Batch(words=by_shell(place.os, f"exit {EXIT_CODE}"), questions=(code,))
        return (missing, *map(_process, parts), ends)
    questions = tuple(question for part in parts for question in part.questions)
    shell = by_shell(place.os, *_lines(place, parts), f"exit {EXIT_CODE}")
    return (missing, *without, Batch(words=shell, questions=(*questions, code)))


def _process(part: _Part) -> Batch:
    """Return a part's own process; only ``cmd``'s built-in commands still need a shell."""
    if part.words == POWERSHELL:
        return Batch(words=(*POWERSHELL, _script(part.questions, 0)), questions=part.questions)
    built_in = part.words == VERSION.words[len(CMD) :]
    words = VERSION.words if built_in else part.words
    return Batch(words=words, questions=part.questions, marked=False)


def _parts(instrument: Instrument, place: Place) -> Iterator[_Part]:
    """Yield the questions of one instrument; those of HNS are in PowerShell's script."""
    for name, words in _ALIKE.get(instrument, {}).items():
        yield _part(f"{instrument.value}/{name}", *words)
    if instrument in _BY_PLACE:
        yield from _BY_PLACE[instrument](place)


def _exec(place: Place) -> Iterator[_Part]:
    if not (place.here and place.here.alone):
        yield _part("exec/arguments", "echo", WORDS_ECHOED)
    if place.on_node and place.os is OS.WINDOWS and not place.here:
        yield _part("exec/host-process", *QUESTION[len(CMD) :])


def _pings(place: Place) -> Iterator[_Part]:
    yield _part("ping/itself", *ping(place.os, LOOPBACK))
    if Family.IPV6 in place.families:
        yield _part("ping/itself-ipv6", *ping(place.os, "::1"))
    yield _part("ping/nobody", *ping(place.os, TEST_NET))


def _nslookup(place: Place) -> Iterator[_Part]:
    for name, host in _names(place):
        yield _part(f"nslookup/{name}", "nslookup", "-timeout=1", "-retry=1", f"{host}.")


def _resolve_dnsname(place: Place) -> Iterator[_Part]:
    for name, host in _names(place):
        query = f"Resolve-DnsName -Name {host} -Type A -DnsOnly"
        yield _part(f"resolve-dnsname/{name}", *POWERSHELL, query)


def _names(place: Place) -> Iterator[tuple[str, str]]:
    if place.here:
        yield from _NAMES_ELSEWHERE.items()
    else:
        for name, label in _NAMES.items():
            yield name, f"{label}.{place.domain}"


def _dial(_place: Place) -> Iterator[_Part]:
    """Yield requests to the probe's own server to dial its own ports, by the image's curl."""
    for name, port in (("open", PROBE_HTTP), ("closed", POD_CLOSED)):
        request = dial(LOOPBACK, port, Protocol.TCP, "hostname", Timing())
        words = ("curl", "-sS", "-m", "9", f"http://{LOOPBACK}:{PROBE_HTTP}{request.path}")
        yield _Part(words, (KnownQuestion(name=f"dial/{name}", words=request.words),))


def _part(name: str, *words: str) -> _Part:
    return _Part(words, (KnownQuestion(name=name, words=words),))


def _curl(place: Place) -> Iterator[_Part]:
    """Yield requests to a local server; a refusal takes two seconds on Windows (curl#14144)."""
    _, curl = host_programs(place.os)
    opened, closed = (NODE_HTTP, NODE_CLOSED) if place.on_node else (PROBE_HTTP, POD_CLOSED)
    if place.here:
        opened, closed = place.here.opened, place.here.closed
    for name, host, port, seconds in (
        ("open", LOOPBACK, opened, 5),
        ("closed", LOOPBACK, closed, 5),
        ("nobody", TEST_NET, opened, PATIENCE),
    ):
        url = f"http://{host}:{port}/hostname"
        yield _part(f"curl/{name}", curl, "-sS", "-m", str(seconds), url)


def _connect(place: Place) -> Iterator[_Part]:
    if (
        not place.on_node and not place.here
    ):  # Pods connect over TCP, and a refusal takes seconds on Windows
        refusing = f"{LOOPBACK}:{POD_CLOSED}"
        yield _part("connect/closed", AGNHOST_IN_POD, "connect", "--timeout=5s", refusing)
        return
    agnhost, _ = host_programs(place.os)
    host = place.address or LOOPBACK
    for name, address in (
        ("open", f"{f'[{host}]' if ':' in host else host}:{NODE_UDP}"),
        ("closed", f"{LOOPBACK}:{NODE_CLOSED}"),
        ("nobody", f"{TEST_NET}:{NODE_UDP}"),
    ):
        yield _part(
            f"connect/{name}",
            agnhost,
            "connect",
            "--protocol=udp",
            f"--timeout={PATIENCE}s",
            address,
        )


def ping(os: OS, host: str) -> tuple[str, ...]:
    """Return the argv of one echo request, with the shortest time to wait for its reply."""
    match os:
        case OS.WINDOWS:
            return ("ping", "-n", "1", "-w", str(1000 * PATIENCE), host)
        case OS.LINUX:
            return ("ping", "-c", "1", "-W", str(PATIENCE), host)
        case _:
            assert_never(os)


def _powershell(place: Place) -> Iterator[_Part]:
    """Yield two processes for the exit codes of errors, and one script for all else."""
    yield _part("powershell/exit-code", *POWERSHELL, f"exit {EXIT_CODE}")
    yield _part("powershell/stopping", *POWERSHELL, f"Get-Item {NO_FILE} -ErrorAction Stop")
    sections = {
        "powershell/json": "; ".join(
            f"ConvertTo-Json -InputObject @({items}) -Compress" for items in ("", "1", "1,2")
        ),
        "powershell/text": "+".join(f"[string][char]{ord(letter)}" for letter in NOT_ASCII),
        "powershell/continuing": f"Get-Item {NO_FILE} -ErrorAction Continue",
        "powershell/long": f"'x'*{LONG}",
    }
    if place.on_node and not place.here:
        sections["powershell/account"] = (
            "[Security.Principal.WindowsIdentity]::GetCurrent().User.Value"
        )
    if Instrument.HNS in place.instruments:
        sections["hns/networks"] = script_of("Get-HnsNetwork")
    questions = tuple(
        KnownQuestion(name=name, words=(*POWERSHELL, script)) for name, script in sections.items()
    )
    yield _Part(POWERSHELL, questions)


_SECTION = (
    "function q($n,$b){{$o=[Console]::Out;$e=[Console]::Error;$o.WriteLine({begins});$e.WriteLine({begins});$c=0;"
    "try{{foreach($l in (. $b)){{$o.WriteLine($l)}}}}catch{{$e.WriteLine($_.FullyQualifiedErrorId);$c=1}};$o.WriteLine({ended})}}"
).format(begins="'~'+$n+'~'", ended="'~'+$n+'.'+$c+'~'")
"""Prints ``begins`` and ``ended`` marks around a block's output; an error ends only its own block."""


_BY_PLACE: Mapping[Instrument, Callable[[Place], Iterator[_Part]]] = {
    Instrument.EXEC: _exec,
    Instrument.DIAL: _dial,
    Instrument.CURL: _curl,
    Instrument.CONNECT: _connect,
    Instrument.PING: _pings,
    Instrument.NSLOOKUP: _nslookup,
    Instrument.RESOLVE_DNSNAME: _resolve_dnsname,
    Instrument.POWERSHELL: _powershell,
}


def _script(questions: Sequence[KnownQuestion], first: int) -> str:
    return in_sections({number: each.words[-1] for number, each in enumerate(questions, first)})


def in_sections(scripts: Mapping[int, str]) -> str:
    """Return one script that runs these, the output of each between marks with its number."""
    sections = (f"q {number} {{{script}}}" for number, script in scripts.items())
    return ";".join((BEGIN, _SECTION, *sections))


def by_shell(os: OS, *lines: str) -> tuple[str, ...]:
    """Return the argv of a shell that runs these lines in sequence."""
    match os:
        case OS.WINDOWS:
            # /d: no AutoRun of the registry; /v:on: !errorlevel! is read when it is printed (Microsoft, "cmd").
            return node_argv("cmd.exe", "/d", "/v:on", "/c", "&".join(lines))
        case OS.LINUX:
            return ("sh", "-c", "; ".join(lines))
        case _:
            assert_never(os)


def _lines(place: Place, parts: Sequence[_Part]) -> Iterator[str]:
    number = 0
    for part in parts:
        if part.words == POWERSHELL:
            yield by_cmd((*POWERSHELL, _script(part.questions, number)), on_node=place.on_node)
        elif place.os is OS.WINDOWS:
            yield f"echo {begins(number)}"
            yield f"echo {begins(number)} 1>&2"
            yield by_cmd(part.words, on_node=place.on_node)
            yield f"echo {ended(number, '!errorlevel!')}"
        else:
            yield f"echo '{begins(number)}'"
            yield f"echo '{begins(number)}' >&2"
            yield shlex.join(part.words)
            yield f'echo "{ended(number, "$?")}"'
        number += len(part.questions)


def by_cmd(words: Sequence[str], *, on_node: bool) -> str:
    """Escape a command for ``cmd``; an outer ``cmd`` keeps the carets, as all is in quotes.

    The image's PATH lacks PowerShell's folder on a node; only hcsshim since 0.10 adds it.
    """
    first = f"{_FOLDER}{words[0]}" if on_node and words[0] == POWERSHELL[0] else words[0]
    return " ".join(
        word if word in OPERATORS else re.sub(r"[&|<>^]", r"^\g<0>", word)
        for word in (first, *words[1:])
    )


_FOLDER = "C:\\Windows\\System32\\WindowsPowerShell\\v1.0\\"
