"""``Results`` → OpenMetrics text for Prometheus. Pure; the only importer of prometheus-client.

For node_exporter's textfile collector and a Pushgateway, which read Prometheus' older text format: gauges without
timestamps and help without quotes are the same in both, and ``# UNIT`` and ``# EOF`` are comments there. The number
of series is bounded (decision 0061). It writes no file and serves nothing.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.openmetrics.exposition import generate_latest

from nettests.model.verdict import SUMMARY_ORDER
from nettests.model.visible import one_line
from nettests.report.results import Results
from nettests.report.summary import CAUSE_LENGTH, needing_attention

CHECKS = 200
"""Checks with a series of their own, most urgent first; others in need of attention are counted."""
INCIDENTS = 10
"""Causes with a series of their own, those that explain most."""

Values = Mapping[tuple[str, ...], float]
"""Values by label values, which are unique within a family."""


@dataclass(frozen=True, slots=True)
class _Families:
    """The part of a registry that the library needs."""

    families: tuple[GaugeMetricFamily, ...]

    def collect(self) -> Iterable[GaugeMetricFamily]:
        """Return the families in the order in which they are written."""
        return self.families


def render_open_metrics(results: Results) -> str:
    """Render a run, also one that was aborted or could not start; the text ends with ``# EOF``."""
    families = _Families((*_of_the_run(results), *_of_checks(results), *_of_causes(results)))
    written: bytes = generate_latest(families)  # type: ignore[no-untyped-call]
    return written.decode("utf-8")


def _of_the_run(results: Results) -> Iterator[GaugeMetricFamily]:
    run = results.run
    yield _gauge(
        results, "build_info", "The nettests that ran.", {(run.nettests,): 1}, labels=("version",)
    )
    yield _gauge(results, "run_complete", "Whether the run came to its end.", {(): run.complete})
    if run.exit_code is not None:
        about = "Exit code of the run: 0 is as documented."
        yield _gauge(results, "run_exit_code", about, {(): run.exit_code})
    if run.seconds is not None:
        about = "How long the run took."
        yield _gauge(results, "run_duration_seconds", about, {(): run.seconds}, unit="seconds")
    with suppress(ValueError):  # a foreign journal may contain anything
        ended = datetime.fromisoformat(run.finished).timestamp()
        about = "When the run ended, since the Unix epoch."
        yield _gauge(results, "run_end_timestamp_seconds", about, {(): ended}, unit="seconds")


def _of_checks(results: Results) -> Iterator[GaugeMetricFamily]:
    counts: Values = {(verdict.value,): results.counts.get(verdict, 0) for verdict in SUMMARY_ORDER}
    yield _gauge(
        results, "run_checks", "Checks of the run by verdict.", counts, labels=("verdict",)
    )
    about = "Checks of each flow by verdict, where there are any."
    of_flows: Counter[tuple[str, ...]] = Counter(
        (check.flow, check.verdict.value) for check in results.checks
    )
    yield _gauge(results, "flow_checks", about, of_flows, labels=("flow", "verdict"))
    red = needing_attention(results)
    shown: Values = {(check.id, check.flow, check.verdict.value): 1.0 for check in red[:CHECKS]}
    about = f"1 for each check that is fail, lifted, unknown or flaky, up to {CHECKS} of them."
    yield _gauge(results, "check_verdict", about, shown, labels=("check", "flow", "verdict"))
    about = "Checks that need attention and have no series of their own."
    yield _gauge(results, "check_verdict_left_out", about, {(): max(0, len(red) - CHECKS)})


def _of_causes(results: Results) -> Iterator[GaugeMetricFamily]:
    explained = [incident for incident in results.incidents if incident.explained]
    about = "Causes that explain several checks that need attention."
    yield _gauge(results, "incidents", about, {(): len(explained)})
    counted: Counter[tuple[str, ...]] = Counter()
    for incident in explained[:INCIDENTS]:
        counted[(one_line(incident.cause, limit=CAUSE_LENGTH),)] += len(incident.checks)
    about = f"Checks that a cause explains, for the first {INCIDENTS} causes."
    yield _gauge(results, "incident_checks", about, counted, labels=("cause",))
    if took := [
        convergence.seconds for convergence in results.convergence if convergence.converged
    ]:
        about = "How long the slowest Service took until it answered."
        yield _gauge(results, "convergence_worst_seconds", about, {(): max(took)}, unit="seconds")


def _gauge(
    results: Results,
    name: str,
    about: str,
    values: Values,
    *,
    labels: tuple[str, ...] = (),
    unit: str = "",
) -> GaugeMetricFamily:
    """Return a family whose samples carry the context, so that files of clusters can coexist."""
    family = GaugeMetricFamily(f"nettests_{name}", about, labels=("context", *labels), unit=unit)
    context = one_line(results.run.context)
    for label_values, value in values.items():
        family.add_metric((context, *map(one_line, label_values)), float(value))
    return family
