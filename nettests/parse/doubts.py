"""Evaluate calibrations: which instruments an answer depends on, and which are trusted in which probes. Pure.

``known_answers`` holds the right readings. An instrument that gave a wrong known answer in a probe,
or none, is distrusted there: answers that need it become ``probe_failed``, whatever they say
(``doubted``). If its parser merely did not recognise a text, only answers whose text it does not
recognise either are distrusted. The same instrument remains trusted in other probes.

Not calibrated: processes that idle or follow a Service, which answer a known word first; captures,
which hold what the run itself sent; and the harness's own client outside the cluster.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from nettests.model.calibration import (
    NOT_UNDERSTOOD,
    UNCALIBRATED,
    UNEXPECTED,
    Calibration,
    Instrument,
    KnownQuestion,
    begins,
    ended,
)
from nettests.model.check import UNTIL_DENIED, Target
from nettests.model.observation import Raw
from nettests.model.words import OS, Outcome, TargetKind, VantageKind
from nettests.parse import program_start
from nettests.parse.known_answers import ROWS, Row
from nettests.parse.read import DOUBT, read_raw
from nettests.parse.reading import one_line

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


_NOT_FOUND = 127
"""A POSIX shell's exit code for a missing program."""
_NO_COMMAND = "CommandNotFoundException"
"""Part of PowerShell's error id for a missing cmdlet (``FullyQualifiedErrorId``), the same in every language."""


class State(StrEnum):
    """The result of one known question."""

    UNDERSTOOD = "understood"
    NOT_UNDERSTOOD = "not understood"
    """The reading was not one of the right ones."""
    UNANSWERED = "unanswered"
    """No answer came over the control channel."""
    ABSENT = "absent"
    """The tool is missing there; checks that need it are skipped."""
    OPEN = "open"
    """The answer was understood, but says nothing about the instrument."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownAnswer:
    """The answer to one known question: the right readings, the actual one, and the raw text."""

    instrument: Instrument
    name: str
    about: str
    node: str
    vantage: str
    os: OS
    probe: str
    state: State
    due: tuple[str, ...]
    seen: str
    text: str
    words: tuple[str, ...] = ()

    @property
    def trusted(self) -> bool:
        """Whether this answer gives no reason to distrust the instrument."""
        return self.state not in {State.NOT_UNDERSTOOD, State.UNANSWERED}

    @property
    def unread(self) -> bool:
        """Whether the parser failed on this text only: its readings of other texts stand."""
        return self.state is State.NOT_UNDERSTOOD and self.seen == Outcome.PROBE_FAILED


def known_answers(calibration: Calibration) -> Iterator[KnownAnswer]:
    """Yield the result of each known question; questions unknown to this version are skipped."""
    for number, question in enumerate(calibration.questions):
        row = ROWS.get(question.name)
        if row is not None:
            yield _answer(calibration, row, question, _part(calibration, number, question, row))


def _answer(
    calibration: Calibration, row: Row, question: KnownQuestion, raw: Raw | None
) -> KnownAnswer:
    state, seen, text = _state(calibration, row, raw)
    return KnownAnswer(
        instrument=row.instrument,
        name=question.name,
        about=row.about,
        node=calibration.node,
        vantage=calibration.vantage,
        os=calibration.os,
        probe=calibration.probe,
        state=state,
        due=row.due,
        seen=seen,
        text=text,
        words=question.words,
    )


def _state(calibration: Calibration, row: Row, raw: Raw | None) -> tuple[State, str, str]:
    if raw is None:
        if calibration.error is not None:
            return State.UNANSWERED, "no answer", calibration.error
        end = f"{calibration.stdout} {calibration.stderr}"[-_TAIL:]
        return State.NOT_UNDERSTOOD, CUT_SHORT, f"… {end}"
    if not row.whole and _missing(raw):
        return State.ABSENT, "no such program", raw.stderr or raw.stdout
    seen = row.read(raw)
    text = "\n".join(part for part in (raw.stdout, raw.stderr, raw.error or "") if part.strip())
    if seen.value in row.due:
        return State.UNDERSTOOD, seen.value, text
    if seen.value in row.open:
        return State.OPEN, seen.value, text
    return State.NOT_UNDERSTOOD, seen.value, text or seen.detail


def _missing(raw: Raw) -> bool:
    """Whether the shell did not find the program, or PowerShell the cmdlet."""
    of_shell = program_start.of_answer(raw.command, raw.exit_code, raw.stdout, raw.stderr)
    return raw.exit_code == _NOT_FOUND or of_shell is not None or _NO_COMMAND in raw.stderr


def _part(calibration: Calibration, number: int, question: KnownQuestion, row: Row) -> Raw | None:
    """Return the answer to one question as a ``Raw``; ``None`` if it is missing or incomplete."""
    raw = Raw(
        check="",
        purpose="calibration",
        attempt=1,
        tool=row.tool,
        client_os=calibration.os.value,
        probe=calibration.probe,
        channel="exec",
        command=question.words or calibration.command,
        started=0.0,
        elapsed=calibration.seconds,
        exit_code=calibration.exit_code,
        stdout=calibration.stdout,
        stderr=calibration.stderr,
        error=calibration.error,
        context=dict(calibration.context),
    )
    if row.whole:
        # For a program that does not exist, the expected answer is an error.
        return (
            raw
            if raw.error is None or (not question.words and len(calibration.questions) == 1)
            else None
        )
    code = re.search(re.escape(ended(number, "@")).replace("@", r"(-?\d+)\s*"), raw.stdout)
    stdout, stderr = (_section(text, number) for text in (raw.stdout, raw.stderr))
    if raw.error is not None or code is None or stdout is None or stderr is None:
        return None
    return replace(raw, exit_code=int(code[1]), stdout=stdout, stderr=stderr)


def kept(calibration: Calibration) -> Calibration:
    """Return a calibration as recorded, without output that shows what others have on a node."""
    stdout = calibration.stdout
    for number, question in enumerate(calibration.questions):
        row, section = ROWS.get(question.name), _section(stdout, number)
        if row is None or row.keep is str or not section or not section.strip():
            continue
        try:
            part = row.keep(section.replace("\r\n", "\n"))
        except (ValueError, LookupError, TypeError, AttributeError):
            part = section[:_LONGEST]  # unexpected form: kept for the node's owner to read
        stdout = stdout.replace(section, f"{part}\n", 1)
    return replace(calibration, stdout=stdout)


_LONGEST, _TAIL = 2000, 120


def _section(text: str, number: int) -> str | None:
    """Return one stream's text from a question's mark to the next; ``None`` without its mark."""
    # samples: ~3~, and after it ~3.0~ in one stream and ~4~ in the other
    _, mark, after = text.partition(begins(number))
    if not mark:
        return None
    return re.split(r"~\d+[.~]", after, maxsplit=1)[0].lstrip(" \r").removeprefix("\n")


CUT_SHORT = "output that was cut short"
"""The reading of a question whose answer is missing although earlier ones came: exec truncates output then."""
_OWN_SERVERS = frozenset({"curl/open", "connect/open", "dial/open"})
"""Questions to the vantage's own server."""
_SILENT = frozenset({Outcome.REFUSED.value, Outcome.TIMED_OUT.value, Outcome.UNREACHABLE.value})
"""Readings that say what the network did."""


@dataclass(slots=True)
class Doubts:
    """The instruments distrusted in each probe, from a run's calibrations in their order."""

    _answers: dict[str, dict[str, KnownAnswer]] = field(default_factory=dict)
    """By probe, the last answer to each question: questions that were not understood are repeated."""

    @classmethod
    def of(cls, calibrations: Iterable[Calibration]) -> "Doubts":
        """Return the doubts that these calibrations raise."""
        doubts = cls()
        for calibration in calibrations:
            doubts.add(calibration)
        return doubts

    def add(self, calibration: Calibration) -> None:
        """Add one more calibration."""
        answers = self._answers.setdefault(calibration.probe, {})
        answers |= {answer.name: answer for answer in known_answers(calibration)}

    def why(self, instruments: Iterable[Instrument], probe: str, *, unread: bool = True) -> str:
        """Return why answers by these instruments in a probe are distrusted; empty if they are not.

        ``unread``: no parser understands the answer's own text. A journal without calibrations of a
        probe is of an older version: nothing is doubted.
        """
        answers = self._answers.get(probe, {})
        for instrument in instruments if answers else ():
            its = [
                answer
                for answer in answers.values()
                if answer.instrument is instrument
                or (instrument is Instrument.EXEC and answer.seen == CUT_SHORT)
            ]
            if not its:
                return (
                    f"{instrument.value} in {probe} {UNCALIBRATED}: no check was known to need it"
                )
            for answer in its:
                if not answer.trusted and (unread or not answer.unread):
                    return doubt(answer)
        return ""

    def doubted(self, raws: Sequence[Raw], node: str | None = None) -> tuple[Raw, ...]:
        """Return the answers, with those from distrusted instruments marked (``DOUBT``).

        A check's own Pod is not calibrated; a probe in a Pod on its ``node`` stands in for it.
        """
        marked = (
            (
                raw,
                self.why(
                    of_raw(raw),
                    self._beside(node) if raw.tool == OWN_POD else raw.probe,
                    unread=read_raw(raw).outcome is Outcome.PROBE_FAILED,
                ),
            )
            for raw in raws
        )
        return tuple(
            replace(raw, context={**raw.context, DOUBT: why}) if why else raw for raw, why in marked
        )

    def unserved(self, target: Target) -> str:
        """Return which server that the target leads to fails on its own node too; else empty."""
        for probe, answer in self._each():
            at_node = target.kind is TargetKind.NODE_IP and answer.node == target.node
            reached = probe in target.backends or (at_node and answer.vantage == VantageKind.NODE)
            silent = answer.name in _OWN_SERVERS and answer.seen in _SILENT
            if reached and silent and not answer.trusted:
                return one_line(f"{probe} serves nothing on {answer.node} itself: {answer.text}")
        return ""

    def _beside(self, node: str | None) -> str:
        """Return a calibrated Pod probe on the node, or an empty string."""
        in_pods = (
            probe
            for probe, answer in self._each()
            if answer.node == node and answer.vantage == VantageKind.POD
        )
        return next(in_pods, "")

    def _each(self) -> Iterator[tuple[str, KnownAnswer]]:
        """Yield probes and answers from copies: other threads may add some meanwhile."""
        for probe, answers in tuple(self._answers.items()):
            for answer in tuple(answers.values()):
                yield probe, answer


NO_DOUBTS = Doubts()
"""For answers without calibrations; never add to it."""


def doubt(answer: KnownAnswer) -> str:
    """Return why an instrument is distrusted, in one line."""
    whose = f"{answer.instrument.value} on {answer.node}"
    if answer.state is State.UNANSWERED:
        return one_line(f"{whose} {UNCALIBRATED}: {answer.text}")
    due = " or ".join(answer.due)
    what = f"{answer.about} was read as {answer.seen}, not as {due}"
    how = UNEXPECTED if answer.seen in _SILENT else NOT_UNDERSTOOD
    return one_line(f"{whose} {how}: {what}: {answer.text}")
