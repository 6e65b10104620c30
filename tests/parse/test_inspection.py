"""What a recorded inspection reads as, and what it does not say."""

import json

import pytest

from nettests.model.words import Outcome
from nettests.parse import read_raw
from tests.parse.raws import raw
from tests.rules.made import FACTS, log, pods


def outcome(rule: str, readings: dict[str, str], **problems: str) -> Outcome:
    """Return what an inspection reads as."""
    text = json.dumps({"readings": readings, "problems": problems})
    return read_raw(raw("inspection", stdout=text, context={"rule": rule, **FACTS})).outcome


def test_a_rule_finds_what_conforms_and_what_deviates() -> None:
    """The finding of the rule is the outcome."""
    for name, expected in (("win-1", Outcome.CONFORMS), ("win-9", Outcome.DEVIATES)):
        readings = {"node-pods": pods(), "kube-proxy-log": log(hostname_override=name)}
        assert outcome("hostname-override", readings) is expected


def test_a_reading_that_was_refused_is_no_finding() -> None:
    """403 is neither conforming nor deviating."""
    problem = {"node-pods": "/api/v1/pods: status 403"}
    assert outcome("hostname-override", {}, **problem) is Outcome.PROBE_FAILED


@pytest.mark.parametrize("text", ["", "[]", "{}", "<html>"])
def test_what_is_no_inspection_says_nothing(text: str) -> None:
    """A record of another form is not believed."""
    context = {"rule": "hostname-override", **FACTS}
    assert read_raw(raw("inspection", stdout=text, context=context)).outcome is Outcome.PROBE_FAILED


@pytest.mark.parametrize("text", ["null", "[]", '{"items": [{}]}', '{"kind": "Status"}'])
def test_readings_of_another_form_say_nothing(text: str) -> None:
    """An API server of another kind does not make a rule fail by itself."""
    assert outcome("hostname-override", {"node-pods": text}) is Outcome.PROBE_FAILED


def test_an_unknown_rule_says_nothing() -> None:
    """Records of a newer version are not guessed at."""
    assert outcome("no-such-rule", {}) is Outcome.PROBE_FAILED


def told(text: str, **context: str) -> str:
    """Return the detail of a recorded text."""
    return read_raw(raw("inspection", stdout=text, context={**FACTS, **context})).detail


def test_what_was_found_is_told() -> None:
    """The rule's own words, on one line; of a reading that was refused its problem, of another form what broke."""
    rule = "hostname-override"
    readings = {"node-pods": pods(), "kube-proxy-log": log(hostname_override="win-9")}
    found = told(json.dumps({"readings": readings, "problems": {}}), rule=rule)
    assert "win-9" in found
    assert "\n" not in found
    refused = {"readings": {}, "problems": {"node-pods": "/api/v1/pods: status 403"}}
    assert "/api/v1/pods: status 403" in told(json.dumps(refused), rule=rule)
    broken = {"readings": {"node-pods": '{"items": [{}]}'}, "problems": {}}
    assert told(json.dumps(broken), rule=rule).startswith(
        "the readings do not have the expected form: KeyError"
    )
    assert told("<html>", rule=rule) == "the inspection recorded no readings: <html>"


def test_which_rule_is_not_known_is_told() -> None:
    """A record of another version names one that this one does not have, or none at all."""
    assert told("{}", rule="no-such-rule") == "no such rule: no-such-rule"
    assert told("{}") == "no such rule: none"
