"""What the shipped entries expect once a fact is read that left an outcome open."""

import pytest

from nettests.model.facts import Fact
from tests.facts import cluster_facts, with_windows
from tests.manifests.shipped import expectations, expected_at, planned


@pytest.mark.parametrize("profile", ["userspace-l2bridge", "azure-l2tunnel"])
def test_no_open_entry_rules_out_what_is_claimed(profile: str) -> None:
    """Where documents leave open which of several outcomes shows, the one that a flow claims is among them."""
    open_ones = [one for one in expectations(cluster_facts(profile)).values() if one.among]
    assert open_ones
    assert all({*one.claim.outcomes} <= {*one.among} for one in open_ones)


def test_a_node_reaches_its_own_host_ports_or_meets_silence_or_a_refusal() -> None:
    """What decides it is not known; any other outcome is no open question."""
    expected = expectations(cluster_facts("win2022-l2bridge-dsr"))
    (own,) = {
        one.among
        for name, one in expected.items()
        if name.startswith("hostport-from-own-node/windows")
    }
    assert {str(outcome) for outcome in own} == {"connected", "timed_out", "refused"}


@pytest.mark.parametrize(
    ("profile", "policies", "said"),
    [
        ("azure-l2tunnel", True, "timed_out"),
        ("azure-l2tunnel", False, "cni-netpol-no-engine: connected"),
        ("azure-l2tunnel", None, "cni-netpol-engine: unspecified"),
        ("eks-vpc-bridge", False, "cni-netpol-no-engine: connected"),
        ("win2022-l2bridge-dsr", False, "cni-netpol: connected"),
        ("win2022-l2bridge-dsr", True, "timed_out"),
    ],
)
def test_an_engine_that_is_seen_decides_whether_a_policy_denies(
    profile: str, policies: bool | None, said: str
) -> None:
    """The plugins themselves enforce nothing: what they leave open is known once an engine is looked for."""
    facts = with_windows(cluster_facts(profile), policies=Fact(policies, "test"))
    (check,) = (
        check.id
        for check in planned(facts)
        if check.id.startswith("network-policy/windows-1/linux") and check.id.endswith("/denied")
    )
    assert expected_at(facts, check) == said
