"""The profile of a cluster that documents refuse, IPv6 alone: what is discovered, planned and said of it, and that no lab is made."""

import re

import pytest

from nettests.lab.errors import ProfileError
from nettests.lab.topology import profiles
from nettests.model.check import Plan
from nettests.model.words import OS, Family, Question
from nettests.plan import build, load
from nettests.resources import manifests_path, suites_path
from tests.lab.topology.test_discovered_profiles import discovered

FILE = str(manifests_path() / "lab" / "refused" / "ipv6-only.yaml")
FACTS = discovered(profiles.load(FILE))
REASON = "IPv6 alone, which is documented as unsupported on Windows"
BY_API = {Question.ADMIT, Question.INSPECT}


@pytest.fixture(scope="module")
def plan() -> Plan:
    """The plan of a run on such a cluster."""
    return build(FACTS, load([suites_path()]).flows)


def test_no_lab_is_made_of_it() -> None:
    """Asking for one ends before anything is started, with the document that refuses it."""
    with pytest.raises(ProfileError) as error:
        profiles.load_to_run(FILE)
    assert "IPv6 alone is not emulated" in str(error.value)
    assert "dual-stack" in (error.value.hint or "")
    assert profiles.load_to_run("win2022-l2bridge-dualstack").ipv6 is not None


def test_every_address_of_it_is_ipv6() -> None:
    """Nodes, their ranges, Services and DNS have no other family, and discovery says so."""
    assert FACTS.families == (Family.IPV6,)
    assert {one.version for node in FACTS.nodes for one in node.addresses} == {6}
    assert FACTS.dns_address.value is not None
    assert FACTS.dns_address.value.version == 6


def test_what_needs_a_windows_node_is_skipped_with_the_document(plan: Plan) -> None:
    """No Pod is made on a Windows node, for a question or its control; only API objects are looked at."""
    assert {pod.os for pod in plan.pods} == {OS.LINUX}
    with_windows = [one for one in plan.checks if re.search("/windows-1/", one.id)]
    assert with_windows
    assert {one.action.question for one in with_windows} <= BY_API
    refused = [one.id for one in plan.skips if REASON in one.reason]
    assert len(refused) > 400
    flows = {name.partition("/")[0] for name in refused if "windows" not in name}
    assert flows == {"dns-headless-service"}  # whose backends are on every node
    assert "windows-address-families/windows-1/ipv4-address" in {one.id for one in plan.checks}


def test_linux_nodes_are_tested_among_themselves(plan: Plan) -> None:
    """What has no part for a Windows node is planned as ever, over IPv6."""
    ids = {one.id: one for one in plan.checks}
    members = ids["pod-to-pod-ip/linux-1/linux-1/other-node/tcp"].each
    assert len(members) == 2
    assert {one.action.family for one in members} == {Family.IPV6}
    assert all(
        {one.proves for one in member.controls} == {"vantage", "target"} for member in members
    )
