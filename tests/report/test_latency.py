"""How soon and how fast Pods answer Pods, by systems and placement."""

import json
from dataclasses import replace

from jsonschema import Draft202012Validator

from nettests.model.payload import ONE_MIB
from nettests.model.words import OS, Placement
from nettests.report import Results, render_json
from nettests.report.html_report import render_html
from nettests.report.members import paths
from nettests.report.results import CheckResult
from tests.report.test_results_json import SCHEMA


def taking(one: CheckResult, *seconds: float) -> CheckResult:
    """Return a check whose answers took so long."""
    assert one.observation
    first = one.observation.attempts[0]
    attempts = tuple(replace(first, elapsed=each) for each in seconds)
    return replace(one, observation=replace(one.observation, attempts=attempts))


def of(quiet: Results, flow: str, ending: str) -> CheckResult:
    """Return one check of the story."""
    (found,) = [one for one in quiet.checks if one.id == f"{flow}/{ending}"]
    return found


def test_latency_is_that_of_short_questions_by_address(quiet: Results) -> None:
    """Names and payloads take longer for other reasons: median and 99th percentile leave them out."""
    short = taking(of(quiet, "pod-to-pod-ip", "windows-1/linux-1/other-node/tcp"), 0.01, 0.02, 0.03)
    large = taking(of(quiet, "payload-pod-to-pod", "windows-1/linux-1/other-node/tcp"), 0.9)
    named = taking(of(quiet, "pod-to-pod-name", "windows-1/linux-1/other-node/tcp"), 0.8)
    (found,) = paths([short, large, named])
    assert (found.source_os, found.target_os) == (OS.WINDOWS, OS.LINUX)
    assert found.placement is Placement.OTHER_NODE
    assert (found.answers, found.median, found.p99) == (3, 0.02, 0.03)
    assert (found.transfers, found.mib_per_second) == (0, None)


def test_throughput_is_the_median_of_what_transfers_carried(quiet: Results) -> None:
    """A transfer carries its payload four times: there, back, and there twice."""
    short = taking(of(quiet, "pod-to-pod-ip", "windows-1/linux-1/other-node/tcp"), 0.01)
    large = taking(
        of(quiet, "payload-1mib-pod-to-pod", "windows-1/linux-1/other-node/tcp"), 0.1, 0.2, 0.4
    )
    (found,) = paths([short, large])
    assert (found.transfers, found.mib_per_second) == (3, round(4 * ONE_MIB / 2**20 / 0.2, 1))


def test_pace_is_in_the_documents(quiet: Results) -> None:
    """Machines find it in results.json, as the schema says, and people on the page."""
    document = json.loads(render_json(quiet))
    Draft202012Validator(SCHEMA).validate(document)
    kinds = {(one["source_os"], one["target_os"], one["placement"]) for one in document["paths"]}
    assert ("windows", "linux", "other-node") in kinds
    assert "MiB/s" in render_html(quiet)
