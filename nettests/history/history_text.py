"""A history → a headline and sections of items, in the same words on terminal and page; a document.

The document for machines is published as ``history.schema.json``; its keys are those of the values.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from nettests.compare.changes import Explained
from nettests.compare.difference_text import because
from nettests.compare.sections import Item, Overview, Section, filled, named
from nettests.history.levels import Course, State
from nettests.history.trends import (
    CheckTrend,
    ClusterHistory,
    History,
    IncidentTrend,
    LeftOutRun,
    ReadRun,
    Turn,
)
from nettests.model.codec import to_data
from nettests.model.labels import document_version
from nettests.model.visible import plural
from nettests.model.words import Verdict
from nettests.report.summary import moment

TITLES = {
    State.RED: "Red now",
    State.FLAKY: "Flaky",
    State.GONE: "No longer planned",
    State.REPAIRED: "Repaired",
}
"""Titles of the sections, the most urgent first."""
_COLOUR = {
    State.RED: Verdict.FAIL,
    State.FLAKY: Verdict.FLAKY,
    State.GONE: Verdict.SKIPPED,
    State.REPAIRED: Verdict.PASS,
}


def headline(history: ClusterHistory) -> str:
    """Return in one sentence what is red now, flaky and repaired.

    A flaky check that is red in the latest run is mentioned: "nothing is red" would be wrong.
    """
    red, flaky, gone, repaired = (len(history.of(state)) for state in TITLES)
    latest = len(history.runs) - 1
    swinging = sum(check.course.last_red == latest for check in history.of(State.FLAKY))
    nothing = "No check stays red" if swinging else "Nothing is red now"
    parts = [f"{plural(red, 'check')} {'is' if red == 1 else 'are'} red now" if red else nothing]
    if flaky:
        parts.append(f"{flaky} flaky{f' ({swinging} red in the latest run)' if swinging else ''}")
    parts += [f"{gone} no longer planned"] if gone else []
    parts += [f"{repaired} repaired"] if repaired else []
    return ", ".join(parts)


def span_line(history: ClusterHistory) -> str:
    """Return a line with the cluster and its runs."""
    first, last = history.runs[0], history.runs[-1]
    until = f" to {when(last)}" if last is not first else ""
    return f"{history.name}: {plural(len(history.runs), 'run')}, {when(first)}{until} UTC"


def warnings(history: ClusterHistory) -> Iterator[str]:
    """Yield the limits of what the history can say."""
    if len(history.runs) == 1:
        yield "there is only one run: a second one is needed to say since when a check is red"
    broken = [run for run in history.runs if run.run.run.error or not run.run.run.complete]
    if broken:
        yield (
            f"{plural(len(broken), 'run')} could not start or broke off"
            f" ({named((run.name for run in broken), 'run')}): checks that they did not judge are neither good nor red there"
        )


def overview(history: ClusterHistory) -> Overview:
    """Return a cluster's history as an overview."""
    return Overview(
        headline=headline(history),
        lines=(span_line(history),),
        notes=tuple(warnings(history)),
        sections=sections(history),
    )


def sections(history: ClusterHistory) -> tuple[Section, ...]:
    """Return the non-empty sections, the most urgent first."""
    runs = history.runs
    return filled(
        Section(title, tuple(_item(turn, runs) for turn in history.turns if turn.state is state))
        for state, title in TITLES.items()
    )


def left_out_lines(left_out: Sequence[LeftOutRun]) -> Iterator[str]:
    """Yield each folder that is not part of the history, with the reason."""
    for run in left_out:
        yield f"{run.name}: {run.reason}"


def when(run: ReadRun) -> str:
    """Return when a run started, to the minute (UTC)."""
    return moment(run.run.run.started)[:16]


def turn_head(turn: Turn, runs: Sequence[ReadRun]) -> str:
    """Return since when, or for how long, something is or was red."""
    began = when(runs[turn.first_bad])
    if turn.state is State.RED:
        longer = "" if turn.last_good is not None else " or longer"
        return f"red since {began}{longer}"
    if turn.state is State.REPAIRED and turn.good_since is not None:
        bad = turn.good_since - turn.first_bad
        return f"good since {when(runs[turn.good_since])}, after {plural(bad, 'run')}"
    if turn.gone_since is not None:
        return f"red first {began}, and not planned since {when(runs[turn.gone_since])}"
    return f"red now and then, first {began}"


def turn_name(turn: Turn) -> str:
    """Return the subject of a turn: its first incident, its check, or its checks by flow."""
    if turn.incidents:
        more = len(turn.incidents) - 1
        return turn.incidents[0].cause + (f" · {more} more" if more else "")
    flows = dict.fromkeys(check.flow for check in turn.checks)
    checks = plural(len(turn.checks), "check")
    if len(turn.checks) == 1:
        return turn.checks[0].id
    return f"{checks} of {next(iter(flows)) if len(flows) == 1 else plural(len(flows), 'flow')}"


def turn_lines(turn: Turn, runs: Sequence[ReadRun]) -> Iterator[str]:
    """Yield the details of a turn: causes, the two runs, changed facts, and if they explain it."""
    for incident in turn.incidents:
        explains = plural(len(incident.checks), "check")
        line = course_line(incident.course, runs)
        yield f"incident: {incident.cause} ({explains}; {line})"
    yield _between(turn, runs)
    if turn.last_good is not None:
        facts = named(map(str, turn.facts), "fact") or "no fact that is recorded"
        yield f"changed in between: {facts}"
    yield from reasons(turn)


def reasons(turn: Turn) -> Iterator[str]:
    """Yield whether facts explain the change, with the number of checks if not for all."""
    changes = [check.change for check in turn.checks if check.change and check.change.why]
    judged = [each for each in changes if each.why.explained is not Explained.NOT_JUDGED]  # type: ignore[union-attr]
    for text, number in Counter(map(because, judged)).items():
        some = f" ({plural(number, 'check')})" if number < len(turn.checks) else ""
        yield f"{text}{some}"


def course_line(went: Course, runs: Sequence[ReadRun]) -> str:
    """Return in how many runs a check or incident was red, and how often it swung."""
    parts = [f"red in {went.red} of {plural(went.judged, 'judged run')}"]
    if went.swings:
        parts.append(f"flake rate {percent(went.flake_rate)}")
    parts.extend(_latest(went, runs))
    return ", ".join(parts)


def percent(share: float) -> str:
    """Return a share in percent."""
    return f"{100 * share:.0f} %" if share >= 0.1 else f"{100 * share:.1f} %"


def _latest(went: Course, runs: Sequence[ReadRun]) -> Iterator[str]:
    """Yield the result of the newest runs if it differs from the state."""
    if (
        went.gone_since is None
        and went.last_judged is not None
        and went.last_judged < len(runs) - 1
    ):
        yield f"not judged since {when(runs[went.last_judged])}"
    if went.state is State.FLAKY and went.last_red is not None:
        yield f"last red {when(runs[went.last_red])}"
    if went.state is State.RED and went.last_red != went.last_judged:
        yield "good in the latest run"


def _item(turn: Turn, runs: Sequence[ReadRun]) -> Item:
    counted = Counter(course_line(check.course, runs) for check in turn.checks)
    line = next(iter(counted)) if len(counted) == 1 else ""
    return Item(
        head=turn_head(turn, runs),
        names=tuple(check.id for check in turn.checks),
        lines=tuple(text for text in (line, *turn_lines(turn, runs)) if text),
        verdict=_COLOUR[turn.state],
    )


def _between(turn: Turn, runs: Sequence[ReadRun]) -> str:
    bad = runs[turn.first_bad]
    if turn.last_good is None:
        return f"first bad run {bad.name} ({when(bad)}), and no good run before it"
    good = runs[turn.last_good]
    unseen = turn.first_bad - turn.last_good - 1
    gap = f", {plural(unseen, 'run')} between them not judged" if unseen else ""
    return f"last good run {good.name} ({when(good)}), first bad run {bad.name} ({when(bad)}){gap}"


def document(history: History) -> dict[str, Any]:
    """Return the document as plain data; runs are named by their index in ``runs``."""
    return {
        "apiVersion": document_version("v1alpha1"),
        "kind": "History",
        "clusters": [_cluster(cluster) for cluster in history.clusters],
        "left_out": to_data(history.left_out),
    }


def _cluster(history: ClusterHistory) -> dict[str, Any]:
    states = Counter(check.course.state for check in history.checks)
    return {
        "name": history.name,
        "headline": headline(history),
        "counts": {state.value: states[state] for state in State},
        "runs": [
            {**_run(run), "facts_changed": to_data(facts)}
            for run, facts in zip(history.runs, history.facts, strict=True)
        ],
        "turns": [
            {
                **to_data(turn),
                "checks": [check.id for check in turn.checks],
                "incidents": [incident.cause for incident in turn.incidents],
            }
            for turn in history.turns
        ],
        "incidents": [_trend(incident) for incident in history.incidents],
        "checks": [
            {**_trend(trend), "why": to_data(trend.change.why) if trend.change else None}
            for trend in history.checks
        ],
    }


def _run(read_run: ReadRun) -> dict[str, Any]:
    run = read_run.run.run
    keys = ("run_id", "started", "seconds", "nettests", "complete", "exit_code", "error")
    counts = {verdict.value: count for verdict, count in read_run.run.counts.items()}
    return {"name": read_run.name, **{key: getattr(run, key) for key in keys}, "counts": counts}


def _trend(trend: CheckTrend | IncidentTrend) -> dict[str, Any]:
    data: dict[str, Any] = to_data(trend)
    data.pop("change", None)
    went = data.pop("course")
    return {**data, **went, "flake_rate": trend.course.flake_rate}
