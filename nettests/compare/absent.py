"""Checks that only one of two runs has, and why, if the other run says so. Pure."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from nettests.compare.recorded import End, RecordedCheck, RecordedRun
from nettests.model.check_id import LEFT_OUT, SAMPLED, parts_of
from nettests.model.verdict import DEVIATING
from nettests.model.words import Verdict

UNTOLD = "nothing in its document says why"


@dataclass(frozen=True, slots=True, kw_only=True)
class OnlyCheck:
    """A check of one run; ``reason`` is why the other does not have it."""

    id: str
    verdict: Verdict
    message: str
    reason: str

    @property
    def deviates(self) -> bool:
        """Whether somebody has to look into it."""
        return self.verdict in DEVIATING


def only_in(run: RecordedRun, other: RecordedRun) -> Iterator[OnlyCheck]:
    """Yield the checks that ``run`` has and ``other`` has not, in the run's order."""
    other_ids = {check.id for check in other.checks}
    by_flow: defaultdict[str, list[RecordedCheck]] = defaultdict(list)
    for check in other.checks:
        by_flow[check.flow].append(check)
    for check in run.checks:
        if check.id not in other_ids:
            yield OnlyCheck(
                id=check.id,
                verdict=check.verdict,
                message=check.message,
                reason=_why(check, other, by_flow),
            )


def _why(
    check: RecordedCheck, other: RecordedRun, by_flow: Mapping[str, list[RecordedCheck]]
) -> str:
    if other.facts is None:
        return "the other run could not start"
    for end in (check.source, check.target):
        if missing := _missing(end, other):
            return missing
    if check.flow not in by_flow:
        return f"the other run did not plan the flow {check.flow}"
    skips = {
        planned.id: planned.message
        for planned in by_flow[check.flow]
        if planned.verdict is Verdict.SKIPPED
    }
    reason = skipped_because(check.id, skips)
    return UNTOLD if reason is None else f"the other run skipped it: {reason}"


def skipped_because(check: str, skips: Mapping[str, str]) -> str | None:
    """Return the reason of the skip that stands for a check, of the flow's skips by id; ``None`` where none does."""
    standing = [name for name in skips if _stands_for(name, check)]
    return skips[max(standing, key=lambda name: len(parts_of(name)))] if standing else None


def _missing(end: End, other: RecordedRun) -> str:
    """Return which node pool or system of an end the other run's cluster does not have."""
    assert other.facts is not None  # looked at before
    if end.role is not None and end.role not in {node.pool for node in other.facts.nodes}:
        return f"the other run has no node pool {end.role}"
    if end.os is not None and end.os not in {node.os for node in other.facts.nodes}:
        return f"the other run has no {end.os.words} node"
    return ""


def _stands_for(skip: str, check: str) -> bool:
    """Whether the id of a skip names a part of the matrix in which the check is."""
    parts = parts_of(skip)
    if parts[-1] in {LEFT_OUT, SAMPLED}:
        parts = parts[:-1]
    return parts_of(check)[: len(parts)] == parts
