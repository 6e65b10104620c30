"""The run before a run: the last one of the same cluster that chose its checks in the same way, and can be read."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from nettests.model.codec import data_of, encode
from nettests.model.journal_records import Begin
from nettests.report import render_json
from nettests.session.recorded_runs import previous_run
from tests.compare.runs import results
from tests.facts import cluster_facts

OWN = Begin(
    run_id="own",
    started="2026-11-24T09:00:00+00:00",
    context="staging",
    server="https://api.staging.test:6443",
    argv=("nettests", "run", "--flow=pod-to-pod-ip"),
    suites=("/x/suites",),
)


@pytest.fixture(scope="module")
def document() -> str:
    """What a run's results.json holds."""
    return render_json(results(cluster_facts("linux"), flows=["pod-to-pod-ip"]))


def write(folder: Path, begin: Begin, text: str | None) -> Path:
    """Write what a run leaves: the first line of its journal, and its document."""
    folder.mkdir()
    (folder / "journal.jsonl").write_bytes(encode(data_of(begin)))
    if text is not None:
        (folder / "results.json").write_text(text, "utf-8")
    return folder


def earlier(hour: int, **other: object) -> Begin:
    """Return the beginning of an earlier run that differs from the own one in some words."""
    begin = replace(OWN, run_id=f"at-{hour}", started=f"2026-11-24T{hour:02}:00:00+00:00")
    return replace(begin, **other)  # type: ignore[arg-type]


def found(folder: Path) -> str | None:
    before = previous_run(folder)
    return before[0].name if before else None


def test_the_last_of_those_before_is_taken(tmp_path: Path, document: str) -> None:
    """Not one that started later, which a run that was judged late may find beside it."""
    own = write(tmp_path / "own", OWN, document)
    for hour in (5, 7, 6, 10):
        write(tmp_path / f"at-{hour}", earlier(hour), document)
    assert found(own) == "at-7"


@pytest.mark.parametrize(
    "other",
    [
        {"server": "https://api.prod.test:6443"},
        {"argv": ("nettests", "run", "--flow=dns-fqdn")},
        {"argv": ("nettests", "run", "--flow=pod-to-pod-ip", "--enable=costly")},
        {"suites": ("/x/vendor",)},
    ],
    ids=str,
)
def test_a_run_of_something_else_is_passed_over(
    tmp_path: Path, document: str, other: dict[str, object]
) -> None:
    """Of another cluster, or of other checks: what differs then is what was chosen."""
    own = write(tmp_path / "own", OWN, document)
    write(tmp_path / "at-7", earlier(7, **other), document)
    assert found(own) is None
    write(tmp_path / "at-6", earlier(6), document)
    assert found(own) == "at-6"


def test_another_place_of_the_same_choice_is_no_other_choice(tmp_path: Path, document: str) -> None:
    """Where a checkout stands, and where reports go, decides nothing."""
    own = write(tmp_path / "own", OWN, document)
    argv = ("nettests", "run", "--flow", "pod-to-pod-ip", "--report-dir=/y")
    write(tmp_path / "at-7", earlier(7, argv=argv, suites=("/y/suites",)), document)
    assert found(own) == "at-7"


def test_what_cannot_be_read_or_did_not_start_is_passed_over(tmp_path: Path, document: str) -> None:
    """It breaks nothing, and the one before it is taken."""
    own = write(tmp_path / "own", OWN, document)
    write(tmp_path / "at-8", earlier(8), None)
    write(tmp_path / "at-7", earlier(7), document[:1000])
    data = json.loads(document)
    write(tmp_path / "at-6", earlier(6), json.dumps({**data, "checks": []}))
    failed = {**data, "run": {**data["run"], "error": "no route to host"}}
    write(tmp_path / "at-5", earlier(5), json.dumps(failed))
    assert found(own) is None
    write(tmp_path / "at-4", earlier(4), document)
    assert found(own) == "at-4"


def test_a_copy_of_a_run_is_not_the_one_before_it(tmp_path: Path, document: str) -> None:
    """It is the same run under another name."""
    own = write(tmp_path / "own", OWN, document)
    write(tmp_path / "copy", OWN, document)
    assert found(own) is None


def test_a_folder_without_a_journal_has_no_run_before_it(tmp_path: Path) -> None:
    """Nobody knows when it began."""
    assert previous_run(tmp_path) is None
