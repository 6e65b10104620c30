"""Patterns of check ids, as the catalogue shows them: held against the ids of real plans."""

import re

import pytest

from nettests.plan import Flow, build, load
from nettests.plan.pattern import patterns
from nettests.resources import suites_path
from tests.facts import PROFILES, cluster_facts

FLOWS = {flow.name: flow for flow in load([suites_path()]).flows}
WORDS = {
    "<pool>": r"[\w-]+",
    "<backend>": r"backend-[\w-]+",
    "<case>": r"[^/]+",
    "<family>": r"ipv[46]",
}


def expression(pattern: str) -> str:
    """Return the regular expression that a pattern stands for."""
    # sample: "pod-to-pod-ip/<pool>/<pool>/{same-node,other-node}/{tcp,udp}"
    text = re.sub(
        r"\{([^}]*)\}", lambda m: f"({m[1].replace(',', '|')})", pattern.replace(".", r"\.")
    )
    for word, meaning in WORDS.items():
        text = text.replace(word, meaning)
    return text


def matches(flow: Flow, check_id: str) -> bool:
    """Whether one of a flow's patterns is this id's."""
    return any(re.fullmatch(expression(pattern), check_id) for pattern in patterns(flow))


@pytest.mark.parametrize("profile", PROFILES)
def test_every_check_has_the_id_that_its_flow_announces(profile: str) -> None:
    """No shipped check on any profile is named otherwise."""
    checks = build(cluster_facts(profile), FLOWS.values()).checks
    assert [check.id for check in checks if not matches(FLOWS[check.flow], check.id)] == []


def test_a_pattern_is_no_catch_all() -> None:
    """Another protocol, one part more and one part fewer are not announced."""
    flow = FLOWS["pod-to-pod-ip"]
    assert matches(flow, "pod-to-pod-ip/linux-1/windows-1/other-node/tcp")
    for wrong in ("other-node/icmp", "other-node", "other-node/tcp/nslookup"):
        assert not matches(flow, f"pod-to-pod-ip/linux-1/windows-1/{wrong}")


def test_names_and_resolvers_are_announced() -> None:
    """A flow by name has one pattern for its path and one for its resolvers."""
    assert patterns(FLOWS["pod-to-service-pqdn"]) == (
        "pod-to-service-pqdn/<pool>/<pool>/{same-node,other-node}/{tcp,udp}",
        "pod-to-service-pqdn/<pool>/<pool>/same-node/udp/{nslookup,resolve-dnsname}",
    )
    assert patterns(FLOWS["dns-via-pod"]) == ("dns-via-pod/<pool>/{tcp,udp}/nslookup",)
