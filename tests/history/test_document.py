"""The document for machines keeps its schema, and the schema can fail."""

import json
from dataclasses import replace
from importlib.resources import files
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from nettests.compare.reading import read_results
from nettests.history.history_text import document
from nettests.history.levels import Colour, State
from nettests.history.trends import History, LeftOutRun, ReadRun, history_of
from nettests.report import Results, build_results, render_json
from tests.history.story import NIGHTS, altered, night, nights, whole
from tests.report.hostile import NASTY, hostile_records

SCHEMA = json.loads(files("nettests.history").joinpath("history.schema.json").read_text("utf-8"))


def invalid(found: History) -> list[str]:
    """What of the document, written and read again, breaks the schema."""
    data = json.loads(json.dumps(document(found)))
    return [error.message for error in Draft202012Validator(SCHEMA).iter_errors(data)]


def story() -> History:
    return History(clusters=(whole(),), left_out=(LeftOutRun(name="x", reason="it is cut off"),))


def test_the_schema_is_a_schema() -> None:
    """The published schema is valid by its own draft, and its closed sets are the code's."""
    Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["$defs"]["state"]["enum"] == [state.value for state in State]
    colours = SCHEMA["$defs"]["incident"]["properties"]["colours"]["items"]["enum"]
    assert colours == [colour.value for colour in Colour]


def test_thirty_nights_are_a_valid_document() -> None:
    """Every part of it has something to say here: the schema sees each."""
    assert invalid(story()) == []
    (told,) = document(story())["clusters"]
    assert all(told.values())
    assert len(told["runs"]) == NIGHTS
    assert {len(one["verdicts"]) for one in told["checks"]} == {NIGHTS}
    assert {len(one["colours"]) for one in told["incidents"]} == {NIGHTS}
    assert sum(told["counts"].values()) == len(told["checks"])


def test_places_are_those_of_the_list_of_runs() -> None:
    """A program finds the first bad run of a check by its number."""
    (told,) = document(story())["clusters"]
    for check in told["checks"]:
        if check["first_bad"] is not None:
            assert check["verdicts"][check["first_bad"]] in {"fail", "lifted", "flaky"}
            assert check["verdicts"][check["last_good"]] in {"pass", "limited", "recorded"}
            assert check["why"]["text"]


def test_all_verdicts_and_runs_that_could_not_start_are_valid(
    eventful_run: Results, quiet: Results
) -> None:
    """Whatever a run is, its history satisfies the schema."""
    texts = {"one": render_json(eventful_run), "two": render_json(quiet)}
    runs = [altered(ReadRun(name=name, run=read_results(text, name)), run_id=name) for name, text in texts.items()]  # fmt: skip
    failed = altered(night(2), error="no nodes", seconds=None)
    failed = replace(failed, run=replace(failed.run, checks=(), incidents=(), facts=None))
    for found in ([*runs, failed], [failed], runs, []):
        assert invalid(history_of(found)) == []


def test_hostile_texts_are_valid_data() -> None:
    """Texts are data: they are what they were."""
    spoilt = read_results(render_json(build_results(hostile_records())), "hostile")
    found = history_of([ReadRun(name=NASTY, run=spoilt), *nights(range(2))])
    assert invalid(found) == []
    names = [run["name"] for one in document(found)["clusters"] for run in one["runs"]]
    assert NASTY in [*names, *(one.name for one in found.left_out)]


@pytest.mark.parametrize(
    "change",
    [
        {"extra": 1},
        {"kind": "Difference"},
        {"apiVersion": "nettests.dev/v9"},
        {"clusters": [{"name": "x"}]},
        {"left_out": ["x"]},
    ],
)
def test_the_schema_refuses_what_is_not_promised(change: dict[str, Any]) -> None:
    """A missing key, a wrong word or an extra key is an error."""
    data = {**document(story()), **change}
    assert list(Draft202012Validator(SCHEMA).iter_errors(data))


@pytest.mark.parametrize(
    ("part", "change"),
    [
        ("checks", {"state": "better"}),
        ("checks", {"verdicts": ["green"]}),
        ("checks", {"first_bad": -1}),
        ("runs", {"counts": {"better": 1}}),
        ("turns", {"facts": [{}]}),
        ("incidents", {"colours": ["blue"]}),
    ],
)
def test_the_schema_sees_into_every_part(part: str, change: dict[str, Any]) -> None:
    """One wrong word anywhere is found."""
    data = json.loads(json.dumps(document(story())))
    data["clusters"][0][part][0].update(change)
    assert list(Draft202012Validator(SCHEMA).iter_errors(data))
