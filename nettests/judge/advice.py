"""The next step for a result that needs attention, by outcome, source and target.

Used by ``verdicts``; the sentences are in ``advice.txt``. They are hints only and never change a
verdict. Sources: Kubernetes documentation, "Windows debugging tips"; Microsoft, "Common Kubernetes
problems".
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import TypeVar

from nettests.judge.distrust import (
    gone_pod,
    instrument,
    lost_api,
    missing_program,
    not_created,
    not_started,
    unready_node,
)
from nettests.judge.message import last_detail
from nettests.judge.proof import failed_target
from nettests.model.check import Check
from nettests.model.expectation import AppliedLimitation
from nettests.model.observation import OVERLOADED, Observation
from nettests.model.service import Crowd
from nettests.model.target_kinds import Location, Naming, Proxy
from nettests.model.witnessed import Subject
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


_STEPS = dict(line.split(": ", 1) for line in lines_of("nettests.judge", "advice.txt"))


def _of_words(start: str, words: Iterable[W]) -> dict[W, str]:
    return {word: _STEPS[name] for word in words if (name := f"{start} {word.value}") in _STEPS}


_BY_OUTCOME, _WENT_WELL = _of_words("outcome", Outcome), _of_words("let through", Outcome)
_BY_CATEGORY = _of_words("lifted", Category)
_NETFILTER = _STEPS["netfilter"]
_WINDOWS_FIREWALL = _STEPS["windows-firewall"]
_BLACKHOLE = _STEPS["blackhole"]
_WINDOWS_START = _STEPS["windows-start"]
AFTER_FAILED_TARGET = _STEPS["failed-target"]
AFTER_FAILED_SERVICE = _STEPS["failed-service"]
AFTER_SILENT_DNS = _STEPS["silent-dns"]
AFTER_LOSS = _STEPS["loss"]
AFTER_SIZE = _STEPS["size"]
AFTER_SLOWNESS = _STEPS["slowness"]
AFTER_DISAGREEMENT = _STEPS["disagreement"]
AFTER_STALE = _STEPS["stale"]
AFTER_LATENESS = _STEPS["lateness"]
AFTER_LATENESS_ON_LINUX = _STEPS["lateness-on-linux"]
AFTER_PARTING = _STEPS["parting"]
AFTER_CONTRADICTION = _STEPS["contradiction"]
AFTER_LOST_TUNNEL = _STEPS["lost-tunnel"]
AFTER_WORKLOAD = _STEPS["workload"]
AFTER_UNKNOWN_RULE = _STEPS["unknown-rule"]
AFTER_MISLEADING = _STEPS["misleading"]
AFTER_KNOWN_BUG = _STEPS["known-bug"]
AFTER_DISTRUST = _STEPS["distrust"]
AFTER_UNREADY = _STEPS["unready"]
AFTER_INSTRUMENT = _STEPS["instrument"]
AFTER_OVERLOAD = _STEPS["overload"]
AFTER_NO_PROOF = _STEPS["no-proof"]
AFTER_UNDECIDED = _STEPS["undecided"]
AFTER_GONE = _STEPS["gone"]
AFTER_LOST = _STEPS["lost"]
AFTER_MISSING_PROGRAM = _STEPS["missing-program"]
AFTER_LOST_API = _STEPS["lost-api"]
AFTER_ADDRESSES = _STEPS["addresses"]
AFTER_PORTS = _STEPS["ports"]
AFTER_PORTS_ON_LINUX = _STEPS["ports-on-linux"]
AFTER_CROWD = _STEPS["crowd"]
AFTER_CROWD_ON_LINUX = _STEPS["crowd-on-linux"]
AFTER_LEFTOVERS = _STEPS["leftovers"]
AFTER_LEFTOVERS_ON_LINUX = _STEPS["leftovers-on-linux"]
_OF_WINDOWS = {
    "suffixes": "ipconfig /all",
    "memory": "240 s in Windows' virtual switch, nf_conntrack_tcp_timeout_established on Linux",
}
_OF_LINUX = {
    "suffixes": "/etc/resolv.conf",
    "memory": "nf_conntrack_tcp_timeout_established",
}


def after_failure(check: Check, observation: Observation) -> str:
    """Return the next step after an unexpected result."""
    if failed_target(observation) is not None:
        if _unresolved(check, observation):
            return AFTER_SILENT_DNS
        return AFTER_FAILED_SERVICE if _by_proxy(check) else AFTER_FAILED_TARGET
    if check.action.question.exhausts:
        return after_limit(check)
    if observation.outcome is Outcome.DEVIATES and check.action.case is not None:
        then = check.action.case.then
        if then is not None and then.how in WORDS:
            return AFTER_WORKLOAD
        rule = RULES.get(check.action.case.label)
        return rule.remedy if rule else AFTER_UNKNOWN_RULE
    if observation.outcome is Outcome.TIMED_OUT:
        return _after_timeout(check)
    absent = check.target.descriptor.naming is Naming.ABSENT
    if absent and observation.outcome is Outcome.RESOLVED:
        return AFTER_MISLEADING
    if observation.outcome in _WENT_WELL:
        return _WENT_WELL[observation.outcome]
    if observation.outcome.positive:
        claimed = check.claim.distribution
        return of_distribution(check, observation, claimed) or _after_addresses(check)
    if observation.outcome is Outcome.FAILS_TO_START and OS.WINDOWS in {
        check.source.os,
        check.target.os,
    }:
        return f"{_BY_OUTCOME[observation.outcome]}; {_WINDOWS_START}"
    return _by_outcome(check, observation)


def _by_outcome(check: Check, observation: Observation) -> str:
    detail = last_detail(observation)
    if observation.outcome is Outcome.REFUSED and "peration not permitted" in detail:
        return _NETFILTER
    if observation.outcome is Outcome.REFUSED and "in a way forbidden" in detail:
        return _WINDOWS_FIREWALL
    if observation.outcome is Outcome.UNREACHABLE and re.search(_LOCAL_ROUTE, detail):
        return _BLACKHOLE
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
    return AFTER_STALE if linux else f"{AFTER_STALE} (kubernetes/kubernetes#131466)"


def after_lateness(check: Check, late: str) -> str:
    """Return the next step if a Service was late, worded for the OS of the node that waited."""
    waited = late_service(late)
    home = waited is None or waited.node == check.source.node
    system = check.source.os if home else check.target.os or check.source.os
    return AFTER_LATENESS if system is OS.WINDOWS else AFTER_LATENESS_ON_LINUX


def after_disagreement(check: Check, observation: Observation) -> str:
    """Return the next step if only some attempts met the expectation.

    Time-outs among answers count as packet loss.
    """
    outcomes = {attempt.outcome for attempt in observation.attempts}
    lost = Outcome.TIMED_OUT in outcomes and all(
        outcome.positive or outcome is Outcome.TIMED_OUT for outcome in outcomes
    )
    if not lost:
        return AFTER_DISAGREEMENT
    several = len(check.target.backends) > 1
    return f"{AFTER_LOSS}; or one backend of several is silent" if several else AFTER_LOSS


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
    return check.action.question is Question.RESOLVE or last_detail(observation).startswith(
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
    return AFTER_LOST_TUNNEL if lost else AFTER_CONTRADICTION


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
        return AFTER_GONE
    if missing_program(why):
        return AFTER_MISSING_PROGRAM
    if lost_api(why):
        return AFTER_LOST_API
    if instrument(why):
        return AFTER_INSTRUMENT
    if OVERLOADED in why:
        return AFTER_OVERLOAD
    return AFTER_UNREADY if unready_node(why) else AFTER_DISTRUST


def after_limit(check: Check) -> str:
    """Return the next step after an exhausted limit, worded for the source's OS."""
    windows = check.source.os is OS.WINDOWS
    settings = check.target.settings
    crowd = settings.crowd if settings is not None else None
    if crowd is None:
        return AFTER_PORTS if windows else AFTER_PORTS_ON_LINUX
    if crowd is Crowd.REMOVED:
        return AFTER_LEFTOVERS if windows else AFTER_LEFTOVERS_ON_LINUX
    return AFTER_CROWD if windows else AFTER_CROWD_ON_LINUX
