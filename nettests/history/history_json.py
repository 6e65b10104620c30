"""``History`` → the document for machines, published as ``history.schema.json``. Keys are the vocabulary's own."""

from typing import Any

from nettests.compare.checks import CheckChange
from nettests.history.clusters import ReadRun
from nettests.history.levels import Course, State
from nettests.history.sentences import headline
from nettests.history.trends import CheckTrend, ClusterHistory, History, IncidentTrend, Turn
from nettests.model.codec import to_data
from nettests.model.labels import document_version

API_VERSION = document_version("v1alpha1")
KIND = "History"


def document(found: History) -> dict[str, Any]:
    """Return the document as plain data; runs are named by their places in ``runs``, from 0."""
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "clusters": [_cluster(one) for one in found.clusters],
        "left_out": to_data(found.left_out),
    }


def _cluster(one: ClusterHistory) -> dict[str, Any]:
    states = [check.course.state for check in one.checks]
    return {
        "name": one.name,
        "headline": headline(one),
        "counts": {state.value: states.count(state) for state in State},
        "runs": [_run(run, one.facts[at]) for at, run in enumerate(one.runs)],
        "turns": [_turn(turn) for turn in one.turns],
        "incidents": [_incident(incident) for incident in one.incidents],
        "checks": [_check(check) for check in one.checks],
    }


def _run(one: ReadRun, facts: Any) -> dict[str, Any]:
    run = one.run.run
    return {
        "name": one.name,
        "run_id": run.run_id,
        "started": run.started,
        "seconds": run.seconds,
        "nettests": run.nettests,
        "complete": run.complete,
        "exit_code": run.exit_code,
        "error": run.error,
        "counts": {verdict.value: count for verdict, count in one.run.counts.items()},
        "facts_changed": to_data(facts),
    }


def _turn(turn: Turn) -> dict[str, Any]:
    return {
        "state": turn.state.value,
        "first_bad": turn.first_bad,
        "last_good": turn.last_good,
        "good_since": turn.good_since,
        "gone_since": turn.gone_since,
        "checks": [one.id for one in turn.checks],
        "incidents": [one.cause for one in turn.incidents],
        "facts": to_data(turn.facts),
    }


def _incident(one: IncidentTrend) -> dict[str, Any]:
    return {
        "cause": one.cause,
        "traits": dict(one.traits),
        "next_step": one.next_step,
        "checks": list(one.checks),
        "colours": [colour.value for colour in one.colours],
        **_course(one.course),
    }


def _check(one: CheckTrend) -> dict[str, Any]:
    return {
        "id": one.id,
        "flow": one.flow,
        "verdicts": [verdict and verdict.value for verdict in one.verdicts],
        **_course(one.course),
        "why": _why(one.change),
    }


def _course(went: Course) -> dict[str, Any]:
    return {**to_data(went), "flake_rate": went.flake_rate}


def _why(change: CheckChange | None) -> Any:
    return to_data(change.why) if change and change.why else None
