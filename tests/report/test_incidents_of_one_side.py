"""What one node, or one system, lacks in one direction, of one protocol or one size is one cause, not one for each pair."""

from collections.abc import Callable

import pytest

from nettests.model.check import Action
from nettests.model.words import OS, Protocol, TargetKind
from tests.report.sweep import FLOWS, swept

NODE = "win-7"
SWEEP = (*FLOWS, "payload-pod-to-pod", "pod-to-node", "nodeport-from-pod-own-node")


def begins(action: Action) -> bool:
    """Whether a question goes from the node to another one."""
    return action.source.node == NODE and action.target.node not in {NODE, None}


CASES: dict[str, Callable[[Action], bool]] = {
    f"Packets from {NODE} to other nodes get no answer": begins,
    f"UDP packets from {NODE} to other nodes get no answer": (
        lambda action: begins(action) and action.protocol is Protocol.UDP
    ),
    f"Large TCP packets from {NODE} to other nodes or outside get no answer; small ones arrive": (
        lambda action: (
            begins(action) and action.size is not None and action.protocol is Protocol.TCP
        )
    ),
    f"Large packets from other nodes or outside to {NODE} get no answer; small ones arrive": (
        lambda action: (
            action.size is not None
            and action.target.node == NODE
            and action.source.node not in {NODE, None}
        )
    ),
    f"Packets within {NODE} get no answer": (
        lambda action: action.source.node == action.target.node == NODE
    ),
    f"Connections to a NodePort on its own node from {NODE} get no answer": (
        lambda action: (
            action.source.node == action.target.node == NODE
            and action.target.kind is TargetKind.NODEPORT
        )
    ),
    f"Connections to a ClusterIP from {NODE} over UDP get no answer": (
        lambda action: (
            action.source.node == NODE
            and (action.target.kind, action.protocol)
            == (TargetKind.SERVICE_CLUSTERIP, Protocol.UDP)
        )
    ),
    f"UDP packets between {NODE} and outside the cluster get no answer": (
        lambda action: (
            action.source.node == NODE
            and (action.target.kind, action.protocol) == (TargetKind.EXTERNAL_IP, Protocol.UDP)
        )
    ),
    "Connections to a Pod (linux → windows) over UDP get no answer": (
        lambda action: (
            (action.source.os, action.target.os) == (OS.LINUX, OS.WINDOWS)
            and (action.target.kind, action.protocol) == (TargetKind.POD_IP, Protocol.UDP)
        )
    ),
}


@pytest.mark.parametrize("cause", CASES)
def test_what_one_side_lacks_is_one_incident(cause: str) -> None:
    """The sentence names the node, or the systems, the direction, and what of it is lost."""
    (incident,) = swept(CASES[cause], flows=SWEEP).incidents
    assert incident.cause == cause
    assert incident.explained


def test_small_packets_arrive_only_where_a_check_shows_it() -> None:
    """Where large packets alone were sent, the sentence claims nothing of small ones."""
    payload = ("payload-pod-to-pod",)
    lost = CASES[
        f"Large packets from other nodes or outside to {NODE} get no answer; small ones arrive"
    ]
    causes = [each.cause for each in swept(lost, flows=payload).incidents]
    assert causes
    assert not [cause for cause in causes if "arrive" in cause]
    everywhere = [each.cause for each in swept(lambda _: True, flows=payload).incidents]
    assert not [cause for cause in everywhere if "arrive" in cause]
