"""Calibrations as table rows: each instrument's known questions, nodes, and what was read. Pure.

For the page's section "Instruments", ``results.json`` and ``nettests calibrate``. Nodes of one OS
with the same answer share a row; answers that were not understood come first.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from nettests.model.calibration import Calibration
from nettests.model.grouping import grouped
from nettests.model.words import OS
from nettests.parse.doubts import KnownAnswer, State, known_answers

_FIRST = (State.NOT_UNDERSTOOD, State.UNANSWERED, State.ABSENT, State.OPEN, State.UNDERSTOOD)


@dataclass(frozen=True, slots=True, kw_only=True)
class InstrumentRow:
    """One known question on nodes that answered alike; ``text`` is the first raw answer."""

    instrument: str
    question: str
    vantage: str
    os: OS
    nodes: tuple[str, ...]
    due: tuple[str, ...]
    seen: str
    state: State
    text: str

    @property
    def trusted(self) -> bool:
        """Whether the answer shows the instrument is understood, or shows nothing about it."""
        return self.state not in {State.NOT_UNDERSTOOD, State.UNANSWERED}


def instrument_rows(calibrations: Iterable[Calibration]) -> tuple[InstrumentRow, ...]:
    """Return the rows, from the last answer to each question, answers not understood first."""
    last: dict[tuple[str, str], KnownAnswer] = {}
    for calibration in calibrations:
        last |= {(answer.probe, answer.name): answer for answer in known_answers(calibration)}
    alike = grouped(
        ((answer.name, answer.vantage, answer.os, answer.state, answer.seen), answer)
        for answer in last.values()
    )
    rows = [_row(answers) for answers in alike.values()]
    return tuple(sorted(rows, key=lambda row: _FIRST.index(row.state)))


def _row(answers: list[KnownAnswer]) -> InstrumentRow:
    first = answers[0]
    return InstrumentRow(
        instrument=first.instrument.value,
        question=first.about,
        vantage=first.vantage,
        os=first.os,
        nodes=tuple(sorted({answer.node for answer in answers})),
        due=first.due,
        seen=first.seen,
        state=first.state,
        text=first.text,
    )
