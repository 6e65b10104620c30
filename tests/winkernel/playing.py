"""Plays a recorded case against everything that has to agree with it."""

from collections.abc import Iterator

from tests.winkernel import planner, rules
from tests.winkernel.recording import Case


def differences(case: Case) -> Iterator[str]:
    """Yield what differs, each with the step that it differs after."""
    for number, (step, lost, planned) in enumerate(planner.differences(case), 1):
        found = rules.findings(case, step, sorted(step.balancers, key=str), lost)
        yield from (f"step {number}: {one}" for one in (*planned, *found))
