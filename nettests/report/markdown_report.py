"""``Results`` → ``summary.md``: a dozen lines and tables, for the job summary of a CI system.

It lists what needs attention, the limitations seen and the flows; evidence is in the other reports.
Written for GitHub's Markdown: all text from a cluster is escaped.
"""

from collections.abc import Iterable, Sequence

from nettests.model.verdict import SUMMARY_ORDER
from nettests.model.visible import code, inert, plural
from nettests.report.matrix import flow_groups, suites
from nettests.report.results import CheckResult, Results
from nettests.report.summary import (
    EXPORT_REQUEST,
    SYMBOL,
    cluster_line,
    convergence_line,
    cost_line,
    counted,
    coverage_line,
    duration,
    exercised_line,
    headline,
    leading,
    moment,
    needing_attention,
    unread_line,
)

ATTENTION_LIMIT = 20
"""With more red checks than this they share a cause; the HTML report lists them all."""


def render_markdown(results: Results) -> str:
    """Render the summary, which ends with a line feed."""
    blocks = [
        _head(results),
        _attention(results),
        _unread(results),
        _suites(results),
        _limitations(results),
    ]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _head(results: Results) -> str:
    run = results.run
    lines = [f"## {SYMBOL[leading(results)]} {inert(headline(results))}", ""]
    if run.error:
        return "\n".join([*lines, inert(run.error)])
    lines.append(f"**{counted(results)}** ({coverage_line(results)}).")
    if results.facts:
        lines += ["", inert(cluster_line(results.facts))]
    lines += [
        f"\n{inert(line)}."
        for line in (exercised_line(results), convergence_line(results), cost_line(results))
        if line
    ]
    if results.rounds:
        lines.append(f"\n{inert(str(results.rounds))}.")
    if notable := [inert(event.text) for event in results.events if event.notable]:
        lines += ["", *(f"- {text}" for text in notable)]
    spent = duration(run.seconds)
    run_line = [f"Run {code(run.run_id)}", f"started {inert(moment(run.started))}"]
    run_line += [f"took {spent}"] if spent else []
    run_line += [] if run.complete else ["broke off: its journal has no end"]
    return "\n".join([*lines, "", ", ".join(run_line) + ".", *_rounds(results)])


def _rounds(results: Results) -> list[str]:
    if results.rounds is None or not (results.rounds.checks or results.rounds.unknown_nodes):
        return []
    of = results.rounds.judged
    rows = [
        [what, code(rate.name), f"{rate.red} of {of}", moment(rate.first), moment(rate.last)]
        for what, rates in (
            ("check", results.rounds.checks),
            ("node", results.rounds.nodes),
            ("pair", results.rounds.pairs),
        )
        for rate in rates[:ATTENTION_LIMIT]
    ]
    unknown = [
        ["node", code(node.name), f"{node.unknown} of {of}", moment(node.first), moment(node.last)]
        for node in results.rounds.unknown_nodes[:ATTENTION_LIMIT]
    ]
    lines = ["", "### Rounds"]
    for which, listed in (("red", rows), ("unknown", unknown)):
        if listed:
            lines += ["", _table(["", "name", f"{which} rounds", "first", "last"], listed)]
    return lines


def _attention(results: Results) -> str:
    red = needing_attention(results)
    if not red:
        return ""
    rows = [
        [f"{SYMBOL[c.verdict]} {c.verdict.value}", code(c.id), _happened(c)]
        for c in red[:ATTENTION_LIMIT]
    ]
    more = len(red) - ATTENTION_LIMIT
    tail = f"\n\n… and {plural(more, 'more check')}; see `report.html`." if more > 0 else ""
    table = _table(["verdict", "check", "what happened"], rows)
    return f"{_incidents(results)}### Checks that need attention\n\n{table}{tail}"


def _incidents(results: Results) -> str:
    explained = [incident for incident in results.incidents if incident.explained]
    if not explained:
        return ""
    alone = len(results.incidents) - len(explained)
    rows = [
        [str(len(incident.checks)), inert(incident.cause), inert(incident.next_step)]
        for incident in explained[:ATTENTION_LIMIT]
    ]
    rest = f"\n\nEach with a cause of its own: {plural(alone, 'check')}." if alone else ""
    table = _table(["checks", "incident", "next step"], rows)
    return f"### Incidents\n\n{table}{rest}\n\n"


def _unread(results: Results) -> str:
    if not results.unread:
        return ""
    rows = [
        [f"{unread.tool} on {unread.client_os}", inert(unread.text), str(len(unread.checks))]
        for unread in results.unread[:ATTENTION_LIMIT]
    ]
    lead = f"{unread_line(results)}. {EXPORT_REQUEST}"
    table = _table(["tool", "text", "checks"], rows)
    return f"### Answers that are not understood\n\n{inert(lead)}\n\n{table}"


def _happened(result: CheckResult) -> str:
    folders = ", ".join(code(diagnostic.folder) for diagnostic in result.diagnostics)
    return inert(result.message) + (f"<br>Diagnostics: {folders}" if folders else "")


def _suites(results: Results) -> str:
    run_suites = suites(flow_groups(results.checks))
    shown = [v for v in SUMMARY_ORDER if any(v in suite.counts for suite in run_suites)]
    rows = [
        [inert(suite.topic), *(str(suite.counts.get(v, "")) for v in shown)] for suite in run_suites
    ]
    heads = ["suite", *(f"{SYMBOL[v]} {v.value}" for v in shown)]
    return "### Suites\n\n" + _table(heads, rows) if rows else ""


def _limitations(results: Results) -> str:
    rows = []
    for used in results.limitations_used:
        seen = ", ".join(
            f"{len(used.checks[v])} {v.value}" for v in SUMMARY_ORDER if v in used.checks
        )
        sources = "; ".join(inert(str(source)) for source in used.limitation.sources)
        rows.append([code(used.limitation.id), inert(used.limitation.summary), seen, sources])
    if not rows:
        return ""
    return "### Documented limitations that applied\n\n" + _table(
        ["limitation", "summary", "checks", "source"], rows
    )


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [_row(heads), _row(["---"] * len(heads)), *(_row(row) for row in rows)]
    return "\n".join(lines)


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
