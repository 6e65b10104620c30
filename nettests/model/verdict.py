"""The judgement of a check, and how judgements merge and rank.

Made by ``judge``; read by ``plugin`` (pytest outcome) and ``report``.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from nettests.model.words import Verdict

MERGE_ORDER = (
    Verdict.FAIL,
    Verdict.LIFTED,
    Verdict.FLAKY,
    Verdict.KNOWN_BUG,
    Verdict.LIMITED,
    Verdict.RECORDED,
    Verdict.PASS,
)
"""Worst first, trusted observations only (ARCHITECTURE, trust rule 1)."""

SUMMARY_ORDER = (
    Verdict.FAIL,
    Verdict.LIFTED,
    Verdict.UNKNOWN,
    Verdict.FLAKY,
    Verdict.KNOWN_BUG,
    Verdict.LIMITED,
    Verdict.RECORDED,
    Verdict.PASS,
    Verdict.SKIPPED,
)
"""The order of a run's summary: ``unknown`` ranks directly after ``lifted``."""

ACCEPTED = frozenset({Verdict.PASS, Verdict.LIMITED, Verdict.RECORDED, Verdict.KNOWN_BUG})
"""What fails no test: as claimed, as documented, left open by the documents, or a bug that they know."""

ATTENTION = (Verdict.FAIL, Verdict.LIFTED, Verdict.UNKNOWN, Verdict.FLAKY)
"""What somebody has to look into, the most urgent first."""

DEVIATING = frozenset({Verdict.FAIL, Verdict.LIFTED, Verdict.FLAKY})
"""What was observed, can be trusted, and is not as documented: it ends a run with 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MembersJudged:
    """What came of some members of a check, by their labels, in one way for all of them.

    Words are kept of what needs attention, or was skipped: accepted verdicts say enough by themselves.
    """

    verdict: Verdict
    labels: tuple[str, ...]
    message: str = ""
    expected: str = ""
    observed: str = ""
    next_step: str = ""
    limitation: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """A verdict with the sentence that a person needs.

    ``message`` is one line: subject, expected, observed; ``next_step`` says what to look at.
    ``members`` are those of a check with members that did not simply pass.
    """

    check: str
    verdict: Verdict
    message: str
    expected: str
    observed: str
    limitation: str | None = None
    next_step: str = ""
    members: tuple[MembersJudged, ...] = ()

    @property
    def accepted(self) -> bool:
        """Whether it keeps a run green."""
        return self.verdict in ACCEPTED

    @property
    def shown(self) -> frozenset[Verdict]:
        """Its verdict and those of its members: one that could not be judged hides no ``flaky`` one."""
        return frozenset({self.verdict, *(member.verdict for member in self.members)})

    @property
    def deviation(self) -> Verdict | None:
        """The worst that it, or a member, was observed to deviate in; ``None`` where nothing does."""
        return next((verdict for verdict in MERGE_ORDER if verdict in DEVIATING & self.shown), None)


def merge(verdicts: Iterable[Verdict]) -> Verdict:
    """Merge verdicts: ``unknown`` only when nothing was trusted, ``skipped`` only when nothing ran."""
    seen = set(verdicts)
    for verdict in (*MERGE_ORDER, Verdict.UNKNOWN):
        if verdict in seen:
            return verdict
    return Verdict.SKIPPED


def verdicts_of(
    checks: Iterable[str], skipped: Iterable[str], judged: Mapping[str, Verdict]
) -> dict[str, Verdict]:
    """Return a verdict for all that was planned: what was neither skipped nor judged is ``unknown``."""
    return {
        **dict.fromkeys(checks, Verdict.UNKNOWN),
        **dict.fromkeys(skipped, Verdict.SKIPPED),
        **judged,
    }
