"""``ConformanceReport`` → the sentences of terminal, page, Markdown and badge; Markdown. Pure.

Markdown is for a repository or a release: the answer, a table of features, what was not shown.
"""

from collections.abc import Iterable, Iterator, Sequence

from nettests.conformance.conformance_report import (
    ConformanceReport,
    FeatureReport,
    Gap,
    LevelReport,
    Missing,
    Result,
    Statistics,
    Works,
)
from nettests.expect.condition import Truth
from nettests.model.visible import code, inert
from nettests.report.text import plural

GAPS = {
    Gap.NOT_PLANNED: "not planned",
    Gap.PLANNED_OTHERWISE: "planned otherwise",
    Gap.SKIPPED: "skipped",
    Gap.UNKNOWN: "not judged",
    Gap.KNOWN_BUG: "a known bug shows",
    Gap.OWN_LIMITATION: "limited by the vendor's own entry",
    Gap.NOT_MET: "the claim was not met",
}
WORKS = {
    Works.WORKS: "works in this run all the same",
    Works.DEVIATES: "deviates in this run",
    Works.NOT_SHOWN: "was not shown in this run",
}
HOLDS = {Truth.YES: "inside", Truth.NO: "outside", Truth.UNKNOWN: "unknown"}
SYMBOL = {Result.SUCCESS: "✓", Result.PARTIAL: "◐", Result.FAILURE: "✗"}
COLUMNS = {
    "passed": "pass",
    "limited": "limited",
    "recorded": "recorded",
    "known_bugs": "known-bug",
    "failed": "failed",
    "unknown": "unknown",
    "skipped": "skipped",
    "not_planned": "not planned",
}
"""The columns of statistics, in words."""
SHOWN = 40
"""How many lines per feature, and unclaimed deviations, Markdown shows; YAML has all."""


def headline(report: ConformanceReport) -> str:
    """Return the answer in one sentence."""
    total = len(report.features)
    good, gaps, failed = (
        sum(feature.result is result for feature in report.features)
        for result in (Result.SUCCESS, Result.PARTIAL, Result.FAILURE)
    )
    match report.result:
        case Result.FAILURE:
            return f"Not conformant: {failed} of {plural(total, 'claimed feature')} failed"
        case Result.SUCCESS:
            shown = "the claimed feature" if total == 1 else f"all {total} claimed features"
            return f"Conformant: {shown} succeeded"
        case Result.PARTIAL:
            shown = f"{good} of {plural(total, 'claimed feature')} succeeded"
            not_shown = f", {gaps} {'was' if gaps == 1 else 'were'} not shown whole" if gaps else ""
            outside = [row.subject for row in report.scope if row.holds is not Truth.YES]
            but = f"; {', '.join(outside)} outside what is supported" if outside else ""
            broken = but if report.tested.complete else "; the run broke off"
            return f"Partially conformant: {shown}{not_shown}{broken}"


def implementation_line(report: ConformanceReport) -> str:
    """Return the plugin that the report is about."""
    implementation = report.implementation
    return f"{implementation.project} {implementation.version} of {implementation.organization}"


def cluster_line(report: ConformanceReport) -> str:
    """Return the cluster that it was tested on."""
    tested = report.tested
    builds = sorted({row.build for row in tested.pools if row.build})
    windows = f"Windows {', '.join(builds)}" if builds else "no Windows node"
    return f"Kubernetes {tested.kubernetes} · {tested.plugin} {tested.backend} · {windows} · {report.date}"


def level_line(level: LevelReport) -> str:
    """Return ``core: 4 of 5 features succeeded (partial)``."""
    features = plural(len(level.features), "feature")
    return f"{level.level.value}: {level.succeeded} of {features} succeeded ({level.result.value})"


def counted(statistics: Statistics) -> str:
    """Return the counts that are not zero."""
    counts = [
        f"{count} {word}" for name, word in COLUMNS.items() if (count := getattr(statistics, name))
    ]
    return ", ".join(counts) or "no check"


def feature_lines(feature: FeatureReport) -> Iterator[str]:
    """Yield a feature's deviating checks, then its gaps; gaps with one reason share a line."""
    for failed in feature.failed:
        yield f"{failed.verdict.value}: {failed.check}: expected {failed.expected}, observed {failed.observed}"
    alike: dict[tuple[Gap, str], list[Missing]] = {}
    for gap in feature.missing:
        alike.setdefault((gap.gap, gap.reason), []).append(gap)
    for (kind, reason), gaps in alike.items():
        count = sum(len(gap.checks) for gap in gaps)
        flows = ", ".join(gap.flow for gap in gaps)
        many = f"{plural(count, 'check')} of {flows}" if count else flows
        yield f"{GAPS[kind]}: {many}: {reason}"


def scope_lines(report: ConformanceReport) -> Iterator[str]:
    """Yield the parts of the scope in which the cluster may be unsupported."""
    words = {Truth.NO: "outside what is supported", Truth.UNKNOWN: "not known to be supported"}
    for row in report.scope:
        if row.holds in words:
            yield f"{words[row.holds]}: {row.subject} {row.found}, supported {row.claimed}"
    if not report.tested.complete:
        yield "the run broke off before its end"


def render_markdown(report: ConformanceReport, source: str) -> str:
    """Return Markdown; ``source`` is the digest of the YAML document."""
    tested, digests = report.tested, report.digests
    lines = [
        f"# {SYMBOL[report.result]} {inert(headline(report))}",
        "",
        f"{inert(implementation_line(report))}  ",
        inert(cluster_line(report)),
        "",
        *(f"- {inert(level_line(level))}" for level in report.levels.values()),
        *(f"- ⚠ {inert(line)}" for line in scope_lines(report)),
        *_heading("Features"),
        *_table(
            "| feature | level | result | checks | limitations |", map(_feature, report.features)
        ),
        *(line for feature in report.features for line in _open_points(feature)),
        *_unsupported(report),
        *_unclaimed(report),
        *_heading("What was tested"),
        *_table(
            "| | supported | tested | |",
            (
                (*map(inert, (row.subject, row.claimed, row.found)), HOLDS[row.holds])
                for row in report.scope
            ),
        ),
        "",
        f"Exercised: {inert(tested.exercised)}.",
    ]
    if report.not_covered:
        lines.append(f"Supported, and not on this cluster: {inert(', '.join(report.not_covered))}.")
    columns = ("pool", "nodes", "build", "driver", "kubelet", "runtime", "kube_proxy")
    pools = ([inert(str(getattr(pool, name))) for name in columns] for pool in tested.pools)
    header = "| node pool | nodes | build | driver | kubelet | runtime | kube-proxy |"
    lines += ["", *_table(header, pools), *_heading("What it rests on")]
    lines += [
        f"Run {code(tested.run_id)}, judged by nettests {inert(report.nettests)}.",
        f"Journal {code(digests.journal.sha256)}, profile {code(digests.profile.sha256)}, this report's YAML document {code(source)}.",
        *(
            f"- {code(digest.file)} of the vendor's: {code(digest.sha256)}"
            for digest in (*digests.manifests, *digests.suites)
            if digest.own
        ),
    ]
    return "\n".join(lines) + "\n"


def _heading(title: str) -> tuple[str, ...]:
    return ("", f"## {title}", "")


def _table(header: str, rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield header
    yield f"|{' --- |' * (header.count('|') - 1)}"
    yield from (f"| {' | '.join(row)} |" for row in rows)


def _feature(feature: FeatureReport) -> Sequence[str]:
    return (
        inert(feature.name),
        feature.level.value,
        f"{SYMBOL[feature.result]} {feature.result.value}",
        inert(counted(feature.statistics)),
        ", ".join(map(code, feature.limitations)),
    )


def _open_points(feature: FeatureReport) -> Iterator[str]:
    if lines := [*feature_lines(feature)]:
        yield from ("", f"### {inert(feature.name)}: {feature.result.value}", "")
        yield from _bounded(lines)


def _unsupported(report: ConformanceReport) -> Iterator[str]:
    rows = [
        (inert(each.name), inert(each.reason), WORKS[each.works], inert(counted(each.statistics)))
        for each in report.unsupported
    ]
    if rows:
        yield from _heading("Not supported")
        yield from _table("| feature | reason | this run | checks |", rows)


def _unclaimed(report: ConformanceReport) -> Iterator[str]:
    unclaimed = report.unclaimed
    yield from _heading("Not claimed")
    yield f"{plural(len(unclaimed.flows), 'flow')} that no feature names: {inert(counted(unclaimed.statistics))}."
    if unclaimed.failed:
        yield ""
        yield from _bounded(
            [
                f"{failed.verdict.value}: {failed.check}, observed {failed.observed}"
                for failed in unclaimed.failed
            ]
        )


def _bounded(lines: list[str]) -> Iterator[str]:
    yield from (f"- {inert(line)}" for line in lines[:SHOWN])
    if len(lines) > SHOWN:
        yield f"- … and {len(lines) - SHOWN} more"
