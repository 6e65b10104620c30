"""Why a check is expected to end as it is, and what can be wrong without a cluster."""

import pytest

from nettests.expect import explain, lint, read_manifest
from nettests.expect.condition import Truth
from tests.expect.entries import check, manifest, text
from tests.facts import cluster_facts

FACTS = cluster_facts("win2019-l2bridge")
TIMED_OUT = "expected: {outcome: timed_out}"
REFUSED = "expected: {outcome: refused}"


def test_every_entry_that_speaks_of_the_flow_is_explained() -> None:
    """Entries that apply and those that do not are listed, each with its facts."""
    told = explain(
        check(),
        FACTS,
        [
            manifest(
                yes=f"{TIMED_OUT}\nwhen: {{source: {{os: windows, build: '<17763.1432'}}}}",
                no=f"{REFUSED}\nwhen: {{source: {{os: windows, dsr: true}}}}",
            )
        ],
    )
    found = {one.limitation.id: one for one in told.considered}
    assert found["yes"].truth is Truth.YES
    assert found["no"].truth is Truth.NO
    assert any("17763.1339" in sentence for _, sentence in found["yes"].findings)
    assert told.expectation.limitation is not None
    assert told.expectation.limitation.id == "yes"


def test_an_entry_of_another_flow_is_not_considered() -> None:
    """Entries that cover another protocol have nothing to say."""
    other = manifest(one=f"{TIMED_OUT}\nprotocols: [icmp]")
    assert explain(check(), FACTS, [other]).considered == ()


def conditions(first: str, second: str) -> tuple[str, ...]:
    """Return what lint says of two entries with these conditions and different outcomes."""
    return lint([manifest(one=f"{TIMED_OUT}\nwhen: {first}", two=f"{REFUSED}\nwhen: {second}")])


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("{source: {os: windows}}", "{source: {os: windows}}"),
        ("{source: {os: windows}}", "{target: {os: windows}}"),
        ("{source: {os: windows}}", "{source: {os: windows, dsr: true}}"),
        ("{source: {build: '<17763.1432'}}", "{source: {build: '>=17763'}}"),
        ("{source: {build: '>=17763'}}", "{source: {build: '==20348.5'}}"),
        ("{source: {kubelet: '<1.20'}}", "{source: {kubelet: '>1.18'}}"),
        ("{source: {driver: [l2bridge, overlay]}}", "{source: {driver: [overlay]}}"),
        ("{placement: [same-node, other-node]}", "{placement: [other-node]}"),
        (
            "{placement: [other-node], source: {build: '<20348'}}",
            "{target: {build: '>=20348'}}",
        ),
        (
            "{placement: [same-node, other-node], source: {build: '<20348'}}",
            "{placement: [same-node], target: {os: windows}}",
        ),
        ("{source: {kubelet: '<1.20.6'}}", "{source: {kubelet: '>=1.20.5'}}"),
        ("{source: {kubelet: '<1.20'}}", "{source: {kubelet: '>1.19.7'}}"),
        ("{source: {kubelet: '<=1.20.5'}}", "{source: {kubelet: '>=1.20.5'}}"),
        ("{source: {kubelet: '>1.20.5'}}", "{source: {kubelet: '<1.21'}}"),
        ("{source: {build: '<17763.2'}}", "{source: {build: '>=17763.1'}}"),
        ("{source: {build: '<20348'}}", "{source: {build: '>17763.9'}}"),
        ("{source: {build: '<=17763.1'}}", "{source: {build: '>=17763.1'}}"),
        ("{source: {build: '>17763.1'}}", "{source: {build: '<17763.3'}}"),
        ("{source: {build: '<20348'}}", "{source: {build: '<26100'}}"),
        ("{source: {build: '>17763.1'}}", "{source: {build: '>17763.0'}}"),
        ("{source: {kubelet: '<1.20'}}", "{source: {kubelet: '<1.25'}}"),
        ("{source: {kubelet: '>1.20'}}", "{source: {kubelet: '>1.25'}}"),
        ("{cluster: {kubernetes: '<1.20'}}", "{source: {kubelet: '>=1.30'}}"),
        ("{cluster: {loopback_dsr: ['on', unknown]}}", "{cluster: {loopback_dsr: [unknown]}}"),
    ],
)
def test_provable_overlaps_are_found(first: str, second: str) -> None:
    """Where one cluster can meet both conditions the overlap is said, naming both entries."""
    (told,) = conditions(first, second)
    assert "one (base.yaml:5)" in told
    assert "two (base.yaml:13)" in told


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("{source: {os: windows}}", "{source: {os: linux}}"),
        ("{source: {dsr: true}}", "{source: {dsr: false}}"),
        ("{source: {build: '<17763.1432'}}", "{source: {build: '>=17763.1432'}}"),
        ("{source: {build: '<20348'}}", "{source: {build: '>=20348'}}"),
        ("{source: {kubelet: '<1.20'}}", "{source: {kubelet: '>=1.20'}}"),
        ("{source: {driver: [l2bridge]}}", "{source: {driver: [overlay]}}"),
        ("{placement: [same-node]}", "{placement: [other-node]}"),
        ("{resolver: [system]}", "{resolver: [nslookup]}"),
        ("{source: {kubelet: '<1.20.5'}}", "{source: {kubelet: '>=1.20.5'}}"),
        ("{source: {kubelet: '>1.20.5'}}", "{source: {kubelet: '<1.20.6'}}"),
        ("{source: {kubelet: '==1.20.5'}}", "{source: {kubelet: '==1.20.6'}}"),
        ("{source: {build: '<17763.1'}}", "{source: {build: '>=17763.1'}}"),
        ("{source: {build: '==17763.1'}}", "{source: {build: '>17763.1'}}"),
        ("{cluster: {kubernetes: '<1.20'}}", "{cluster: {kubernetes: '>=1.20'}}"),
        ("{cluster: {loopback_dsr: ['on']}}", "{cluster: {loopback_dsr: ['off', unknown]}}"),
        ("{target: {host_process: true}}", "{target: {host_process: false}}"),
        (
            "{placement: [same-node], source: {os: linux}}",
            "{placement: [same-node, other-node], target: {os: windows}}",
        ),
        (
            "{placement: [same-node], source: {build: '<20348'}}",
            "{target: {build: '>=20348'}}",
        ),
    ],
)
def test_conditions_that_exclude_each_other_do_not_overlap(first: str, second: str) -> None:
    """Ranges that only touch, and words that have nothing in common, are no overlap."""
    assert conditions(first, second) == ()


def test_the_same_outcome_is_no_overlap() -> None:
    """Two entries may say the same."""
    assert lint([manifest(one=TIMED_OUT, two=TIMED_OUT)]) == ()


def test_entries_of_different_cases_do_not_overlap() -> None:
    """Entries that share a case may contradict each other; those that share none cannot."""
    one = f"{TIMED_OUT}\ncases: [a, b]"
    assert lint([manifest(one=one, two=f"{REFUSED}\ncases: [c]")]) == ()
    assert len(lint([manifest(one=one, two=f"{REFUSED}\ncases: [b]")])) == 1
    assert len(lint([manifest(one=one, two=REFUSED)])) == 1


def test_an_override_is_no_overlap() -> None:
    """A higher layer that says what it overrides is in order; one that does not is found."""
    lower = manifest(one=TIMED_OUT)
    assert lint([lower, manifest("cni", two=f"{REFUSED}\noverrides: [one]")]) == ()
    assert lint([lower, manifest("cni", two="cancels: [one]")]) == ()
    assert len(lint([lower, manifest("cni", two=REFUSED)])) == 1


def test_other_protocols_do_not_overlap() -> None:
    """Entries for TCP and for UDP meet in no check."""
    entries = manifest(one=f"{TIMED_OUT}\nprotocols: [tcp]", two=f"{REFUSED}\nprotocols: [udp]")
    assert lint([entries]) == ()


def test_entries_without_a_flow_in_common_do_not_overlap() -> None:
    """Whatever their conditions: no check is of both; of several flows the common ones are named in order."""
    one = manifest(one=TIMED_OUT, two=REFUSED)
    apart = text(one=TIMED_OUT, two=REFUSED).replace("[some-flow]", "[b-flow]", 1)
    assert lint([read_manifest(apart, "base.yaml")]) == ()
    (told,) = lint(
        [
            read_manifest(
                text(one=TIMED_OUT, two=REFUSED).replace("[some-flow]", "[b, c, a]"), "m.yaml"
            )
        ]
    )
    assert "the same check of a, b, c and expect" in told
    assert len(lint([one])) == 1


def test_each_pair_that_overlaps_is_told() -> None:
    """Also behind pairs that agree; an entry that only cancels another overlaps with none."""
    three = manifest(a=TIMED_OUT, b=TIMED_OUT, c=REFUSED)
    found = [told.split(" can apply")[0] for told in lint([three])]
    places = {entry.id: f"{entry.id} ({entry.place})" for entry in three.limitations}
    assert found == [f"{places[one]} and {places['c']}" for one in "ab"]
    lower = manifest(one=TIMED_OUT, other=TIMED_OUT)
    assert lint([lower, manifest("cni", two="cancels: [other]")]) == ()


def test_entries_of_one_family_speak_of_it_alone() -> None:
    """Those of IPv4 and of IPv6 meet in no check."""
    one, other = f"{TIMED_OUT}\nfamilies: [IPv4]", f"{REFUSED}\nfamilies: [IPv6]"
    assert lint([manifest(one=one, two=other)]) == ()
    assert len(lint([manifest(one=one, two=REFUSED)])) == 1


def test_an_explanation_names_its_check() -> None:
    """Whoever prints it needs no other value."""
    probed = check()
    assert explain(probed, FACTS, []).check == probed


def test_a_flow_that_nobody_declares_is_found() -> None:
    """With the suites' flows at hand a misspelt one is told, with the nearest."""
    (told,) = lint([manifest(one=TIMED_OUT)], flows=["some-flaw", "pod-to-pod-ip"])
    assert "the flow some-flow, which no suite declares; did you mean 'some-flaw'?" in told
