"""Names that nslookup found only at a second query: which of a check's answers tell, and in which words."""

from dataclasses import replace

import pytest

from nettests.model.observation import Raw
from nettests.model.words import OS, Protocol, Question, TargetKind
from nettests.parse.late_answers import resent
from nettests.parse.overload import Carried
from tests.parse.test_resent import BIND, MICROSOFT, SILENT, answers, check, looked_up

BY_NAME = check(Protocol.UDP, TargetKind.SERVICE_FQDN)
RESOLVING = replace(BY_NAME, action=replace(BY_NAME.action, question=Question.RESOLVE))
(AGAIN,) = looked_up(f";; communications error to 10.96.0.10#53: timed out\n{BIND}")
(NOT_FOUND,) = looked_up(";; connection timed out; no servers could be reached\n", elapsed=5.2)
TOLD = "attempt 1 found the name only at a second query (communications error to 10.96.0.10#53: timed out)"


@pytest.mark.parametrize(
    "before",
    [
        replace(AGAIN, purpose="control:target"),
        replace(AGAIN, error="HTTP 500"),
        answers(0.1)[0],
        NOT_FOUND,
    ],
    ids=["a control", "a channel that broke", "another tool", "not found"],
)
def test_an_answer_that_tells_nothing_hides_no_other(before: Raw) -> None:
    """What is no lookup of the check, or found nothing, is passed over; the next one speaks for itself."""
    assert resent(RESOLVING, [before], []) is None
    assert resent(RESOLVING, [before, AGAIN], []) == TOLD


def test_other_commands_may_take_as_long_as_a_command_takes() -> None:
    """A process beside a lookup starts slowly too: up to a second shows that the probe was not busy."""
    raws = looked_up(BIND, elapsed=5.2)
    assert resent(RESOLVING, raws, [Carried(11.0, 0.9)]) is not None
    assert resent(RESOLVING, raws, [Carried(11.0, 1.1)]) is None


@pytest.mark.parametrize(
    ("seconds", "told"),
    [(10.03, True), (15.04, True), (10.25, True), (5.03, False), (10.4, False), (9.9, False)],
)
def test_several_lost_queries_are_told_by_their_time_alone(seconds: float, *, told: bool) -> None:
    """10.03 s, recorded where the DNS lost a third of its queries: no busy machine takes the resolver's time twice."""
    said = resent(RESOLVING, looked_up(BIND, elapsed=seconds), [])
    assert (said is not None) is told
    assert said is None or said.endswith("is sent again after 5 s; and after that once more")


@pytest.mark.parametrize(
    ("beside", "told"), [(0.1, True), (5.03, True), (10.9, True), (6.6, False), (3.2, False)]
)
def test_a_machine_that_is_busy_takes_any_time(beside: float, *, told: bool) -> None:
    """If another lookup took a time that no resolver waits for, 10.04 s was a busy machine too."""
    lookups = [*looked_up(BIND, elapsed=10.04), *looked_up(BIND, elapsed=beside)]
    assert (resent(RESOLVING, lookups, []) is not None) is told


def test_what_microsofts_says_of_the_name_stands_behind_the_first_server() -> None:
    """It names its server once before the name; a later line of that word is part of what it says."""
    text = MICROSOFT.replace("\n\nName", f"\n\n{SILENT}Server:  again\nName")
    raws = looked_up(text, system=OS.WINDOWS, elapsed=2.1)
    assert resent(RESOLVING, raws, []) == (
        "attempt 1 found the name only at a second query (DNS request timed out)"
    )
