"""Records whose every text from a cluster is an attack, and a run that consists of one such check."""

from collections.abc import Iterator
from typing import Any

from tests.report.scenario import QUIET, records

NASTY = (
    "<script>alert(1)</script></script></style><!-- ]]> & \" ' `| [x](javascript:1) {{ 7*7 }}"
    " \x00\x1b[31m\u202etxt.exe\u2028\ufeff \ud800 {% raw %}"
)
LABEL = "<b onmouseover=alert(1)>&\"'"


def hostile_records() -> Iterator[dict[str, Any]]:
    """Yield a whole run in which the texts that a cluster decides are hostile."""
    for record in records(QUIET):
        kind = record["record"]
        if kind == "raw":
            yield {"record": kind, "raw": _spoilt(record["raw"])}
        elif kind == "judged":
            yield {"record": kind, "judgement": _judgement(record["judgement"])}
        elif kind == "facts":
            yield {"record": kind, "facts": _facts(record["facts"])}
        elif kind == "skip":
            yield {"record": kind, "skip": {**record["skip"], "reason": NASTY}}
        else:
            yield record
    yield {"record": "event", "at": NASTY, "text": NASTY}


def _spoilt(raw: dict[str, Any]) -> dict[str, Any]:
    spoilt = {"stdout": NASTY, "stderr": NASTY, "command": [NASTY, NASTY], "error": NASTY}
    return {**raw, **spoilt, "context": {**raw["context"], "resolved": NASTY}}


def _judgement(judgement: dict[str, Any]) -> dict[str, Any]:
    texts = {"message": NASTY, "expected": NASTY, "observed": NASTY, "next_step": NASTY}
    return {**judgement, **texts}


def _facts(facts: dict[str, Any]) -> dict[str, Any]:
    nodes = [{**node, "os_image": NASTY, "kernel": LABEL} for node in facts["nodes"]]
    plugin = {"value": NASTY, "origin": NASTY}
    return {**facts, "nodes": nodes, "context": NASTY, "cni": {**facts["cni"], "plugin": plugin}}
