"""``Results`` → ``results.json``: the report for machines and for a history of runs.

The schema is ``results.schema.json`` (``apiVersion: nettests.dev/v1``). It holds verdicts, values
and attempts; raw answers stay in the journal. Keys use the project's vocabulary.
"""

import json
from collections import Counter
from typing import Any

from nettests.model.check import Target, Vantage
from nettests.model.codec import to_data
from nettests.model.expectation import AppliedLimitation, Expected
from nettests.model.grouping import grouped
from nettests.model.observation import Observation
from nettests.model.verdict import ATTENTION, SUMMARY_ORDER
from nettests.model.visible import escaped_json
from nettests.report.members import latency_of
from nettests.report.results import API_VERSION, CheckResult, Results


def render_json(results: Results) -> str:
    """Render the JSON with two-space indents, keys in the schema's order."""
    text = json.dumps(document(results), indent=2, ensure_ascii=False) + "\n"
    # A cluster's text may contain lone surrogates, which UTF-8 cannot encode.
    return escaped_json(text.encode("utf-8", "replace").decode("utf-8"))


def document(results: Results) -> dict[str, Any]:
    """Return the document as plain data."""
    return {
        "apiVersion": API_VERSION,
        "kind": "Results",
        "run": to_data(results.run),
        "facts_digest": results.facts_digest,
        "counts": {verdict.value: count for verdict, count in results.counts.items()},
        "coverage": to_data(results.coverage),
        "exercised": to_data(results.exercised),
        "incidents": to_data(results.incidents),
        "checks": [_check(check) for check in results.checks],
        "limitations": {
            "used": [
                {
                    **_limitation(used.limitation),
                    "checks": {verdict.value: list(ids) for verdict, ids in used.checks.items()},
                }
                for used in results.limitations_used
            ],
            "unused": to_data(results.limitations_unused),
        },
        **({"pulls": to_data(results.pulls)} if results.pulls else {}),
        "convergence": to_data(results.convergence),
        "latencies": to_data(results.latencies),
        **({"paths": to_data(results.paths)} if results.paths else {}),
        **({"rounds": to_data(results.rounds)} if results.rounds else {}),
        "events": to_data(results.events),
        **({"diagnostics": to_data(results.diagnostics)} if results.diagnostics else {}),
        **({"instruments": to_data(results.instruments)} if results.instruments else {}),
        **({"unread": to_data(results.unread)} if results.unread else {}),
        "facts": to_data(results.facts),
    }


def _check(result: CheckResult) -> dict[str, Any]:
    check, seen = result.check, result.observation
    folders = [diagnostic.folder for diagnostic in result.diagnostics]
    end = check.target if check else None
    expectation = result.expectation
    claim = expectation.claim if expectation else None
    return {
        "id": result.id,
        "flow": result.flow,
        "suite": result.suite,
        "title": check.title if check else "",
        "required": result.required,
        "verdict": result.verdict.value,
        "message": result.message,
        "next_step": result.next_step,
        "source": {
            **_end(check.source if check else None),
            "probe": check.source.probe if check else None,
        },
        "target": {
            **_end(end),
            "pod": end.pod if end else None,
            "service": end.service if end else None,
        },
        "placement": check.placement.value if check else None,
        "protocol": check.action.protocol.value if check else None,
        "family": check.action.family.value if check else None,
        "question": check.action.question.value if check else None,
        "expected": {
            **_outcome(expectation.expected if expectation else None),
            "claim": str(claim) if claim else None,
            "undecided": expectation.undecided if expectation else None,
            "text": result.expected,
        },
        "observed": _observed(result, seen),
        "limitation": _limitation(result.limitation) if result.limitation else None,
        "sources": to_data(check.sources) if check else [],
        "attempts": to_data(seen.attempts) if seen else [],
        "controls": to_data(seen.controls) if seen else [],
        "channel": seen.channel if seen else None,
        **({"diagnostics": folders} if folders else {}),
        **_accepted(result),
        **({"members": _members(result)} if result.members else {}),
    }


def _members(result: CheckResult) -> dict[str, Any]:
    others = grouped(
        ((member.verdict.value, member.limitation_id), member.label)
        for member in result.members
        if member.verdict not in ATTENTION
    )
    seen = Counter(member.verdict for member in result.members)
    took = latency_of(result)
    return {
        "total": len(result.members),
        "counts": {verdict.value: seen[verdict] for verdict in SUMMARY_ORDER if seen[verdict]},
        "deviating": [_member(member) for member in result.deviating],
        "others": [
            {"verdict": verdict, "limitation": limitation, "members": labels}
            for (verdict, limitation), labels in others.items()
        ],
        "seconds": {"median": took.median, "p99": took.p99, "worst": took.worst} if took else None,
    }


def _member(result: CheckResult) -> dict[str, Any]:
    check, seen = result.check, result.observation
    return {
        "member": result.label,
        "source": check.source.node if check else None,
        "target": check.target.node if check else None,
        "service": check.target.service if check else None,
        "verdict": result.verdict.value,
        "message": result.message,
        "next_step": result.next_step,
        "expected": result.expected,
        "observed": result.observed,
        "limitation": result.limitation_id,
        "attempts": to_data(seen.attempts) if seen else [],
        "controls": to_data(seen.controls) if seen else [],
    }


def _accepted(result: CheckResult) -> dict[str, Any]:
    if result.accepted is None:
        return {}
    accepted = {"reason": result.accepted.reason, "expires": result.accepted.expires}
    return {"accepted": {**accepted, "excused": result.excused}}


def _end(end: Vantage | Target | None) -> dict[str, Any]:
    return {
        "kind": end.kind.value if end else None,
        "role": end.pool if end else None,
        "os": end.os.value if end and end.os else None,
        "build": str(end.build) if end and end.build else None,
        "node": end.node if end else None,
    }


def _outcome(expected: Expected | None) -> dict[str, Any]:
    return {
        "outcome": expected.outcome.value if expected else None,
        "alternatives": [alternative.value for alternative in expected.alternatives]
        if expected
        else [],
        "source_seen": expected.source_seen.value if expected and expected.source_seen else None,
        "distribution": expected.distribution.value if expected and expected.distribution else None,
    }


def _common_outcome(result: CheckResult, seen: Observation | None) -> str | None:
    """Return the outcome; for members, the one common to all deviating members, if any."""
    if not result.members:
        return seen.outcome.value if seen else None
    outcomes = {
        member.observation.outcome.value
        for member in result.deviating or result.members
        if member.observation is not None
    }
    return outcomes.pop() if len(outcomes) == 1 else None


def _observed(result: CheckResult, seen: Observation | None) -> dict[str, Any]:
    return {
        "outcome": _common_outcome(result, seen),
        "source_seen": seen.source_seen.value if seen and seen.source_seen else None,
        "distribution": seen.distribution.value if seen and seen.distribution else None,
        "server_saw": seen.server_saw if seen else None,
        "backends": list(seen.backends) if seen else [],
        "agreed": seen.agreed if seen else None,
        "trusted": seen.trusted if seen else None,
        "distrust": seen.distrust if seen else None,
        "text": result.observed,
        **_measured(seen),
    }


def _measured(seen: Observation | None) -> dict[str, Any]:
    if seen is None:
        return {}
    figures = {"loss": seen.loss, "path_size": seen.path_size, "flows": seen.flows}
    witnessed = {"witnessed": to_data(seen.witnessed)} if seen.witnessed else {}
    return {
        name: to_data(value) for name, value in figures.items() if value is not None
    } | witnessed


def _limitation(limitation: AppliedLimitation) -> dict[str, Any]:
    data: dict[str, Any] = to_data(limitation)
    return data
