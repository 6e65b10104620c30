"""One sentence on why something changed: explained or not, and by which facts. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from nettests.compare.dependencies import Cause
from nettests.compare.fact_changes import FactChange, manifest_changes
from nettests.compare.recorded import RecordedCheck, RecordedRun


class Explained(StrEnum):
    """Whether a change is explained."""

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


def explained(text: str, causes: tuple[Cause, ...]) -> Why:
    """Return that facts explain a change."""
    return Why(explained=Explained.EXPLAINED, text=text, causes=causes)


def unexplained(text: str) -> Why:
    """Return that nothing explains it."""
    return Why(explained=Explained.UNEXPLAINED, text=text)


def by_manifests(
    before: RecordedRun, after: RecordedRun, *checks: RecordedCheck
) -> tuple[Cause, ...]:
    """Return the manifests that changed: those of the deciding limitations, otherwise any; or the suites with nettests."""
    changes = list(manifest_changes(before, after))
    files = {f"manifest {check.limitation.file}" for check in checks if check.limitation}
    deciding = [change for change in changes if change.name in files]
    if deciding or changes:
        return _as_causes(deciding or changes)
    claims = {check.expected.claim for check in checks}
    versions = (before.run.nettests, after.run.nettests)
    if len(claims) > 1 and len(set(versions)) > 1:
        return (Cause(fact="nettests", before=versions[0], after=versions[1]),)
    return ()


def _as_causes(changes: Iterable[FactChange]) -> tuple[Cause, ...]:
    return tuple(
        Cause(fact=change.name, before=change.before, after=change.after) for change in changes
    )
