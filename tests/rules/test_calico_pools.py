"""The rule about Calico's IP pools: which of them Windows nodes take addresses from, and how these encapsulate."""

import json

import pytest

from nettests.rules import RULES, Evidence, NothingThereError, UnreadableError
from tests.rules.made import FACTS, found

RULE = "calico-pools"


def pools(*specs: dict[str, object]) -> dict[str, str]:
    """Return the reading of pools with these settings."""
    items = [
        {"metadata": {"name": f"pool-{number}"}, "spec": {"cidr": f"10.{number}.0.0/16", **spec}}
        for number, spec in enumerate(specs, 1)
    ]
    return {"calico-ip-pools": json.dumps({"items": items})}


@pytest.mark.parametrize(
    ("spec", "conforms"),
    [
        ({"ipipMode": "Never", "vxlanMode": "Always"}, True),
        ({"ipipMode": "Never", "vxlanMode": "Never"}, True),
        ({"ipipMode": "", "vxlanMode": ""}, True),
        ({}, True),
        ({"ipipMode": "Always"}, False),
        ({"ipipMode": "CrossSubnet"}, False),
        ({"vxlanMode": "CrossSubnet"}, False),
    ],
)
def test_windows_knows_vxlan_everywhere_or_no_encapsulation(
    spec: dict[str, object], conforms: bool
) -> None:
    """IP in IP is refused, and so is VXLAN between subnets alone; what is not set is never."""
    said = found(RULE, pools(spec))
    assert said.conforms is conforms
    assert "pool-1 10.1.0.0/16" in said.detail


@pytest.mark.parametrize(
    ("selector", "counts"),
    [
        ("all()", True),
        ("kubernetes.io/os == 'windows'", True),
        ('kubernetes.io/os != "linux"', True),
        ("kubernetes.io/os == 'linux'", False),
        ("!all()", False),
        ("kubernetes.io/os != 'windows'", False),
        ("zone == 'a'", False),
    ],
)
def test_pools_of_other_nodes_are_left_out(selector: str, counts: bool) -> None:
    """Linux nodes may well have IP in IP; a selector that speaks of something else is not judged."""
    pool = pools({"ipipMode": "Always", "nodeSelector": selector})
    if counts:
        assert not found(RULE, pool).conforms
        return
    with pytest.raises(NothingThereError, match="no IPv4 pool"):
        found(RULE, pool)


@pytest.mark.parametrize("spec", [{"disabled": True}, {"cidr": "fd00::/48"}])
def test_disabled_pools_and_the_second_family_are_left_out(spec: dict[str, object]) -> None:
    """Nobody takes addresses from the one, Windows none from the other."""
    with pytest.raises(NothingThereError):
        found(RULE, pools({"ipipMode": "Always", **spec}))
    assert found(RULE, pools({"ipipMode": "Always", **spec}, {})).conforms


def test_a_policy_engine_has_no_pools_that_count() -> None:
    """Another plugin gives the addresses."""
    with pytest.raises(NothingThereError, match="policy engine"):
        found(RULE, pools({"ipipMode": "Always"}), backend="none")


@pytest.mark.parametrize(
    ("problem", "error"),
    [
        ("/apis/crd.projectcalico.org/v1/ippools: status 404", NothingThereError),
        ("/apis/crd.projectcalico.org/v1/ippools: status 403", UnreadableError),
    ],
)
def test_pools_that_may_not_be_read_are_not_taken_for_none(
    problem: str, error: type[Exception]
) -> None:
    """Where the API server does not know the kind, Calico keeps its pools in etcd."""
    evidence = Evidence(texts={}, problems={"calico-ip-pools": problem}, facts=FACTS)
    with pytest.raises(UnreadableError) as raised:
        RULES[RULE].demand(evidence)
    assert type(raised.value) is error


def ipam(*specs: dict[str, object]) -> dict[str, str]:
    """Return the reading of IPAMConfigs."""
    items = [{"metadata": {"name": "default"}, "spec": spec} for spec in specs]
    return {"calico-ipam-configs": json.dumps({"items": items})}


@pytest.mark.parametrize(
    ("spec", "conforms"),
    [({"strictAffinity": True}, True), ({"strictAffinity": False}, False), ({}, False)],
)
def test_windows_needs_strict_affinity(spec: dict[str, object], conforms: bool) -> None:
    """Otherwise Linux nodes borrow addresses from Windows nodes, which is off unless it is set."""
    assert found("calico-strict-affinity", ipam(spec)).conforms is conforms


def test_without_an_object_of_its_ipam_nothing_is_found() -> None:
    """Calico writes it with the first address; elsewhere the object may not be in the API."""
    with pytest.raises(NothingThereError, match="has not given an address"):
        found("calico-strict-affinity", ipam())
