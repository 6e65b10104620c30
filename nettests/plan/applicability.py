"""Whether a candidate check can run on this cluster, and if not, why.

Fourth stage of planning: checks that cannot run become skips with a reason. Checks that a
documented limitation forbids still run: only a missing vantage, target or permission skips one.
"""

import json
from collections.abc import Collection, Iterable, Iterator
from typing import assert_never

from nettests.model.check import Action, Skip
from nettests.model.facts import ClusterFacts, ExternalTarget
from nettests.model.question import Trait
from nettests.model.service import ByHand
from nettests.model.target_kinds import Location, Owner, descriptor
from nettests.model.versions import KubernetesVersion
from nettests.model.words import (
    OS,
    CheckClass,
    Outcome,
    Protocol,
    Question,
    Resolver,
    VantageKind,
)
from nettests.model.workload import CRON_JOBS, Workload, workload_of
from nettests.plan import pod_security
from nettests.plan.flow import Flow, not_enabled
from nettests.plan.node_pools import why_not_on_windows
from nettests.plan.permissions import why_denied
from nettests.plan.pod_security import why_no_host_process, why_not_privileged
from nettests.plan.questions import Candidate
from nettests.rules.subjects import is_reported_later, subject_of, why_not_about

HINTS = KubernetesVersion.parse("1.24")
"""The first version that enables TopologyAwareHints by default (KEP-2433)."""
MOST_ZONES = 8
"""The most zones in an endpoint's hints (API reference, EndpointHints)."""
SCTP = KubernetesVersion.parse("1.19")
"""The first version that enables SCTPSupport by default (KEP-614)."""
SLICES = KubernetesVersion.parse("1.21")
POD_SECURITY = KubernetesVersion.parse("1.23")


def sift(
    probed: Iterable[tuple[Candidate, Action]],
    facts: ClusterFacts,
    enabled: Collection[CheckClass] = (),
) -> Iterator[tuple[Candidate, Action] | Skip]:
    """Yield each action that can run here and is enabled, and a skip for each other one."""
    for candidate, action in probed:
        flow = candidate.flow
        reason = (
            why_not(action, facts)
            or why_unseen(flow, facts)
            or next(
                filter(None, (not_enabled(check_class, enabled) for check_class in flow.classes)),
                "",
            )
        )
        yield flow.skipped(candidate.id, reason) if reason else (candidate, action)


def why_not(action: Action, facts: ClusterFacts) -> str:
    """Return why ``action`` cannot run here, or nothing."""
    return (
        why_not_on_windows(action, facts)
        or why_denied(action, facts)
        or _no_namespace_of_level(action, facts)
        or _forbidden_by_level(action, facts)
        or why_not_privileged(action, facts)
        or why_no_host_process(action, facts)
        or _no_pod_records(action, facts)
        or _no_slices(action, facts)
        or _no_cron_jobs(action, facts)
        or _no_hints(action, facts)
        or _no_sctp(action, facts)
        or _no_external_target(action, facts)
        or _no_external_vantage(action, facts)
        or _not_about_this(action, facts)
        or _no_name_server(action, facts)
        or _no_mtu(action, facts)
        or _no_mark_beyond_proxy(action, facts)
    )


def _forbidden_by_level(action: Action, facts: ClusterFacts) -> str:
    """Return what the action needs that the Pod Security level of the run's namespace forbids."""
    level = facts.pod_security.value or pod_security.PRIVILEGED
    what = ""
    if level != pod_security.PRIVILEGED and not (action.case and action.case.level):
        what = (
            "hostNetwork and HostProcess"
            if _on_hosts(action)
            else _forbidden_case(action, facts, level)
        )
        what = what or ("hostPort" if action.target.descriptor.owner is Owner.HOST_PORT else "")
    if level == pod_security.RESTRICTED and not what:
        what = _forbidden_ping(action)
    return f"the namespace's Pod Security level {level!r} forbids {what}" if what else ""


def _forbidden_ping(action: Action) -> str:
    """Return what a ping, or its Linux control, needs that level ``restricted`` forbids."""
    if action.question is not Question.PING:
        return ""
    if action.source.os is OS.LINUX:
        return "the capability NET_RAW that ping needs"
    if action.target.descriptor.location is Location.EXTERNAL_ADDRESS:
        return "the capability NET_RAW that a Linux pod needs for the ping that this one is compared with"
    return ""


def _no_namespace_of_level(action: Action, facts: ClusterFacts) -> str:
    """Checks of Pod Security levels need namespaces of the run's own, and a version with levels."""
    if action.case is None or not action.case.level:
        return ""
    if facts.namespace:
        return f"namespace {facts.namespace} is not the run's own: it makes none of another level"
    if facts.server_version < POD_SECURITY:
        return f"Kubernetes {facts.server_version} enforces no Pod Security levels: {POD_SECURITY} does"
    return ""


def _on_hosts(action: Action) -> bool:
    settings = action.target.settings
    return (
        action.source.kind is VantageKind.NODE
        or action.question is Question.WITNESS
        or action.answered_on_host
        or (settings is not None and settings.behind == "node")
    )


def _forbidden_case(action: Action, facts: ClusterFacts, level: str) -> str:
    """Return what the level forbids of a case's Pods that must be admitted or start."""
    case = action.case
    if case is None or not action.question.tries_objects:
        return ""
    os = facts.node(action.source.node).os if action.source.node else OS.WINDOWS
    refused = case.outcome is Outcome.REJECTED  # by validation, which comes before admission
    texts = [text for text in ("" if refused else case.object, case.counter) if text]
    items = [item for item in map(json.loads, texts) if item["kind"] == "Pod"]
    violations = (pod_security.forbidden(item["spec"], os, level) for item in items)
    return next(filter(None, violations), "")


def _no_pod_records(action: Action, facts: ClusterFacts) -> str:
    """DNS records of Pod addresses are optional."""
    if "{pod_address}" not in (action.target.name_form or "") or facts.pod_records.value:
        return ""
    served = "serves no" if facts.pod_records.known else "is not known to serve"
    return f"the cluster's DNS {served} records of pod addresses: {facts.pod_records.origin}"


def _no_slices(action: Action, facts: ClusterFacts) -> str:
    """EndpointSlices that the harness writes need the API ``discovery.k8s.io/v1``."""
    settings = action.target.settings
    if settings is None or settings.by_hand is None:
        return ""
    if facts.server_version >= SLICES:
        return ""
    return f"Kubernetes {facts.server_version} has no EndpointSlices of version v1: {SLICES} has"


def _no_cron_jobs(action: Action, facts: ClusterFacts) -> str:
    """CronJobs that the harness creates need the API ``batch/v1``."""
    if action.case is None or not action.question.tries_objects or not action.case.object:
        return ""
    kind = workload_of(json.loads(action.case.object))
    if kind is not Workload.CRON_JOB or facts.server_version >= CRON_JOBS:
        return ""
    return f"Kubernetes {facts.server_version} has no CronJobs of version v1: {CRON_JOBS} has"


def _no_hints(action: Action, facts: ClusterFacts) -> str:
    """kube-proxy follows hints if it knows its own zone and a hint names that zone."""
    settings = action.target.settings
    if settings is None or settings.by_hand is not ByHand.HINTED:
        return ""
    if facts.server_version < HINTS:
        return (
            f"kube-proxy {facts.server_version} looks at no topology hints by default: {HINTS} does"
        )
    node = facts.node(action.source.node or "")
    if node.zone.value is None:
        return f"the zone of {node.name} is not known: {node.zone.origin}"
    zones = {node.zone.value for node in facts.nodes if node.zone.value}
    if len(zones) > MOST_ZONES:
        return f"nodes stand in {len(zones)} zones; an endpoint is hinted for {MOST_ZONES} at most"
    return ""


def _no_sctp(action: Action, facts: ClusterFacts) -> str:
    """Not every version allows SCTP ports in Services."""
    settings = action.target.settings
    if settings is None or not settings.sctp or facts.server_version >= SCTP:
        return ""
    return f"Kubernetes {facts.server_version} takes no ports of SCTP by default: {SCTP} does"


def _no_external_target(action: Action, facts: ClusterFacts) -> str:
    external = facts.external_target
    missing = ""
    settings, reached = action.target.settings, action.target.descriptor
    by_address = reached.location is Location.EXTERNAL_ADDRESS
    by_name = reached.location is Location.EXTERNAL_NAME or bool(
        settings and settings.external_name
    )
    if not by_address and not by_name:
        return ""
    if external is None:
        return "the cluster profile declares no external target"
    if by_address and external.address is None:
        missing = "address"
    if by_name and external.name is None:
        missing = "name"
    if action.resolver is Resolver.SYSTEM and not (external.tcp_port or external.udp_port):
        missing = missing or "tcpPort to dial it by name"
    if Trait.CONNECTS in action.question.traits:
        missing = missing or _missing_port(action.protocol, external)
    return f"the external target of the cluster profile has no {missing}" if missing else ""


def _missing_port(protocol: Protocol, external: ExternalTarget) -> str:
    match protocol:
        case Protocol.TCP:
            return "" if external.tcp_port else "tcpPort"
        case Protocol.UDP:
            return "" if external.udp_port else "udpPort"
        case Protocol.ICMP:
            return ""
        case _:
            assert_never(protocol)


def why_unseen(flow: Flow, facts: ClusterFacts) -> str:
    """Return why the external target cannot report the source address that a flow claims, or nothing."""
    external = facts.external_target
    if (
        flow.source_seen is None
        or descriptor(flow.target).owner is not Owner.OUTSIDE
        or external is None
    ):
        return ""
    if external.reports_client_address:
        return ""
    return "the external target of the cluster profile does not tell whom it sees: reportsClientAddress"


def _no_external_vantage(action: Action, facts: ClusterFacts) -> str:
    if action.source.kind is not VantageKind.EXTERNAL:
        return ""
    if facts.external_vantage == "none":
        return "the cluster profile declares no external vantage"
    if not facts.from_outside(action.protocol):
        return f"the external vantage carries TCP only, not {action.protocol.value.upper()}"
    return ""


def _not_about_this(action: Action, facts: ClusterFacts) -> str:
    """A rule of configuration applies only to some clusters and nodes (``Case.when``).

    Conditions on facts that a node's vantage reads are decided later (``probes.configuration``).
    """
    if action.case is None:
        return ""
    node = facts.node(action.source.node) if action.source.node else None
    subjects = [
        subject
        for subject in map(subject_of, action.case.when)
        if not is_reported_later(subject, facts, node)
    ]
    return next(filter(None, (why_not_about(subject, facts, node) for subject in subjects)), "")


def _no_name_server(action: Action, facts: ClusterFacts) -> str:
    """Targets in the cluster's DNS, ``dnsPolicy: None`` and existing Services need an address."""
    named = action.source.dns_policy == "None"
    location = action.target.descriptor.location
    if location is Location.EXISTING_SERVICE and action.target.existing is None:
        return f"no existing Service can be dialled: {facts.existing_services.origin}"
    if (named or location is Location.DNS_SERVICE) and not facts.dns_address.known:
        return f"the address of the cluster's DNS is not known: {facts.dns_address.origin}"
    if named and not facts.cluster_domain.known:  # the Pod's search list contains it
        return f"the cluster's DNS domain is not known: {facts.cluster_domain.origin}"
    if location is Location.DNS_POD and not facts.dns_pods.value:
        return f"no pod of the cluster's DNS is known: {facts.dns_pods.origin}"
    return ""


def _no_mtu(action: Action, facts: ClusterFacts) -> str:
    if action.question is not Question.PING or action.size is None or facts.cni.mtu.known:
        return ""
    return f"the pods' MTU is not known: {facts.cni.mtu.origin}"


def _no_mark_beyond_proxy(action: Action, facts: ClusterFacts) -> str:
    """Captures identify connections by source port, which a userspace kube-proxy replaces."""
    if action.question is not Question.WITNESS or action.target.service is None:
        return ""
    node = facts.node(action.source.node or "")
    if node.kube_proxy.mode.value != "userspace":
        return ""
    return (
        f"kube-proxy of {node.name} runs in userspace mode: it opens a connection of its own to the backend, "
        "and no capture can tell whose that is"
    )
