"""EndpointSlices that the run makes: what they say of which pods, and to whom they belong."""

from dataclasses import replace
from ipaddress import ip_address

import pytest

from nettests.model.check import Plan, ProbePod, ServiceObject
from nettests.model.facts import Fact
from nettests.model.service import ByHand, ServiceSettings
from nettests.model.words import OS, Family
from nettests.probes.deployment import StandingPod
from nettests.probes.objects import Blank
from nettests.probes.slices import NOBODYS_ZONE, planned, slices, zones_of
from tests.probes.made import FACTS

BLANK = Blank(namespace="run", labels={"nettests.dev/run": "r"})
STORED = {"by-hand": {"metadata": {"name": "by-hand", "uid": "u-1"}}}
PODS = {
    name: StandingPod(
        name=name,
        node="n1",
        purpose=purpose,
        addresses=tuple(map(ip_address, addresses)),
        host_addresses=(),
    )
    for name, purpose, addresses in (
        ("server-1", "server", ["10.1.0.5", "fd00::5"]),
        ("probe-1", "probe", ["10.1.0.6"]),
    )
}


def service(by_hand: ByHand | None) -> ServiceObject:
    """Return a Service over both pods, and one that does not stand."""
    settings = ServiceSettings(label="by-hand", by_hand=by_hand)
    return ServiceObject(
        name="by-hand", backends=("server-1", "probe-1", "gone"), settings=settings
    )


def test_a_slice_has_one_family_and_goes_with_its_service() -> None:
    """Addresses are parted by family; owner, Service and run are named."""
    made = list(slices([service(ByHand.PLAIN)], STORED, PODS, BLANK))
    assert [(one["addressType"], len(one["endpoints"])) for one in made] == [
        ("IPv4", 2),
        ("IPv6", 1),
    ]
    for one in made:
        labels = one["metadata"]["labels"]
        assert labels["kubernetes.io/service-name"] == "by-hand"
        assert labels["nettests.dev/run"] == "r"
        assert one["metadata"]["ownerReferences"][0]["uid"] == "u-1"
        assert [port["port"] for port in one["ports"]] == [18080, 18082, 18081]


def test_mixed_target_ports_are_two_slices() -> None:
    """Each backend stands at the number at which it tells who it is."""
    made = list(slices([service(ByHand.MIXED_TARGET_PORTS)], STORED, PODS, BLANK))
    told = {
        (one["endpoints"][0]["targetRef"]["name"], one["ports"][0]["port"])
        for one in made
        if one["addressType"] == "IPv4"
    }
    assert told == {("server-1", 18080), ("probe-1", 8080)}


def test_one_backend_is_hinted_for_the_zones_of_the_clients() -> None:
    """The first one for all of them, the others for a zone that nobody stands in."""
    (made, _) = slices([service(ByHand.HINTED)], STORED, PODS, BLANK, ("a", "b"))
    hinted = {
        endpoint["targetRef"]["name"]: [zone["name"] for zone in endpoint["hints"]["forZones"]]
        for endpoint in made["endpoints"]
    }
    assert hinted == {"server-1": ["a", "b"], "probe-1": [NOBODYS_ZONE]}
    (plain, _) = slices([service(ByHand.PLAIN)], STORED, PODS, BLANK, ("a", "b"))
    assert not any("hints" in endpoint for endpoint in plain["endpoints"])


def test_zones_of_nodes_are_named_once() -> None:
    """What a node does not say of itself is no zone."""
    zones = iter([Fact("b", ""), Fact("a", ""), *(Fact(None, "no label") for _ in FACTS.nodes)])
    nodes = tuple(replace(node, zone=next(zones)) for node in (*FACTS.nodes, *FACTS.nodes))
    assert zones_of(replace(FACTS, nodes=nodes)) == ("a", "b")


@pytest.mark.parametrize(("by_hand", "stored"), [(None, STORED), (ByHand.PLAIN, {})])
def test_others_have_slices_of_the_controller(
    by_hand: ByHand | None, stored: dict[str, dict[str, dict[str, str]]]
) -> None:
    """A Service with a selector, or one that was not made, has none by hand."""
    assert list(slices([service(by_hand)], stored, PODS, BLANK)) == []


def test_slices_are_planned_before_anything_stands() -> None:
    """What is printed beforehand has the names, labels and ports of what is made, without addresses."""
    pods = tuple(
        ProbePod(name=name, purpose=pod.purpose, node=pod.node, os=OS.LINUX, pool="linux-1")
        for name, pod in PODS.items()
    )
    facts = replace(FACTS, families=(Family.IPV4, Family.IPV6))
    for by_hand in ByHand:
        plan = Plan(checks=(), skips=(), pods=pods, services=(service(by_hand),))
        before = {one["metadata"]["name"]: one for one in planned(plan, facts, BLANK)}
        for made in slices([service(by_hand)], STORED, PODS, BLANK):
            printed = before[made["metadata"]["name"]]
            assert printed["endpoints"] == []
            assert printed["ports"] == made["ports"]
            assert printed["metadata"]["labels"] == made["metadata"]["labels"]


def test_services_with_a_selector_have_no_planned_slice() -> None:
    """Theirs are the controller's."""
    plan = Plan(checks=(), skips=(), pods=(), services=(service(None),))
    assert list(planned(plan, FACTS, BLANK)) == []


def test_backends_that_are_said_to_terminate_still_serve() -> None:
    """The endpoints are those of an ordinary slice; no proxy may take them for ready."""
    plain = list(slices([service(ByHand.PLAIN)], STORED, PODS, BLANK))
    made = list(slices([service(ByHand.TERMINATING)], STORED, PODS, BLANK))
    told = {tuple(sorted(end["conditions"].items())) for one in made for end in one["endpoints"]}
    assert told == {(("ready", False), ("serving", True), ("terminating", True))}
    places = [[end["addresses"] for end in one["endpoints"]] for one in made]
    assert places == [[end["addresses"] for end in one["endpoints"]] for one in plain]
