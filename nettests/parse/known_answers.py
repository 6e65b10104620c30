"""Known questions of calibrations: how each answer is read, and which readings are right.

Answers are read by the same parsers as checks' answers. ``probes.known_questions`` holds the
commands under the same names; ``doubts`` evaluates the answers.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from nettests.model.calibration import Instrument
from nettests.model.observation import Raw
from nettests.model.powershell import read_shown
from nettests.model.windows_programs import host_start
from nettests.model.words import Outcome, Question
from nettests.parse.read import read_answer
from nettests.parse.reading import one_line
from nettests.rules.dns_suffixes import IN_POD, suffixes_of
from nettests.rules.evidence import UnreadableError
from nettests.rules.hns import is_second, objects_in
from nettests.rules.host import ADAPTERS, EXCLUDED
from nettests.rules.node import VERSION

EXIT_CODE = 3
"""The exit code with which each process of known questions ends."""
NO_SUCH_PROGRAM = "nettests-no-such-program"
WORDS_ECHOED = "it's (a=b), ~c; {d}"
"""A word with blanks and special characters that no shell between API server and program may change."""
LONG = 1024 * 1024
NOT_ASCII = "é中"


@dataclass(frozen=True, slots=True)
class Seen:
    """What a reader made of an answer: a keyword where possible, and the text."""

    value: str
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A known question: the instrument that it calibrates, and the readings that are right.

    ``due`` readings are right; ``open`` ones are understood but show nothing about the instrument,
    like a silent name server for ``nslookup``. ``tool`` names the parser of checks' answers, if
    any; ``whole`` marks a question about a whole process, not a marked part of one; ``keep``
    returns the part of an output that is recorded, where the rest may show what others have.
    """

    instrument: Instrument
    about: str
    read: Callable[[Raw], Seen]
    due: tuple[str, ...]
    open: tuple[str, ...] = ()
    tool: str = ""
    whole: bool = False
    keep: Callable[[str], str] = str


def _by_parser(question: Question) -> Callable[[Raw], Seen]:
    def read(raw: Raw) -> Seen:
        attempt = read_answer(raw, question)
        return Seen(attempt.outcome.value, attempt.detail)

    return read


_ANSWER, _NAME = _by_parser(Question.REACH), _by_parser(Question.RESOLVE)


def _exit_code(raw: Raw) -> Seen:
    return Seen("none" if raw.exit_code is None else str(raw.exit_code))


def _missing_program(raw: Raw) -> Seen:
    return Seen("started" if raw.error is None and raw.exit_code == 0 else "missing")


def _text(raw: Raw) -> Seen:
    return Seen(one_line(raw.stdout.strip()) or "nothing")


def _long_output(raw: Raw) -> Seen:
    """Read how many characters of a long output arrived; the journal keeps only the number."""
    # sample: [1048576 times x]
    match = re.search(r"\[(\d+) times x\]", raw.stdout)
    return Seen(match[1] if match else str(len(raw.stdout.strip())))


def _start_mode(raw: Raw) -> Seen:
    """Read whether hcsshim replaced the image root in a command: only HostProcess containers do."""
    if (how := host_start(raw.stdout)) is None:
        return Seen(_text(raw).value)
    return Seen("a HostProcess container", str(how))


def _error_seen(raw: Raw) -> Seen:
    """Read whether a non-terminating error was printed; a script that it ended answers nothing."""
    return Seen("an error" if raw.stderr.strip() else "no error")


def _json_shapes(raw: Raw) -> Seen:
    """Read three lines of JSON: arrays of no, one and two objects."""
    try:
        shapes = [read_shown(line) for line in raw.stdout.split("\n") if line.strip()]
    except ValueError:
        return Seen("no JSON")
    return Seen(
        ", ".join(str(len(shape)) if isinstance(shape, list) else "no array" for shape in shapes)
    )


def _hns_schema(raw: Raw) -> Seen:
    """Read the HNS schema from the fields of networks; each has ID and Type in both schemas."""
    try:
        networks = objects_in(raw.stdout)
    except UnreadableError as error:
        return Seen("nothing" if not raw.stdout.strip() else "no networks", error.message)
    if not networks:
        return Seen("no network")
    if not all(network.get("ID") and network.get("Type") for network in networks):
        return Seen("objects without ID and Type")
    schemas = {2 if is_second(network) else 1 for network in networks}
    return Seen(f"schema {schemas.pop()}" if len(schemas) == 1 else "both schemas")


def _version(raw: Raw) -> Seen:
    return _compared(raw.stdout, r"10\.0\.(\d{5})\.", raw.context.get("build"))


def _adapters(raw: Raw) -> Seen:
    stated = raw.context.get("address")
    addresses = re.findall(r"[0-9a-fA-F]*[.:][0-9a-fA-F.:]+[0-9a-fA-F]", raw.stdout)
    if stated in addresses or (addresses and stated is None):
        return Seen(_OWN)
    return Seen("other addresses" if addresses else "no address")


def _compared(text: str, pattern: str, stated: str | None) -> Seen:
    """Return whether the pattern's group is the stated value; if none is stated, any will do."""
    match = re.search(pattern, text)
    if match is None:
        return Seen("nothing")
    return Seen(_OWN if stated in {match[1], None} else match[1])


def _registry(raw: Raw) -> Seen:
    try:
        suffixes_of(raw.stdout, "")
    except ValueError:
        return Seen("no key")
    return Seen("the key")


def _dynamic_ports(raw: Raw) -> Seen:
    numbers = [int(number) for number in re.findall(r"\d+", raw.stdout)]
    return Seen("a range" if len(numbers) == 2 and sum(numbers) <= 2**16 else "no range")


def _excluded_ports(raw: Raw) -> Seen:
    return Seen("a table" if "----" in raw.stdout else "no table")


def _tasks(raw: Raw) -> Seen:
    return Seen("itself" if _TASKLIST.search(raw.stdout) else "others")


def _keep_itself(text: str) -> str:
    """Keep tasklist's own row, and the number of lines instead of the other processes."""
    # sample: "tasklist.exe","4412","Services","0","8,912 K"
    match = _TASKLIST.search(text)
    return f"{match[0] if match else ''}\n({len(text.splitlines())} lines)\n"


def _captured(raw: Raw) -> Seen:
    """Read how many frames of a ping were captured; they were counted when the capture was read."""
    if raw.error is not None:
        return Seen(_NOT_ALLOWED)
    return Seen("its frames" if int(raw.context.get(FRAMES, "0")) else "none of its frames")


_NOT_ALLOWED = "not allowed"
FRAMES = "frames"
"""The key in ``Calibration.context`` for the number of frames that ``tracing`` read: parsers read no captures."""
_TASKLIST = re.compile(r'(?im)^"tasklist\.exe".*$')


_OWN = "its own"
_NO_ANSWER = (Outcome.TIMED_OUT.value, Outcome.UNREACHABLE.value)
_TURNED_AWAY = (Outcome.REFUSED.value,)
"""A firewall on the path may reject, with any source address."""
_NAMES = tuple(
    outcome.value
    for outcome in (
        *(Outcome.RESOLVED, Outcome.NXDOMAIN, Outcome.SERVFAIL),
        *(Outcome.TIMED_OUT, Outcome.REFUSED, Outcome.UNREACHABLE),
    )
)
"""All outcomes of a lookup: which one the name server causes says nothing about the tool."""


def _asked(
    instrument: Instrument,
    about: str,
    due: Outcome,
    *others: str,
    tool: str = "",
    question: Question = Question.REACH,
    **more: tuple[str, ...],
) -> Row:
    """Return the row of a question to the network, read like the answer of a check."""
    return Row(
        instrument=instrument,
        about=about,
        read=_NAME if question is Question.RESOLVE else _ANSWER,
        due=(due.value, *others),
        tool=tool or instrument.value,
        open=more.get("open", ()),
    )


def _windows(
    instrument: Instrument,
    about: str,
    read: Callable[[Raw], Seen],
    *due: str,
    keep: Callable[[str], str] = str,
) -> Row:
    return Row(instrument=instrument, about=about, read=read, due=due, keep=keep)


def _names(instrument: Instrument, tool: str) -> dict[str, Row]:
    """Return rows for an existing and a missing name; a name server's failure is not the tool's."""
    return {
        f"{instrument.value}/{name}": _asked(
            instrument, about, due, tool=tool, question=Question.RESOLVE, open=_NAMES
        )
        for name, about, due in (
            ("known", "the name of the API server's Service", Outcome.RESOLVED),
            ("unknown", "a name in the cluster's domain that does not exist", Outcome.NXDOMAIN),
        )
    }


def _reached(instrument: Instrument, opened: Outcome, *, silent: bool) -> dict[str, Row]:
    """Return rows for an open and a closed port of the probe itself, and for a TEST-NET address.

    ``silent``: a closed port may also not answer, as over UDP.
    """
    return {
        f"{instrument.value}/open": _asked(instrument, "an open port of its own", opened),
        f"{instrument.value}/closed": _asked(
            instrument,
            "a closed port of its own",
            Outcome.REFUSED,
            *(_NO_ANSWER[:1] if silent else ()),
        ),
        f"{instrument.value}/nobody": _asked(
            instrument, NOBODY, Outcome.TIMED_OUT, Outcome.UNREACHABLE.value, open=_TURNED_AWAY
        ),
    }


NOBODY = "an address of TEST-NET, where nobody is (RFC 5737)"

ROWS: Mapping[str, Row] = {
    "exec/missing-program": Row(
        instrument=Instrument.EXEC,
        about="a program that does not exist",
        read=_missing_program,
        due=("missing",),
        whole=True,
    ),
    "exec/exit-code": Row(
        instrument=Instrument.EXEC,
        about=f"a process that ends with exit code {EXIT_CODE}",
        read=_exit_code,
        due=(str(EXIT_CODE),),
        whole=True,
    ),
    "exec/arguments": Row(
        instrument=Instrument.EXEC,
        about=f"the words {WORDS_ECHOED}",
        read=_text,
        due=(WORDS_ECHOED,),
    ),
    "exec/host-process": Row(
        instrument=Instrument.EXEC,
        about="the root of the image as its runtime spells it",
        read=_start_mode,
        due=("a HostProcess container",),
    ),
    **_reached(Instrument.CURL, Outcome.CONNECTED, silent=False),
    **_reached(Instrument.CONNECT, Outcome.REPLIED, silent=True),
    "dial/open": _asked(Instrument.DIAL, "an open port of its own", Outcome.CONNECTED),
    "dial/closed": _asked(Instrument.DIAL, "a closed port of its own", Outcome.REFUSED),
    "ping/itself": _asked(Instrument.PING, "its own loopback address", Outcome.REPLIED),
    "ping/itself-ipv6": _asked(
        Instrument.PING, "its own loopback address of IPv6", Outcome.REPLIED
    ),
    "ping/nobody": _asked(
        Instrument.PING, NOBODY, Outcome.TIMED_OUT, Outcome.UNREACHABLE.value, open=_TURNED_AWAY
    ),
    **_names(Instrument.NSLOOKUP, "nslookup"),
    **_names(Instrument.RESOLVE_DNSNAME, "resolve_dnsname"),
    "cmd/version": _windows(Instrument.CMD, "the node's build", _version, _OWN, keep=VERSION.keep),
    "reg/key": _windows(
        Instrument.REG, "a key that Windows has", _registry, "the key", keep=IN_POD.keep
    ),
    "ipconfig/addresses": _windows(
        Instrument.IPCONFIG, "the node's address", _adapters, _OWN, keep=ADAPTERS.keep
    ),
    "netsh/dynamic": _windows(
        Instrument.NETSH, "the range of dynamic ports", _dynamic_ports, "a range"
    ),
    "netsh/excluded": _windows(
        Instrument.NETSH, "the excluded ports", _excluded_ports, "a table", keep=EXCLUDED.keep
    ),
    "tasklist/itself": _windows(
        Instrument.TASKLIST, "the list of processes", _tasks, "itself", keep=_keep_itself
    ),
    "powershell/exit-code": _windows(
        Instrument.POWERSHELL, f"exit {EXIT_CODE}", _exit_code, str(EXIT_CODE)
    ),
    "powershell/stopping": _windows(
        Instrument.POWERSHELL, "an error that ends a script", _exit_code, "1"
    ),
    "powershell/continuing": _windows(
        Instrument.POWERSHELL, "an error that ends none", _error_seen, "an error"
    ),
    "powershell/json": _windows(
        Instrument.POWERSHELL, "none, one and two objects as JSON", _json_shapes, "0, 1, 2"
    ),
    "powershell/text": _windows(
        Instrument.POWERSHELL, f"the characters {NOT_ASCII}", _text, NOT_ASCII
    ),
    "powershell/long": _windows(
        Instrument.POWERSHELL, "an output of 1 MiB", _long_output, str(LONG)
    ),
    "powershell/account": _windows(Instrument.POWERSHELL, "the account's SID", _text, "S-1-5-18"),
    "hns/networks": _windows(
        Instrument.HNS, "the networks of HNS", _hns_schema, "schema 1", "schema 2"
    ),
    "pktmon/ping": Row(
        instrument=Instrument.PKTMON,
        about="the capture of a ping",
        read=_captured,
        due=("its frames",),
        open=(_NOT_ALLOWED,),
        whole=True,
    ),
}
