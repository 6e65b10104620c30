"""``History`` → the document for machines, published as ``history.schema.json``. Keys are the vocabulary's own."""

from typing import Any

from nettests.compare.changes import CheckChange
from nettests.history.clusters import ReadRun
from nettests.history.levels import Course, State
from nettests.history.sentences import headline
from nettests.history.trends import CheckTrend, ClusterHistory, History, IncidentTrend, Turn
from nettests.model.codec import to_data
from nettests.model.labels import document_version

API_VERSION = document_version("v1alpha1")
KIND = "History"


def document(history: History) -> dict[str, Any]:
    """Return the document as plain data; runs are named by their places in ``runs``, from 0."""
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "clusters": [_cluster(cluster) for cluster in history.clusters],
        "left_out": to_data(history.left_out),
    }


def _cluster(history: ClusterHistory) -> dict[str, Any]:
    states = [check.course.state for check in history.checks]
    return {
        "name": history.name,
        "headline": headline(history),
        "counts": {state.value: states.count(state) for state in State},
        "runs": [_run(run, history.facts[at]) for at, run in enumerate(history.runs)],
        "turns": [_turn(turn) for turn in history.turns],
        "incidents": [_incident(incident) for incident in history.incidents],
        "checks": [_check(check) for check in history.checks],
    }


def _run(read_run: ReadRun, facts: Any) -> dict[str, Any]:
    run = read_run.run.run
    return {
        "name": read_run.name,
        "run_id": run.run_id,
        "started": run.started,
        "seconds": run.seconds,
        "nettests": run.nettests,
        "complete": run.complete,
        "exit_code": run.exit_code,
        "error": run.error,
        "counts": {verdict.value: count for verdict, count in read_run.run.counts.items()},
        "facts_changed": to_data(facts),
    }


def _turn(turn: Turn) -> dict[str, Any]:
    return {
        "state": turn.state.value,
        "first_bad": turn.first_bad,
        "last_good": turn.last_good,
        "good_since": turn.good_since,
        "gone_since": turn.gone_since,
        "checks": [check.id for check in turn.checks],
        "incidents": [incident.cause for incident in turn.incidents],
        "facts": to_data(turn.facts),
    }


def _incident(trend: IncidentTrend) -> dict[str, Any]:
    return {
        "cause": trend.cause,
        "traits": dict(trend.traits),
        "next_step": trend.next_step,
        "checks": list(trend.checks),
        "colours": [colour.value for colour in trend.colours],
        **_course(trend.course),
    }


def _check(trend: CheckTrend) -> dict[str, Any]:
    return {
        "id": trend.id,
        "flow": trend.flow,
        "verdicts": [verdict and verdict.value for verdict in trend.verdicts],
        **_course(trend.course),
        "why": _why(trend.change),
    }


def _course(went: Course) -> dict[str, Any]:
    return {**to_data(went), "flake_rate": went.flake_rate}


def _why(change: CheckChange | None) -> Any:
    return to_data(change.why) if change and change.why else None
