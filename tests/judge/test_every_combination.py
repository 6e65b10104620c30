"""Every combination of outcome, expectation, controls, trust and agreement has the due verdict.

The oracle is written from the rules of the design, in another order and with other means than the code:
a table of what is expected against what is seen, and after that what takes a verdict away.
"""

from dataclasses import dataclass
from itertools import product

import pytest

from nettests.judge import judge
from nettests.model.expectation import Expected
from nettests.model.observation import ControlResult
from nettests.model.words import Outcome, Verdict
from tests.judge.cases import BUG, CLAIM, check, control, expects, observed

SEEN = (
    Outcome.CONNECTED,
    Outcome.REFUSED,
    Outcome.TIMED_OUT,
    Outcome.UNREACHABLE,
    Outcome.NXDOMAIN,
    Outcome.PROBE_FAILED,
)
EXPECTED: dict[str, Expected | None] = {
    "claim": CLAIM,
    "timed_out": Expected(outcome=Outcome.TIMED_OUT),
    "refused": Expected(outcome=Outcome.REFUSED),
    "unspecified": None,
    "a known bug": None,
    "undecided": None,
}
CONTROLS: dict[str, tuple[ControlResult, ...]] = {
    "both hold": (control("vantage", ok=True), control("target", ok=True)),
    "vantage fails": (control("vantage", ok=False), control("target", ok=True)),
    "target fails": (control("vantage", ok=True), control("target", ok=False)),
    "both fail": (control("vantage", ok=False), control("target", ok=False)),
    "none": (),
    "no target": (control("vantage", ok=True),),
    "no vantage": (control("target", ok=True),),
    "path holds": (control("path", ok=True),),
    "path fails": (control("path", ok=False),),
}
VANTAGE_HOLDS = {"both hold", "target fails", "no target", "path holds"}
ALL_HOLD = {"both hold", "path holds"}


@dataclass(frozen=True)
class Case:
    """One combination."""

    seen: Outcome
    expected: str
    controls: str
    trusted: bool
    agreed: bool

    def __str__(self) -> str:
        flags = (
            f"{'trusted' if self.trusted else 'untrusted'},{'agreed' if self.agreed else 'torn'}"
        )
        return f"{self.seen}-expected {self.expected}-{self.controls}-{flags}"


CASES = [Case(*row) for row in product(SEEN, EXPECTED, CONTROLS, (True, False), (True, False))]


def due(case: Case) -> Verdict:
    """Return the verdict that the rules call for."""
    if not case.trusted or case.seen is Outcome.PROBE_FAILED or case.expected == "undecided":
        return Verdict.UNKNOWN
    if case.expected == "unspecified":
        return Verdict.RECORDED
    if case.expected == "a known bug":
        return due_of_bug(case)
    if not case.agreed:
        words = {"claim": Outcome.CONNECTED.value}
        seen = {case.seen.value, other(case).value}
        return Verdict.FLAKY if words.get(case.expected, case.expected) in seen else Verdict.FAIL
    if case.seen is Outcome.CONNECTED:
        return Verdict.PASS if case.expected == "claim" else Verdict.LIFTED
    if case.seen.value == case.expected:
        return Verdict.LIMITED if case.controls in ALL_HOLD else Verdict.UNKNOWN
    return Verdict.FAIL if case.controls in VANTAGE_HOLDS else Verdict.UNKNOWN


def due_of_bug(case: Case) -> Verdict:
    """Return the verdict where a bug leaves the outcome open: it shows in silence, and in nothing else."""
    if case.seen not in {Outcome.TIMED_OUT, Outcome.UNREACHABLE}:
        return Verdict.RECORDED
    return Verdict.KNOWN_BUG if case.controls in VANTAGE_HOLDS else Verdict.UNKNOWN


def other(case: Case) -> Outcome:
    """Return what the other attempt brought, where they are torn."""
    return Outcome.REFUSED if case.seen is Outcome.CONNECTED else Outcome.CONNECTED


def verdict_of(case: Case) -> Verdict:
    """Judge one combination."""
    undecided = "the driver is unknown" if case.expected == "undecided" else None
    bugs = [BUG] if case.expected == "a known bug" else []
    expectation = expects(EXPECTED[case.expected], undecided=undecided, bugs=bugs)
    outcomes = (case.seen, case.seen) if case.agreed else (other(case), case.seen)
    observation = observed(
        *outcomes,
        controls=CONTROLS[case.controls],
        trusted=case.trusted,
        distrust=None if case.trusted else "the channel failed",
    )
    return judge(check(), expectation, observation).verdict


def test_all_combinations() -> None:
    """All combinations get the verdict that the rules call for."""
    assert len(CASES) == 6 * 6 * 9 * 2 * 2
    wrong = [
        (str(case), verdict_of(case), due(case)) for case in CASES if verdict_of(case) != due(case)
    ]
    assert wrong == []


@pytest.mark.parametrize("verdict", [v for v in Verdict if v is not Verdict.SKIPPED])
def test_every_verdict_occurs(verdict: Verdict) -> None:
    """The table reaches every verdict: none of its columns is empty."""
    assert any(due(case) is verdict for case in CASES)
