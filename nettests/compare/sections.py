"""``Difference`` → what people read of it: a headline and sections of items, the same for terminal, Markdown and page.

It chooses words and order. How many items are shown, and how they look, is left to each renderer; the JSON document is
made of the difference itself.
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


def headline(found: Difference) -> str:
    """Return whether the later run is worse, in one sentence."""
    if found.after.run.error:
        return "The second run could not start"
    told = [
        counted(len(found.worse), "new failure"),
        counted(found.kinds[Kind.REPAIRED], "repaired check"),
        counted(len(found.lost_sight), "check that is unknown now", "checks that are unknown now"),
        counted(_others(found), "other change"),
    ]
    parts = ", ".join(one for one in told if one)
    if not parts:
        return "No check changed"
    odd = len(found.unexplained)
    tail = f"; {odd} of them unexplained" if odd else "; each explained, or not judged"
    if found.worse:
        return f"Worse: {parts}{tail}"
    return f"{'Less is known' if found.lost_sight else 'Not worse'}: {parts}{tail}"


def run_line(which: Compared) -> str:
    """Return one of the two runs in a line."""
    run = which.run
    counts = [f"{which.counts[v]} {v.value}" for v in SUMMARY_ORDER if which.counts.get(v)]
    parts = [run.run_id or "no id", moment(run.started), run.context, ", ".join(counts)]
    return f"{which.name}: {' · '.join(part for part in parts if part)}"


def sections(found: Difference) -> tuple[Section, ...]:
    """Return the sections that have items, what somebody has to look into first."""
    return tuple(section for section in _all(found) if section.items)


def _all(found: Difference) -> Iterator[Section]:
    failing = [one for one in found.checks if one.worse]
    newly = [one for one in found.only_after if one.deviates]
    yield Section(title="Incidents", items=tuple(map(_incident, found.incidents)))
    yield Section(
        title="New failures",
        items=alike([*map(_check, failing), *map(_only, newly)]),
        lead=_meanwhile(found) if any(_odd(one) for one in failing) else "",
    )
    yield Section(title="Repaired", items=_checks(found.of(Kind.REPAIRED)))
    yield Section(
        title="No longer judged", items=_checks(found.of(Kind.NOT_JUDGED, Kind.FAILURE_NOT_JUDGED))
    )
    yield Section(title="Judged now", items=_checks(found.of(Kind.NOW_JUDGED)))
    other = [
        one
        for one in found.of(Kind.VERDICT, Kind.OUTCOME, Kind.LIMITATION, Kind.MEMBERS)
        if not one.worse
    ]
    yield Section(
        title="Other changes",
        items=_checks(other),
        lead=_meanwhile(found) if any(_odd(one) for one in other) and not failing else "",
    )
    yield Section(title="Limitations", items=tuple(map(_limitation, found.limitations)))
    yield Section(
        title="Changed facts",
        items=tuple(
            Item(head=f"{one.before} → {one.after}", names=(one.subject,)) for one in found.facts
        ),
    )
    yield Section(title="Slower, faster", items=tuple(_paces(found.paces)))
    yield from _absent(found)


def _checks(changes: Iterable[CheckChange]) -> tuple[Item, ...]:
    return alike(map(_check, changes))


def _check(one: CheckChange) -> Item:
    """Return a check with the two verdicts, what was seen, and why."""
    lines = []
    if one.before.observed != one.after.observed:
        lines.append(f"observed {one.before.observed or '–'} → {one.after.observed or '–'}")
    if one.before.expected != one.after.expected:
        lines.append(f"expected {one.before.expected or '–'} → {one.after.expected or '–'}")
    if one.before.limitation != one.after.limitation:
        names = (one.before.limitation or "none", one.after.limitation or "none")
        lines.append(f"limitation {names[0]} → {names[1]}")
    lines += _members(one.members)
    if one.why:
        lines.append(_because(one.why.explained, one.why.text, one.why.causes))
    if one.worse and one.after.next_step:
        lines.append(f"next step: {one.after.next_step}")
    was, now = one.before.verdict, one.after.verdict
    head = now.value if was is now else f"{was.value} → {now.value}"
    return Item(head=head, names=(one.id,), lines=tuple(lines), verdict=now)


def _because(explained: Explained, text: str, causes: tuple[Cause, ...]) -> str:
    if explained is Explained.NOT_JUDGED:
        return text
    facts = f" ({named(map(str, causes), 'fact')})" if causes else ""
    return f"{explained.value}: {text}{facts}"


def _members(members: Iterable[MemberChange]) -> Iterator[str]:
    """Yield which members changed how, alike ones together."""
    alike: defaultdict[str, list[str]] = defaultdict(list)
    for one in members:
        was = one.before.value if one.before else "not a member"
        now = one.after.value if one.after else "no member"
        moved = f" by {one.limitation_after or 'no limitation'}" if was == now else ""
        alike[f"{was} → {now}{moved}"].append(one.label)
    for what, labels in alike.items():
        yield f"members {what}: {named(labels, 'member')}"


def _only(one: OnlyCheck) -> Item:
    return Item(
        head=f"not there → {one.verdict.value}",
        names=(one.id,),
        lines=(one.message, one.reason),
        verdict=one.verdict,
    )


def _meanwhile(found: Difference) -> str:
    """Return the facts that changed, for those who look for a cause where none is documented."""
    if not found.facts:
        return "No fact that is recorded changed meanwhile."
    return (
        f"Changed meanwhile, which is no cause by itself: {named(map(str, found.facts), 'fact')}."
    )


def _odd(one: CheckChange) -> bool:
    return one.why is not None and one.why.explained is Explained.UNEXPLAINED


def _incident(one: IncidentChange) -> Item:
    count = f"{len(one.checks_before)} → {len(one.checks_after)} checks"
    lines = [count, *([f"next step: {one.next_step}"] if one.next_step else [])]
    colour = Verdict.PASS if one.what is Stays.GONE else Verdict.FAIL
    return Item(head=one.what.value, names=(one.cause,), lines=tuple(lines), verdict=colour)


def _limitation(one: LimitationChange) -> Item:
    parts = [f"+{plural(len(one.gained), 'check')}"] if one.gained else []
    parts += [f"−{plural(len(one.lost), 'check')}"] if one.lost else []
    lines = [f"{', '.join(parts)}: {one.summary}"]
    if one.with_checks:
        lines.append("with its checks, which the other run does not have")
    if one.causes:
        lines.append(named(map(str, one.causes), "fact"))
    lines.append(f"source: {'; '.join(map(str, one.sources))}")
    colour = Verdict.PASS if one.what is Moved.WENT else Verdict.LIMITED
    return Item(head=one.what.value, names=(one.id,), lines=tuple(lines), verdict=colour)


def _paces(changes: Iterable[PaceChange]) -> Iterator[Item]:
    """Yield the figures; Services that never converge are told together for each probe."""
    never: defaultdict[tuple[str, bool], list[str]] = defaultdict(list)
    for one in changes:
        colour = Verdict.FLAKY if one.worse else Verdict.PASS
        if one.what == NEVER:
            service, _, probe = one.subject.partition(" at ")
            never[probe, one.worse].append(service)
        elif one.what == WHOLE:
            head = f"all answers took {one.after} times as long"
            yield Item(head=head, names=(one.subject,), verdict=colour, lines=(_WHOLE,))
        else:
            unit = "MiB/s" if one.what == THROUGHPUT else "s"
            answers = {CONVERGENCE: "Services", THROUGHPUT: "transfers"}.get(one.what, "answers")
            lines = (
                f"{one.what}, median of {one.answers_before} and {one.answers_after} {answers}",
            )
            head = f"{one.before} → {one.after} {unit}"
            yield Item(head=head, names=(one.subject,), lines=lines, verdict=colour)
    for (probe, worse), services in never.items():
        head = "no longer converge in time" if worse else "converge in time now"
        colour = Verdict.FLAKY if worse else Verdict.PASS
        lines = (named(services, "Service"),)
        name = f"{plural(len(services), 'Service')} at {probe}"
        yield Item(head=head, names=(name,), lines=lines, verdict=colour)


_WHOLE = "a machine or a way to the probes that is busy makes all later: single paths are compared beside that"


def _absent(found: Difference) -> Iterator[Section]:
    """Yield the checks of one run alone, counted by reason."""
    for title, only in (
        (f"Only in {found.before.name}", found.only_before),
        (f"Only in {found.after.name}", found.only_after),
    ):
        yield Section(title=title, items=by_reason(only))


def _others(found: Difference) -> int:
    told = {Kind.SAME, Kind.REPAIRED}
    return sum(
        one.kind not in told and not one.worse and not one.lost_sight for one in found.checks
    )
