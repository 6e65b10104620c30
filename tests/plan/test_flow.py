"""Flows are declared on the tests that assert them."""

import inspect
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import pytest

from nettests.errors import PlanError
from nettests.model.expectation import Expected, Source
from nettests.model.verdict import Judgement
from nettests.model.words import (
    CheckClass,
    Distribution,
    Outcome,
    Protocol,
    Question,
    SourceSeen,
    TargetKind,
    VantageKind,
    Verdict,
)
from nettests.plan import Flow, Matrix, flow, flow_of
from nettests.plan.flow import Declaration


def declared(**changes: Any) -> Flow:
    """Return a flow as a suite would declare it, with changes."""

    def test_claim() -> None:
        """A claim over
        two lines.

        And what else is worth knowing.
        """

    flow(
        changes.pop("name", "pod-to-pod-ip"),
        **{
            "source": VantageKind.POD,
            "target": TargetKind.POD_IP,
            "matrix": Matrix.PAIRS,
            "sources": (Source(document="a document"),),
            **changes,
        },
    )(test_claim)
    found = flow_of(test_claim)
    assert found is not None
    return found


def test_the_claim_is_the_first_paragraph_of_the_docstring() -> None:
    """A flow's claim is the test's docstring up to the first empty line, on one line."""
    assert declared().claim == "A claim over two lines."


def test_a_flow_without_a_claim_is_refused() -> None:
    """A test without a docstring cannot declare a flow."""

    def test_nothing() -> None: ...

    with pytest.raises(PlanError, match="claims nothing"):
        flow(
            "silent",
            source=VantageKind.POD,
            target=TargetKind.POD_IP,
            matrix=Matrix.PAIRS,
            sources=(),
        )(test_nothing)


@pytest.mark.parametrize("name", ["Pod", "pod/ip", "pod--ip", "-pod", "pod_ip", ""])
def test_a_name_that_cannot_be_part_of_an_id_is_refused(name: str) -> None:
    """Flow names are lower-case words with dashes, because they begin every check id."""
    with pytest.raises(PlanError, match="cannot be part of check ids"):
        declared(name=name)


@pytest.mark.parametrize(
    ("protocol", "question", "outcome"),
    [
        (Protocol.TCP, Question.REACH, Outcome.CONNECTED),
        (Protocol.UDP, Question.REACH, Outcome.REPLIED),
        (Protocol.ICMP, Question.PING, Outcome.REPLIED),
        (Protocol.UDP, Question.RESOLVE, Outcome.RESOLVED),
        (Protocol.TCP, Question.IDLE, Outcome.CONNECTED),
        (Protocol.TCP, Question.CHURN, Outcome.CONNECTED),
        (Protocol.UDP, Question.DISTRIBUTE, Outcome.REPLIED),
        (Protocol.TCP, Question.ADMIT, Outcome.ACCEPTED),
        (Protocol.TCP, Question.INSPECT, Outcome.CONFORMS),
        (Protocol.TCP, Question.START, Outcome.STARTED),
    ],
)
def test_a_flow_claims_that_it_works(
    protocol: Protocol, question: Question, outcome: Outcome
) -> None:
    """Unless it says otherwise a flow claims the positive outcome of its protocol and question."""
    assert declared().expected(protocol, question) == Expected(outcome=outcome)


def test_a_flow_may_claim_a_negative_outcome() -> None:
    """A flow that is to be refused says so, whatever the protocol."""
    refused = declared(outcome=Outcome.REFUSED)
    assert refused.expected(Protocol.TCP, Question.REACH) == Expected(outcome=Outcome.REFUSED)


def test_source_and_distribution_are_not_claimed_of_a_name() -> None:
    """What a resolver answers has no source address and no backend."""
    claim = declared(
        source_seen=SourceSeen.CLIENT_POD, distribution=Distribution.ONE_BACKEND
    ).expected(Protocol.UDP, Question.RESOLVE)
    assert (claim.source_seen, claim.distribution) == (None, None)


def test_what_every_run_needs_cannot_wait_to_be_enabled() -> None:
    """A required flow of a class that is not run by default would make most runs worthless."""
    with pytest.raises(PlanError, match="required and of class costly"):
        declared(required=True, check_class=CheckClass.COSTLY)


def test_many_backends_are_counted() -> None:
    """A Service with many backends needs their number, and no other target has one."""
    for changes in ({"matrix": Matrix.MANY_BACKENDS}, {"backends": 65}):
        with pytest.raises(PlanError, match="how many backends"):
            declared(**changes)


@pytest.mark.parametrize(
    ("target", "question"),
    [
        (TargetKind.POD_IP, Question.INSPECT),
        (TargetKind.POD_IP, Question.START),
        (TargetKind.CONFIGURATION, Question.REACH),
        (TargetKind.API_SERVER, Question.PING),
    ],
)
def test_question_and_target_both_have_a_path_or_neither(
    target: TargetKind, question: Question
) -> None:
    """Nothing is sent to a configuration, and a Pod's address is not inspected."""
    with pytest.raises(PlanError, match="only one of the two has a path"):
        declared(target=target, question=question)


def test_other_functions_declare_nothing() -> None:
    """Ordinary tests are not mistaken for flows."""
    assert flow_of(test_other_functions_declare_nothing) is None
    assert flow_of(None) is None


def verdict_of(outcome: Verdict) -> Judgement:
    """Return a judgement with nothing but its verdict and a message."""
    return Judgement(check="a", verdict=outcome, message="why", expected="", observed="")


def on(test: Callable[..., object]) -> Callable[..., object]:
    """Declare a flow on a test, and return what pytest collects."""
    return flow(
        "a-flow", source=VantageKind.POD, target=TargetKind.POD_IP, matrix=Matrix.PAIRS, sources=()
    )(test)


def test_a_test_without_arguments_takes_its_verdict() -> None:
    """pytest is told that it wants the verdict, and it fails with the verdict's message."""

    def test_claim() -> None:
        """A claim."""

    test = on(test_claim)
    assert list(inspect.signature(test).parameters) == ["verdict"]
    test(verdict=verdict_of(Verdict.PASS))
    with pytest.raises(AssertionError, match="why"):
        test(verdict=verdict_of(Verdict.FAIL))


def test_the_test_is_still_found_where_it_is_written() -> None:
    """Name, docstring and place are the test's own, and so is the flow."""

    def test_claim() -> None:
        """A claim."""

    test = on(test_claim)
    assert (test.__name__, test.__doc__) == ("test_claim", "A claim.")
    assert inspect.unwrap(test) is test_claim
    assert flow_of(test) == flow_of(test_claim) is not None


def test_a_body_is_run_when_the_verdict_is_accepted() -> None:
    """What a suite does besides is done after the verdict was asserted."""
    done: list[str] = []

    def test_claim() -> None:
        """A claim."""
        done.append("body")

    test = on(test_claim)
    with pytest.raises(AssertionError):
        test(verdict=verdict_of(Verdict.FAIL))
    assert done == []
    test(verdict=verdict_of(Verdict.LIMITED))
    assert done == ["body"]


def test_a_test_that_names_its_arguments_is_left_alone() -> None:
    """A suite that looks at the verdict itself, or at other fixtures, is called as it is written."""

    def test_claim(verdict: Judgement, tmp_path: object) -> None:
        """A claim."""

    assert on(test_claim) is test_claim


def test_the_arguments_of_a_flow_are_the_fields_of_a_declaration() -> None:
    """They are listed once: a new field can be declared, and what the test adds cannot."""
    names = {one.name for one in fields(Flow)} - {"claim", "suite"}
    assert names == {one.name for one in fields(Declaration)}
    with pytest.raises(TypeError, match="claim"):
        declared(claim="another")
