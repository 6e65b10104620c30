"""The shipped named faults: enough of them, of faults that exist, on profiles and nodes that exist."""

import re

import pytest

from nettests.lab.errors import LabError
from nettests.lab.faults.kinds import KINDS, checked
from nettests.lab.selftest.named_faults import (
    ASSUMPTIONS,
    FAULTS,
    PROFILES,
    Checks,
    NamedFault,
    chosen,
    of_topic,
    placed,
    profiles_of,
)
from nettests.lab.selftest.runs import Check
from nettests.lab.topology import mechanisms, profiles
from tests.lab.selftest.made import inject

FLEET_FAULTS = of_topic("fleet")
EACH = pytest.mark.parametrize("fault", [*FAULTS, *ASSUMPTIONS], ids=lambda one: one.name)


def test_there_are_thirty_and_each_has_a_name_of_its_own() -> None:
    """Beside those that are declared blind, and those that a run recovers from."""
    names = [fault.name for fault in FAULTS]
    assert len(names) == len(set(names))
    assert sum(not fault.need_not_turn for fault in FAULTS) >= 30


@EACH
def test_a_fault_can_be_put_in_force(fault: NamedFault) -> None:
    """Its kinds exist and take its options; its mechanisms can be switched; its profiles are shipped."""
    for one in fault.injections:
        checked(one.kind, dict(one.options))
    assert len(mechanisms.read(fault.mechanisms)) == len(fault.mechanisms)
    assert set(fault.profiles) <= set(PROFILES)


@EACH
def test_a_fault_speaks_of_nodes_that_its_profiles_have(fault: NamedFault) -> None:
    """In options and in what must turn."""
    for name in fault.profiles:
        nodes = {node.name for node in profiles.load(name).nodes}
        for one in fault.injections:
            requested = {
                one.options[key] for key in ("node", "peer", "from", "to") if key in one.options
            }
            assert requested <= nodes | {"gateway"}, (name, requested)
        for check in (*fault.must, *fault.may):
            said = {check.node, check.source, check.target} - {"", "win-*"}
            assert said <= nodes, (name, check)


def test_every_kind_of_fault_of_packets_services_and_names_has_a_named_one() -> None:
    """Or of tools; the API's own faults are no matter of either: a run has to live with them."""
    named = {one.kind for fault in (*FAULTS, *ASSUMPTIONS) for one in fault.injections}
    spared = {
        "api-errors",
        "api-throttling",
        "api-resets",
        "expired-tokens",
        "slow-api",
        "slow-pull",
        "privileged-refused",
        "exec-refused",  # exec probes fail with it: no Pod that has one becomes Ready, the run's neither
    }
    assert {kind.name for kind in KINDS} - named == spared


def test_at_least_twenty_five_assumptions_are_broken() -> None:
    """In each at most answers become unknown: whatever else turns red is a false verdict."""
    assert len({fault.name for fault in ASSUMPTIONS}) >= 25
    for fault in ASSUMPTIONS:
        turned = {checks.verdict for checks in (*fault.must, *fault.may)}
        assert fault.harmless or turned == {"unknown"}, fault.name


def test_faults_of_later_nodes_and_pairs_are_seen() -> None:
    """Whatever is in order between the first nodes of the pools."""
    assert len([one for one in FLEET_FAULTS if one.must]) >= 21
    assert all(not one.must for one in FLEET_FAULTS if one.blind)


def test_names_choose_and_unknown_ones_are_refused() -> None:
    """Without any all are chosen; a typing mistake names its neighbour."""
    assert chosen(()) == FAULTS
    assert [one.name for one in chosen(("udp-lost", "dns-down", "udp-lost"))] == [
        "udp-lost",
        "dns-down",
    ]
    with pytest.raises(LabError) as error:
        chosen(("upd-lost",))
    assert error.value.hint == 'Did you mean "udp-lost"?'
    with pytest.raises(LabError):
        profiles_of(("linux",), FAULTS)
    assert profiles_of((), chosen(("other-vni",))) == ("win2019-overlay",)


CHECK = Check(
    id="pod-to-pod-ip/x",
    flow="pod-to-pod-ip",
    verdict="unknown",
    source="win-1",
    target="linux-2",
    protocol="udp",
    placement="other-node",
    service="svc-server-linux-1-2",
)


@pytest.mark.parametrize(
    ("said", "is_one"),
    [
        ({}, True),
        ({"flow": "pod-to-*"}, True),
        ({"flow": "dns-*"}, False),
        ({"id": "*/x"}, True),
        ({"node": "linux-2"}, True),
        ({"node": "win-2"}, False),
        ({"source": "win-*", "target": "linux-2"}, True),
        ({"source": "linux-2"}, False),
        ({"protocol": "tcp"}, False),
        ({"placement": "other-node"}, True),
        ({"service": "*-linux-1-2"}, True),
        ({"service": "*-linux-1"}, False),
        ({"verdict": "fail"}, False),
    ],
)
def test_patterns_mean_the_checks_that_fit_in_all_they_say(
    said: dict[str, str], is_one: bool
) -> None:
    """What is not said is not looked at."""
    assert (CHECK in Checks(**said)) is is_one


def test_a_fault_that_says_too_little_is_no_fault() -> None:
    """Neither what breaks, nor what must turn, may be left out; two ways to break it are one too many."""
    words = {"name": "x", "summary": "x", "profiles": PROFILES}
    with pytest.raises(ValueError, match="either injections or mechanisms"):
        NamedFault(**words, must=(Checks(),), names=("x",))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="what must turn"):
        NamedFault(**words, injections=inject("dns-down"))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="nothing may turn where a run recovers"):
        NamedFault(**words, injections=inject("exec-hangs"), recovered="x", may=(Checks(),))  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", [0, 7])
def test_every_fault_can_be_put_at_other_nodes_of_its_profiles(seed: int) -> None:
    """It stays the same but for its nodes, and these exist: their Pods and Services change places with them."""
    for fault in FAULTS:
        for profile in fault.profiles:
            moved = placed(fault.name, profile, seed)
            assert (moved.name, len(moved.must)) == (f"{fault.name}@{seed}", len(fault.must))
            assert placed(moved.name, profile, seed) == moved
            before, after = (
                {*re.findall(r"\b(?:win|linux)-\d+\b", repr(each.injections))}
                for each in (fault, moved)
            )
            assert len(before) == len(after)


def test_a_seed_moves_what_is_injected_what_must_turn_and_what_it_is_called() -> None:
    """Each node is chosen by some seed, and a Service of the run is that of the Pod on its node."""
    moved = [placed("second-node-lacks-a-pods-service", "fleet", seed) for seed in range(60)]
    options = [dict(each.injections[0].options) for each in moved]
    assert {each["node"] for each in options} == {f"win-{number}" for number in range(1, 9)}
    assert len({each["service"] for each in options}) == 4
    for each, given in zip(moved, options, strict=True):
        assert each.names == (given["node"], given["service"])
        assert given["node"] in each.summary
