"""``Results`` → the JSON of a Slack-compatible webhook: ``text`` and ``blocks``. Pure.

Blocks are ``plain_text``, in which text from a cluster becomes no link, mention or emoji. ``text``,
which notifications and other programs (Mattermost, Rocket.Chat) show instead, is parsed as markup
there: characters of links, mentions and code become full-width. Slack's limits hold by
construction: 150 characters per header, 3,000 per text, 50 blocks.
"""

from collections.abc import Iterator
from typing import Any

from nettests.model.verdict import SUMMARY_ORDER
from nettests.model.visible import one_line, plural
from nettests.report.results import Incident, Results
from nettests.report.summary import (
    SYMBOL,
    cluster_line,
    convergence_line,
    counted,
    coverage_line,
    duration,
    exercised_line,
    headline,
    leading,
)

SHOWN = 5
"""Incidents listed, the leading ones; the report has all."""
HEADER, LINE, TEXT = 150, 500, 3000
"""Characters of a header, of one of our lines, and of ``text``."""
# samples: "<!channel>", "@here", "[x](y)", "![x](y)", "`code`"; emphasis does no harm, and ids and paths have its signs
_WIDE = str.maketrans("<>&@[]`", "＜＞＆＠［］｀")


def slack_message(results: Results, report: str) -> dict[str, Any]:
    """Return the message about a run; ``report`` is where its page is."""
    head = f"{SYMBOL[leading(results)]} {headline(results)}"
    summary = list(_summary(results))
    incidents = [_incident(incident, results) for incident in results.incidents[:SHOWN]]
    if more := len(results.incidents) - SHOWN:
        incidents += [[f"… and {more} more in the report"]] if more > 0 else []
    foot = list(_foot(results, report))
    parts = [summary, *incidents, foot]
    return {
        "text": _fallback([head, *(line for part in parts for line in part)]),
        "unfurl_links": False,
        "unfurl_media": False,
        "blocks": [
            {"type": "header", "text": _plain(one_line(head, limit=HEADER))},
            *({"type": "section", "text": _plain(_lines(part))} for part in parts if part),
        ],
    }


def _summary(results: Results) -> Iterator[str]:
    if results.run.error:
        yield results.run.error
        return
    yield f"{counted(results)} ({coverage_line(results)})"
    if results.facts:
        yield cluster_line(results.facts)
    yield from filter(None, (exercised_line(results), convergence_line(results)))
    if results.rounds:
        yield str(results.rounds)


def _incident(incident: Incident, results: Results) -> list[str]:
    red = {check.id: check.verdict for check in results.checks if check.id in incident.checks}
    worst = min(red.values(), key=SUMMARY_ORDER.index)
    cause = one_line(incident.cause, limit=LINE - 50)
    lead = f"{SYMBOL[worst]} {worst.value.upper()} {cause}"
    count = f": {plural(len(incident.checks), 'check')}" if incident.explained else ""
    return [f"{lead}{count}", *([f"→ {incident.next_step}"] if incident.next_step else [])]


def _foot(results: Results, report: str) -> Iterator[str]:
    run = results.run
    spent = duration(run.seconds)
    broke_off = "" if run.complete else ", broke off"
    yield f"run {run.run_id}{f', {spent}' if spent else ''}{broke_off}, nettests {run.nettests}"
    yield f"report: {report}"


def _lines(lines: list[str]) -> str:
    return "\n".join(one_line(line, limit=LINE) for line in lines)


def _plain(text: str) -> dict[str, Any]:
    return {"type": "plain_text", "text": text, "emoji": False}


def _fallback(lines: list[str]) -> str:
    """Return the same lines without anything parsed as markup, a link or a mention."""
    text = _lines(lines).translate(_WIDE).replace("://", "：//")
    return text if len(text) <= TEXT else f"{text[: TEXT - 1]}…"
