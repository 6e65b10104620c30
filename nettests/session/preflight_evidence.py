"""Read the input of preflight: facts, plans, admission, quotas, leftovers, ports in use.

Does the I/O of ``nettests.preflight``: reads and dry runs only. A denied read is a finding, never
an error.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from nettests import probes
from nettests.cluster import ApiError, Connection, connect
from nettests.cluster.access import Access
from nettests.cluster.leftovers import find
from nettests.cluster.nodes import of_own_network
from nettests.cluster.owner_marks import lease_object
from nettests.cluster.permissions import by_quota, denied
from nettests.cluster.plugin_settings import CONFIG_MAPS as OF_PLUGINS
from nettests.cluster.profile_file import read_profile, ready_profiles
from nettests.errors import ClusterError
from nettests.model.check import Plan, ProbePod
from nettests.model.cluster_profile import ClusterProfile
from nettests.model.facts import ClusterFacts
from nettests.model.grouping import grouped
from nettests.model.json_text import Object
from nettests.model.labels import RUN_LABEL
from nettests.model.permission import (
    CONFIG_MAPS,
    CREATE_POD,
    FLANNEL_CONFIG_MAPS,
    LIST_NODES,
    LIST_WEBHOOKS,
    OF_CALICO,
    Permission,
    copying,
    reviewed,
)
from nettests.model.versions import KubernetesVersion
from nettests.model.words import OS
from nettests.parse.serving import serves
from nettests.plan import Flow, build
from nettests.plan.images import probe_image, why_not_served
from nettests.preflight import Evidence, Finding, findings, unreachable
from nettests.preflight.demand import Passing
from nettests.preflight.evidence import Remains, defaults_of, quotas_of
from nettests.preflight.rights import without_nodes
from nettests.preflight.space import NODE_PORTS
from nettests.preflight.webhooks import NAME_LABEL
from nettests.rules.readiness import lacking_agents
from nettests.session.prepare import blank_of, facts_of, profile_of
from nettests.session.run_objects import ownership
from nettests.session.run_options import RunOptions

FORBIDDEN = 403
WEBHOOKS = "/apis/admissionregistration.k8s.io/v1"
RUN_ID = "preflight"


@dataclass(frozen=True, slots=True, kw_only=True)
class Preflight:
    """The findings about a cluster, and the permissions that it denies."""

    findings: tuple[Finding, ...]
    missing: tuple[Permission, ...] = ()


def preflight(options: RunOptions, flows: Iterable[Flow]) -> Preflight:
    """Examine a cluster as a run of ``flows`` finds it; an unreachable cluster is a finding."""
    profile = profile_of(options)
    try:
        connection = connect(options.kubeconfig, options.context, profile.timing)
    except ClusterError as error:
        return Preflight(findings=(unreachable(error),))
    try:
        return _collect(connection, profile, options, tuple(flows))
    except ClusterError as error:
        return Preflight(findings=(unreachable(error, topic="discovery"),))
    finally:
        connection.close()


def _collect(
    connection: Connection, profile: ClusterProfile, options: RunOptions, flows: tuple[Flow, ...]
) -> Preflight:
    namespace = options.namespace or ""
    if denied(connection, (LIST_NODES,)):
        missing = denied(connection, _reviewed(KubernetesVersion(1, 0), namespace), namespace)
        return Preflight(findings=(without_nodes(missing),), missing=missing)
    facts = facts_of(connection, profile, options)
    missing = tuple(
        permission
        for permission in _reviewed(facts.server_version, namespace)
        if str(permission) in facts.denied
    )
    more = LIST_WEBHOOKS
    if profile.images.pull_secret or profile.images.pull_secret_file:
        more += copying(profile.images.pull_secret)
    missing += denied(connection, more, namespace)
    plan = options.choice.of(build(facts, flows, options.enabled), facts)
    whole = build(replace(facts, denied=()), flows, options.enabled)
    blank = blank_of({}, profile, facts, facts.namespace or f"nettests-{RUN_ID}")
    objects = probes.standing(plan, facts, blank)
    if probes.in_cluster(plan):
        objects.append(lease_object(ownership(RUN_ID), blank.namespace, profile.timing.lease))
    evidence = Evidence(
        server=connection.server,
        facts=facts,
        plan=plan,
        whole=whole,
        missing=missing,
        images={
            node.name: probe_image(profile.images, node.os, node.build.value)
            for node in facts.nodes
        },
        unserved=_unserved(facts, profile),
        objects=tuple(objects),
        passing=tuple(
            Passing(objects=some, at_once=number)
            for some, number in probes.short_lived_objects(plan, facts, blank, connection.bounds)
        ),
        exposed=_exposed(objects),
        ready={name: read_profile(path).facts for name, path in ready_profiles().items()},
    )
    evidence = _with_namespace(connection, evidence, profile)
    evidence = _with_webhooks(connection, _with_remains(connection, evidence))
    of_others = {name: _others(connection, name) for name in sorted(evidence.vantages)}
    evidence = replace(
        evidence,
        ports={name: dict(_held_ports(pods)) for name, pods in of_others.items()},
        unready={name: number for name, pods in of_others.items() if (number := _unready(pods))},
        lacking_agents=tuple(lacking_agents(_listed(connection, "/apis/apps/v1/daemonsets"))),
    )
    return Preflight(findings=findings(evidence), missing=missing)


def _reviewed(version: KubernetesVersion, namespace: str) -> tuple[Permission, ...]:
    of_plugins = [name for names in OF_PLUGINS.values() for name in names]
    config_maps = (*CONFIG_MAPS, FLANNEL_CONFIG_MAPS[0], *of_plugins)
    return reviewed(version, config_maps, own_namespace=not namespace, of_plugin=OF_CALICO)


def _unserved(facts: ClusterFacts, profile: ClusterProfile) -> dict[str, str]:
    reasons = {
        node.name: why_not_served(
            probe_image(profile.images, node.os, node.build.value), node.os, node.build.value
        )
        for node in facts.nodes
    }
    return {name: reason for name, reason in reasons.items() if reason}


NAMED = 3
"""How many objects a line names; a large cluster has one for each node."""


def _exposed(items: Sequence[Object]) -> tuple[str, ...]:
    objects = grouped(
        (
            f"{exposed_port.way} leads to {exposed_port.protocol} {exposed_port.port}, {exposed_port.server}",
            exposed_port.object,
        )
        for exposed_port in probes.exposed_ports(items)
    )
    return tuple(f"{port}: {_bounded(names)}" for port, names in objects.items())


def _bounded(names: Sequence[str]) -> str:
    more = len(names) - NAMED
    shown = ", ".join(names[:NAMED] if more > 0 else names)
    return f"{len(names)} objects, such as {shown}" if more > 0 else shown


def _with_namespace(
    connection: Connection, evidence: Evidence, profile: ClusterProfile
) -> Evidence:
    name = evidence.facts.namespace
    if not name:
        return evidence
    may_probe = CREATE_POD not in evidence.missing
    refusals = dict(_refusals(connection, evidence.facts, profile)) if may_probe else {}
    evidence = replace(evidence, refusals=refusals)
    try:
        quotas = connection.items(f"/api/v1/namespaces/{name}/resourcequotas")
        ranges = connection.items(f"/api/v1/namespaces/{name}/limitranges")
    except ApiError as error:
        return replace(evidence, unread=error.message)
    return replace(evidence, quotas=quotas_of(quotas), defaults=defaults_of(ranges))


def _refusals(
    connection: Connection, facts: ClusterFacts, profile: ClusterProfile
) -> Iterator[tuple[str, str]]:
    """Yield the kinds of Pods that the namespace refuses, each with the API server's message."""
    access = Access(connection)
    blank = blank_of({}, profile, facts, facts.namespace)
    for kind, pod in _sample_pods(facts):
        plan = Plan(checks=(), skips=(), pods=(pod,), services=())
        (item,) = probes.pods(plan, facts, blank)
        status, body = access.dry_run(item)
        if status == FORBIDDEN and not by_quota(body):  # quotas are a topic of their own
            yield kind, _refusal_reason(body)


def _sample_pods(facts: ClusterFacts) -> Iterator[tuple[str, ProbePod]]:
    for os in OS:
        node = next((node for node in facts.nodes if node.os is os), None)
        if node is None:
            continue
        for kind, purpose in (("pod", "server"), ("node", "node")):
            name = f"{RUN_ID}-{kind}-{os.value}"
            yield (
                f"{kind}-{os.value}",
                ProbePod(name=name, purpose=purpose, node=node.name, os=os, pool=node.pool),
            )


def _refusal_reason(body: str) -> str:
    # sample: pods "x" is forbidden: violates PodSecurity "baseline:latest": host namespaces (…)
    return body.partition(" is forbidden: ")[2].partition('","')[0].replace('\\"', '"') or body


def _with_remains(connection: Connection, evidence: Evidence) -> Evidence:
    """Add objects of earlier runs; watch the Leases in a namespace that this run would use."""
    name = evidence.facts.namespace
    try:
        leftovers = find(connection, namespaces=(name,) if name else (), watch=bool(name))
    except ApiError as error:
        return replace(evidence, unlisted=error.message)
    remains = tuple(
        Remains(
            run=leftover.ownership.run,
            owner=leftover.ownership.owner,
            namespace=leftover.namespace,
            state=leftover.state.value,
            objects=len(leftover.objects),
        )
        for leftover in leftovers
    )
    return replace(evidence, remains=remains)


def _with_webhooks(connection: Connection, evidence: Evidence) -> Evidence:
    """Add the webhook configurations, and the labels by which they select the run's namespace."""
    name = evidence.facts.namespace
    try:
        listed = [
            item | {"kind": kind}
            for kind in ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")
            for item in connection.items(f"{WEBHOOKS}/{kind.lower()}s")
        ]
        namespaces = (item for item in evidence.objects if item["kind"] == "Namespace")
        here = connection.get(f"/api/v1/namespaces/{name}") if name else next(namespaces, {})
    except ApiError as error:
        return replace(evidence, webhooks_unread=error.message)
    metadata = here.get("metadata") or {}
    labels = {NAME_LABEL: metadata.get("name", ""), **(metadata.get("labels") or {})}
    return replace(evidence, webhooks=tuple(listed), namespace_labels=labels)


def _listed(connection: Connection, path: str, **query: str) -> list[Object]:
    """Return the listed objects, or none where listing is denied."""
    try:
        return connection.items(path, **query)
    except ApiError:
        return []


def _others(connection: Connection, node: str) -> list[Object]:
    """Return the Pods of a node that belong to no run, if they may be listed."""
    listed = _listed(connection, "/api/v1/pods", fieldSelector=f"spec.nodeName={node}")
    return [pod for pod in listed if RUN_LABEL not in (pod["metadata"].get("labels") or {})]


def _unready(pods: Sequence[Object]) -> int:
    """Return how many Pods are in the pod network, or 0 if any of them is Ready."""
    of_network = [pod for pod in pods if any(of_own_network([pod]))]
    return 0 if any(map(serves, of_network)) else len(of_network)


def _held_ports(pods: Sequence[Object]) -> Iterator[tuple[int, str]]:
    for item in pods:
        metadata, spec = item["metadata"], item["spec"]
        for port in _ports(spec):
            if port in NODE_PORTS:
                yield port, f"pod {metadata['namespace']}/{metadata['name']}"


def _ports(spec: Mapping[str, Any]) -> Iterator[int]:
    for container in spec.get("containers") or ():
        for port in container.get("ports") or ():
            yield port.get("hostPort") or (port["containerPort"] if spec.get("hostNetwork") else 0)
