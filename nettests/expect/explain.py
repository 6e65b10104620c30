"""Explain the expectation of a check: every entry considered, and why it applies or not.

For ``nettests explain`` and for authors of manifests. All decisions are those of ``resolve``.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from nettests.expect.condition import Truth
from nettests.expect.manifest import Limitation, Manifest
from nettests.expect.resolve import Candidate, candidates, expectation
from nettests.model.check import Check
from nettests.model.expectation import Expectation
from nettests.model.facts import ClusterFacts


@dataclass(frozen=True, slots=True, kw_only=True)
class Considered:
    """An entry about the check's flow: whether its condition holds, part by part."""

    limitation: Limitation
    truth: Truth
    findings: tuple[tuple[Truth, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """One check, its expectation, and every entry that was considered."""

    check: Check
    expectation: Expectation
    considered: tuple[Considered, ...]


def explain(check: Check, facts: ClusterFacts, manifests: Sequence[Manifest]) -> Explanation:
    """Return which entries were considered for ``check``, and which one decides."""
    entries = [entry for manifest in manifests for entry in manifest.limitations]
    return Explanation(
        check=check,
        expectation=expectation(check, facts, entries),
        considered=tuple(_considered(c) for c in candidates(check, facts, entries)),
    )


def _considered(candidate: Candidate) -> Considered:
    return Considered(
        limitation=candidate.limitation,
        truth=candidate.truth,
        findings=tuple((f.truth, f.sentence) for f in candidate.evaluation.findings),
    )
