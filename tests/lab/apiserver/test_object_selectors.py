"""Label and field selectors."""

import pytest

from nettests.lab.apiserver.object_selectors import matches_labels, parse_fields, parse_labels
from nettests.lab.apiserver.status import ApiError

ITEM = {
    "metadata": {
        "name": "p",
        "namespace": "n",
        "labels": {"app": "web", "tier": "front", "n": "5"},
    },
    "spec": {"nodeName": "n1"},
    "status": {"phase": "Running"},
}


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ("", True),
        ("app=web", True),
        ("app==web", True),
        ("app=api", False),
        ("app!=api", True),
        ("gone!=x", True),
        ("app", True),
        ("gone", False),
        ("!gone", True),
        ("!app", False),
        ("app in (api, web)", True),
        ("app in (api)", False),
        ("app notin (api)", True),
        ("gone notin (x)", True),
        ("app=web,tier=front", True),
        ("app=web,tier=back", False),
        ("app=", False),
        ("n>4", True),
        ("n<4", False),
        ("app>4", False),
        ("example.com/x!=y,app", True),
    ],
)
def test_label_selectors_match_as_kubernetes_says(selector: str, expected: bool) -> None:
    """Each operator of the selector grammar selects what the documents say."""
    assert matches_labels(parse_labels(selector), ITEM) is expected


@pytest.mark.parametrize(
    ("selector", "complaint"),
    [
        ("!!", "found '!', expected: identifier"),
        ("=a", "found '=', expected: identifier"),
        ("a b", "found 'b', expected: in, notin, =, ==, !=, gt, lt"),
        ("a in b", "found 'b' expected: '('"),
        ("a in (b", "found '', expected: ',' or ')'"),
        ("a,", "found '', expected: identifier after ','"),
        ("a=b=c", "found '=', expected: ',' or 'end of string'"),
        ("a=!", "found '!', expected: identifier"),
    ],
)
def test_malformed_label_selectors_are_explained(selector: str, complaint: str) -> None:
    """The complaint is a 400 in the words of the real parser."""
    with pytest.raises(ApiError) as error:
        parse_labels(selector)
    assert (error.value.code, error.value.message) == (
        400,
        f"unable to parse requirement: {complaint}",
    )


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ("metadata.name=p", True),
        ("metadata.name==p", True),
        ("metadata.name!=p", False),
        ("metadata.namespace=n,spec.nodeName=n1", True),
        ("status.phase=Failed", False),
        ("spec.hostNetwork=false", True),
        ("spec.nodeName=", False),
    ],
)
def test_field_selectors_match_the_fields_of_pods(selector: str, expected: bool) -> None:
    """Equality and inequality on the supported fields; an unset bool counts as false."""
    predicate = parse_fields(selector, "pods")
    assert predicate is not None
    assert predicate(ITEM) is expected


def test_an_empty_field_selector_selects_everything() -> None:
    """There is no predicate to query."""
    assert parse_fields("", "pods") is None


@pytest.mark.parametrize(
    ("selector", "key", "message"),
    [
        ("spec.zz=1", "pods", "field label not supported: spec.zz"),
        ("spec.nodeName=x", "services", "field label not supported: spec.nodeName"),
        ("nonsense", "pods", "invalid selector: 'nonsense'; can't understand 'nonsense'"),
    ],
)
def test_unknown_fields_are_refused(selector: str, key: str, message: str) -> None:
    """Each kind has its own fields; others are a 400."""
    with pytest.raises(ApiError) as error:
        parse_fields(selector, key)
    assert error.value.message == message
