"""What must be read of an answer to a known question, by the same readers that read checks' answers.

The table of calibrations. ``probes.known_questions`` asks by the names of its rows; ``doubts`` reads answers by them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from nettests.model.calibration import Instrument
from nettests.model.observation import Raw
from nettests.model.words import Outcome, Question
from nettests.parse.read import read_answer
from nettests.parse.reading import one_line

EXIT_CODE = 3
"""What each process with known questions ends with."""
NO_SUCH_PROGRAM = "nettests-no-such-program"


@dataclass(frozen=True, slots=True)
class Seen:
    """What a reader made of an answer, in one word if it knows it, and the text."""

    value: str
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A known question: the instrument it is for, and the readings any of which is due.

    ``open`` readings are understood and show nothing, as a name server's silence of ``nslookup``.
    """

    instrument: Instrument
    about: str
    read: Callable[[Raw], Seen]
    due: tuple[str, ...]
    open: tuple[str, ...] = ()


def _by_reader(question: Question = Question.REACH) -> Callable[[Raw], Seen]:
    def read(raw: Raw) -> Seen:
        attempt = read_answer(raw, question)
        return Seen(attempt.outcome.value, attempt.detail)

    return read


def _exit_code(raw: Raw) -> Seen:
    code = "none" if raw.exit_code is None else str(raw.exit_code)
    return Seen(code, f"exit code {code}: {one_line(raw.stderr or raw.stdout)}")


def _missing_program(raw: Raw) -> Seen:
    if raw.error is None and raw.exit_code == 0:
        return Seen("started", f"exit code 0: {one_line(raw.stdout)}")
    return Seen("missing", one_line(raw.error or raw.stderr or raw.stdout))


_NO_ANSWER = (Outcome.TIMED_OUT.value, Outcome.UNREACHABLE.value)
_TURNED_AWAY = (Outcome.REFUSED.value,)
"""By a firewall on the way, in whose name it likes."""

ROWS: Mapping[str, Row] = {
    "exec/exit-code": Row(
        instrument=Instrument.EXEC,
        about="a process that ends with exit code 3",
        read=_exit_code,
        due=(str(EXIT_CODE),),
    ),
    "exec/missing-program": Row(
        instrument=Instrument.EXEC,
        about="a program that does not exist",
        read=_missing_program,
        due=("missing",),
    ),
    "ping/itself": Row(
        instrument=Instrument.PING,
        about="ping of its own loopback address",
        read=_by_reader(),
        due=(Outcome.REPLIED.value,),
    ),
    "ping/nobody": Row(
        instrument=Instrument.PING,
        about="ping of TEST-NET, where nobody is (RFC 5737)",
        read=_by_reader(),
        due=_NO_ANSWER,
        open=_TURNED_AWAY,
    ),
}
