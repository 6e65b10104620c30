"""Read a check's positive controls from its raw answers.

Used by ``observe``. One positive answer in the window is enough: a control shows that something is possible. A
control over many connections shows that several backends can be reached; a control for a non-existent name shows that
its server works if the server denies the name.
"""

from collections.abc import Iterator, Sequence

from nettests.model.check import Check, Control
from nettests.model.observation import NOT_RUN, Attempt, ControlResult, Raw
from nettests.model.words import Outcome, Question
from nettests.parse.read import read_raw, read_resolution, shows

SEVERAL = 2


def read_controls(check: Check, raws: Sequence[Raw], outcome: Outcome) -> tuple[ControlResult, ...]:
    """Return how the controls ended; one that was not run is missing only beside a negative."""
    return tuple(_results(check, raws, outcome))


def _results(check: Check, raws: Sequence[Raw], outcome: Outcome) -> Iterator[ControlResult]:
    for control in check.controls:
        read = read_resolution if control.action.question is Question.RESOLVE else read_raw
        answers = [read(raw) for raw in raws if raw.purpose == f"control:{control.proves}"]
        if answers:
            yield _result(control, answers)
        elif not outcome.positive:
            yield ControlResult(proves=control.proves, ok=False, detail=NOT_RUN)


def _result(control: Control, answers: Sequence[Attempt]) -> ControlResult:
    positive = [answer for answer in answers if shows(answer, control.action)]
    if control.action.question is Question.DISTRIBUTE:
        backends = {answer.backend for answer in positive} - {None}
        return ControlResult(
            proves=control.proves,
            ok=len(backends) >= SEVERAL,
            detail=f"{len(backends)} backends answered {len(answers)} connections",
        )
    last = (positive or list(answers))[-1]
    return ControlResult(
        proves=control.proves, ok=bool(positive), detail=f"{last.outcome.value}: {last.detail}"
    )
