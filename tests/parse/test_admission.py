"""What the API server's answer to a dry run says, and what it does not say."""

import json

import pytest

from nettests.model.words import Outcome
from nettests.parse import read_raw
from tests.parse.raws import raw

REJECTED = {
    "kind": "Status",
    "message": 'Pod "w" is invalid: spec.hostPID: Forbidden: cannot be set for a windows pod',
    "reason": "Invalid",
    "details": {"causes": [{"reason": "FieldValueForbidden", "field": "spec.hostPID"}]},
    "code": 422,
}


def outcome(status: int, body: object, field: str = "") -> Outcome:
    """Return what an answer reads as."""
    context = {"field": field} if field else {}
    return read_raw(
        raw("admission", status=status, stdout=json.dumps(body), context=context)
    ).outcome


@pytest.mark.parametrize("status", [200, 201])
def test_a_stored_or_pretended_object_is_accepted(status: int) -> None:
    """200 and 201 mean that the object would be stored."""
    assert outcome(status, {"kind": "Pod"}) is Outcome.ACCEPTED


def test_a_rejection_that_names_the_field_is_one() -> None:
    """422 with a cause for the field in question."""
    assert outcome(422, REJECTED, "spec.hostPID") is Outcome.REJECTED


def test_a_cause_inside_the_field_names_it_too() -> None:
    """``spec.os`` is named by a cause for ``spec.os.name``, but not by one for ``spec.osX``."""
    for cause, expected in (
        ("spec.os.name", Outcome.REJECTED),
        ("spec.os[0]", Outcome.REJECTED),
        ("spec.osX", Outcome.PROBE_FAILED),
    ):
        body = {**REJECTED, "details": {"causes": [{"field": cause}]}}
        assert outcome(422, body, "spec.os") is expected


def test_a_rejection_for_another_reason_says_nothing() -> None:
    """Invalid because of another field is not believed."""
    assert outcome(422, REJECTED, "spec.hostIPC") is Outcome.PROBE_FAILED


@pytest.mark.parametrize(
    ("level", "status", "expected"),
    [
        ("restricted", 403, Outcome.REJECTED),
        ("baseline", 403, Outcome.PROBE_FAILED),
        ("", 403, Outcome.PROBE_FAILED),
        ("restricted", 422, Outcome.PROBE_FAILED),
    ],
)
def test_a_level_rejects_in_its_own_name(level: str, status: int, expected: Outcome) -> None:
    """403 that names the level in question; where a level is run, an invalid Pod says nothing of it."""
    message = (
        'pods "p" is forbidden: violates PodSecurity "restricted:latest": runAsNonRoot != true'
    )
    context = {"level": level} if level else {}
    answer = raw(
        "admission", status=status, stdout=json.dumps({"message": message}), context=context
    )
    assert read_raw(answer).outcome is expected


PRIVILEGED = "spec.containers[0].securityContext.privileged"
POLICY = {"field": PRIVILEGED, "message": "Forbidden: disallowed by cluster policy"}
OF_WINDOWS = {"field": PRIVILEGED, "message": "Forbidden: cannot be set for a windows pod"}


@pytest.mark.parametrize(
    ("told", "field", "expected"),
    [
        ([POLICY, OF_WINDOWS], PRIVILEGED, Outcome.REJECTED),
        ([POLICY], PRIVILEGED, Outcome.PROBE_FAILED),
        ([POLICY], "", Outcome.PROBE_FAILED),
        (
            [{"field": "spec", "message": f"hostProcess containers are {POLICY['message']}"}],
            "spec",
            Outcome.PROBE_FAILED,
        ),
        ([POLICY, {"field": "spec.hostPID", "message": "x"}], PRIVILEGED, Outcome.PROBE_FAILED),
    ],
)
def test_a_server_without_allow_privileged_says_nothing_of_the_object(
    told: list[dict[str, str]], field: str, expected: Outcome
) -> None:
    """It refuses such containers of every Pod: only a cause of another kind counts, and its words are kept."""
    body = {"message": "invalid: disallowed by cluster policy", "details": {"causes": told}}
    context = {"field": field} if field else {}
    read = read_raw(raw("admission", status=422, stdout=json.dumps(body), context=context))
    assert read.outcome is expected
    assert "disallowed by cluster policy" in read.detail


@pytest.mark.parametrize("status", [403, 409, 429, 500])
def test_other_refusals_say_nothing_of_the_object(status: int) -> None:
    """A policy, a quota, a webhook or a server in trouble is no verdict on the field."""
    body = {"kind": "Status", "message": "denied", "code": status}
    assert outcome(status, body, "spec.hostPID") is Outcome.PROBE_FAILED


@pytest.mark.parametrize("body", ["<html>", "[]", ""])
def test_what_is_no_status_says_nothing(body: str) -> None:
    """A proxy's page is not an API server."""
    answer = read_raw(raw("admission", status=422, stdout=body))
    assert answer.outcome is Outcome.PROBE_FAILED


TAINT = {"key": "os", "operator": "Equal", "value": "windows", "effect": "NoSchedule"}
SCHEDULING = {"nodeSelector": {"kubernetes.io/os": "windows"}, "tolerations": [TAINT]}


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (SCHEDULING, Outcome.CONFORMS),
        ({**SCHEDULING, "tolerations": [{"operator": "Exists"}]}, Outcome.CONFORMS),
        ({**SCHEDULING, "nodeSelector": {"kubernetes.io/os": "linux"}}, Outcome.DEVIATES),
        ({**SCHEDULING, "tolerations": [{**TAINT, "effect": "NoExecute"}]}, Outcome.DEVIATES),
        ({}, Outcome.DEVIATES),
    ],
)
def test_a_pod_of_a_class_has_its_scheduling(spec: object, expected: Outcome) -> None:
    """Every label and toleration of the RuntimeClass is in the Pod as it would be stored."""
    context = {"steered": "windows-2019", "scheduling": json.dumps(SCHEDULING)}
    body = json.dumps({"kind": "Pod", "spec": spec})
    answer = raw("admission", status=201, stdout=body, context=context)
    assert read_raw(answer).outcome is expected


MANAGED = {"key": "node", "operator": "Exists"}


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        (SCHEDULING, "stands where it says"),
        ({**SCHEDULING, "tolerations": [{"operator": "Exists"}, MANAGED]}, "stands where it says"),
        ({**SCHEDULING, "tolerations": [MANAGED]}, f"lacks toleration {json.dumps(TAINT)}"),
        (
            {**SCHEDULING, "tolerations": [{"operator": "Equal"}]},
            f"lacks toleration {json.dumps(TAINT)}",
        ),
        ({"tolerations": [TAINT]}, "lacks kubernetes.io/os=windows"),
        ({}, f"lacks kubernetes.io/os=windows, toleration {json.dumps(TAINT)}"),
    ],
)
def test_what_a_pod_of_a_class_lacks_is_told(spec: object, told: str) -> None:
    """Each label and toleration; only a toleration that exists for every key covers the others."""
    context = {"steered": "windows-2019", "scheduling": json.dumps(SCHEDULING)}
    body = json.dumps({"kind": "Pod", "spec": spec})
    read = read_raw(raw("admission", status=200, stdout=body, context=context))
    assert read.detail == f"a Pod of RuntimeClass windows-2019 {told}"


@pytest.mark.parametrize(
    "details", ["text", ["causes"], None, {}, {"causes": None}, {"causes": ["x"]}]
)
def test_a_refusal_without_causes_names_no_field(details: object) -> None:
    """It is a rejection where no field is requested, and says nothing of one that is."""
    body = {**REJECTED, "details": details}
    assert outcome(422, body) is Outcome.REJECTED
    assert outcome(422, body, "spec.hostPID") is Outcome.PROBE_FAILED


@pytest.mark.parametrize(
    ("field", "expected"),
    [("spec", Outcome.REJECTED), ("spec.hostPID", Outcome.PROBE_FAILED)],
)
def test_a_whole_pod_is_named_by_nothing_but_itself(field: str, expected: Outcome) -> None:
    """Every field of a Pod lies in ``spec``: a cause for one of them says nothing of the whole."""
    body = {**REJECTED, "details": {"causes": [{"field": field}]}}
    assert outcome(422, body, "spec") is expected


def test_what_an_api_server_said_is_told() -> None:
    """The kind that it took, its own message, or what came instead."""

    def told(status: int, text: str, **context: str) -> str:
        return read_raw(raw("admission", status=status, stdout=text, context=context)).detail

    assert told(201, '{"kind": "Pod"}') == "Pod accepted"
    assert told(200, "{}") == "object accepted"
    assert told(422, json.dumps(REJECTED)) == REJECTED["message"]
    assert told(422, '{"details": {}}') == '{"details": {}}'
    assert told(422, json.dumps(REJECTED), field="spec.hostIPC") == (
        f"rejected, but not for spec.hostIPC: {REJECTED['message']}"
    )
    assert told(500, json.dumps(REJECTED)) == (
        f"status 500, which says nothing of the object: {REJECTED['message']}"
    )
    assert told(502, "<html>") == "status 502 with a body that is not JSON: <html>"
    assert told(502, "[]") == "status 502 with a body that is not an object: []"
    by_policy = json.dumps({"message": "m", "details": {"causes": [POLICY]}})
    assert told(422, by_policy) == "the API server takes no such Pod from anybody: m"
    level = 'forbidden: violates PodSecurity "baseline:latest":  x'
    assert told(403, json.dumps({"message": level}), level="baseline") == " ".join(level.split())
