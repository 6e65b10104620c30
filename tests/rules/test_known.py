"""What rules are told of the cluster and of the node that they look at."""

import ipaddress
from dataclasses import replace

from nettests.model.facts import known, unknown
from nettests.model.versions import WindowsBuild
from nettests.rules.subjects import known_facts
from tests.probes.made import FACTS


def test_nodes_are_told_by_their_internal_addresses_neighbours_together() -> None:
    """The first address of each family is the internal one; many nodes take little room in the journal."""
    first = FACTS.nodes[0]
    addresses = ("172.30.0.2", "203.0.113.7", "fd00::2")
    both = replace(first, addresses=tuple(map(ipaddress.ip_address, addresses)))
    next_one = replace(first, name="next", addresses=(ipaddress.ip_address("172.30.0.3"),))
    told = known_facts(replace(FACTS, nodes=(both, next_one)), both)
    assert told["management-addresses"] == "172.30.0.2/31,fd00::2/128"
    assert told["management-address"] == "172.30.0.2/32,fd00::2/128"


def test_rules_are_told_build_and_runtime_of_the_node_that_they_look_at() -> None:
    """HNS of old builds has no DSR, and CNI files are of another schema with Docker; what is unknown is left out."""
    windows = replace(
        FACTS.nodes[0],
        build=known(WindowsBuild(17763, 1432), "test"),
        runtime=known("containerd://1.7.20", "test"),
    )
    told = known_facts(FACTS, windows)
    assert (told["build"], told["runtime"]) == ("17763.1432", "containerd://1.7.20")
    nobody = replace(windows, build=unknown("not read"), runtime=unknown("not read"))
    assert not {"build", "runtime"} & set(known_facts(FACTS, nobody))
