"""OpenMetrics text of a run: valid in both formats that read it, bounded, and no text of a cluster breaks it."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import parser
from prometheus_client.metrics_core import Metric
from prometheus_client.openmetrics import parser as openmetrics

from nettests.model.journal_records import Begin, End, Event, Record
from nettests.model.verdict import ATTENTION, SUMMARY_ORDER
from nettests.model.words import Verdict
from nettests.report import Results, build_results
from nettests.report.open_metrics import CHECKS, INCIDENTS, render_open_metrics
from nettests.report.results import Incident
from tests.report.hostile import NASTY, hostile_records
from tests.report.scenario import QUIET, records

Text = Callable[[str], Iterable[Metric]]
strict: Text = openmetrics.text_string_to_metric_families
older: Text = parser.text_string_to_metric_families
Samples = dict[tuple[tuple[str, str], ...], float]


def read(text: str) -> dict[str, Samples]:
    """Return the samples by name and labels, as OpenMetrics reads them; without the label that all have."""
    found: dict[str, Samples] = {}
    for family in strict(text):
        assert family.type == "gauge", "the textfile collector refuses OpenMetrics' own types"
        for sample in family.samples:
            assert sample.timestamp is None, "the textfile collector refuses them"
            labels = tuple((k, v) for k, v in sorted(sample.labels.items()) if k != "context")
            told = found.setdefault(sample.name, {})
            assert labels not in told
            told[labels] = sample.value
    return found


def exposed(results: Results) -> dict[str, Samples]:
    """Render, and read what was rendered."""
    return read(render_open_metrics(results))


def only(samples: Samples) -> float:
    """Return the value of a family without labels."""
    return samples[()]


def test_a_run_tells_how_and_when_it_ended(quiet: Results) -> None:
    """Exit code, completeness, duration and end, and which nettests it was."""
    found = exposed(quiet)
    assert only(found["nettests_run_exit_code"]) == 0
    assert only(found["nettests_run_complete"]) == 1
    assert only(found["nettests_run_duration_seconds"]) == pytest.approx(48.2)
    ended = datetime(2026, 11, 21, 14, 5, 0, 400000, tzinfo=UTC).timestamp()
    assert only(found["nettests_run_end_timestamp_seconds"]) == pytest.approx(ended)
    assert found["nettests_build_info"] == {(("version", "0.1.0"),): 1}
    worst = max(one.seconds for one in quiet.convergence)
    assert only(found["nettests_convergence_worst_seconds"]) == worst


def test_every_sample_names_the_context_of_its_cluster(quiet: Results) -> None:
    """Files of two clusters side by side hold no sample twice."""
    families = strict(render_open_metrics(quiet))
    samples = [sample for family in families for sample in family.samples]
    assert {sample.labels["context"] for sample in samples} == {quiet.run.context}


def test_checks_are_counted_by_verdict_and_by_flow(eventful_run: Results) -> None:
    """Each verdict has a count, 0 included; each flow those that occurred, and together they are all checks."""
    found = exposed(eventful_run)
    counts = {labels[0][1]: value for labels, value in found["nettests_run_checks"].items()}
    assert counts == {one.value: eventful_run.counts[one] for one in SUMMARY_ORDER}
    of_flows: Counter[str] = Counter()
    for labels, value in found["nettests_flow_checks"].items():
        assert value > 0
        of_flows[dict(labels)["verdict"]] += int(value)
    assert of_flows == Counter({k: int(v) for k, v in counts.items()})


def test_checks_that_need_attention_are_told_one_by_one(eventful_run: Results) -> None:
    """Each by id, flow and verdict; accepted ones only as counts."""
    told = {
        (dict(one)["check"], dict(one)["flow"], dict(one)["verdict"]): value
        for one, value in exposed(eventful_run)["nettests_check_verdict"].items()
    }
    red = [one for one in eventful_run.checks if one.verdict in ATTENTION]
    assert told == {(one.id, one.flow, one.verdict.value): 1 for one in red}


def test_a_quiet_run_has_no_check_of_its_own(quiet: Results) -> None:
    """What is as documented takes no series for each check, and no cause is told."""
    found = exposed(quiet)
    assert "nettests_check_verdict" not in found
    assert "nettests_incident_checks" not in found
    assert only(found["nettests_incidents"]) == 0


def test_the_number_of_series_is_bounded(quiet: Results) -> None:
    """A cluster in which everything fails for a hundred causes has the leading ones, and says how many are left out."""
    one = quiet.checks[0]
    many = tuple(replace(one, id=f"{one.id}-{n}", verdict=Verdict.FAIL) for n in range(1000))
    causes = tuple(
        Incident(cause=f"cause {n}", traits={}, checks=(many[n].id,), next_step="")
        for n in range(100)
    )
    found = exposed(replace(quiet, checks=many, incidents=causes))
    assert len(found["nettests_check_verdict"]) == CHECKS
    assert only(found["nettests_check_verdict_left_out"]) == 1000 - CHECKS
    assert len(found["nettests_incident_checks"]) == INCIDENTS
    assert only(found["nettests_incidents"]) == 100


def test_the_most_urgent_checks_are_kept(quiet: Results) -> None:
    """A single failure is told among more flaky checks than there is room for."""
    one = quiet.checks[0]
    flaky = tuple(replace(one, id=f"f-{n}", verdict=Verdict.FLAKY) for n in range(CHECKS))
    last = replace(one, id="last", verdict=Verdict.FAIL)
    told = exposed(replace(quiet, checks=(*flaky, last)))["nettests_check_verdict"]
    assert "last" in {dict(labels)["check"] for labels in told}


def test_causes_that_look_alike_are_one_sample(quiet: Results) -> None:
    """Two causes that differ in what is cut are counted together: a sample twice would void the whole file."""
    causes = tuple(
        Incident(cause=f"{'x' * 200}{end}{'x' * 200}", traits={}, checks=("a", "b"), next_step="")
        for end in "12"
    )
    (value,) = exposed(replace(quiet, incidents=causes))["nettests_incident_checks"].values()
    assert value == 4


def test_a_run_that_broke_off_or_never_began_is_told_too() -> None:
    """What is not known is left out, and 4 is the exit code of a run that could not start."""
    cut = [one for one in records(QUIET) if not isinstance(one, End)]
    broken = exposed(build_results(cut))
    assert only(broken["nettests_run_complete"]) == 0
    assert not {"nettests_run_exit_code", "nettests_run_end_timestamp_seconds"} & broken.keys()
    begun: list[Record] = [
        Begin(run_id="r"),
        Event(at="", text="no nodes"),
        End(finished="", exit_code=4),
    ]
    never = exposed(build_results(begun))
    assert only(never["nettests_run_exit_code"]) == 4
    assert set(never["nettests_run_checks"].values()) == {0}


def test_texts_of_a_hostile_cluster_stay_values_of_labels(eventful_run: Results) -> None:
    """Quotes, line feeds, escapes and half characters are told visibly, in one line each."""
    exposed(build_results(hostile_records()))
    nasty = f'\n# TYPE x counter\nx_total{{a="b"}} 7\n# EOF\n{NASTY}\\'
    red = tuple(
        replace(one, id=f"{one.id} {nasty}", flow=nasty) if one.verdict in ATTENTION else one
        for one in eventful_run.checks
    )
    run = replace(eventful_run.run, context=nasty, nettests=nasty, finished=nasty)
    causes = (Incident(cause=nasty, traits={}, checks=(), next_step=""),)
    text = render_open_metrics(replace(eventful_run, run=run, checks=red, incidents=causes))
    assert set(read(text)) <= set(exposed(eventful_run)) | {"nettests_incident_checks"}
    assert all(name.startswith("nettests_") for name in read(text))
    assert "\x1b" not in text
    assert "\u202e" not in text


@given(st.text())
def test_no_text_breaks_the_format(text: str) -> None:
    """Whatever a context is called, both parsers read every sample with the same labels."""
    results = build_results([Begin(context=text, nettests=text)])
    rendered = render_open_metrics(results)
    strictly, loosely = (
        [(s.name, s.labels, s.value) for f in families for s in f.samples]
        for families in (
            strict(rendered),
            older(rendered),
        )
    )
    assert strictly == loosely


def test_the_older_format_reads_it_too(eventful_run: Results) -> None:
    """Help has neither quotes nor backslashes, which only one of the two formats escapes; the text ends with its mark."""
    text = render_open_metrics(eventful_run)
    assert text.endswith("\n# EOF\n")
    for line in text.splitlines():
        if line.startswith("# HELP"):
            assert not set('"\\') & set(line)
    known = {f.name for f in older(text)}
    assert known == {f.name for f in strict(text)}
