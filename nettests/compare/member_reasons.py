"""Why a check with members changed: each member has its own expectation, from the facts of its own nodes. Pure.

For a member ``results.json`` has a verdict and a limitation. The facts that this limitation depends on are read where
it decides a whole check.
"""

from collections.abc import Iterable, Sequence

from nettests.compare.dependencies import Cause, Dependency, Ends, causes, of_limitation
from nettests.compare.explanation import Why, by_manifests, explained, unexplained
from nettests.compare.members import MemberChange
from nettests.compare.nodes import PAIR
from nettests.compare.recorded import End, RecordedCheck, RecordedRun
from nettests.model.verdict import ACCEPTED, DEVIATING
from nettests.report.text import plural

Runs = tuple[RecordedRun, RecordedRun]


def why_of_members(
    runs: Runs, checks: tuple[RecordedCheck, RecordedCheck], changes: Sequence[MemberChange]
) -> Why:
    """Return why a check with members changed."""
    deviating = [
        change for change in changes if change.before is None and change.after in DEVIATING
    ]
    if deviating:
        count = plural(len(deviating), "member")
        return unexplained(f"{count} that the other run does not have deviate")
    shared = [change for change in changes if change.in_both]
    if not shared:
        sizes = tuple(str(len(check.members.each)) for check in checks)
        return explained(
            "members came or went with their nodes",
            (Cause(fact="members", before=sizes[0], after=sizes[1]),),
        )
    all_causes: list[Cause] = []
    for change in shared:
        reasons = _of_member(runs, checks, change)
        if not reasons:
            return unexplained(
                f"the expectation of {change.label} did not change, or not by a fact"
            )
        all_causes += reasons
    return explained(
        "the expectation of these members changed, and it is met", tuple(dict.fromkeys(all_causes))
    )


def _of_member(
    runs: Runs, checks: tuple[RecordedCheck, RecordedCheck], change: MemberChange
) -> tuple[Cause, ...]:
    """Return the facts by which the expectation of a member changed; none if it did not change, or is not met."""
    names = (change.limitation_before, change.limitation_after)
    if names[0] == names[1] or change.after not in ACCEPTED:
        return ()
    named = [
        *_named_by(names[0], runs[0].checks),
        *_named_by(names[1], runs[1].checks),
    ]
    ends = (_ends(change.earlier, runs[0], checks[0]), _ends(change.label, runs[1], checks[1]))
    differing = causes((runs[0].facts, runs[1].facts), ends, named)
    return differing or by_manifests(*runs, *checks)


def _named_by(limitation: str | None, checks: Iterable[RecordedCheck]) -> tuple[Dependency, ...]:
    """Return the facts that a limitation names in a run where it decides checks, in each of its places."""
    places = {
        check.limitation.line: check.limitation
        for check in checks
        if check.limitation is not None and check.limitation.id == limitation
    }
    named = (dependency for applied in places.values() for dependency in of_limitation(applied))
    return tuple(dict.fromkeys(named))


def _ends(label: str, run: RecordedRun, check: RecordedCheck) -> Ends:
    """Return the ends of a member: its nodes or, where it names a Service instead, the end of the check."""
    nodes = {node.name for node in run.facts.nodes} if run.facts else set()
    source, _, target = label.partition(PAIR)
    named = (source, target or source)
    ends = (check.source, check.target)
    return (
        End(node=named[0]) if named[0] in nodes else ends[0],
        End(node=named[1]) if named[1] in nodes else ends[1],
    )
