"""Incidents of checks that send nothing themselves: several of one flow on one node are one cause."""

from nettests.model.check import Check
from nettests.model.words import Outcome
from nettests.report import Results
from tests.report.test_incidents import LINUX, WIN, broken

FLOW = "pod-probes"


def cases(results: Results, node: str) -> list[str]:
    """Return the cases of the flow on a node, in order."""
    ran = (one.check for one in results.checks if one.ran and one.flow == FLOW)
    of = (check for check in ran if check and check.source.node == node)
    return [check.action.case.label for check in of if check.action.case]


def test_pods_of_one_flow_on_one_node_are_one_cause(quiet: Results) -> None:
    """The flow, the node and the cases are named, and that others are in order there contradicts nothing."""
    first, second, *others = cases(quiet, WIN)
    assert others

    def struck(check: Check) -> bool:
        case = check.action.case
        return (check.flow, check.source.node) == (FLOW, WIN) and case is not None and case.label in {first, second}  # fmt: skip

    (incident,) = broken(quiet, struck, Outcome.FAILS_TO_START).incidents
    assert incident.explained
    assert incident.traits == {"flow": FLOW, "on-node": WIN}
    assert incident.cause == f"Checks of {FLOW} on {WIN} fail to start: {first} and {second}"
    assert len(incident.checks) == 2


def test_one_pod_of_a_flow_speaks_for_itself(quiet: Results) -> None:
    """Two nodes with one red check each share nothing."""
    first, second, *_ = cases(quiet, WIN)

    def struck(check: Check) -> bool:
        label = check.action.case.label if check.action.case else ""
        return check.flow == FLOW and (check.source.node, label) in {(WIN, first), (LINUX, second)}

    incidents = broken(quiet, struck, Outcome.FAILS_TO_START).incidents
    assert [one.explained for one in incidents] == [False, False]


def test_a_case_that_fails_everywhere_is_named_before_its_nodes(quiet: Results) -> None:
    """What all nodes have in common is the case, not a node."""
    first, *_ = cases(quiet, WIN)

    def struck(check: Check) -> bool:
        return check.flow == FLOW and check.action.case is not None and check.action.case.label == first  # fmt: skip

    (incident,) = broken(quiet, struck, Outcome.FAILS_TO_START).incidents
    assert incident.traits == {"rule": first, "flow": FLOW}
    assert incident.cause == f"Pods of the test case {first} fail to start"
