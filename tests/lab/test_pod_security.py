"""What a run creates in a namespace of a Pod Security level, required of the lab's own admission."""

from dataclasses import replace

import pytest

from nettests.lab.apiserver.pod_admission import pod_security_refusal as refusal
from nettests.model.facts import known
from nettests.model.words import CheckClass
from nettests.plan import build
from nettests.probes import Blank, rendered
from tests.facts import cluster_facts
from tests.manifests.shipped import flows

MINOR = 34
"""The server's minor version, which decides which fields a level knows."""


@pytest.mark.parametrize("level", ["baseline", "restricted"])
def test_whatever_a_run_creates_there_is_let_in(level: str) -> None:
    """The lab's API server, which knows the levels by itself, finds nothing to refuse."""
    found = cluster_facts("win2022-overlay-dsr")
    facts = replace(found, namespace="closed", pod_security=known(level, "test"))
    plan = build(facts, flows(), frozenset(CheckClass))
    blank = Blank(namespace="closed", labels={}, pod_security=level, existing=True)
    items = rendered(plan, facts, blank)
    pods = [item for item in items if item["kind"] == "Pod"]
    assert pods
    assert not any(item["kind"] == "Namespace" for item in items)
    enforced = {"pod-security.kubernetes.io/enforce": level}
    refused = {pod["metadata"]["name"]: refusal(pod, enforced, MINOR) for pod in pods}
    assert not {name: why for name, why in refused.items() if why}
