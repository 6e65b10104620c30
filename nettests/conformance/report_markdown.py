"""``ConformanceReport`` → Markdown for a repository or a release: the answer, a table of features, what was not shown."""

from collections.abc import Iterable, Iterator

from nettests.conformance.conformance_report import ConformanceReport, FeatureReport
from nettests.conformance.report_yaml import HOLDS
from nettests.conformance.sentences import (
    SYMBOL,
    WORKS,
    cluster_line,
    counted,
    feature_lines,
    headline,
    implementation_line,
    level_line,
    scope_lines,
)
from nettests.model.markdown import code, inert
from nettests.report.text import plural

SHOWN = 40
"""Lines about one feature, and unclaimed checks that deviate; the YAML document has all."""


def render_markdown(report: ConformanceReport, source: str) -> str:
    """Return the text; ``source`` is the digest of the YAML document that it belongs to."""
    lines = [
        f"# {SYMBOL[report.result]} {inert(headline(report))}",
        "",
        f"{inert(implementation_line(report))}  ",
        inert(cluster_line(report)),
        "",
        *(f"- {inert(level_line(level))}" for level in report.levels.values()),
        *(f"- ⚠ {inert(line)}" for line in scope_lines(report)),
        *_features(report),
        *(line for feature in report.features for line in _open_points(feature)),
        *_unsupported(report),
        *_unclaimed(report),
        *_tested(report),
        *_basis(report, source),
    ]
    return "\n".join(lines) + "\n"


def _features(report: ConformanceReport) -> Iterator[str]:
    yield from ("", "## Features", "", "| feature | level | result | checks | limitations |")
    yield "| --- | --- | --- | --- | --- |"
    for feature in report.features:
        by = ", ".join(map(code, feature.limitations))
        result = f"{SYMBOL[feature.result]} {feature.result.value}"
        checks = inert(counted(feature.statistics))
        yield f"| {inert(feature.name)} | {feature.level.value} | {result} | {checks} | {by} |"


def _open_points(feature: FeatureReport) -> Iterator[str]:
    lines = [*feature_lines(feature)]
    if lines:
        yield from ("", f"### {inert(feature.name)}: {feature.result.value}", "")
        yield from _bounded(lines)


def _unsupported(report: ConformanceReport) -> Iterator[str]:
    if report.unsupported:
        yield from ("", "## Not supported", "", "| feature | reason | this run | checks |")
        yield "| --- | --- | --- | --- |"
        for feature in report.unsupported:
            yield f"| {inert(feature.name)} | {inert(feature.reason)} | {WORKS[feature.works]} | {inert(counted(feature.statistics))} |"


def _unclaimed(report: ConformanceReport) -> Iterator[str]:
    unclaimed = report.unclaimed
    yield from ("", "## Not claimed", "")
    yield f"{plural(len(unclaimed.flows), 'flow')} that no feature names: {inert(counted(unclaimed.statistics))}."
    if unclaimed.failed:
        yield ""
        yield from _bounded(
            [
                f"{failed.verdict.value}: {failed.check}, observed {failed.observed}"
                for failed in unclaimed.failed
            ]
        )


def _tested(report: ConformanceReport) -> Iterator[str]:
    tested = report.tested
    yield from (
        "",
        "## What was tested",
        "",
        "| | supported | tested | |",
        "| --- | --- | --- | --- |",
    )
    for row in report.scope:
        yield f"| {inert(row.subject)} | {inert(row.claimed)} | {inert(row.found)} | {HOLDS[row.holds]} |"
    yield from ("", f"Exercised: {inert(tested.exercised)}.")
    if report.not_covered:
        yield f"Supported, and not on this cluster: {inert(', '.join(report.not_covered))}."
    yield ""
    yield "| node pool | nodes | build | driver | kubelet | runtime | kube-proxy |"
    yield "| --- | --- | --- | --- | --- | --- | --- |"
    for pool in tested.pools:
        cells = (pool.pool, str(pool.nodes), pool.build, pool.driver, pool.kubelet, pool.runtime)
        yield f"| {' | '.join(map(inert, cells))} | {inert(pool.kube_proxy)} |"


def _basis(report: ConformanceReport, source: str) -> Iterator[str]:
    digests = report.digests
    yield from ("", "## What it rests on", "")
    yield f"Run {code(report.tested.run_id)}, judged by nettests {inert(report.nettests)}."
    yield f"Journal {code(digests.journal.sha256)}, profile {code(digests.profile.sha256)}, this report's YAML document {code(source)}."
    own_files = [digest for digest in (*digests.manifests, *digests.suites) if digest.own]
    for digest in own_files:
        yield f"- {code(digest.file)} of the vendor's: {code(digest.sha256)}"


def _bounded(lines: list[str]) -> Iterable[str]:
    yield from (f"- {inert(line)}" for line in lines[:SHOWN])
    if len(lines) > SHOWN:
        yield f"- … and {len(lines) - SHOWN} more"
