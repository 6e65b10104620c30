"""The next step for a result that is not green, by outcome, source and target.

Used by ``verdicts``. Hints only: they never change a verdict. Sources: Kubernetes documentation, "Windows debugging
tips"; Microsoft, "Common Kubernetes problems".
"""

import re
from dataclasses import dataclass

from nettests.judge.distrust import (
    gone_pod,
    instrument,
    lost_api,
    missing_program,
    unready_node,
)
from nettests.judge.limit_advice import after_limit
from nettests.judge.message import last_detail
from nettests.judge.not_started import not_created, not_started
from nettests.judge.proof import failed_target
from nettests.model.check import Check
from nettests.model.expectation import AppliedLimitation
from nettests.model.observation import OVERLOADED, Observation
from nettests.model.ports import VXLAN
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
from nettests.rules import RULES

_BY_OUTCOME = {
    Outcome.REFUSED: "something answers for the target without serving it: compare the Service's "
    "EndpointSlices with the pods, and the port that the server listens on",
    Outcome.UNREACHABLE: "there is no route: compare the source's routes with the pod CIDRs of the nodes",
    Outcome.NXDOMAIN: "compare the name with the pod's DNS suffixes ({suffixes}), query the cluster DNS for the fully qualified name, and see whether the network "
    "plugin passes DNS settings to its pods",
    Outcome.SERVFAIL: "the cluster's DNS could not find out: read its log (of names in its own domain whether it "
    "reaches the API server, of others whether it reaches the upstream that its Corefile forwards to)",
    Outcome.NO_PORT: "all ports of the source are taken: see who holds them (netstat), and how many there are",
    Outcome.LOST: "something on the way keeps a record of flows and forgot this one: compare its time-out "
    "({memory}) with the silence; "
    "applications that send keep-alives more often are not affected",
    Outcome.CUT_SHORT: "see how long the container runtime leaves processes that it stops, whatever the kubelet told it, and "
    "whether anything else ended the container: its log, and the kubelet's",
    Outcome.REJECTED: "read the API server's message in the evidence",
    Outcome.FAILS_TO_START: "read the Pod's reason and events in the evidence, then the kubelet's and "
    "the runtime's logs on its node",
}

_NETFILTER = (
    "the netfilter of the source's node turned the packet away while it was sent: look at kube-proxy's reject rules (a "
    "Service without endpoints), NetworkPolicies and firewalls there, and whether its connection table is full "
    "(dmesg: nf_conntrack: table full)"
)
"""EPERM: the packet never left."""
_WINDOWS_FIREWALL = (
    "the firewall of the source itself blocks it on its way out: look at outbound rules there (Get-NetFirewallRule), and at ACL "
    "policies of its HNS endpoint"
)
"""WSAEACCES."""
_BLACKHOLE = (
    "the source's own node has a route that says that nothing is to get there: look for blackhole and prohibit in "
    "`ip route`, which network plugins make of networks whose Pods they do not know"
)
"""EINVAL and EACCES."""
_OF_WINDOWS = {
    "suffixes": "ipconfig /all",
    "memory": "240 s in Windows' virtual switch, nf_conntrack_tcp_timeout_established on Linux",
}
_OF_LINUX = {
    "suffixes": "/etc/resolv.conf",
    "memory": "nf_conntrack_tcp_timeout_established",
}
_WINDOWS_START = (
    "on Windows the pause image needs a manifest for the node's build (sandbox_image of containerd's "
    "config.toml), and behind a proxy the node needs HTTP_PROXY, HTTPS_PROXY and NO_PROXY to pull"
)
"""Windows debugging tips: Pods that stay in ContainerCreating, nodes behind a proxy."""

_WENT_WELL = {
    Outcome.ACCEPTED: "compare the API server's version and feature gates with what the claim's source says",
    Outcome.HEALTHY: "compare the Service's EndpointSlice with the pods that stand on the target node",
    Outcome.UNHEALTHY: "see whether the target node's kube-proxy knows of the Service's endpoint on it",
    Outcome.STARTED: "compare the versions of kubelet and runtime on the node with what the claim's "
    "source says",
}
"""What to look at if something was let through."""

_BY_CATEGORY = {
    Category.PLATFORM: "a newer Windows update may have changed it: narrow the entry's build range",
    Category.BY_DESIGN: "check that the probe took the documented path, then narrow the entry",
    Category.BUG: "the bug may be fixed here: narrow the entry's version or build range",
    Category.ENVIRONMENT: "the environment has changed: remove the entry or its condition",
}


def after_failure(check: Check, observation: Observation) -> str:
    """Return what to look at after an unexpected result."""
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
    """Return what to look at for an outcome, in words of the source's system."""
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
    """Return what to look at if a Service's rules did not follow a change."""
    linux = {check.source.os, check.target.os} == {OS.LINUX}
    return AFTER_STALE if linux else f"{AFTER_STALE} (kubernetes/kubernetes#131466)"


def after_lateness(check: Check, late: str) -> str:
    """Return what to look at if a Service did not answer in time, in words of the waiting node's system."""
    waited = late_service(late)
    home = waited is None or waited.node == check.source.node
    system = check.source.os if home else check.target.os or check.source.os
    return AFTER_LATENESS if system is OS.WINDOWS else AFTER_LATENESS_ON_LINUX


def after_disagreement(check: Check, observation: Observation) -> str:
    """Return what to look at if some attempts met the expectation: time-outs among answers are losses."""
    outcomes = {attempt.outcome for attempt in observation.attempts}
    lost = Outcome.TIMED_OUT in outcomes and all(
        outcome.positive or outcome is Outcome.TIMED_OUT for outcome in outcomes
    )
    if not lost:
        return AFTER_DISAGREEMENT
    several = len(check.target.backends) > 1
    return f"{AFTER_LOSS}; or one backend of several is silent" if several else AFTER_LOSS


def of_distribution(check: Check, observation: Observation, wanted: Distribution | None) -> str:
    """Return what to look at if other backends answered than expected, or nothing."""
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
    """Whether the target is reached through a node's Service proxy."""
    reached = check.target.descriptor
    return reached.translated and reached.proxy is not Proxy.NONE


def _after_timeout(check: Check) -> str:
    windows = check.source.os is OS.WINDOWS
    if _by_proxy(check):
        where = "HNS load balancers (Get-HnsPolicyList)" if windows else "kube-proxy's rules"
        return f"on the source's node look for the Service in {where}, then at its EndpointSlices"
    if check.target.descriptor.location is Location.EXTERNAL_ADDRESS and windows:
        return "look at the pod's OutBoundNAT policy and its exceptions (Get-HnsEndpoint)"
    way = "look for the packet on the way: routes, the tunnel where the network plugin makes one, NetworkPolicies, and firewalls of both nodes"
    if OS.WINDOWS in {check.source.os, check.target.os} and check.placement is Placement.OTHER_NODE:
        return f"{way}; nodes that are virtual machines need MAC address spoofing allowed"
    return way


def after_contradiction(observation: Observation) -> str:
    """Say what to look at where two witnesses differ."""
    lost = any(witnessed.subject is Subject.TUNNEL for witnessed in observation.witnessed)
    return AFTER_LOST_TUNNEL if lost else AFTER_CONTRADICTION


def after_lifting(limitation: AppliedLimitation) -> str:
    """Return what to do about a limitation that did not show."""
    where = f"{limitation.file}:{limitation.line}"
    return f"update {where}; {_BY_CATEGORY[limitation.category]}"


AFTER_FAILED_TARGET = "look at the target first: its pod, its EndpointSlice and its node"
AFTER_FAILED_SERVICE = (
    f"{AFTER_FAILED_TARGET}; where Services converged late or never for the probes of one node alone (the convergence "
    "records), at that node's kube-proxy"
)
AFTER_SILENT_DNS = (
    "look at the cluster's DNS first: its pods, their logs, its Service's EndpointSlice"
)
AFTER_LOSS = (
    "some packets were lost and others were not: look for loss on the way (errors and drops of the interfaces, a "
    "full connection table, a link or tunnel of one of both nodes)"
)
AFTER_SIZE = (
    "compare the MTU of Pods' interfaces with what the path carries, less what encapsulation takes where the network plugin "
    'encapsulates, and see whether ICMP "fragmentation needed" is let through'
)
AFTER_SLOWNESS = (
    "look for what delays packets: an overloaded node or link, a queue or policer on the way; of names, the cluster DNS, its "
    "load and its upstream servers"
)
AFTER_DISAGREEMENT = (
    "compare the attempts in the evidence: one backend of several may fail, or rules were still being "
    "programmed (the convergence records of the journal)"
)
AFTER_STALE = (
    "compare the Service's EndpointSlices with the rules on the source's node, and read the log of its kube-proxy "
    "from the moment when the Service was changed"
)
AFTER_LATENESS = (
    "read the log of that node's kube-proxy from the moment when the Service was made, and its sync_proxy_rules metrics; "
    "Windows programs a Service's load balancers within about a minute (timing.convergence of the cluster profile)"
)
AFTER_LATENESS_ON_LINUX = (
    "see whether that node's kube-proxy (or what replaces it) runs, and read its log from the moment when the Service was made, "
    "and its sync_proxy_rules metrics; rules follow within seconds on Linux (timing.convergenceLinux of the cluster profile)"
)
AFTER_PARTING = (
    "look for what that port alone lacks: its rule on the source's node, its entry in the EndpointSlices, "
    "and the process that listens behind it"
)
AFTER_CONTRADICTION = (
    "look for what rewrites packets between the two places (NAT and proxies on the way, policies of the network plugin, "
    "rules of the nodes' firewalls), and compare the plugin's configuration with what nodes have made of it "
    "(Get-HnsNetwork, ip -d link); nettests trace on this check shows every hop"
)
AFTER_LOST_TUNNEL = (
    f"see what takes the tunnel's UDP port between the two nodes: a virtualisation below that uses {VXLAN} itself (vSphere "
    "with NSX; give it another port), security groups, and firewalls of both nodes"
)
AFTER_WORKLOAD = (
    "read what the object's events and its Pods say (`kubectl describe` on one like it), then the logs of "
    "kube-controller-manager and kube-scheduler from that moment on"
)
AFTER_UNKNOWN_RULE = "compare what was found with what the documents demand"
"""A journal of another version may name a rule that this one does not have."""
AFTER_MISLEADING = (
    "look for a wildcard record or a stale one in the DNS suffixes that the source walks"
)
AFTER_KNOWN_BUG = (
    "nothing here is new: see the entry's sources for the release or update that mends it, and whether what runs on "
    "this cluster depends on it"
)
AFTER_DISTRUST = "repair the probe or its channel and run again; nothing is known of the network"
AFTER_UNREADY = "see why the node was not Ready (`kubectl describe node`), and run again once it is"
AFTER_INSTRUMENT = (
    "send what the tool said, so that the next version reads it: `nettests export` makes a bundle without names and "
    "addresses; what needs this tool on these nodes is not judged until then"
)
AFTER_OVERLOAD = (
    "run again when the probe's node, and the machine that runs nettests, have less to do, or lower "
    "`timing.perProbe` in the cluster profile"
)
AFTER_NO_PROOF = "repair what the control shows first; a negative result alone proves nothing"
AFTER_UNDECIDED = "state the fact in the cluster profile, or let nettests read it"


AFTER_GONE = "see who deleted, evicted or restarted it (`kubectl get events -A`, the memory and taints of its node), and run again"


AFTER_LOST = (
    "see whether a container of its Pod was restarted (its events, and the memory of its node), and whether the API "
    "server reaches the kubelet there; then run again"
)


AFTER_MISSING_PROGRAM = (
    "see in the evidence what the node or the runtime says, and whether the program is there (`where` in a HostProcess container of "
    "the node, the image of the Pod); what needs it stays unknown until it is"
)


AFTER_LOST_API = (
    "see why the API server was not reached from here for a while (its restarts and health, what stands between it and this "
    "machine): control channels lead through it; then run again"
)


AFTER_ADDRESSES = (
    "compare the addresses in the node's status (`kubectl get node -o yaml`) with those of its interfaces, and "
    "--node-ip of its kubelet"
)


@dataclass(frozen=True, slots=True)
class Late:
    """A Service that a probe waited for without an answer, and the node of that probe."""

    service: str
    probe: str
    node: str


def late_service(late: str) -> Late | None:
    """Return the Service that did not answer in time, with the probe and node that waited for it."""
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
