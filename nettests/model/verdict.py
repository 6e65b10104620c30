"""The judgement of a check, and how judgements merge and rank.

``judge`` makes it; ``plugin`` (pytest outcome) and ``report`` read it.
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
"""The order of a run's summary: ``unknown`` comes directly after ``lifted``."""

ACCEPTED = frozenset({Verdict.PASS, Verdict.LIMITED, Verdict.RECORDED, Verdict.KNOWN_BUG})
"""Verdicts that fail no test: as claimed, as documented, left open by the documents, or a known bug."""

ATTENTION = (Verdict.FAIL, Verdict.LIFTED, Verdict.UNKNOWN, Verdict.FLAKY)
"""Verdicts that need attention, most urgent first."""

DEVIATING = frozenset({Verdict.FAIL, Verdict.LIFTED, Verdict.FLAKY})
"""Verdicts of trusted observations that are not as documented: exit code 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MembersJudged:
    """The same judgement of several members of a check, by their labels.

    Texts are kept only for members that need attention or were skipped.
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
    """A verdict with the sentence that explains it.

    ``message`` is one line: subject, expected, observed; ``next_step`` says what to look at.
    ``members`` are those that did not simply pass.
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
        """Whether it fails no test."""
        return self.verdict in ACCEPTED

    @property
    def shown(self) -> frozenset[Verdict]:
        """Its verdict and those of its members, so that ``unknown`` does not hide ``flaky``."""
        return frozenset({self.verdict, *(member.verdict for member in self.members)})

    @property
    def deviation(self) -> Verdict | None:
        """The worst deviating verdict of it or a member; ``None`` if there is none."""
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
    """Return a verdict for every planned check; ``unknown`` if neither skipped nor judged."""
    return {
        **dict.fromkeys(checks, Verdict.UNKNOWN),
        **dict.fromkeys(skipped, Verdict.SKIPPED),
        **judged,
    }
