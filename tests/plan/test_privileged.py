"""An API server that takes no privileged containers: what is skipped in its words, and what is run all the same."""

import json
from dataclasses import replace

from nettests.model.check import Plan
from nettests.model.facts import Fact
from nettests.model.words import OS, CheckClass, Question, VantageKind
from nettests.plan import build
from tests.facts import cluster_facts
from tests.manifests.shipped import flows

WORDS = "spec: Forbidden: hostProcess containers are disallowed by cluster policy"


def planned(value: bool | None) -> Plan:
    """Return the plan of a run of every class where privileged containers are taken, or not, or nobody knows."""
    facts = replace(
        cluster_facts("win2022-overlay-dsr"), privileged=Fact(value=value, origin=WORDS)
    )
    return build(facts, flows(), frozenset(CheckClass))


def test_nothing_is_probed_that_takes_a_privileged_pod() -> None:
    """No check, control or Pod of the plan needs one on Windows; Linux nodes probe as ever."""
    plan = planned(False)
    actions = [
        action for c in plan.checks for action in (c.action, *(k.action for k in c.controls))
    ]
    vantages = {action.source.os for action in actions if action.source.kind is VantageKind.NODE}
    assert vantages == {OS.LINUX}
    assert {pod.os for pod in plan.pods if pod.purpose == "node"} == {OS.LINUX}
    cases = [
        action.case
        for action in actions
        if action.case and action.question in {Question.START, Question.ADMIT}
    ]
    valid = [json.loads(text) for case in cases for text in (case.counter,) if text]
    assert not any('hostProcess": true' in json.dumps(item) for item in valid)


def test_skips_have_the_api_servers_words() -> None:
    """Each check that is gone is a skip with the reason, and no other reason is new."""
    everything, left = planned(True), planned(False)
    lost = {check.id for check in everything.checks} - {check.id for check in left.checks}
    reasons = {skip.id: skip.reason for skip in left.skips if skip.id in lost}
    assert set(reasons) == lost
    assert all(reason.startswith("the API server takes no ") for reason in reasons.values())
    assert all(reason.endswith(WORDS) for reason in reasons.values())
    admission = {
        name
        for name in lost
        if name.startswith(("windows-pod-", "pod-fields-", "hostprocess-pod-rules"))
    }
    assert admission == {
        "hostprocess-pod-rules/api/container-against-pod",
        "hostprocess-pod-rules/api/one-container-of-two",
        "hostprocess-pod-rules/api/without-host-network",
        "pod-fields-without-os/api/containers.privileged",
        "windows-pod-admitted/api/hostProcess-with-hostNetwork",
    }


def test_a_refusal_that_names_another_reason_is_probed() -> None:
    """A Windows Pod may not say ``privileged``, whatever the policy: its rejection names that."""
    ids = {check.id for check in planned(False).checks}
    assert "windows-container-fields/api/containers.privileged" in ids


def test_what_is_not_known_is_probed() -> None:
    """Who could not find out skips nothing."""
    assert planned(None) == planned(True)
