"""What a judgement tells, word for word: why, and what to look at next."""

from dataclasses import replace
from typing import Any

import pytest

from nettests.judge import advice, distrust, judge, judge_run
from nettests.judge.advice import Late, late_service
from nettests.judge.checks import UNSPECIFIED
from nettests.judge.distrust import not_started
from nettests.model.check import Check
from nettests.model.expectation import AppliedLimitation, Expectation, Expected
from nettests.model.observation import Observation, PortSeen
from nettests.model.verdict import Judgement
from nettests.model.words import (
    OS,
    Category,
    Distribution,
    Outcome,
    Question,
    SourceSeen,
    TargetKind,
    Verdict,
)
from tests.judge.cases import (
    BACKENDS,
    BUG,
    CLAIM,
    HOLD,
    LIMITATION,
    VANTAGE_ONLY,
    attempt,
    check,
    expects,
    observed,
)

TIMED_OUT = Expected(outcome=Outcome.TIMED_OUT)
OK, LOST, REFUSED = Outcome.CONNECTED, Outcome.TIMED_OUT, Outcome.REFUSED
SUBJECT = (
    "windows-1 node → windows-1 service-clusterip on another node, TCP - node-to-service-clusterip"
)
ONE, SEVERAL = Distribution.ONE_BACKEND, Distribution.SEVERAL_BACKENDS
STICKY = Expected(outcome=OK, distribution=ONE)
POD = Expected(outcome=OK, source_seen=SourceSeen.CLIENT_POD)
NODE = Expected(outcome=OK, source_seen=SourceSeen.CLIENT_NODE)
LOOK_AT_REFUSAL = (
    "a host rejects the connection: compare the Service's EndpointSlices with the Pods, and the port with the one that "
    "the server listens on"
)
SEEN_ON_LINUX = "compare the addresses seen in the evidence with the pods and nodes"
SEEN = f"{SEEN_ON_LINUX}, and with the source VIP"
WAY = "look for the packet on the way: routes, the tunnel where the network plugin makes one, NetworkPolicies, and firewalls of both nodes"
HNS = "on the source's node look for the Service in kube-proxy's HNS load balancers (Get-HnsPolicyList) or what replaces it, then at its EndpointSlices"


def told(expectation: Expectation, seen: Observation, probed: Check | None = None) -> Judgement:
    """Return the judgement; the default check unless another is given."""
    return judge(probed or check(), expectation, seen)


@pytest.mark.parametrize(
    ("expectation", "seen", "verdict", "why", "step"),
    [
        (expects(CLAIM), observed(OK), Verdict.PASS, "", ""),
        (expects(CLAIM), observed(REFUSED), Verdict.FAIL, "it refused", LOOK_AT_REFUSAL),
        (expects(CLAIM), observed(REFUSED, controls=VANTAGE_ONLY), Verdict.FAIL,
         "it refused; nothing else reaches the target either (timed out)", advice.STEPS["failed-service"]),
        (expects(CLAIM), observed(LOST, controls=()), Verdict.UNKNOWN,
         "not proven: this cluster allows no vantage control", advice.STEPS["no-proof"]),
        (expects(TIMED_OUT), observed(LOST), Verdict.LIMITED,
         "as documented by node-svc-vip-docs (Windows debugging tips §Network troubleshooting)", ""),
        (expects(TIMED_OUT), observed(LOST, controls=HOLD[:1]), Verdict.UNKNOWN,
         "not proven: this cluster allows no target control", advice.STEPS["no-proof"]),
        (expects(TIMED_OUT), observed(LOST, controls=HOLD[1:]), Verdict.UNKNOWN,
         "not proven: this cluster allows no vantage control", advice.STEPS["no-proof"]),
        (expects(TIMED_OUT), observed(LOST, controls=()), Verdict.UNKNOWN,
         "not proven: this cluster allows no target control", advice.STEPS["no-proof"]),
        (expects(TIMED_OUT), observed(OK), Verdict.LIFTED,
         "limitation node-svc-vip-docs no longer shows; update the manifest",
         "update limitations/base/services.yaml:7; check that the probe took the documented path, then narrow the entry"),
        (expects(None), observed(REFUSED), Verdict.RECORDED,
         "left open by node-svc-vip-docs (Windows debugging tips §Network troubleshooting)", ""),
        (expects(None, limited=False), observed(REFUSED), Verdict.RECORDED, "the documents leave it open", ""),
        (expects(None, bugs=[BUG]), observed(OK), Verdict.RECORDED,
         "left open because of a known bug, which does not show here: dsr-hairpin-bug", ""),
        (expects(None, bugs=[replace(BUG, id="b"), BUG]), observed(OK), Verdict.RECORDED,
         "left open because of a known bug, which does not show here: b, dsr-hairpin-bug", ""),
        (expects(None, bugs=[BUG]), observed(LOST), Verdict.KNOWN_BUG,
         "a known bug shows: dsr-hairpin-bug (a Pod does not reach itself through its Service)", advice.STEPS["known-bug"]),
        (expects(None, bugs=[BUG, replace(BUG, id="b", summary="s")]), observed(LOST), Verdict.KNOWN_BUG,
         "a known bug shows: dsr-hairpin-bug, b (a Pod does not reach itself through its Service)", advice.STEPS["known-bug"]),
        (expects(CLAIM), observed(OK, trusted=False, distrust="it was cut"), Verdict.UNKNOWN, "cannot be judged: it was cut", advice.STEPS["distrust"]),
        (expects(CLAIM), observed(OK, trusted=False), Verdict.UNKNOWN, "cannot be judged: the probe failed", advice.STEPS["distrust"]),
        (expects(CLAIM), observed(Outcome.PROBE_FAILED), Verdict.UNKNOWN, "cannot be judged: it probe_failed", advice.STEPS["distrust"]),
        (expects(CLAIM, undecided="the driver is not known"), observed(OK), Verdict.UNKNOWN, "the driver is not known", advice.STEPS["undecided"]),
        (expects(CLAIM), observed(OK, late="it was late"), Verdict.FAIL, "it was late; this check got its answer only later", advice.STEPS["lateness"]),
        (expects(CLAIM), observed(OK, resent="it was resent"), Verdict.FLAKY, "it was resent", advice.STEPS["loss"]),
        (expects(CLAIM), observed(OK, REFUSED), Verdict.FLAKY, "the attempts disagree: it refused", advice.STEPS["disagreement"]),
        (expects(CLAIM), observed(OK, REFUSED, resent="it was resent"), Verdict.FLAKY, "the attempts disagree: it refused", advice.STEPS["disagreement"]),
        (expects(CLAIM), observed(LOST, REFUSED), Verdict.FAIL, "no attempt met the expectation, but: timed_out, refused; it refused", LOOK_AT_REFUSAL),
        (expects(CLAIM), observed(OK, backends=("x", "server-1", "y")), Verdict.FAIL,
         "answered by x, y, not by server-1 or server-2", SEEN),
        (expects(CLAIM), observed(OK, unexpected_addresses=("a", "b")), Verdict.FAIL,
         "it resolved to a, b, not to the target's address", advice.STEPS["misleading"]),
        (expects(POD, claim=POD), observed(OK), Verdict.UNKNOWN, "no answer says which source address the server saw", advice.STEPS["distrust"]),
        (expects(STICKY, claim=STICKY), observed(OK), Verdict.UNKNOWN, "no answer says which backend it came from", advice.STEPS["distrust"]),
        (expects(POD, claim=POD), observed(OK, source=SourceSeen.OTHER), Verdict.FAIL, "", SEEN),
        (expects(CLAIM), observed(OK, stale="it is stale"), Verdict.FAIL, "it is stale; server-1 answered", advice.after_staleness(check())),
        (expects(CLAIM), observed(OK, stale="it is stale", backends=BACKENDS), Verdict.FAIL,
         "it is stale; server-1 and server-2 answered", advice.after_staleness(check())),
        (expects(CLAIM), observed(LOST, stale="it is stale"), Verdict.FAIL, "it is stale; it timed_out", advice.after_staleness(check())),
        (expects(CLAIM), observed(LOST, stale="it is stale", controls=()), Verdict.UNKNOWN,
         "not proven: this cluster allows no vantage control", advice.STEPS["no-proof"]),
    ],
)  # fmt: skip
def test_why_and_what_next(
    expectation: Expectation, seen: Observation, verdict: Verdict, why: str, step: str
) -> None:
    """One line that says why, and one step that fits it; nothing of either where all is as claimed."""
    found = told(expectation, seen)
    assert (found.verdict, found.next_step) == (verdict, step)
    wanted = "" if found.expected == UNSPECIFIED else f"expected {found.expected}, "
    head = f"{SUBJECT} - {wanted}observed {found.observed}"
    if why.startswith("cannot be judged: "):  # what was observed proves nothing
        assert found.message == f"{SUBJECT} - {why}"
    else:
        assert found.message == (f"{head}: {why}" if why else head)


def test_a_judgement_names_its_check_and_its_limitation() -> None:
    """The entry that decided, or the one whose bug shows; none where the claim stands."""
    assert told(expects(CLAIM), observed(OK)) == Judgement(
        check=check().id,
        verdict=Verdict.PASS,
        message=f"{SUBJECT} - expected connected, observed connected",
        expected="connected",
        observed="connected",
    )
    assert told(expects(TIMED_OUT), observed(LOST)).limitation == LIMITATION.id
    other = replace(BUG, id="b", shows=Expected(outcome=REFUSED))
    assert told(expects(None, bugs=[other, BUG]), observed(LOST)).limitation == BUG.id
    assert told(expects(None), observed(LOST)).limitation == LIMITATION.id


def test_a_run_is_judged_check_by_check() -> None:
    """Each with its own expectation and observation; one without an observation was never observed."""
    one, other = check(), replace(check(), id="other")
    both = {one.id: expects(CLAIM), other.id: expects(TIMED_OUT)}
    first, second = judge_run([one, other], both, {other.id: observed(LOST)})
    assert (first.check, first.verdict) == (one.id, Verdict.UNKNOWN)
    assert first.message.endswith("- cannot be judged: the check was never run")
    assert (second.check, second.verdict) == ("other", Verdict.LIMITED)


@pytest.mark.parametrize(
    ("expectation", "expected"),
    [
        (expects(CLAIM), "connected"),
        (expects(None), "unspecified"),
        (expects(CLAIM, undecided="x"), "undecided: x"),
        (expects(Expected(outcome=LOST, alternatives=(REFUSED,))), "timed_out or refused"),
    ],
)
def test_what_was_expected_is_told(expectation: Expectation, expected: str) -> None:
    """Every outcome that satisfies it, or why there is none."""
    assert told(expectation, observed(OK)).expected == expected


@pytest.mark.parametrize(
    ("seen", "shown"),
    [
        (observed(OK, OK), "connected"),
        (observed(OK, OK, LOST, OK, OK, OK), "connected ×2 then timed_out then connected ×3"),
        (observed(OK, distribution=SEVERAL, backends=BACKENDS), "connected, several-backends (server-1, server-2)"),
        (observed(OK, source=SourceSeen.CLIENT_NODE), "connected, source = client-node (10.244.3.2)"),
        (observed(OK, LOST, differing_ports=(PortSeen(port=1, outcome=OK), PortSeen(port=2, outcome=LOST))),
         "connected at port 1, timed_out at port 2"),
    ],
)  # fmt: skip
def test_what_was_observed_is_told(seen: Observation, shown: str) -> None:
    """Outcomes in their order, and whom servers saw."""
    assert told(expects(CLAIM), seen).observed == shown


def test_the_last_attempt_that_failed_is_told() -> None:
    """What went well after it, or before, tells nothing of the failure."""
    seen = observed(REFUSED, LOST, OK)
    attempts = (attempt(REFUSED, 1, "first"), attempt(LOST, 2, "second"), attempt(OK, 3, "third"))
    found = told(expects(CLAIM), replace(seen, attempts=attempts))
    assert found.message.endswith("the attempts disagree: second")


def next_of(probed: Check, outcome: Outcome, claim: Expected = CLAIM, **changes: Any) -> str:
    """Return the step after a failure."""
    return told(
        expects(claim, claim=claim), observed(outcome, backends=(), **changes), probed
    ).next_step


def to(kind: TargetKind, source: OS = OS.LINUX, target: OS = OS.LINUX, **action: Any) -> Check:
    """Return a check of that target on a node of that system."""
    probed = check(kind, source)
    changed = replace(probed.action, target=replace(probed.action.target, os=target), **action)
    return replace(probed, action=changed)


@pytest.mark.parametrize(
    ("probed", "outcome", "step"),
    [
        (to(TargetKind.POD_IP), Outcome.UNREACHABLE,
         "there is no route: compare the source's routes with the pod CIDRs of the nodes"),
        (to(TargetKind.POD_IP), Outcome.REJECTED, "read the API server's message in the evidence"),
        (to(TargetKind.POD_IP), Outcome.ACCEPTED, "compare the API server's version and feature gates with what the claim's source says"),
        (to(TargetKind.POD_IP), Outcome.HEALTHY, "compare the Service's EndpointSlice with the pods that stand on the target node"),
        (to(TargetKind.POD_IP), Outcome.UNHEALTHY, "see whether kube-proxy on the target node knows the Service's endpoint there"),
        (to(TargetKind.POD_IP), Outcome.STARTED, "compare the versions of kubelet and runtime on the node with what the claim's source says"),
        (to(TargetKind.POD_IP), Outcome.REPLIED, SEEN_ON_LINUX),
        (to(TargetKind.POD_IP), LOST, "look for the packet on the way: routes, the tunnel where the network plugin makes one, NetworkPolicies, and firewalls of both nodes"),
        (to(TargetKind.SERVICE_CLUSTERIP), LOST,
         "on the source's node look for the Service in kube-proxy's rules or what replaces it, then at its EndpointSlices"),
        (to(TargetKind.SERVICE_CLUSTERIP, OS.WINDOWS), LOST, HNS),
        (to(TargetKind.EXTERNAL_IP, OS.WINDOWS), LOST, "look at the pod's OutBoundNAT policy and its exceptions (Get-HnsEndpoint)"),
        (to(TargetKind.POD_IP, OS.WINDOWS), LOST,
         ("look for the packet on the way: routes, the tunnel where the network plugin makes one, NetworkPolicies, and firewalls of both nodes; "
         "nodes that are virtual machines need MAC address spoofing allowed")),
        (to(TargetKind("nodeport-localhost")), LOST, WAY),
        (to(TargetKind("dns-service")), LOST, WAY),
        (to(TargetKind.NO_NAME), Outcome.RESOLVED, advice.STEPS["misleading"]),
        (to(TargetKind.SERVICE_FQDN), Outcome.RESOLVED, SEEN_ON_LINUX),
        (to(TargetKind.POD_IP), Outcome.DEVIATES, "read the raw output in the evidence"),
    ],
)  # fmt: skip
def test_the_step_fits_what_was_seen(probed: Check, outcome: Outcome, step: str) -> None:
    """By outcome, by target and by the source's system."""
    claim = Expected(outcome=Outcome.CONFORMS)
    assert next_of(probed, outcome, claim) == step


@pytest.mark.parametrize("outcome", list(Outcome))
def test_each_outcome_has_a_step(outcome: Outcome) -> None:
    """Whatever was seen instead of the claim, somebody is told where to look."""
    claim = Expected(outcome=Outcome.REPLIED if outcome is not Outcome.REPLIED else OK)
    assert next_of(to(TargetKind.POD_IP), outcome, claim)


@pytest.mark.parametrize(
    ("claim", "seen", "step"),
    [
        (ONE, SEVERAL,
         ("session affinity is lost: compare the Service's sessionAffinity with the rules on the source's node (HNS load "
         "balancers), and its time-out with the pause between the connections")),
        (SEVERAL, ONE, "compare the Service's EndpointSlices with the rules on the source's node: one backend took all"),
        (ONE, ONE, SEEN),
        (None, ONE, SEEN),
    ],
)  # fmt: skip
def test_the_step_fits_who_answered(
    claim: Distribution | None, seen: Distribution, step: str
) -> None:
    """Affinity that was lost, connections that were not spread, and neither."""
    wanted = Expected(outcome=OK, distribution=claim, source_seen=SourceSeen.CLIENT_POD)
    probed = replace(check(), claim=wanted)
    found = observed(OK, source=SourceSeen.OTHER, distribution=seen)
    assert told(expects(wanted, claim=wanted), found, probed).next_step == step


@pytest.mark.parametrize(
    ("probed", "detail", "step"),
    [
        (to(TargetKind.SERVICE_FQDN), "lookup a.b on 10.96.0.10:53: i/o timeout", advice.STEPS["silent-dns"]),
        (to(TargetKind.SERVICE_FQDN), "dial tcp: lookup a.b: i/o timeout", advice.STEPS["failed-service"]),
        (to(TargetKind.POD_IP), "i/o timeout", advice.STEPS["failed-target"]),
        (to(TargetKind.POD_IP, question=Question.RESOLVE), "i/o timeout", advice.STEPS["silent-dns"]),
    ],
)  # fmt: skip
def test_a_target_that_nobody_reaches_is_looked_at_first(
    probed: Check, detail: str, step: str
) -> None:
    """Or the cluster's DNS, where the question ended at the name."""
    seen = replace(observed(LOST, controls=VANTAGE_ONLY), attempts=(attempt(LOST, 1, detail),))
    assert told(expects(CLAIM), seen, probed).next_step == step


@pytest.mark.parametrize(
    ("category", "step"),
    [
        (Category.PLATFORM, "a newer Windows update may have changed it: narrow the entry's build range"),
        (Category.BUG, "the bug may be fixed here: narrow the entry's version or build range"),
        (Category.ENVIRONMENT, "the environment has changed: remove the entry or its condition"),
    ],
)  # fmt: skip
def test_what_to_do_about_a_limitation_that_does_not_show(category: Category, step: str) -> None:
    """It depends on why it was there."""
    limitation: AppliedLimitation = replace(LIMITATION, category=category)
    found = told(replace(expects(TIMED_OUT), limitation=limitation), observed(OK))
    assert found.next_step == f"update limitations/base/services.yaml:7; {step}"


@pytest.mark.parametrize(
    ("outcomes", "backends", "step"),
    [
        ((OK, LOST), BACKENDS, f"{advice.STEPS['loss']}; or one backend of several is silent"),
        ((OK, LOST), BACKENDS[:1], advice.STEPS["loss"]),
        ((OK, LOST), (), advice.STEPS["loss"]),
        ((OK, REFUSED), BACKENDS, advice.STEPS["disagreement"]),
        ((OK, LOST, REFUSED), BACKENDS, advice.STEPS["disagreement"]),
        ((OK, Outcome.REPLIED), BACKENDS, advice.STEPS["disagreement"]),
    ],
)
def test_the_step_after_attempts_that_disagree(
    outcomes: tuple[Outcome, ...], backends: tuple[str, ...], step: str
) -> None:
    """Silence among answers alone is loss; with any other failure it is a backend's or a rule's."""
    probed = check()
    probed = replace(
        probed, action=replace(probed.action, target=replace(probed.target, backends=backends))
    )
    assert told(expects(CLAIM), observed(*outcomes, backends=()), probed).next_step == step


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Service svc-x did not answer probe-1 on linux-2 within 60 s", Late("svc-x", "probe-1", "linux-2")),
        ("Service svc-x did not answer probe-1 on linux-2 within long", None),
        ("service svc-x did not answer probe-1 on linux-2 within 60 s", None),
        ("it was late: Service svc-x did not answer probe-1 on linux-2 within 60 s", None),
        ("", None),
    ],
)  # fmt: skip
def test_which_service_was_late_is_read(text: str, found: Late | None) -> None:
    """Service, probe and node, of the sentence that a run writes."""
    assert late_service(text) == found


def test_what_to_do_where_nothing_can_be_trusted() -> None:
    """A node that was not Ready, a Pod that did not start, and everything else."""
    unready = "node win-2 was not Ready while this was probed (Kubelet stopped)"
    assert advice.after_distrust(unready) == advice.STEPS["unready"]
    assert distrust.unready_node(unready) == "win-2"
    assert distrust.unready_node(f"x {unready}") is None
    assert distrust.unready_node("node win-2 was Ready") is None
    describe = "see why the Pod does not start (`kubectl describe pod p` while a run is under way)"
    pulls = advice.after_distrust("pod p is not Ready: container c: ErrImagePull: gone")
    assert (
        pulls
        == f"{describe}; see whether the node reaches the registry and can pull the image (`crictl pull`)"
    )
    other = advice.after_distrust("pod p is not Ready:  Pending ")
    assert other == f"{describe}, and run again once such Pods start there"
    found = not_started("pod p is not Ready:  Pending ")
    assert found is not None
    assert found.reason == "Pending"
