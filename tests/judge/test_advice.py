"""The next step fits what was seen, from where and of which target."""

from dataclasses import replace
from typing import get_args

import pytest

from nettests.judge import judge
from nettests.judge.advice import STEPS
from nettests.judge.verdicts import After
from nettests.model.check import Afterwards, Case, Check
from nettests.model.expectation import Expected
from nettests.model.observation import Observation
from nettests.model.words import OS, Distribution, Outcome, Placement, Question, TargetKind
from nettests.model.workload import WORDS
from nettests.rules import RULES
from tests.judge.cases import CLAIM, VANTAGE_ONLY, check, expects, observed

DECIDED = {
    "",
    "attempts",
    "distribution",
    "failure",
    "late Service",
    "lifting",
    "not judged",
    "stale Service",
    "witnesses",
}
"""What a ruling rests on whose next step depends on the check, too."""
SPOOFING = "MAC address spoofing"


def next_step(probed: Check, seen: Outcome, claim: Expected = CLAIM) -> str:
    """Return what is advised after a failure."""
    return judge(probed, expects(claim, claim=claim), observed(seen, backends=())).next_step


@pytest.mark.parametrize(
    ("rule", "step"),
    [("proxy-mode", RULES["proxy-mode"].remedy), ("no-such-rule", STEPS["unknown-rule"])],
)
def test_a_deviation_has_the_step_of_its_rule(rule: str, step: str) -> None:
    """What repairs a setting stands beside its rule; a rule of another version has a general one."""
    probed = check(TargetKind.CONFIGURATION)
    probed = replace(probed, action=replace(probed.action, case=Case(label=rule)))
    assert next_step(probed, Outcome.DEVIATES, Expected(outcome=Outcome.CONFORMS)) == step


@pytest.mark.parametrize("after", sorted({*get_args(After)} - DECIDED))
def test_a_ruling_that_alone_decides_has_its_step(after: After) -> None:
    """Whatever a ruling may rest on has a sentence, or is worded by what was found."""
    assert after in STEPS


@pytest.mark.parametrize("how", sorted(WORDS))
def test_what_makes_pods_sends_to_its_controller(how: str) -> None:
    """Its Pods are no rule of configuration: who makes and places them has a log."""
    probed = check(TargetKind.POD)
    case = Case(label="x", then=Afterwards(how=how))
    probed = replace(probed, action=replace(probed.action, case=case))
    step = next_step(probed, Outcome.DEVIATES, Expected(outcome=Outcome.CONFORMS))
    assert "kube-controller-manager" in step


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
    probed = check(TargetKind.POD_IP, source)
    action = replace(probed.action, target=replace(probed.action.target, os=target))
    step = next_step(replace(probed, action=action, placement=placement), Outcome.TIMED_OUT)
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


@pytest.mark.parametrize(
    ("question", "detail", "first"),
    [
        (Question.REACH, "lookup svc on 10.96.0.10:53: i/o timeout", "the cluster's DNS"),
        (Question.RESOLVE, ";; no servers could be reached", "the cluster's DNS"),
        (Question.REACH, "dial tcp 10.244.1.9:18080: i/o timeout", "the target"),
    ],
)
def test_what_nobody_could_resolve_leads_to_dns_not_to_the_target(
    question: Question, detail: str, first: str
) -> None:
    """Where other vantages fail too, the text tells whether the name or what it stands for was silent."""
    probed = check(TargetKind.SERVICE_FQDN)
    probed = replace(probed, action=replace(probed.action, question=question))
    seen = observed(Outcome.TIMED_OUT, controls=VANTAGE_ONLY)
    seen = replace(seen, attempts=(replace(seen.attempts[0], detail=detail),))
    step = judge(probed, expects(CLAIM), seen).next_step
    assert step.startswith(f"look at {first} first")


def test_a_name_that_was_denied_is_no_silent_dns() -> None:
    """A server that says that there is no such name works: the target is looked at."""
    seen = observed(Outcome.NXDOMAIN, controls=VANTAGE_ONLY)
    seen = replace(seen, attempts=(replace(seen.attempts[0], detail="lookup svc: no such host"),))
    step = judge(check(TargetKind.SERVICE_FQDN), expects(CLAIM), seen).next_step
    assert step.startswith("look at the target first")


@pytest.mark.parametrize(("target", "told"), [(OS.WINDOWS, True), (OS.LINUX, False)])
def test_a_windows_pod_that_does_not_start_has_the_documents_usual_causes(
    target: OS, told: bool
) -> None:
    """The pause image that fits the build, and the proxy's variables of a node that cannot pull."""
    probed = check(TargetKind.POD, OS.LINUX)
    action = replace(probed.action, target=replace(probed.action.target, os=target))
    claim = Expected(outcome=Outcome.STARTED)
    step = next_step(replace(probed, action=action), Outcome.FAILS_TO_START, claim)
    assert "reason and events" in step
    assert ("pause image" in step) is ("NO_PROXY" in step) is told


@pytest.mark.parametrize(
    ("outcomes", "loss"),
    [
        ((Outcome.CONNECTED, Outcome.TIMED_OUT, Outcome.CONNECTED), True),
        ((Outcome.CONNECTED, Outcome.REFUSED, Outcome.CONNECTED), False),
    ],
)
def test_silence_among_answers_is_called_loss(outcomes: tuple[Outcome, ...], *, loss: bool) -> None:
    """What is refused now and then is no lost packet."""
    step = judge(check(), expects(CLAIM), observed(*outcomes)).next_step
    assert ("drops some packets" in step) is loss


def test_one_silent_backend_is_named_only_where_there_are_several() -> None:
    """A Pod has no backends: there it is loss alone."""
    one = check(TargetKind.POD_IP)
    one = replace(
        one, action=replace(one.action, target=replace(one.action.target, backends=("a",)))
    )
    torn = observed(Outcome.CONNECTED, Outcome.TIMED_OUT, backends=())
    assert "backend" not in judge(one, expects(CLAIM), torn).next_step
    assert "backend" in judge(check(), expects(CLAIM), torn).next_step


def test_lost_affinity_is_looked_for_in_the_service_and_its_rules() -> None:
    """The source VIP has no part in which backend answers."""
    claim = Expected(outcome=Outcome.CONNECTED, distribution=Distribution.ONE_BACKEND)
    seen = observed(Outcome.CONNECTED, distribution=Distribution.SEVERAL_BACKENDS)
    found = judge(replace(check(), claim=claim), expects(claim, claim=claim), seen)
    assert "affinity" in found.next_step
    assert "source VIP" not in found.next_step


def test_a_service_that_nobody_reaches_may_lack_rules_on_one_node() -> None:
    """The step names kube-proxy of a node, and where it is told which; a Pod has none."""
    for kind, told in ((TargetKind.SERVICE_CLUSTERIP, True), (TargetKind.POD_IP, False)):
        seen = observed(Outcome.TIMED_OUT, controls=VANTAGE_ONLY)
        step = judge(check(kind), expects(CLAIM), seen).next_step
        assert ("kube-proxy" in step) is told


FOREIGN = ("Windows", "HNS", "Hns", "ipconfig", "VXLAN", "source VIP", "131466", "OutBoundNAT")
"""Words that say nothing to whoever runs Linux nodes with routes."""


def on_linux(kind: TargetKind) -> Check:
    """Return a check between two Linux nodes."""
    probed = check(kind, OS.LINUX)
    return replace(
        probed, action=replace(probed.action, target=replace(probed.action.target, os=OS.LINUX))
    )


@pytest.mark.parametrize("kind", [TargetKind.POD_IP, TargetKind.SERVICE_CLUSTERIP, TargetKind.POD])
@pytest.mark.parametrize(
    "seen",
    [
        *(observed(one, backends=()) for one in Outcome),
        observed(Outcome.CONNECTED, backends=(), distribution=Distribution.SEVERAL_BACKENDS),
        observed(Outcome.CONNECTED, late="Service s did not answer p on linux-1 within 30 s"),
        observed(Outcome.CONNECTED, stale="it is stale"),
        observed(Outcome.CONNECTED, Outcome.TIMED_OUT, backends=()),
        observed(Outcome.CONNECTED, resent="attempt 1 was sent again"),
        observed(Outcome.CONNECTED, slow="every answer took 3 s"),
    ],
    ids=lambda seen: (
        f"{seen.outcome.value}-{seen.distribution}-{seen.late}-{seen.stale}-{seen.slow}"
    ),
)
@pytest.mark.parametrize("claimed", [Outcome.CONNECTED, Outcome.NXDOMAIN])
def test_between_linux_nodes_nothing_of_windows_is_advised(
    kind: TargetKind, seen: Observation, claimed: Outcome
) -> None:
    """Steps fit the systems of both ends, whatever was seen."""
    one = Distribution.ONE_BACKEND if claimed is Outcome.CONNECTED and seen.distribution else None
    claim = Expected(outcome=claimed, distribution=one)
    probed = replace(on_linux(kind), claim=claim)
    step = judge(probed, expects(claim, claim=claim), seen).next_step
    assert not [word for word in FOREIGN if word in step]


def test_a_service_that_is_late_on_windows_has_its_minute() -> None:
    """The node that waited decides: rules take longer there."""
    late = "Service s did not answer probe-windows-1-1 on win-1 within 60 s"
    step = judge(check(), expects(CLAIM), observed(Outcome.CONNECTED, late=late)).next_step
    assert "Windows programs" in step


@pytest.mark.parametrize(
    ("outcome", "said", "told"),
    [
        (
            Outcome.REFUSED,
            "write udp 10.0.0.1:5->10.96.0.7:81: write: operation not permitted",
            "nf_conntrack",
        ),
        (Outcome.REFUSED, "ping: sendmsg: Operation not permitted", "netfilter"),
        (Outcome.REFUSED, "dial tcp 10.96.0.7:80: connect: connection refused", "EndpointSlices"),
        (Outcome.UNREACHABLE, "dial tcp 10.244.2.5:80: connect: invalid argument", "blackhole"),
        (Outcome.UNREACHABLE, "dial tcp 10.244.2.5:80: connect: no route to host", "pod CIDRs"),
    ],
)
def test_what_the_own_node_said_is_looked_for_there(outcome: Outcome, said: str, told: str) -> None:
    """A full connection table, a reject rule or a blackhole route is no server that does not listen."""
    seen = observed(outcome, backends=())
    seen = replace(seen, attempts=tuple(replace(one, detail=said) for one in seen.attempts))
    assert told in judge(on_linux(TargetKind.POD_IP), expects(CLAIM), seen).next_step


def test_a_connection_that_windows_forbids_is_looked_for_in_its_firewall() -> None:
    """Nobody was reached who could have refused it."""
    said = "dial tcp 10.244.2.5:80: connectex: An attempt was made to access a socket in a way forbidden by its access permissions."
    seen = observed(Outcome.REFUSED, backends=())
    seen = replace(seen, attempts=tuple(replace(one, detail=said) for one in seen.attempts))
    step = judge(check(TargetKind.POD_IP), expects(CLAIM), seen).next_step
    assert "Get-NetFirewallRule" in step
