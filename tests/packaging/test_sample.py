"""``reports/sample`` is a real run, and its documents are what its journal says."""

import json
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from lxml import etree

from nettests.conformance.report_page import YAML, documents
from nettests.report import (
    Results,
    build_results,
    render_html,
    render_json,
    render_junit,
    render_markdown,
)
from nettests.session.conformance_run import compared
from nettests.session.journal import read_journal
from scripts.sample import CONFORMANCE, report
from tests.report.opened import unpacked

SAMPLE = Path(__file__).parents[2] / "reports" / "sample"
STALE = "the sample is older than the code: make sample (or scripts/sample.py --render)"


@cache
def sample() -> Results:
    return build_results(read_journal(SAMPLE / "journal.jsonl"))


@cache
def document() -> dict[str, Any]:
    parsed: dict[str, Any] = json.loads((SAMPLE / "results.json").read_text("utf-8"))
    return parsed


@pytest.mark.parametrize(
    ("name", "render"),
    [
        ("results.json", render_json),
        ("junit.xml", render_junit),
        ("report.html", render_html),
        ("summary.md", render_markdown),
    ],
)
def test_a_document_is_what_its_journal_says(name: str, render: Callable[[Results], str]) -> None:
    """Rendering the committed journal again gives the committed document."""
    # Compared without assertion rewriting: a difference of a megabyte explains nothing.
    # Unpacked: another zlib packs the same evidence into other bytes.
    same = unpacked((SAMPLE / name).read_text("utf-8")) == unpacked(render(sample()))
    assert same, f"{name}: {STALE}"


def test_the_report_on_the_plugins_claims_is_what_the_journal_says() -> None:
    """The sample's conformance report is recomputed from the journal beside it, all of its documents."""
    made = documents(report())
    assert {file.name for file in CONFORMANCE.iterdir()} == {*made}
    for name, text in made.items():
        same = (CONFORMANCE / name).read_text("utf-8") == text
        assert same, f"{name}: {STALE}"
    assert compared(CONFORMANCE / YAML, report()) == ()


def test_the_documents_are_valid() -> None:
    """results.json and junit.xml satisfy the schemas that travel with the package."""
    schemas = files("nettests.report")
    schema = json.loads(schemas.joinpath("results.schema.json").read_text("utf-8"))
    Draft202012Validator(schema).validate(document())
    junit = etree.XMLSchema(etree.fromstring(schemas.joinpath("junit.xsd").read_bytes()))
    junit.assertValid(etree.parse(SAMPLE / "junit.xml"))


def test_the_sample_is_a_whole_green_run() -> None:
    """At least 150 checks ran, and none of them is red."""
    assert document()["coverage"]["ran"] >= 150
    counts = document()["counts"]
    assert [counts[red] for red in ("fail", "lifted", "flaky", "unknown")] == [0, 0, 0, 0]
    assert document()["run"]["complete"]


def test_limited_checks_include_the_documented_ones_with_sources() -> None:
    """What Windows is documented not to do was seen, and each says where it is documented."""
    limited = [check for check in document()["checks"] if check["verdict"] == "limited"]
    assert {check["flow"] for check in limited} >= {
        "node-to-service-clusterip",
        "nodeport-from-local-node",
        "icmp-egress",
        "pod-to-service-partial-name",
    }
    assert all(check["limitation"]["sources"] for check in limited)


def test_the_sample_carries_what_a_history_needs() -> None:
    """Run id, time, digest of the facts and stable ids are there."""
    run = document()["run"]
    assert run["run_id"]
    assert run["started"]
    assert run["finished"]
    assert document()["facts_digest"].startswith("sha256:")
    ids = [check["id"] for check in document()["checks"]]
    assert len(ids) == len(set(ids))
