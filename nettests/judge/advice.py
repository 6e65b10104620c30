"""The next step for a result that needs attention, by ruling, outcome, source and target.

The third stage of judging one check; the sentences are in ``advice.txt``. They are hints only and never change a
verdict. Sources: Kubernetes documentation, "Windows debugging tips"; Microsoft, "Common Kubernetes
problems".
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import TypeVar

from nettests.judge.distrust import (
    Instrument,
    gone_pod,
    instrument,
    lost_api,
    missing_program,
    not_created,
    not_started,
    unready_node,
)
from nettests.judge.verdicts import NOT_JUDGED, Findings, Ruling
from nettests.model.calibration import UNEXPECTED
from nettests.model.check import Check
from nettests.model.expectation import AppliedLimitation
from nettests.model.observation import OVERLOADED, Observation, Subject
from nettests.model.service import Crowd
from nettests.model.target_kinds import Location, Naming, Proxy
from nettests.model.words import (
    OS,
    Category,
    Distribution,
    Outcome,
    Placement,
    Question,
)
from nettests.model.workload import WORDS
from nettests.resources import lines_of
from nettests.rules import RULES

W = TypeVar("W", bound=Enum)


STEPS = dict(line.split(": ", 1) for line in lines_of("nettests.judge", "advice.txt"))


def _of_words(start: str, words: Iterable[W]) -> dict[W, str]:
    return {word: STEPS[name] for word in words if (name := f"{start} {word.value}") in STEPS}


_BY_OUTCOME, _WENT_WELL = _of_words("outcome", Outcome), _of_words("let through", Outcome)
_BY_CATEGORY = _of_words("lifted", Category)
_OF_WINDOWS = {
    "suffixes": "ipconfig /all",
    "memory": "240 s in Windows' virtual switch, nf_conntrack_tcp_timeout_established on Linux",
}
_OF_LINUX = {
    "suffixes": "/etc/resolv.conf",
    "memory": "nf_conntrack_tcp_timeout_established",
}


def next_step(ruling: Ruling, findings: Findings) -> str:
    """Return the next step after a ruling."""
    check, observation = findings.check, findings.observation
    match ruling.after:
        case "failure":
            return _after_failure(
                check, observation, target_fails=findings.proof.failed_target is not None
            )
        case "not judged":
            return after_distrust(ruling.why.removeprefix(NOT_JUDGED))
        case "late Service":
            return after_lateness(check, observation.late or "")
        case "stale Service":
            return after_staleness(check)
        case "attempts":
            return after_disagreement(check, observation)
        case "distribution":
            return of_distribution(check, observation, Distribution.ONE_BACKEND)
        case "witnesses":
            return after_contradiction(observation)
        case "lifting":
            limitation = findings.expectation.limitation
            return after_lifting(limitation) if limitation else ""
        case _:
            return STEPS[ruling.after]


def _after_failure(check: Check, observation: Observation, *, target_fails: bool) -> str:
    if target_fails:
        if _unresolved(check, observation):
            return STEPS["silent-dns"]
        return STEPS["failed-service"] if _by_proxy(check) else STEPS["failed-target"]
    if check.action.question.exhausts:
        return after_limit(check)
    if observation.outcome is Outcome.DEVIATES and check.action.case is not None:
        then = check.action.case.then
        if then is not None and then.how in WORDS:
            return STEPS["workload"]
        rule = RULES.get(check.action.case.label)
        return rule.remedy if rule else STEPS["unknown-rule"]
    if observation.outcome is Outcome.TIMED_OUT:
        return _after_timeout(check)
    absent = check.target.descriptor.naming is Naming.ABSENT
    if absent and observation.outcome is Outcome.RESOLVED:
        return STEPS["misleading"]
    if observation.outcome in _WENT_WELL:
        return _WENT_WELL[observation.outcome]
    if observation.outcome.positive:
        claimed = check.claim.distribution
        return of_distribution(check, observation, claimed) or _after_addresses(check)
    if observation.outcome is Outcome.FAILS_TO_START and OS.WINDOWS in {
        check.source.os,
        check.target.os,
    }:
        return f"{_BY_OUTCOME[observation.outcome]}; {STEPS['windows-start']}"
    return _by_outcome(check, observation)


def _by_outcome(check: Check, observation: Observation) -> str:
    detail = observation.last_detail
    if observation.outcome is Outcome.REFUSED and "peration not permitted" in detail:
        return STEPS["netfilter"]
    if observation.outcome is Outcome.REFUSED and "in a way forbidden" in detail:
        return STEPS["windows-firewall"]
    if observation.outcome is Outcome.UNREACHABLE and re.search(_LOCAL_ROUTE, detail):
        return STEPS["blackhole"]
    step = _BY_OUTCOME.get(observation.outcome, "read the raw output in the evidence")
    return step.format_map(_OF_WINDOWS if check.source.os is OS.WINDOWS else _OF_LINUX)


_LOCAL_ROUTE = r"(?:connect|sendto|sendmsg|write error): (?:[Ii]nvalid argument|permission denied)"


def _after_addresses(check: Check) -> str:
    step = "compare the addresses seen in the evidence with the pods and nodes"
    if OS.WINDOWS in {check.source.os, check.target.os}:
        return f"{step}, and with the source VIP"
    if check.claim.source_seen is None:
        return step
    return f"{step}, and look for what masquerades on the way (kube-proxy's rules, and those of the network plugin)"


def after_staleness(check: Check) -> str:
    """Return the next step if a Service's rules did not follow a change."""
    linux = {check.source.os, check.target.os} == {OS.LINUX}
    return STEPS["stale"] if linux else f"{STEPS['stale']} (kubernetes/kubernetes#131466)"


def after_lateness(check: Check, late: str) -> str:
    """Return the next step if a Service was late, worded for the OS of the node that waited."""
    waited = late_service(late)
    home = waited is None or waited.node == check.source.node
    system = check.source.os if home else check.target.os or check.source.os
    return STEPS["lateness"] if system is OS.WINDOWS else STEPS["lateness-on-linux"]


def after_disagreement(check: Check, observation: Observation) -> str:
    """Return the next step if only some attempts met the expectation.

    Time-outs among answers count as packet loss.
    """
    outcomes = {attempt.outcome for attempt in observation.attempts}
    lost = Outcome.TIMED_OUT in outcomes and all(
        outcome.positive or outcome is Outcome.TIMED_OUT for outcome in outcomes
    )
    if not lost:
        return STEPS["disagreement"]
    several = len(check.target.backends) > 1
    return f"{STEPS['loss']}; or one backend of several is silent" if several else STEPS["loss"]


def of_distribution(check: Check, observation: Observation, wanted: Distribution | None) -> str:
    """Return the next step if other backends answered than expected, empty if not."""
    if wanted is None or observation.distribution in {None, wanted}:
        return ""
    if wanted is Distribution.ONE_BACKEND:
        return (
            "session affinity is lost: compare the Service's sessionAffinity with the rules on the source's node "
            f"({_rules_of(check)}), and its time-out with the pause between the connections"
        )
    return "compare the Service's EndpointSlices with the rules on the source's node: one backend took all"


def _rules_of(check: Check) -> str:
    return "HNS load balancers" if check.source.os is OS.WINDOWS else "kube-proxy's"


def _unresolved(check: Check, observation: Observation) -> bool:
    """Whether the check ended before the target was reached because its name did not resolve."""
    if observation.outcome is not Outcome.TIMED_OUT:
        return False
    # sample: "lookup servers.ns.svc.cluster.local on 10.96.0.10:53: read udp …: i/o timeout"
    return check.action.question is Question.RESOLVE or observation.last_detail.startswith(
        "lookup "
    )


def _by_proxy(check: Check) -> bool:
    reached = check.target.descriptor
    return reached.translated and reached.proxy is not Proxy.NONE


def _after_timeout(check: Check) -> str:
    windows = check.source.os is OS.WINDOWS
    if _by_proxy(check):
        where = (
            "kube-proxy's HNS load balancers (Get-HnsPolicyList)"
            if windows
            else "kube-proxy's rules"
        )
        return f"on the source's node look for the Service in {where} or what replaces it, then at its EndpointSlices"
    if check.target.descriptor.location is Location.EXTERNAL_ADDRESS and windows:
        return "look at the pod's OutBoundNAT policy and its exceptions (Get-HnsEndpoint)"
    way = "look for the packet on the way: routes, the tunnel where the network plugin makes one, NetworkPolicies, and firewalls of both nodes"
    if OS.WINDOWS in {check.source.os, check.target.os} and check.placement is Placement.OTHER_NODE:
        return f"{way}; nodes that are virtual machines need MAC address spoofing allowed"
    return way


def after_contradiction(observation: Observation) -> str:
    """Return the next step if two witnesses of a connection disagree."""
    lost = any(witnessed.subject is Subject.TUNNEL for witnessed in observation.witnessed)
    return STEPS["lost-tunnel"] if lost else STEPS["contradiction"]


def after_lifting(limitation: AppliedLimitation) -> str:
    """Return the next step for a documented limitation that no longer shows."""
    where = f"{limitation.file}:{limitation.line}"
    return f"update {where}; {_BY_CATEGORY[limitation.category]}"


@dataclass(frozen=True, slots=True)
class Late:
    """A Service that did not answer in time, and the probe that waited for it, with its node."""

    service: str
    probe: str
    node: str


def late_service(late: str) -> Late | None:
    """Parse the reason of a late result; ``None`` if it names no Service that was late."""
    # sample: Service svc-server-windows-1-2 did not answer probe-linux-1-2 on linux-2 within 60 s
    match = re.match(r"Service (\S+) did not answer (\S+) on (\S+) within \d", late)
    return Late(*match.groups()) if match else None


def after_distrust(why: str) -> str:
    """Return the next step for an untrusted result."""
    if pod := not_started(why):
        return pod.next_step
    if refusal := not_created(why):
        return refusal.next_step
    if gone_pod(why):
        return STEPS["gone"]
    if missing_program(why):
        return STEPS["missing-program"]
    if lost_api(why):
        return STEPS["lost-api"]
    if of := instrument(why):
        return after_calibration(of)
    if OVERLOADED in why:
        return STEPS["overload"]
    return STEPS["unready"] if unready_node(why) else STEPS["distrust"]


def after_calibration(of: Instrument) -> str:
    """Return the next step for a distrusted instrument: a known question failed, or its answer was not understood."""
    return STEPS["known-question" if of.how.startswith(UNEXPECTED) else "instrument"]


def after_limit(check: Check) -> str:
    """Return the next step after an exhausted limit, worded for the source's OS."""
    windows = check.source.os is OS.WINDOWS
    settings = check.target.settings
    crowd = settings.crowd if settings is not None else None
    if crowd is None:
        return STEPS["ports"] if windows else STEPS["ports-on-linux"]
    if crowd is Crowd.REMOVED:
        return STEPS["leftovers"] if windows else STEPS["leftovers-on-linux"]
    return STEPS["crowd"] if windows else STEPS["crowd-on-linux"]
