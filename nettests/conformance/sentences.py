"""``ConformanceReport`` → the sentences shared by terminal, page, Markdown and badge. Pure."""

from collections.abc import Iterator

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
"""The columns of statistics, as people read them."""


def headline(report: ConformanceReport) -> str:
    """Return the answer in one sentence."""
    total = len(report.features)
    counted = {result: _of(report, result) for result in Result}
    match report.result:
        case Result.FAILURE:
            return f"Not conformant: {counted[Result.FAILURE]} of {plural(total, 'claimed feature')} failed"
        case Result.SUCCESS:
            shown = "the claimed feature" if total == 1 else f"all {total} claimed features"
            return f"Conformant: {shown} succeeded"
        case Result.PARTIAL:
            gaps = counted[Result.PARTIAL]
            shown = f"{counted[Result.SUCCESS]} of {plural(total, 'claimed feature')} succeeded"
            not_shown = f", {gaps} {'was' if gaps == 1 else 'were'} not shown whole" if gaps else ""
            return f"Partially conformant: {shown}{not_shown}{_outside(report)}"


def implementation_line(report: ConformanceReport) -> str:
    """Return what is reported on."""
    implementation = report.implementation
    return f"{implementation.project} {implementation.version} of {implementation.organization}"


def cluster_line(report: ConformanceReport) -> str:
    """Return where it was tested."""
    tested = report.tested
    builds = sorted({row.build for row in tested.pools if row.build})
    windows = f"Windows {', '.join(builds)}" if builds else "no Windows node"
    return f"Kubernetes {tested.kubernetes} · {tested.plugin} {tested.backend} · {windows} · {report.date}"


def level_line(level: LevelReport) -> str:
    """Return ``core: 4 of 5 features succeeded (partial)``."""
    good = sum(feature.result is Result.SUCCESS for feature in level.features)
    return f"{level.level.value}: {good} of {plural(len(level.features), 'feature')} succeeded ({level.result.value})"


def counted(statistics: Statistics) -> str:
    """Return the counts that are not zero."""
    counts = [
        f"{count} {word}" for name, word in COLUMNS.items() if (count := getattr(statistics, name))
    ]
    return ", ".join(counts) or "no check"


def feature_lines(feature: FeatureReport) -> Iterator[str]:
    """Yield what a feature lacks: each check that deviates, then each gap; gaps of one reason share a line."""
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
    """Yield the parts of the scope in which the cluster may not be one that the profile supports."""
    for row in report.scope:
        match row.holds:
            case Truth.NO:
                yield f"outside of what is supported: {row.subject} {row.found}, supported {row.claimed}"
            case Truth.UNKNOWN:
                yield f"not known to be supported: {row.subject} {row.found}, supported {row.claimed}"
            case Truth.YES:
                pass
    if not report.tested.complete:
        yield "the run broke off before its end"


def _of(report: ConformanceReport, result: Result) -> int:
    return sum(feature.result is result for feature in report.features)


def _outside(report: ConformanceReport) -> str:
    if not report.tested.complete:
        return "; the run broke off"
    outside = [row.subject for row in report.scope if row.holds is not Truth.YES]
    return f"; {', '.join(outside)} not inside of what is supported" if outside else ""
