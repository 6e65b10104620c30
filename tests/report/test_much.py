"""Incidents about many connections and many Services: what they are called, and on which node."""

from dataclasses import replace

import pytest

from nettests.model.measured import FlowCount, estimate
from nettests.model.service import Crowd, ServiceSettings
from nettests.model.words import Outcome, Question, Verdict
from nettests.report.incidents.large_amounts import (
    CONNECTIONS,
    REMOVED,
    SERVICES,
    amount_sentence,
    much_of,
)
from nettests.report.incidents.loss import lossy
from nettests.report.incidents.phrases import cause_of
from nettests.report.incidents.traits import Kind, Trait, traits_of
from nettests.report.results import CheckResult
from tests.judge.cases import check, observed

RESULT = CheckResult(id="f/x", flow="f", verdict=Verdict.FAIL, message="", ran=True)


@pytest.mark.parametrize("crowd", [*Crowd, None])
def test_each_thing_that_is_looked_at_has_a_subject_of_its_own(crowd: Crowd | None) -> None:
    """It is a trait of checks that look for a limit, and of no other."""
    of = check()
    settings = ServiceSettings(label="x", crowd=crowd) if crowd else None
    target = replace(of.target, settings=settings)
    question = Question.SCALE if crowd else Question.FLOWS
    much = replace(of, action=replace(of.action, target=target, question=question))
    assert Trait(Kind.MUCH, much_of(much)) in traits_of(much)
    assert much_of(of) == ""
    assert not any(trait.kind is Kind.MUCH for trait in traits_of(of))


@pytest.mark.parametrize(
    ("what", "node", "system", "said"),
    [
        (
            CONNECTIONS,
            "win-1",
            "",
            "Of many connections from Pods on win-1, those beyond a limit get no answer",
        ),
        (SERVICES, "", "windows", "Of many Services, some are not served on Windows nodes"),
        (REMOVED, "win-1", "", "Services that were removed have left rules behind on win-1"),
    ],
)
def test_what_becomes_of_it_is_said(what: str, node: str, system: str, said: str) -> None:
    """On a node, on those of a system, or everywhere."""
    assert amount_sentence(what, node, system, "get no answer", judged=True) == said
    assert amount_sentence(what, node, system, "cannot be judged", judged=False).endswith(
        "cannot be judged"
    )


def test_an_incident_of_a_node_is_said_by_its_cause() -> None:
    """The source node stands in the sentence, and the protocol does not."""
    traits = (Trait(Kind.MUCH, SERVICES), Trait(Kind.SOURCE_NODE, "linux-2"))
    assert cause_of(traits, ()).startswith("Many Services on linux-2 ")


def test_connections_that_ran_out_are_no_loss() -> None:
    """Their silence begins at a number; some that are lost among others are one."""
    ended = FlowCount(wanted=2000, tried=1064, connected=1000, before=1000, ran_out=True)
    seen = observed(Outcome.CONNECTED, Outcome.TIMED_OUT, flows=ended)
    result = replace(RESULT, observation=seen)
    assert not lossy(result)
    torn = replace(seen, flows=replace(ended, ran_out=False), loss=estimate(1064, 12))
    assert lossy(replace(result, observation=torn))
