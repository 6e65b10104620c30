"""When positive controls make a result believable (ARCHITECTURE, trust rule 4).

Used by ``verdicts``. "Timed out" proves nothing unless, in the same window, this vantage reached
something by this protocol and this target answered another vantage; one path may show both. "One backend
answered" proves nothing unless several could.
"""

from nettests.model.check import Check
from nettests.model.expectation import Expectation, Expected, KnownBug
from nettests.model.observation import NOT_RUN, ControlResult, Observation
from nettests.model.service import Crowd
from nettests.model.words import OS, Distribution, Outcome

AFTER_PORTS = (
    "see how many ports the node hands out and how many are taken (netsh int ipv4 show dynamicport tcp, show "
    "excludedportrange tcp; netstat -ano), and which limit a NAT or an outbound rule outside has for it"
)
AFTER_PORTS_ON_LINUX = (
    "see how many ports and flows the node holds (net.ipv4.ip_local_port_range, nf_conntrack_count beside "
    "nf_conntrack_max), and which limit a NAT or an outbound rule outside has for it"
)
AFTER_CROWD = (
    "read the log of that node's kube-proxy from then on (hcnCreateLoadBalancer, 0x803b0013: the ports are used up, of which each "
    "load balancer without DSR takes 64), and compare hnsdiag list loadbalancers with the Services"
)
AFTER_CROWD_ON_LINUX = (
    "read the log of that node's kube-proxy from then on, and its metrics sync_proxy_rules_duration_seconds and "
    "network_programming_duration_seconds"
)
AFTER_LEFTOVERS = (
    "compare hnsdiag list loadbalancers with the Services: kube-proxy removes what it remembers alone; read its log from the "
    "removal on, and restart it, which clears what HNS has of it"
)
AFTER_LEFTOVERS_ON_LINUX = (
    "compare the node's rules (nft list table ip kube-proxy, iptables-save -t nat, ipvsadm -Ln) with the Services, and read the log of "
    "its kube-proxy from their removal on"
)


def after_limit(check: Check) -> str:
    """Return what to look at, in words of the source's system."""
    windows = check.source.os is OS.WINDOWS
    settings = check.target.settings
    crowd = settings.crowd if settings is not None else None
    if crowd is None:
        return AFTER_PORTS if windows else AFTER_PORTS_ON_LINUX
    if crowd is Crowd.REMOVED:
        return AFTER_LEFTOVERS if windows else AFTER_LEFTOVERS_ON_LINUX
    return AFTER_CROWD if windows else AFTER_CROWD_ON_LINUX


def showing(expectation: Expectation, observation: Observation) -> tuple[KnownBug, ...]:
    """Return the bugs of an open expectation that were observed, in the order of their entries."""
    return tuple(bug for bug in expectation.known_bugs if _seen(bug.shows, observation))


def is_allowed(expectation: Expectation, observation: Observation) -> bool:
    """Whether an open outcome is one that the documents allow for.

    None allows that no connection at all succeeds where it names a number beyond which connections fail.
    """
    if observation.flows is not None and not observation.flows.connected:
        return False
    return not expectation.among or observation.outcome in expectation.among


def _seen(shows: Expected, observation: Observation) -> bool:
    if not shows.outcome.positive:
        return any(attempt.outcome in shows.outcomes for attempt in observation.attempts)
    return (
        observation.outcome in shows.outcomes
        and shows.source_seen in {None, observation.source_seen, *observation.sources_seen}
        and shows.distribution in {None, observation.distribution}
    )


VANTAGE = "vantage"
TARGET = "target"
PATH = "path"


def needs_controls(observation: Observation) -> bool:
    """Whether an observation is conclusive only with positive controls."""
    if observation.outcome in {Outcome.DEVIATES, Outcome.CUT_SHORT}:
        return False  # it was read directly: there is no time-out to explain
    one_backend = observation.distribution is Distribution.ONE_BACKEND
    return one_backend or not observation.outcome.positive


def why_not_proven(observation: Observation) -> str:
    """Return why the controls do not prove a result that needs them, or nothing."""
    for control in observation.controls:
        if not control.ok:
            return f"its {control.proves} control failed ({control.detail})"
    shown = {control.proves for control in observation.controls}
    needed = {TARGET} if observation.outcome.positive else {VANTAGE, TARGET}
    missing = set() if PATH in shown else needed - shown
    if missing:
        return f"no {sorted(missing)[0]} control could be run on this cluster"
    return ""


def why_vantage_fails(observation: Observation) -> str:
    """Return why nothing shows that this vantage reaches anything by this protocol, or nothing."""
    controls = [control for control in observation.controls if control.proves in {VANTAGE, PATH}]
    if any(control.ok for control in controls):
        return ""
    if not controls:
        return "no vantage control could be run on this cluster"
    return f"its {controls[0].proves} control failed ({controls[0].detail})"


def failed_target(observation: Observation) -> ControlResult | None:
    """Return the control that shows that no other vantage reaches the target either.

    A control that was not run, or whose own probe was not reached, shows nothing about the target.
    """
    failed = (
        control
        for control in observation.controls
        if control.proves == TARGET and not control.ok and _met_network(control)
    )
    return next(failed, None)


def _met_network(control: ControlResult) -> bool:
    """Whether a control that failed met the network."""
    # sample: probe_failed: control channel port-forward: port-forward to p: …
    return control.detail != NOT_RUN and not control.detail.startswith(Outcome.PROBE_FAILED.value)


def unseen_part(observation: Observation, *, source: bool, distribution: bool) -> str:
    """Return which part of an asserted result no answer showed, or nothing."""
    if not observation.outcome.positive:
        return ""
    if source and observation.source_seen is None:
        return "no answer told which source address the server saw"
    if distribution and observation.distribution is None:
        return "no answers told which backends share the connections"
    return ""
