"""The grammar of check ids: what is made of parts gives them back."""

from nettests.model.check_id import API, EXTERNAL, between, check_id, details_of, flow_of, parts_of


def test_an_id_begins_with_its_flow_and_its_place() -> None:
    """Two ends and how they stand to each other are one place; so is the API server."""
    place = between("windows-1", EXTERNAL, "outside")
    assert check_id("egress", place, "tcp") == "egress/windows-1/external/outside/tcp"
    assert check_id("admitted", API, "host-network") == "admitted/api/host-network"


def test_what_follows_the_protocol_is_told_apart_from_the_place() -> None:
    """Details are what was put behind the protocol, whether or not the target stands on a node."""
    details = ("svc.ns", "nslookup")
    pair = check_id("names", between("windows-1", "linux-1", "other-node"), "udp", *details)
    assert tuple(details_of(pair)) == details
    alone = check_id("no-endpoints", "windows-1", "tcp", *details)
    assert tuple(details_of(alone, on_no_node=True)) == details


def test_an_id_gives_back_its_flow_and_its_parts() -> None:
    """Scripts that compare runs find a check's flow, and match ids part by part, in this grammar."""
    pair = check_id("names", between("windows-1", "linux-1", "other-node"), "udp", "nslookup")
    assert flow_of(pair) == "names"
    assert parts_of(pair) == ["names", "windows-1", "linux-1", "other-node", "udp", "nslookup"]
    assert flow_of("names") == "names"
