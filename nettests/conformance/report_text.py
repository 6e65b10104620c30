"""``ConformanceReport`` → the sentences of terminal, page, Markdown and badge. Pure."""

from collections.abc import Iterator

from nettests.conformance.conformance_report import (
    ConformanceReport,
    FeatureReport,
    Gap,
    LevelReport,
    Result,
    Statistics,
    Unclaimed,
    Works,
)
from nettests.expect.condition import Truth
from nettests.model.grouping import grouped
from nettests.model.visible import plural

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
            not_shown = (
                f", {gaps} {'was' if gaps == 1 else 'were'} shown only in part" if gaps else ""
            )
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
    alike = grouped(((gap.gap, gap.reason), gap) for gap in feature.missing)
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


def unclaimed_lines(unclaimed: Unclaimed) -> Iterator[str]:
    """Yield the checks that deviate in flows that no feature names."""
    for failed in unclaimed.failed:
        yield f"{failed.verdict.value}: {failed.check}, observed {failed.observed}"
