"""Read calibrations: which instruments were understood where, and what the others said. Pure.

``known_answers`` holds what had to be read. An instrument that missed one known answer on a node, or gave none, is
distrusted there: answers that need it are ``probe_failed``, whatever they say (``doubted``). The same instrument is
trusted on other nodes.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from nettests.model.calibration import (
    NOT_UNDERSTOOD,
    UNCALIBRATED,
    Asked,
    Calibration,
    Instrument,
    begins,
    ended,
)
from nettests.model.check import Check
from nettests.model.observation import Raw
from nettests.model.words import OS
from nettests.parse import program_start
from nettests.parse.known_answers import ROWS, Row
from nettests.parse.read import DOUBT
from nettests.parse.reading import one_line

TOOLS: Mapping[str, Instrument] = {"ping": Instrument.PING}
"""The instrument beside the exec channel that a tool's answers need, by ``Raw.tool``."""
_NOT_FOUND = 127
"""What a POSIX shell ends with for a program that is missing."""


class State(StrEnum):
    """What one known question showed."""

    UNDERSTOOD = "understood"
    NOT_UNDERSTOOD = "not understood"
    """Something else was read than what had to be read."""
    UNANSWERED = "unanswered"
    """The control channel brought no answer."""
    ABSENT = "absent"
    """The tool is missing there; checks that need it are skipped."""
    OPEN = "open"
    """It was understood, and says nothing of the instrument."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownAnswer:
    """The answer to one known question: what had to be read, what was read, and the raw text."""

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
        """Whether this answer is no reason to distrust the instrument."""
        return self.state not in {State.NOT_UNDERSTOOD, State.UNANSWERED}


def known_answers(calibration: Calibration) -> Iterator[KnownAnswer]:
    """Yield what was read of each known question; one that this version does not know is left out."""
    for number, asked in enumerate(calibration.asked):
        row = ROWS.get(asked.name)
        if row is not None:
            yield _answer(calibration, row, asked, _part(calibration, number, asked))


def _answer(calibration: Calibration, row: Row, asked: Asked, raw: Raw | None) -> KnownAnswer:
    state, seen, text = _state(calibration, row, asked, raw)
    return KnownAnswer(
        instrument=row.instrument,
        name=asked.name,
        about=row.about,
        node=calibration.node,
        vantage=calibration.vantage,
        os=calibration.os,
        probe=calibration.probe,
        state=state,
        due=row.due,
        seen=seen,
        text=text,
        words=asked.words,
    )


def _state(
    calibration: Calibration, row: Row, asked: Asked, raw: Raw | None
) -> tuple[State, str, str]:
    """Return the state, the reading and the text."""
    if raw is None:
        if calibration.error is not None:
            return State.UNANSWERED, "no answer", calibration.error
        whole = one_line(f"{calibration.stdout} {calibration.stderr}")
        return State.NOT_UNDERSTOOD, "output that was cut short", whole
    if asked.words and (raw.exit_code == _NOT_FOUND or _missing(raw)):
        return State.ABSENT, "no such program", raw.stderr or raw.stdout
    seen = row.read(raw)
    text = "\n".join(part for part in (raw.stdout, raw.stderr, raw.error or "") if part.strip())
    if seen.value in row.due:
        return State.UNDERSTOOD, seen.value, text
    if seen.value in row.open:
        return State.OPEN, seen.value, text
    return State.NOT_UNDERSTOOD, seen.value, text or seen.detail


def _missing(raw: Raw) -> bool:
    """Whether ``cmd`` did not find the program."""
    return program_start.of_answer(raw.command, raw.exit_code, raw.stdout, raw.stderr) is not None


def _part(calibration: Calibration, number: int, asked: Asked) -> Raw | None:
    """Return the answer to one question as checks' answers are recorded; ``None`` where there is none, or not all of it."""
    name = asked.name.partition("/")[0]
    raw = Raw(
        check="",
        purpose="calibration",
        attempt=1,
        tool=name,
        client_os=calibration.os.value,
        probe=calibration.probe,
        channel="exec",
        command=asked.words or calibration.command,
        started=0.0,
        elapsed=calibration.seconds,
        exit_code=calibration.exit_code,
        stdout=calibration.stdout,
        stderr=calibration.stderr,
        error=calibration.error,
        context=dict(calibration.context),
    )
    if not asked.words:
        return raw if calibration.error is None or asked.name in _OF_ERRORS else None
    sections = [_section(text, number) for text in (calibration.stdout, calibration.stderr)]
    # sample: [[ended 2: 0]]
    code = re.search(re.escape(ended(number, "@")).replace("@", r"(-?\d+)\s*"), calibration.stdout)
    if code is None or calibration.error is not None or None in sections:
        return None
    stdout, stderr = (section or "" for section in sections)
    return replace(raw, exit_code=int(code[1]), stdout=stdout, stderr=stderr)


_OF_ERRORS = frozenset({"exec/missing-program"})
"""Questions whose due answer may be an error of the control channel."""


def _section(text: str, number: int) -> str | None:
    """Return what stands in one stream between a question's mark and the next mark; ``None`` without its mark."""
    _, mark, rest = text.partition(begins(number))
    if not mark:
        return None
    return (
        re.split(r"\[\[(?:question|ended) \d+", rest, maxsplit=1)[0]
        .lstrip(" \r")
        .removeprefix("\n")
    )


@dataclass(slots=True)
class Doubts:
    """Which instruments are distrusted where; made of a run's calibrations, in the order in which they were made."""

    _answers: dict[tuple[str, str], dict[str, KnownAnswer]] = field(default_factory=dict)
    """By node and vantage, the last answer to each question: one that got none is asked again."""

    @classmethod
    def of(cls, calibrations: Iterable[Calibration]) -> "Doubts":
        """Return the doubts that these calibrations raise."""
        doubts = cls()
        for calibration in calibrations:
            doubts.add(calibration)
        return doubts

    def add(self, calibration: Calibration) -> None:
        """Take one more calibration into account."""
        answers = self._answers.setdefault((calibration.node, calibration.vantage), {})
        answers |= {answer.name: answer for answer in known_answers(calibration)}

    def why(self, raw: Raw, node: str, vantage: str) -> str:
        """Return why an answer from there says nothing, or nothing.

        A journal without calibrations of a place is of an older version: nothing is doubted there.
        """
        answers = self._answers.get((node, vantage), {})
        if not answers:
            return ""
        for instrument in instruments_of(raw):
            its = [answer for answer in answers.values() if answer.instrument is instrument]
            if not its:
                return f"{instrument.value} on {node} {UNCALIBRATED}: nobody planned it"
            if distrusted := next((answer for answer in its if not answer.trusted), None):
                return doubt(distrusted)
        return ""

    def doubted(self, check: Check, raws: Sequence[Raw]) -> tuple[Raw, ...]:
        """Return a check's answers, those marked that come from distrusted instruments."""
        if not self._answers:
            return tuple(raws)
        sources = {action.source.probe: action.source for action in check.actions}
        marked = []
        for raw in raws:
            source = sources.get(raw.probe)
            node = source.node if source else None
            why = self.why(raw, node, source.kind.value) if source and node else ""
            marked.append(replace(raw, context={**raw.context, DOUBT: why}) if why else raw)
        return tuple(marked)


NO_DOUBTS = Doubts()
"""For answers of which no calibration is known; nobody adds to it."""


def instruments_of(raw: Raw) -> tuple[Instrument, ...]:
    """Return the instruments that an answer needs, the most particular last."""
    channel = (Instrument.EXEC,) if raw.channel == "exec" else ()
    return (*channel, *((TOOLS[raw.tool],) if raw.tool in TOOLS else ()))


def doubt(answer: KnownAnswer) -> str:
    """Return why an instrument is distrusted, in one line."""
    whose = f"{answer.instrument.value} on {answer.node}"
    if answer.state is State.UNANSWERED:
        return one_line(f"{whose} {UNCALIBRATED}: {answer.text}")
    due = " or ".join(answer.due)
    what = f"{answer.about} was read as {answer.seen}, not as {due}"
    return one_line(f"{whose} {NOT_UNDERSTOOD}: {what}: {answer.text}")
