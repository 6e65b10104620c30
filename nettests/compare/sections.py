"""``Difference`` → a headline and sections of items, the same for terminal, Markdown and page.

This module chooses words and order; each renderer decides how many items it shows. The JSON document is made from the
difference itself.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from nettests.compare.absent import OnlyCheck
from nettests.compare.checks import CheckChange, Kind
from nettests.compare.dependencies import Cause
from nettests.compare.difference import Compared, Difference
from nettests.compare.explanation import Explained
from nettests.compare.incidents import IncidentChange, Stays
from nettests.compare.items import Item, Section, alike, by_reason, counted, named
from nettests.compare.limitations import LimitationChange, Moved
from nettests.compare.members import MemberChange
from nettests.compare.paces import CONVERGENCE, NEVER, THROUGHPUT, WHOLE, PaceChange
from nettests.model.verdict import SUMMARY_ORDER
from nettests.model.words import Verdict
from nettests.report.summary import moment
from nettests.report.text import plural


def headline(difference: Difference) -> str:
    """Return whether the later run is worse, in one sentence."""
    if difference.after.run.error:
        return "The second run could not start"
    counts = [
        counted(len(difference.worse), "new failure"),
        counted(difference.kinds[Kind.REPAIRED], "repaired check"),
        counted(
            len(difference.lost_sight), "check that is unknown now", "checks that are unknown now"
        ),
        counted(_others(difference), "other change"),
    ]
    parts = ", ".join(count for count in counts if count)
    if not parts:
        return "No check changed"
    odd = len(difference.unexplained)
    tail = f"; {odd} of them unexplained" if odd else "; each explained, or not judged"
    if difference.worse:
        return f"Worse: {parts}{tail}"
    return f"{'Less is known' if difference.lost_sight else 'Not worse'}: {parts}{tail}"


def run_line(which: Compared) -> str:
    """Return a line about one of the two runs."""
    run = which.run
    counts = [f"{which.counts[v]} {v.value}" for v in SUMMARY_ORDER if which.counts.get(v)]
    parts = [run.run_id or "no id", moment(run.started), run.context, ", ".join(counts)]
    return f"{which.name}: {' · '.join(part for part in parts if part)}"


def sections(difference: Difference) -> tuple[Section, ...]:
    """Return the sections that have items, what somebody has to look into first."""
    return tuple(section for section in _all(difference) if section.items)


def _all(difference: Difference) -> Iterator[Section]:
    failing = [check for check in difference.checks if check.worse]
    newly = [check for check in difference.only_after if check.deviates]
    yield Section(title="Incidents", items=tuple(map(_incident, difference.incidents)))
    yield Section(
        title="New failures",
        items=alike([*map(_check, failing), *map(_only, newly)]),
        lead=_meanwhile(difference) if any(_odd(change) for change in failing) else "",
    )
    yield Section(title="Repaired", items=_checks(difference.of(Kind.REPAIRED)))
    yield Section(
        title="No longer judged",
        items=_checks(difference.of(Kind.NOT_JUDGED, Kind.FAILURE_NOT_JUDGED)),
    )
    yield Section(title="Judged now", items=_checks(difference.of(Kind.NOW_JUDGED)))
    other = [
        change
        for change in difference.of(Kind.VERDICT, Kind.OUTCOME, Kind.LIMITATION, Kind.MEMBERS)
        if not change.worse
    ]
    yield Section(
        title="Other changes",
        items=_checks(other),
        lead=_meanwhile(difference)
        if any(_odd(change) for change in other) and not failing
        else "",
    )
    yield Section(title="Limitations", items=tuple(map(_limitation, difference.limitations)))
    yield Section(
        title="Changed facts",
        items=tuple(
            Item(head=f"{fact.before} → {fact.after}", names=(fact.subject,))
            for fact in difference.facts
        ),
    )
    yield Section(title="Slower, faster", items=tuple(_paces(difference.paces)))
    yield from _absent(difference)


def _checks(changes: Iterable[CheckChange]) -> tuple[Item, ...]:
    return alike(map(_check, changes))


def _check(change: CheckChange) -> Item:
    """Return a check with the two verdicts, what was seen, and why."""
    lines = []
    if change.before.observed != change.after.observed:
        lines.append(f"observed {change.before.observed or '–'} → {change.after.observed or '–'}")
    if change.before.expected != change.after.expected:
        lines.append(f"expected {change.before.expected or '–'} → {change.after.expected or '–'}")
    if change.before.limitation != change.after.limitation:
        names = (change.before.limitation or "none", change.after.limitation or "none")
        lines.append(f"limitation {names[0]} → {names[1]}")
    lines += _members(change.members)
    if change.why:
        lines.append(_because(change.why.explained, change.why.text, change.why.causes))
    if change.worse and change.after.next_step:
        lines.append(f"next step: {change.after.next_step}")
    was, now = change.before.verdict, change.after.verdict
    head = now.value if was is now else f"{was.value} → {now.value}"
    return Item(head=head, names=(change.id,), lines=tuple(lines), verdict=now)


def _because(explained: Explained, text: str, causes: tuple[Cause, ...]) -> str:
    if explained is Explained.NOT_JUDGED:
        return text
    facts = f" ({named(map(str, causes), 'fact')})" if causes else ""
    return f"{explained.value}: {text}{facts}"


def _members(members: Iterable[MemberChange]) -> Iterator[str]:
    """Yield which members changed how, alike ones together."""
    alike: defaultdict[str, list[str]] = defaultdict(list)
    for member in members:
        was = member.before.value if member.before else "not a member"
        now = member.after.value if member.after else "no member"
        moved = f" by {member.limitation_after or 'no limitation'}" if was == now else ""
        alike[f"{was} → {now}{moved}"].append(member.label)
    for what, labels in alike.items():
        yield f"members {what}: {named(labels, 'member')}"


def _only(check: OnlyCheck) -> Item:
    return Item(
        head=f"not there → {check.verdict.value}",
        names=(check.id,),
        lines=(check.message, check.reason),
        verdict=check.verdict,
    )


def _meanwhile(difference: Difference) -> str:
    """Return the facts that changed, for those who look for a cause where none is documented."""
    if not difference.facts:
        return "No fact that is recorded changed meanwhile."
    return f"Changed meanwhile, which is no cause by itself: {named(map(str, difference.facts), 'fact')}."


def _odd(change: CheckChange) -> bool:
    return change.why is not None and change.why.explained is Explained.UNEXPLAINED


def _incident(change: IncidentChange) -> Item:
    count = f"{len(change.checks_before)} → {len(change.checks_after)} checks"
    lines = [count, *([f"next step: {change.next_step}"] if change.next_step else [])]
    colour = Verdict.PASS if change.what is Stays.GONE else Verdict.FAIL
    return Item(head=change.what.value, names=(change.cause,), lines=tuple(lines), verdict=colour)


def _limitation(change: LimitationChange) -> Item:
    parts = [f"+{plural(len(change.gained), 'check')}"] if change.gained else []
    parts += [f"−{plural(len(change.lost), 'check')}"] if change.lost else []
    lines = [f"{', '.join(parts)}: {change.summary}"]
    if change.with_checks:
        lines.append("with its checks, which the other run does not have")
    if change.causes:
        lines.append(named(map(str, change.causes), "fact"))
    lines.append(f"source: {'; '.join(map(str, change.sources))}")
    colour = Verdict.PASS if change.what is Moved.WENT else Verdict.LIMITED
    return Item(head=change.what.value, names=(change.id,), lines=tuple(lines), verdict=colour)


def _paces(changes: Iterable[PaceChange]) -> Iterator[Item]:
    """Yield the figures; Services that never converge are one item for each probe."""
    never: defaultdict[tuple[str, bool], list[str]] = defaultdict(list)
    for change in changes:
        colour = Verdict.FLAKY if change.worse else Verdict.PASS
        if change.what == NEVER:
            service, _, probe = change.subject.partition(" at ")
            never[probe, change.worse].append(service)
        elif change.what == WHOLE:
            head = f"all answers took {change.after} times as long"
            yield Item(head=head, names=(change.subject,), verdict=colour, lines=(_WHOLE,))
        else:
            unit = "MiB/s" if change.what == THROUGHPUT else "s"
            answers = {CONVERGENCE: "Services", THROUGHPUT: "transfers"}.get(change.what, "answers")
            lines = (
                f"{change.what}, median of {change.answers_before} and {change.answers_after} {answers}",
            )
            head = f"{change.before} → {change.after} {unit}"
            yield Item(head=head, names=(change.subject,), lines=lines, verdict=colour)
    for (probe, worse), services in never.items():
        head = "no longer converge in time" if worse else "converge in time now"
        colour = Verdict.FLAKY if worse else Verdict.PASS
        lines = (named(services, "Service"),)
        name = f"{plural(len(services), 'Service')} at {probe}"
        yield Item(head=head, names=(name,), lines=lines, verdict=colour)


_WHOLE = "a machine or a way to the probes that is busy makes all later: single paths are compared beside that"


def _absent(difference: Difference) -> Iterator[Section]:
    """Yield the checks of one run alone, counted by reason."""
    for title, only in (
        (f"Only in {difference.before.name}", difference.only_before),
        (f"Only in {difference.after.name}", difference.only_after),
    ):
        yield Section(title=title, items=by_reason(only))


def _others(difference: Difference) -> int:
    mentioned = {Kind.SAME, Kind.REPAIRED}
    return sum(
        check.kind not in mentioned and not check.worse and not check.lost_sight
        for check in difference.checks
    )
