"""What is no document of a run is refused with a sentence and the next step; what is newer in small things is read."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from nettests.compare.difference import difference
from nettests.compare.reading import read_results
from nettests.errors import PathError
from nettests.model.exit_code import ExitCode
from nettests.model.journal_records import Event
from nettests.report import Results, build_results, render_json


@pytest.fixture(scope="module")
def text(eventful_run: Results) -> str:
    """The document of a run in which every verdict occurs."""
    return render_json(eventful_run)


def spoilt(text: str, spoil: Callable[[dict[str, Any]], object]) -> str:
    data = json.loads(text)
    spoil(data)
    return json.dumps(data)


def refusal(text: str | bytes) -> str:
    with pytest.raises(PathError) as refused:
        read_results(text, "some/results.json")
    return str(refused.value)


def test_every_verdict_is_read(text: str, eventful_run: Results) -> None:
    """Checks, incidents, latencies and facts are those of the run."""
    read = read_results(text, "x")
    assert [one.verdict for one in read.checks] == [one.verdict for one in eventful_run.checks]
    assert read.incidents == eventful_run.incidents
    assert read.latencies == eventful_run.latencies
    assert read.convergence == eventful_run.convergence
    assert read.facts == eventful_run.facts
    assert read.run == eventful_run.run


def test_a_run_that_could_not_start_is_read_and_is_worse_than_none(text: str) -> None:
    """It has no facts and no checks: nothing was judged, and the first warning says why."""
    event = Event(at="", text="the run could not start: no nodes\n  → grant list nodes")
    failed = read_results(render_json(build_results([event])), "failed")
    found = difference(read_results(text, "x"), failed)
    assert found.exit_code is ExitCode.NOTHING_JUDGED
    assert "the second run could not start: no nodes" in found.warnings
    assert not any("different API servers" in one for one in found.warnings)
    assert {one.reason for one in found.only_before} == {"the other run could not start"}


@pytest.mark.parametrize("share", [0.1, 0.5, 0.99])
def test_a_truncated_document_says_so(text: str, share: float) -> None:
    """A copy that broke off is named, and how to make it again."""
    told = refusal(text[: int(len(text) * share)])
    assert told.startswith("some/results.json cannot be read: ")
    assert "cut off" in told
    assert "nettests rejudge" in told


@pytest.mark.parametrize("other", ["", "\x00", "nonsense", "[" * 200000])
def test_what_is_no_json_is_refused(other: str) -> None:
    """Nothing that a file may hold ends in a traceback."""
    assert refusal(other).startswith("some/results.json ")


@pytest.mark.parametrize("other", ["[]", "1", "null", "{}", '{"kind": "Preflight"}'])
def test_another_document_is_refused(other: str) -> None:
    """JSON of another kind is told apart from a run's results."""
    assert "holds no results of a run" in refusal(other)


def test_a_newer_format_is_refused_by_its_version(text: str) -> None:
    """A reader that must know of a change is told that it does not."""
    told = refusal(spoilt(text, lambda data: data.update(apiVersion="nettests.dev/v2")))
    assert "apiVersion 'nettests.dev/v2'" in told
    assert "the version of nettests that wrote it, or a newer one" in told


def test_keys_that_are_new_in_the_same_version_are_left_alone(text: str) -> None:
    """A newer nettests may say more: what is known is read."""

    def more(data: dict[str, Any]) -> None:
        data["trend"] = {}
        data["checks"][0]["colour"] = "blue"
        data["facts"]["weather"] = {"value": "fine", "origin": "window"}

    assert read_results(spoilt(text, more), "x").checks == read_results(text, "x").checks


@pytest.mark.parametrize(
    "key", ["pulls", "paths", "latencies", "convergence", "incidents", "counts", "exercised"]
)
def test_keys_that_older_documents_lack_are_empty(text: str, key: str) -> None:
    """A document of an older nettests is compared by what it has."""
    assert read_results(spoilt(text, lambda data: data.pop(key, None)), "x").checks


@pytest.mark.parametrize(
    ("spoil", "named"),
    [
        (lambda data: data.pop("run"), "run"),
        (lambda data: data["checks"][0].pop("id"), "id"),
        (lambda data: data["checks"][0].update(verdict="green"), "green"),
        (lambda data: data.update(checks=7), "7"),
        (lambda data: data["facts"].update(server_version="new"), "new"),
    ],
)
def test_what_a_run_never_writes_is_refused(
    text: str, spoil: Callable[[dict[str, Any]], object], named: str
) -> None:
    """A document that somebody edited says what is wrong with it."""
    told = refusal(spoilt(text, spoil))
    assert "is not as runs write it" in told
    assert named in told or "iterable" in told
