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
from nettests.model.words import Question
from nettests.parse.read import read_answer
from nettests.parse.reading import one_line
from nettests.resources import rows_of
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
    """Read whether the build is the stated one; if none is stated, any will do."""
    match = re.search(r"10\.0\.(\d{5})\.", raw.stdout)
    if match is None:
        return Seen("nothing")
    return Seen(_OWN if raw.context.get("build") in {match[1], None} else match[1])


def _adapters(raw: Raw) -> Seen:
    stated = raw.context.get("address")
    addresses = re.findall(r"[0-9a-fA-F]*[.:][0-9a-fA-F.:]+[0-9a-fA-F]", raw.stdout)
    if stated in addresses or (addresses and stated is None):
        return Seen(_OWN)
    return Seen("other addresses" if addresses else "no address")


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


_READERS: Mapping[str, Callable[[Raw], Seen]] = {
    "answer": _by_parser(Question.REACH),
    "name": _by_parser(Question.RESOLVE),
    **{
        read.__name__.removeprefix("_"): read
        for read in (
            *(_exit_code, _missing_program, _text, _long_output, _start_mode, _error_seen),
            *(_json_shapes, _hns_schema, _version, _adapters, _registry, _dynamic_ports),
            *(_excluded_ports, _tasks, _captured),
        )
    },
}
_KEPT: Mapping[str, Callable[[str], str]] = {
    "cmd/version": VERSION.keep,
    "reg/key": IN_POD.keep,
    "ipconfig/addresses": ADAPTERS.keep,
    "netsh/excluded": EXCLUDED.keep,
    "tasklist/itself": _keep_itself,
}


def _filled(text: str) -> str:
    return text.format(
        EXIT_CODE=EXIT_CODE, WORDS_ECHOED=WORDS_ECHOED, LONG=LONG, NOT_ASCII=NOT_ASCII
    )


def _row(of: Mapping[str, str]) -> Row:
    return Row(
        instrument=Instrument(of["question"].partition("/")[0]),
        about=_filled(of["about"]),
        read=_READERS[of["read"]],
        due=tuple(_filled(of["due"]).split(" | ")),
        open=tuple(of["open"].split(" | ")) if "open" in of else (),
        tool=of.get("tool", ""),
        whole="whole" in of,
        keep=_KEPT.get(of["question"], str),
    )


ROWS = {of["question"]: _row(of) for of in rows_of("nettests.parse", "known_answers.txt")}
