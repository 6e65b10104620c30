"""JSON, Markdown and sections of a forecast: valid, read again as they were, bounded and harmless."""

import json
import re
from dataclasses import replace
from importlib.resources import files
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from nettests.compare.difference import difference
from nettests.compare.difference_text import document as difference_document
from nettests.compare.known_facts import Cause
from nettests.compare.sections import SHOWN, Section, render_markdown
from nettests.errors import PathError
from nettests.forecast.facts_after import changed
from nettests.forecast.forecast import Coming, ExpectedChange, Expects, Forecast
from nettests.forecast.forecast_text import (
    KINDS,
    NO_CHECK,
    document,
    headline,
    overview,
    read_forecast,
    sections,
    words_of,
)
from nettests.forecast.fulfilment import forecast_data, forecast_line, forecast_sections, fulfilment
from nettests.forecast.keys import read_change
from nettests.model.words import Outcome, Verdict
from tests.compare.runs import but, quiet_run, recorded, results
from tests.facts import cluster_facts
from tests.forecast.forecasts import NEW, OLD, forecast_of
from tests.report.hostile import NASTY

SCHEMA = json.loads(files("nettests.forecast").joinpath("forecast.schema.json").read_text("utf-8"))
OF_DIFFERENCES = json.loads(
    files("nettests.compare").joinpath("difference.schema.json").read_text("utf-8")
)
EVERYTHING = (
    *("kubernetes=1.34", "windows.build=20348.x", "kubeProxy.dsr=true"),
    *("cni.backend=vxlan", "cni.mtu=1450"),
)


@pytest.fixture(scope="module")
def whole() -> Forecast:
    """A forecast in which everything has something to say."""
    return forecast_of(OLD, *EVERYTHING)


def invalid(data: Any, schema: Any = SCHEMA) -> list[str]:
    """What of a document, written and read again, breaks a schema."""
    written = json.loads(json.dumps(data))
    return [error.message for error in Draft202012Validator(schema).iter_errors(written)]


def section(found: Forecast, title: str) -> Section:
    (one,) = [one for one in sections(found) if one.title == title]
    return one


def test_the_schema_is_a_schema() -> None:
    """The published schema is valid by its own draft."""
    Draft202012Validator.check_schema(SCHEMA)


def test_a_forecast_is_a_valid_document(whole: Forecast) -> None:
    """Every part of it has something to say here: the schema sees each."""
    told = document(whole)
    assert invalid(told) == []
    empty = {name for name, part in told.items() if part in ([], {}, None, "", 0)}
    assert empty == {"manifests"}, "only commands know files"
    assert invalid(document(forecast_of("fleet", "windows.build=20348.3207"))) == []
    assert invalid(document(forecast_of(NEW, "cni.backend=vxlan"))) == []


@pytest.mark.parametrize(
    "change",
    [
        {"extra": 1},
        {"kind": "Difference"},
        {"apiVersion": "nettests.dev/v9"},
        {"changes": [{"id": "x"}]},
        {"undecided": [{}]},
        {"entries": [{"id": 1}]},
        {"same": -1},
        {"comes": [{"id": "x"}]},
    ],
)
def test_the_schema_refuses_what_is_not_promised(whole: Forecast, change: dict[str, Any]) -> None:
    """A missing key, a wrong word or an extra key is an error: the schema can fail."""
    assert invalid({**document(whole), **change})


def test_a_document_is_read_as_it_was_written(whole: Forecast) -> None:
    """Nothing is lost on the way to ``diff --forecast``."""
    assert read_forecast(json.dumps(document(whole)), "x") == whole


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "cannot be read"),
        ("[]", "holds no forecast"),
        ('{"kind": "Results"}', "its kind is 'Results'"),
        ('{"kind": "Forecast", "apiVersion": "nettests.dev/v9"}', "apiVersion 'nettests.dev/v9'"),
        (
            '{"kind": "Forecast", "apiVersion": "nettests.dev/v1alpha1", "of": "a", "to": 3}',
            "is not as forecasts write it",
        ),
    ],
)
def test_what_is_no_forecast_says_what_to_name(text: str, said: str) -> None:
    """With the command that makes one, or the version that reads it."""
    with pytest.raises(PathError) as refused:
        read_forecast(text, "f.json")
    assert said in str(refused.value)
    assert "nettests" in str(refused.value.hint)


def test_every_change_is_in_a_section(whole: Forecast) -> None:
    """What the document lists, people find: changes, what cannot be forecast, and facts."""
    named = {name for one in sections(whole) for item in one.items for name in item.names}
    assert {one.id for one in whole.changes} <= named
    assert {name for one in whole.undecided for name in one.checks} <= named
    assert {one.subject for one in whole.facts} <= named
    assert all(one.items for one in sections(whole))


def test_every_kind_has_a_title() -> None:
    """No kind of change is left out of what people read."""
    assert set(KINDS) == set(Coming)


def test_an_item_says_by_which_entry_and_source_and_fact() -> None:
    """What people need to judge it: id, place, document, and the fact with both values."""
    found = forecast_of(OLD, "kubeProxy.dsr=true")
    (hairpin,) = [
        item
        for item in section(found, "Limitations that appear").items
        if item.names == ("service-hairpin/windows-1/windows-1/same-node/tcp",)
    ]
    assert hairpin.head == "connected → refused or timed_out or unreachable"
    assert hairpin.verdict is Verdict.LIMITED
    assert re.match(r"applies: svc-hairpin-dsr: .* \(base/.*\.yaml:\d+\)", hairpin.lines[0])
    assert hairpin.lines[1].startswith("source: kubernetes-sigs/sig-windows-tools issue 119")
    assert hairpin.lines[2] == "because source DSR: off → on"


def test_what_becomes_open_says_what_would_settle_it(whole: Forecast) -> None:
    """As its entry does."""
    for item in section(whole, "Outcomes that become open").items:
        assert any(line.startswith("settled by") for line in item.lines), item


def test_what_cannot_be_told_says_which_fact_to_state(whole: Forecast) -> None:
    """With what may decide, and its source."""
    lacking = section(whole, "Cannot be forecast")
    heads = {item.head for item in lacking.items}
    assert heads == {
        "settled by --to windows.build=20348.PATCH",
        "settled by --to kubernetes=1.34.PATCH",
    }
    for item in lacking.items:
        assert any(line.startswith("may decide: ") for line in item.lines)
        assert any(line.startswith("source: ") for line in item.lines)
        assert item.verdict is Verdict.UNKNOWN


@pytest.mark.parametrize(
    ("kind", "changes", "words"),
    [
        ("lifts", ("refused", "connected"), "refused → connected"),
        ("changes", ("refused", "refused", "a", "b"), "refused, a → b"),
        ("changes", ("refused", "refused", None, "b"), "refused, claimed → b"),
        ("members", ("refused", "refused", "a", "a"), "refused"),
    ],
)
def test_a_change_in_words(kind: str, changes: tuple[str, ...], words: str) -> None:
    """Outcomes where they differ, else what decides."""
    before, after, *limitations = changes
    was, now = limitations or (None, None)
    one = ExpectedChange(
        id="f/a",
        kind=Coming(kind),
        before=Expects(verdict=Verdict.LIMITED, expected=before, limitation=was),
        after=Expects(verdict=Verdict.PASS, expected=after, limitation=now),
    )
    assert words_of(one) == words


def test_the_headline_counts_each_kind(whole: Forecast) -> None:
    """The numbers are those of the sections."""
    told = headline(whole)
    assert told.startswith(f"{len(whole.changes)} checks are expected to change: ")
    for section_title in ("Limitations that lift", "Limitations that appear"):
        word = section_title.removeprefix("Limitations that ")
        assert f"{section(whole, section_title).size} × a limitation {word}s" in told
    lacking = {name for one in whole.undecided for name in one.checks}
    assert f"{len(lacking)} checks cannot be forecast" in told
    assert f"{len(whole.comes)} checks would be added to the plan" in told


def test_a_forecast_of_nothing_says_so() -> None:
    """In one sentence, and without sections."""
    found = forecast_of(OLD, "kubeProxy.dsr=off")
    assert headline(found) == "No check is expected to change"
    assert sections(found) == ()
    assert headline(replace(found, same=0)) == NO_CHECK
    assert overview(found).lines == ("a run: kubeProxy.dsr=off",)


def test_markdown_is_bounded_and_has_the_headline_first(whole: Forecast) -> None:
    """Each section shows so many items, and says how many there are more."""
    many = tuple(replace(one, id=f"{one.id}/{n}", causes=(Cause(fact=str(n), before="", after=""),))
                 for one in whole.changes[:1] for n in range(SHOWN + 7))  # fmt: skip
    text = render_markdown(overview(replace(whole, changes=many)))
    assert text.startswith(f"## {SHOWN + 7} checks are expected to change")
    assert "… and 7 more items." in text
    assert text.endswith("\n")
    assert "- a run: kubernetes=1.34, windows.build=20348.x" in text


def test_texts_of_a_cluster_are_inert(whole: Forecast) -> None:
    """A node's log may stand in a sentence, and a context may be called anything."""
    nasty = replace(
        whole,
        of=NASTY,
        notes=(NASTY,),
        changes=tuple(replace(one, causes=(Cause(fact=NASTY, before=NASTY, after=NASTY),)) for one in whole.changes),
        undecided=tuple(replace(one, why=NASTY) for one in whole.undecided),
    )  # fmt: skip
    text = render_markdown(overview(nasty))
    assert not re.search(r"(?<!\\)<script|(?<!\\)\]\(javascript", text)
    assert "\x1b" not in text
    assert invalid(document(nasty)) == []


def test_checks_of_one_plan_are_expected_and_not_judged(whole: Forecast) -> None:
    """What documents expect of them is said, and no verdict of a run that did not take place."""
    for item in section(whole, "Added to the plan").items:
        assert item.head.startswith("expected: ")
        assert item.lines[0].startswith("left out today: ")


def test_a_difference_with_a_forecast_is_a_valid_document() -> None:
    """Its part is there with the option alone, and has all four kinds."""
    facts = changed(cluster_facts(OLD), [read_change("kubeProxy.dsr=true")])
    broken = but("pod-to-pod-ip", Outcome.TIMED_OUT, "linux-1/windows-1", "tcp")
    before, after = quiet_run(cluster_facts(OLD)), recorded(results(facts, broken))
    found = difference(before, after)
    came = fulfilment(forecast_of(OLD, "windows.build=20348.x"), found, after)
    data = {**difference_document(found), "forecast": forecast_data(came)}
    assert invalid(data, OF_DIFFERENCES) == []
    assert invalid(difference_document(found), OF_DIFFERENCES) == []
    assert data["forecast"]["missed"]
    assert set(data["forecast"]["changes"]) == {
        "predicted",
        "explained",
        "unexplained",
        "not-judged",
    }
    assert invalid({**data, "forecast": {}}, OF_DIFFERENCES)


def test_what_came_of_a_forecast_is_told_before_the_difference() -> None:
    """What was not observed first, what was not forecast next, the rest last; and all in one line."""
    facts = changed(cluster_facts(OLD), [read_change("kubeProxy.dsr=true")])
    broken = but("dsr-source-address", Outcome.REFUSED, "windows-1/windows-1")
    before, after = quiet_run(cluster_facts(OLD)), recorded(results(facts, broken))
    came = fulfilment(forecast_of(OLD, "kubeProxy.dsr=true"), difference(before, after), after)
    titles = [one.title for one in forecast_sections(came)]
    assert titles == ["Forecast, but not observed", "Not forecast", "As forecast"]
    assert re.fullmatch(
        r"Forecast kubeProxy\.dsr=true: \d+ of \d+ expected changes observed; "
        r"changes: \d+ predicted, \d+ unexplained",
        forecast_line(came),
    )
