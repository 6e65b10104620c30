"""``Difference`` in words for people, each chosen once; and the document for machines.

The document is published as ``difference.schema.json``; its keys are those of the values.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from markupsafe import Markup

from nettests.compare.changes import CheckChange, Explained, Kind, MemberChange
from nettests.compare.difference import (
    Compared,
    Difference,
    IncidentChange,
    LimitationChange,
    Moved,
    OnlyCheck,
    Stays,
)
from nettests.compare.paces import CONVERGENCE, NEVER, THROUGHPUT, WHOLE, PaceChange
from nettests.compare.sections import (
    Item,
    Overview,
    Section,
    alike,
    by_reason,
    facts_section,
    filled,
    named,
    render,
)
from nettests.model.codec import to_data
from nettests.model.labels import document_version
from nettests.model.verdict import SUMMARY_ORDER
from nettests.model.visible import plural
from nettests.model.words import Verdict
from nettests.report.summary import in_short, moment

OPEN = ("Incidents", "New failures", "Repaired", "Changed facts")
"""Sections of a run's page that are initially open."""
FOLDED = "New failures"
"""The open section that is folded if incidents explain its checks."""
NAMED = 3
"""How many causes the headline names."""
SHOWN = 8
"""How many items a section shows on a run's page."""
_BUSY = "a busy machine, or a busy way to the probes, delays every answer: single paths are compared with that taken out"


def headline(difference: Difference) -> str:
    """Return in one sentence whether the later run is worse."""
    if difference.after.run.error:
        return "The second run could not start"
    worse, lost = len(difference.worse), len(difference.lost_sight)
    repaired = difference.kinds[Kind.REPAIRED]
    others = sum(
        check.kind not in {Kind.SAME, Kind.REPAIRED} and not check.worse and not check.lost_sight
        for check in difference.checks
    )
    counts = [
        worse and plural(worse, "new failure"),
        repaired and plural(repaired, "repaired check"),
        lost and f"{plural(lost, 'check')} that {'is' if lost == 1 else 'are'} unknown now",
        others and plural(others, "other change"),
    ]
    parts = ", ".join(count for count in counts if count)
    if not parts:
        return "No check changed"
    odd = len(difference.unexplained)
    tail = f"; {odd} of them unexplained" if odd else "; each explained, or not judged"
    if worse:
        new = [of for of in difference.incidents if of.what is Stays.NEW and of.explained]
        causes = [*dict.fromkeys(in_short(of.cause) for of in new)]
        more = f" · {len(causes) - NAMED} more" if len(causes) > NAMED else ""
        named_causes = f"{' · '.join(causes[:NAMED])}{more}; " if causes else ""
        return f"Worse: {named_causes}{parts}{tail}"
    return f"{'Less is known' if lost else 'Not worse'}: {parts}{tail}"


def overview(difference: Difference) -> Overview:
    """Return a difference as an overview."""
    return Overview(
        headline=headline(difference),
        lines=(run_line(difference.before), run_line(difference.after)),
        notes=difference.warnings,
        sections=sections(difference),
    )


def run_line(which: Compared) -> str:
    """Return a line about one of the two runs."""
    run = which.run
    counts = [f"{which.counts[v]} {v.value}" for v in SUMMARY_ORDER if which.counts.get(v)]
    parts = [run.run_id or "no id", moment(run.started), run.context, ", ".join(counts)]
    return f"{which.name}: {' · '.join(part for part in parts if part)}"


def sections(difference: Difference) -> tuple[Section, ...]:
    """Return the non-empty sections, the most urgent first."""
    failing = [check for check in difference.checks if check.worse]
    newly = [check for check in difference.only_after if check.deviates]
    kinds = (Kind.VERDICT, Kind.OUTCOME, Kind.LIMITATION, Kind.MEMBERS)
    other = [change for change in difference.of(*kinds) if not change.worse]
    meanwhile = [
        _meanwhile(difference) if any(change.unexplained for change in changes) else ""
        for changes in (failing, () if failing else other)
    ]
    judged = (Kind.NOT_JUDGED, Kind.FAILURE_NOT_JUDGED)
    return filled(
        [
            Section("Incidents", tuple(map(_incident, difference.incidents))),
            Section(
                "New failures", alike([*map(_check, failing), *map(_only, newly)]), meanwhile[0]
            ),
            Section("Repaired", alike(map(_check, difference.of(Kind.REPAIRED)))),
            Section("No longer judged", alike(map(_check, difference.of(*judged)))),
            Section("Judged now", alike(map(_check, difference.of(Kind.NOW_JUDGED)))),
            Section("Other changes", alike(map(_check, other)), meanwhile[1]),
            Section("Limitations", tuple(map(_limitation, difference.limitations))),
            facts_section("Changed facts", difference.facts),
            Section("Slower, faster", tuple(_paces(difference.paces))),
            by_reason(f"Only in {difference.before.name}", difference.only_before),
            by_reason(f"Only in {difference.after.name}", difference.only_after),
        ]
    )


def _check(change: CheckChange) -> Item:
    before, after = change.before, change.after
    lines = [
        f"{word} {was or nothing} → {now or nothing}"
        for word, nothing, was, now in (
            ("observed", "–", before.observed, after.observed),
            ("expected", "–", before.expected, after.expected),
            ("limitation", "none", before.limitation, after.limitation),
        )
        if was != now
    ]
    lines += _members(change.members)
    if change.why:
        lines.append(because(change))
    if change.worse and after.next_step:
        lines.append(f"next step: {after.next_step}")
    was, now = before.verdict, after.verdict
    head = now.value if was is now else f"{was.value} → {now.value}"
    return Item(head=head, names=(change.id,), lines=tuple(lines), verdict=now)


def because(change: CheckChange) -> str:
    """Return which facts explain a change, or why it was not judged."""
    why = change.why
    if why is None or why.explained is Explained.NOT_JUDGED:
        return why.text if why else ""
    facts = f" ({named(map(str, why.causes), 'fact')})" if why.causes else ""
    return f"{why.explained.value}: {why.text}{facts}"


def _members(members: Iterable[MemberChange]) -> Iterator[str]:
    alike: defaultdict[str, list[str]] = defaultdict(list)
    for member in members:
        was = member.before.value if member.before else "not planned"
        now = member.after.value if member.after else "not planned"
        moved = f" by {member.limitation_after or 'no limitation'}" if was == now else ""
        alike[f"{was} → {now}{moved}"].append(member.label)
    for what, labels in alike.items():
        yield f"{what}: {named(labels, 'place')}"


def _only(check: OnlyCheck) -> Item:
    return Item(
        head=f"not there → {check.verdict.value}",
        names=(check.id,),
        lines=(check.message, check.reason),
        verdict=check.verdict,
    )


def _meanwhile(difference: Difference) -> str:
    """Return the changed facts, as possible causes of unexplained changes."""
    if not difference.facts:
        return "No fact that is recorded changed meanwhile."
    return f"Changed meanwhile, which need not be a cause: {named(map(str, difference.facts), 'fact')}."


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
    """Yield the figures; Services that never converge are one item per probe."""
    never: defaultdict[tuple[str, bool], list[str]] = defaultdict(list)
    for change in changes:
        if change.what == NEVER:
            service, _, probe = change.subject.partition(" at ")
            never[probe, change.worse].append(service)
            continue
        unit = "MiB/s" if change.what == THROUGHPUT else "s"
        answers = {CONVERGENCE: "Services", THROUGHPUT: "transfers"}.get(change.what, "answers")
        counts = f"{change.answers_before} and {change.answers_after} {answers}"
        head, line = (
            (f"all answers took {change.after} times as long", _BUSY)
            if change.what == WHOLE
            else (f"{change.before} → {change.after} {unit}", f"{change.what}, median of {counts}")
        )
        yield _figure(head, change.subject, line, worse=change.worse)
    for (probe, worse), services in never.items():
        head = "no longer converge in time" if worse else "converge in time now"
        name = f"{plural(len(services), 'Service')} at {probe}"
        yield _figure(head, name, named(services, "Service"), worse=worse)


def _figure(head: str, name: str, line: str, *, worse: bool) -> Item:
    colour = Verdict.FLAKY if worse else Verdict.PASS
    return Item(head=head, names=(name,), lines=(line,), verdict=colour)


def render_since(difference: Difference, names: tuple[str, str], address: str = "") -> Markup:
    """Return the part of a run's page about changes since the previous run.

    ``names`` are the folders of both runs, ``address`` is the other's page. Only some items of each
    section are shown; checks that incidents explain stay folded.
    """
    explains = any(len(incident.checks_after) > 1 for incident in difference.incidents)
    ids = {check.id for check in difference.checks}
    ids |= {check.id for check in difference.only_after}
    text = render(
        "since.html.j2",
        headline=headline(difference),
        before=names[0],
        after=names[1],
        address=address,
        warnings=difference.warnings,
        sections=sections(difference),
        open=[title for title in OPEN if title != FOLDED or not explains],
        known=ids,
        shown=SHOWN,
    )
    return Markup(text)  # noqa: S704 - escaped by the template


def document(difference: Difference) -> dict[str, Any]:
    """Return the document as plain data; unchanged checks are only counted."""
    data: dict[str, Any] = to_data(replace(difference, checks=difference.changed))
    data |= {"before": _run(difference.before), "after": _run(difference.after)}
    data["paces"] = [{**to_data(change), "worse": change.worse} for change in difference.paces]
    return {
        "apiVersion": document_version("v1alpha1"),
        "kind": "Difference",
        "headline": headline(difference),
        "exit_code": int(difference.exit_code),
        "worse": list(difference.worse),
        "lost_sight": list(difference.lost_sight),
        "unexplained": [change.id for change in difference.unexplained],
        **{key: data.pop(key) for key in ("before", "after", "warnings")},
        "counts": {kind.value: count for kind, count in sorted(difference.kinds.items())},
        **data,
    }


RUN_KEYS = (
    *("run_id", "started", "nettests", "context", "server", "complete", "exit_code", "error"),
)


def _run(which: Compared) -> dict[str, Any]:
    counts = {verdict.value: count for verdict, count in which.counts.items()}
    values = {key: getattr(which.run, key) for key in RUN_KEYS}
    return {"name": which.name, **values, "counts": counts}
