"""A Service over a node pool of nodes of which one fact is known of some only."""

from dataclasses import replace

from nettests.model.check import Target
from nettests.model.facts import unknown
from nettests.model.words import OS, TargetKind
from tests.expect.entries import check
from tests.expect.test_conditions import FACTS, applies, expectation


def test_a_node_pool_of_which_one_node_is_not_known_is_undecided() -> None:
    """What the known nodes meet is open while another's fact is unknown; what one of them denies is denied."""
    probed = check(
        target=Target(kind=TargetKind.SERVICE_CLUSTERIP, pool="windows-1", os=OS.WINDOWS)
    )
    first, *_ = (one for one in FACTS.nodes if one.pool == "windows-1")
    unread = replace(first, build=unknown("no kernelVersion"))
    facts = replace(FACTS, nodes=tuple(unread if one is first else one for one in FACTS.nodes))
    open_ = expectation("{target: {os: windows, build: '<17763.1432'}}", probed, facts)
    assert open_.undecided is not None
    assert "no kernelVersion" in open_.undecided
    assert not applies("{target: {os: windows, build: '>=20348'}}", probed, facts)
