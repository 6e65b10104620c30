"""Why a check changed: a fact that its expectation depends on, the manifests, or nothing that anybody can see. Pure.

``explained`` is what documents and facts account for: the expectation of the check changed together with a fact that a
condition of its deciding limitation names (or with the manifests), and the cluster does what is expected now, or does
what it always did. That a fact changed is no explanation by itself: where documents expected the same before and after,
a check that behaves otherwise is ``unexplained``, whatever else changed meanwhile.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

from nettests.compare.dependencies import Cause, causes
from nettests.compare.fact_changes import FactChange, manifest_changes
from nettests.compare.recorded import Expecting, RecordedCheck, RecordedRun
from nettests.model.verdict import ACCEPTED
from nettests.model.words import Verdict

Of = tuple[RecordedRun, RecordedCheck]
"""A check in its run."""
_NOT_JUDGED = frozenset({Verdict.UNKNOWN, Verdict.SKIPPED})


class Explained(StrEnum):
    """Whether a change is accounted for."""

    EXPLAINED = "explained"
    UNEXPLAINED = "unexplained"
    NOT_JUDGED = "not-judged"
    """One of the two runs did not judge it: nothing is known of a change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Why:
    """Whether a change is explained, by which facts, in one sentence."""

    explained: Explained
    text: str
    causes: tuple[Cause, ...] = ()


def why(before: Of, after: Of) -> Why:
    """Return why a check that both runs have is not what it was."""
    old, new = before[1], after[1]
    blind = [one for one in (old, new) if one.verdict in _NOT_JUDGED]
    if blind:
        reason = blind[-1].message or "no reason is told"
        return Why(explained=Explained.NOT_JUDGED, text=f"{blind[-1].verdict.value}: {reason}")
    changed = causes(before, after)
    if _expected(old) == _expected(new):
        return _without_another_expectation(old, changed)
    changed = changed or _by_manifests(before[0], after[0], new, old)
    if not changed:
        return _unexplained("the expectation changed, and no recorded fact or manifest tells why")
    if new.verdict in ACCEPTED:
        return _explained("the expectation changed, and it is met", changed)
    if old.observed.outcome == new.observed.outcome and Verdict.FLAKY not in {
        old.verdict,
        new.verdict,
    }:
        return _explained("the expectation changed, and the cluster did not", changed)
    return _unexplained(
        "the expectation changed, and neither the old nor the new outcome was observed"
    )


def _without_another_expectation(old: RecordedCheck, changed: tuple[Cause, ...]) -> Why:
    """Return why something else came where the same is expected: what documents leave open may depend on a fact."""
    if not old.expected.open:
        return _unexplained("the expectation did not change")
    if not changed:
        return _unexplained("the documents leave it open, and no fact that they name changed")
    return _explained("the documents leave it open, and a fact that they name changed", changed)


def _expected(check: RecordedCheck) -> tuple[Expecting, str | None]:
    """Return what decides of an expectation, without its words."""
    return replace(check.expected, text=""), check.limitation_id


def _by_manifests(
    before: RecordedRun, after: RecordedRun, *checks: RecordedCheck
) -> tuple[Cause, ...]:
    """Return the manifests that changed: those of the deciding limitations, otherwise any; or the suites with nettests."""
    found = list(manifest_changes(before, after))
    files = {f"manifest {one.limitation.file}" for one in checks if one.limitation}
    own = [one for one in found if one.name in files]
    if own or found:
        return _as_causes(own or found)
    claims = {one.expected.claim for one in checks}
    versions = (before.run.nettests, after.run.nettests)
    if len(claims) > 1 and len(set(versions)) > 1:
        return (Cause(fact="nettests", before=versions[0], after=versions[1]),)
    return ()


def _as_causes(changes: Iterable[FactChange]) -> tuple[Cause, ...]:
    return tuple(Cause(fact=one.name, before=one.before, after=one.after) for one in changes)


def _explained(text: str, changed: tuple[Cause, ...]) -> Why:
    return Why(explained=Explained.EXPLAINED, text=text, causes=changed)


def _unexplained(text: str) -> Why:
    return Why(explained=Explained.UNEXPLAINED, text=text)
