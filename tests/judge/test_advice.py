"""The next step fits what was seen, from where and of which target."""

from dataclasses import replace

import pytest

from nettests.judge import judge
from nettests.judge.remedies import REMEDIES, UNKNOWN_RULE
from nettests.model.check import Case, Check
from nettests.model.expectation import Expected
from nettests.model.words import OS, Outcome, Placement, TargetKind
from tests.judge.cases import CLAIM, check, expects, observed

SPOOFING = "MAC address spoofing"


def next_step(asked: Check, seen: Outcome, claim: Expected = CLAIM) -> str:
    """Return what is advised after a failure."""
    return judge(asked, expects(claim, claim=claim), observed(seen, backends=())).next_step


@pytest.mark.parametrize(
    ("rule", "step"),
    [("proxy-mode", REMEDIES["proxy-mode"]), ("no-such-rule", UNKNOWN_RULE)],
)
def test_a_deviation_has_the_step_of_its_rule(rule: str, step: str) -> None:
    """What repairs a setting stands beside its rule; a rule of another version has a general one."""
    asked = check(TargetKind.CONFIGURATION)
    asked = replace(asked, ask=replace(asked.ask, case=Case(label=rule)))
    assert next_step(asked, Outcome.DEVIATES, Expected(outcome=Outcome.CONFORMS)) == step


@pytest.mark.parametrize(
    ("source", "target", "placement", "told"),
    [
        (OS.WINDOWS, OS.LINUX, Placement.OTHER_NODE, True),
        (OS.LINUX, OS.WINDOWS, Placement.OTHER_NODE, True),
        (OS.LINUX, OS.LINUX, Placement.OTHER_NODE, False),
        (OS.WINDOWS, OS.WINDOWS, Placement.SAME_NODE, False),
    ],
)
def test_spoofing_is_about_windows_nodes_and_the_wire(
    source: OS, target: OS, placement: Placement, *, told: bool
) -> None:
    """The setting of virtual machines is advised where a Windows node's frames leave it."""
    asked = check(TargetKind.POD_IP, source)
    ask = replace(asked.ask, target=replace(asked.ask.target, os=target))
    step = next_step(replace(asked, ask=ask, placement=placement), Outcome.TIMED_OUT)
    assert step.startswith("look for the packet on the way")
    assert (SPOOFING in step) is told


def test_linux_has_no_outbound_nat() -> None:
    """Towards the outside a Linux pod's packet is looked for on the way."""
    step = next_step(check(TargetKind.EXTERNAL_IP, OS.LINUX), Outcome.TIMED_OUT)
    assert step.startswith("look for the packet on the way")


def test_a_name_that_nobody_has_and_is_found_is_a_wildcard() -> None:
    """It is looked for in the suffixes that the source walks."""
    claim = Expected(outcome=Outcome.NXDOMAIN)
    step = next_step(check(TargetKind.NO_NAME), Outcome.RESOLVED, claim)
    assert "wildcard record" in step
