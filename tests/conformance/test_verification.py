"""A published report beside the recomputed one: every place in which they differ is named."""

from copy import deepcopy
from typing import Any

import pytest

from nettests.conformance.report_page import document
from nettests.conformance.verification import mismatches, profile_in, read_report
from nettests.errors import ManifestError, PathError
from nettests.model.words import Outcome
from tests.compare.runs import but
from tests.conformance.claimed import PODS, judged, profile, report

TRUE = document(report())


def places(stated: Any, recomputed: Any = TRUE) -> list[str]:
    """Return where two documents differ."""
    return [one.place for one in mismatches(stated, recomputed)]


def leaves(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the paths of all values that have no parts."""
    if isinstance(value, dict):
        return [one for key, part in value.items() for one in leaves(part, (*path, key))]
    if isinstance(value, list):
        return [one for at, part in enumerate(value) for one in leaves(part, (*path, at))]
    return [path]


def test_the_same_report_does_not_differ() -> None:
    """From beginning to end."""
    assert places(deepcopy(TRUE)) == []


def test_no_value_can_be_changed_unnoticed() -> None:
    """Every single leaf of the document, replaced by another value, is a difference."""
    paths = leaves(TRUE)
    assert len(paths) > 150
    for path in paths:
        stated = deepcopy(TRUE)
        holder: Any = stated
        for part in path[:-1]:
            holder = holder[part]
        holder[path[-1]] = "something else"
        assert places(stated), path


def test_a_lie_is_named_with_both_sides() -> None:
    """By the names of features, so that a reader finds the place."""
    stated = deepcopy(document(report(judged(but(PODS, Outcome.TIMED_OUT, "windows-1/linux-1")))))
    stated["core"]["features"][0]["result"] = "success"
    truth = document(report(judged(but(PODS, Outcome.TIMED_OUT, "windows-1/linux-1"))))
    (one,) = mismatches(stated, truth)
    assert str(one) == ("core.features.Pod network.result: stated 'success', recomputed 'failure'")


def test_what_was_taken_out_or_added_is_named() -> None:
    """A feature that disappeared, a failure that was invented, an added key."""
    stated = deepcopy(TRUE)
    stated["core"]["features"].pop(0)
    stated["unclaimed"]["failedChecks"].append({"check": "x"})
    stated["signature"] = "trust me"
    found = mismatches(stated, TRUE)
    assert [(one.place, one.stated == "absent") for one in found] == [
        ("core.features.Pod network", True),
        ("unclaimed.failedChecks.x", False),
        ("signature", False),
    ]


def test_a_level_that_was_taken_out_is_named() -> None:
    """As a whole."""
    stated = {key: value for key, value in TRUE.items() if key != "extended"}
    assert places(stated) == ["extended"]


@pytest.mark.parametrize("other", [True, 1.0, "1", None, [1], {"1": 1}])
def test_a_value_of_another_kind_differs(other: object) -> None:
    """``1`` is not ``true``."""
    assert places({"a": other}, {"a": 1}) == ["a"]


def test_another_order_differs() -> None:
    """What comes first is read first."""
    assert places({"a": ["x", "y"]}, {"a": ["y", "x"]}) == ["a"]
    assert places({"a": ["x", "x"]}, {"a": ["x"]}) == ["a.x#1"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "is not a conformance report"),
        ("kind: VendorProfile\n", "is not a conformance report"),
        ("kind: ConformanceReport\napiVersion: nettests.dev/v9\n", "'nettests.dev/v9'"),
    ],
)
def test_another_document_is_no_report(text: str, told: str) -> None:
    """The error says what to name."""
    with pytest.raises(PathError, match=told):
        read_report(text, "r.yaml")


def test_what_is_no_yaml_is_no_report() -> None:
    """With its line."""
    with pytest.raises(ManifestError, match=r"r\.yaml:\d: not valid YAML"):
        read_report("a: [", "r.yaml")


def test_a_report_gives_its_profile_back() -> None:
    """As it was made with; a spoilt one is an error of the report."""
    assert profile_in(TRUE, "r.yaml").text == profile().text
    with pytest.raises(PathError, match="carries no profile"):
        profile_in({**TRUE, "profile": 7}, "r.yaml")
    with pytest.raises(ManifestError, match=r"the profile in r\.yaml:"):
        profile_in({**TRUE, "profile": "kind: X\n"}, "r.yaml")


def test_a_report_does_not_decide_what_is_run() -> None:
    """Suites and packages that it names are code: whoever verifies names the profile that brings them."""
    for key in ("suites", "limitations", "packages"):
        own = profile(lambda data, key=key: data.update({key: ["acme"]}))  # type: ignore[misc]
        with pytest.raises(PathError, match="of the vendor's own") as caught:
            profile_in({**TRUE, "profile": own.text}, "r.yaml")
        assert "--vendor-profile FILE" in caught.value.hint
