"""Which (target, probe) pairs a check waits for before it runs. Pure.

``convergence`` polls the pairs. Where a Service is documented to stay silent, it is not waited for.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from nettests.model.check import Action, Check, Target
from nettests.model.service import ByHand
from nettests.model.target_kinds import Location, Owner
from nettests.model.words import (
    OS,
    Family,
    Outcome,
    TargetKind,
)
from nettests.plan.targets import LOAD_BALANCED
from nettests.probes.addresses import SUBDOMAIN

_IN_QUESTION = {ByHand.MIXED_TARGET_PORTS, ByHand.TERMINATING}


@dataclass(frozen=True, slots=True, order=True)
class Pair:
    """A target that must answer (``kind`` and ``name``), and the probe pod that polls it."""

    kind: TargetKind
    name: str
    probe: str
    family: Family = Family.IPV4


def pairs_of(
    check: Check, probe_on: dict[str, str], sentinel: str | None = None
) -> frozenset[Pair]:
    """Return what must answer before ``check`` and its controls run.

    ``probe_on`` holds the probe pod of each node that has one. A node or an external vantage cannot
    dial: the probe pod of its node, or of the target's, stands in for it, because kube-proxy
    programs a node as a whole. ``sentinel`` is the Service that was created last: a node where it
    answers has the rules of all others, including those that should not answer. A Pod is polled on
    its own node only, because checks have a member for each pair of nodes.
    """
    pairs: set[Pair] = set()
    for action in (check.action, *(control.action for control in check.controls)):
        probes = _polling_pods(action, probe_on)
        if sentinel and action.target.service is not None:
            pairs |= {Pair(TargetKind.SERVICE_CLUSTERIP, sentinel, probe) for probe in probes}
        named = _named(action.target)
        if named is not None and not _expects_no_backend(check, action):
            served = probes & _served(action, probe_on)
            pairs |= {Pair(*named, probe, action.family) for probe in served}
    return frozenset(pairs)


def _expects_no_backend(check: Check, action: Action) -> bool:
    """Whether the target is a health check port of a node without a backend.

    It would be polled where a backend is, whose Service proxy need not offer such a port; the
    sentinel shows that the node in question has the rules.
    """
    at_health_port = action.target.descriptor.location is Location.HEALTH_CHECK_PORT
    return at_health_port and check.claim.outcome is Outcome.UNHEALTHY


def _polling_pods(action: Action, probe_on: dict[str, str]) -> set[str]:
    """Return the probe pods of the nodes whose Service proxy the action depends on."""
    nodes = {action.source.node, action.target.node}
    settings = action.target.settings
    local = settings is not None and settings.internal_local
    if action.target.pod is not None and action.target.service is None:
        nodes = {action.target.node}
    elif action.target.descriptor.owner is Owner.NODE_PORT:
        if action.target.kind is not TargetKind.HEALTH_CHECK_PORT:
            nodes = {action.target.node}  # no other node translates its addresses
    elif action.source.node in probe_on and not local:
        nodes = {action.source.node}
    probes = {probe_on[node] for node in nodes if node in probe_on}
    return probes or set(sorted(probe_on.values())[:1])


def _served(action: Action, probe_on: dict[str, str]) -> set[str]:
    """Return the probe pods that should get an answer; the others do not poll."""
    settings, own_probe = action.target.settings, probe_on.get(action.source.node or "")
    every = set(probe_on.values())
    if settings is not None and settings.internal_local:
        # Only clients on the backend's own node are served.
        return {probe_on.get(action.target.node or "", "")}
    if (
        settings is not None
        and settings.behind == "node"
        and action.source.node == action.target.node
    ):
        # Documented to stay silent on Windows: waiting for an answer would take a minute.
        return every - {own_probe or ""}
    if settings is not None and settings.publish_not_ready and action.source.os is OS.WINDOWS:
        # kube-proxy for Windows omits endpoints that do not serve (kubernetes/kubernetes#113776 and backports).
        return every - {own_probe or ""}
    return every


def _named(target: Target) -> tuple[TargetKind, str] | None:
    if target.settings is not None and target.settings.by_hand in _IN_QUESTION:
        return None  # whether its backends answer is what is tested
    if target.settings is not None and target.settings.no_endpoints:
        return None  # it never answers; the wait is for the ordinary Service of its control
    reached = target.descriptor
    if reached.owner is Owner.PODS:
        return target.kind, SUBDOMAIN
    balanced = reached.location is Location.LOAD_BALANCER
    # With its own settings a load balancer may answer at its address, or not.
    itself = reached.awaited_itself and (not balanced or target.settings == LOAD_BALANCED)
    if target.service is not None:
        by_name = target.name_form is not None
        otherwise = TargetKind.SERVICE_FQDN if by_name else TargetKind.SERVICE_CLUSTERIP
        return target.kind if itself else otherwise, target.service
    if target.pod is not None:
        return target.kind if itself else TargetKind.POD_IP, target.pod
    return None


def name_forms(checks: Iterable[Check]) -> dict[str, str]:
    """Return the template of each pod's name, if it is probed by name."""
    return {
        action.target.pod: action.target.name_form
        for check in checks
        for action in (check.action, *(control.action for control in check.controls))
        if action.target.kind is TargetKind.POD_NAME
        and action.target.pod
        and action.target.name_form
    }
