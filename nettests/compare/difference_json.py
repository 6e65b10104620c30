"""``Difference`` → the document for machines, published as ``difference.schema.json``. Keys are the vocabulary's own."""

from typing import Any

from nettests.compare.checks import CheckChange
from nettests.compare.difference import Compared, Difference
from nettests.compare.sections import headline
from nettests.model.codec import to_data
from nettests.model.labels import document_version

API_VERSION = document_version("v1alpha1")
KIND = "Difference"


def document(difference: Difference) -> dict[str, Any]:
    """Return the document as plain data; checks that stayed as they were are counted, and not listed."""
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "headline": headline(difference),
        "exit_code": int(difference.exit_code),
        "worse": list(difference.worse),
        "lost_sight": list(difference.lost_sight),
        "unexplained": [change.id for change in difference.unexplained],
        "before": _run(difference.before),
        "after": _run(difference.after),
        "warnings": list(difference.warnings),
        "counts": {kind.value: count for kind, count in sorted(difference.kinds.items())},
        "facts": to_data(difference.facts),
        "checks": [_check(change) for change in difference.changed],
        "only_before": to_data(difference.only_before),
        "only_after": to_data(difference.only_after),
        "incidents": [
            {**to_data(incident), "traits": dict(incident.traits)}
            for incident in difference.incidents
        ],
        "limitations": to_data(difference.limitations),
        "paces": [{**to_data(change), "worse": change.worse} for change in difference.paces],
    }


def _run(which: Compared) -> dict[str, Any]:
    run = which.run
    return {
        "name": which.name,
        "run_id": run.run_id,
        "started": run.started,
        "nettests": run.nettests,
        "context": run.context,
        "server": run.server,
        "complete": run.complete,
        "exit_code": run.exit_code,
        "error": run.error,
        "counts": {verdict.value: count for verdict, count in which.counts.items()},
    }


def _check(change: CheckChange) -> dict[str, Any]:
    data: dict[str, Any] = to_data(change)
    return data
