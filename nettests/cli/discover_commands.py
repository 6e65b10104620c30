"""``nettests discover | plan | images | render``: the facts of a cluster, and the checks, images and objects of a run.

All only read; nothing is created in the cluster. ``render`` uses the same functions as deployment. No registry is contacted by
``images``, so a digest is known only if a node already has the image.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import asdict
from typing import Any

import click

from nettests import probes, terminal
from nettests.cli.help import Command
from nettests.cli.options import (
    CHECKS,
    CLUSTER,
    IDS,
    IMAGES,
    STARTS_PODS,
    CommonOptions,
    cluster_options,
    own_options,
)
from nettests.cli.output_options import json_option
from nettests.cluster import connect
from nettests.cluster.digests import digests_of
from nettests.cluster.owner_marks import lease_object
from nettests.model.check import Plan, counted
from nettests.model.cluster_profile import ClusterProfile
from nettests.model.codec import to_data
from nettests.model.expectation import Expectation
from nettests.model.facts import ClusterFacts, Fact, NodeFacts
from nettests.model.json_text import Object
from nettests.model.visible import plural
from nettests.model.words import OS
from nettests.model.yaml_text import write_yaml
from nettests.plan.images import needed_images
from nettests.plan.node_pools import unusable
from nettests.session.blueprint import Blueprint, blueprint, read_manifests
from nettests.session.prepare import blank_of, facts_of, profile_of
from nettests.session.report_dir import new_run_id
from nettests.session.run_objects import ownership
from nettests.session.run_options import RunOptions


@click.command(cls=Command, example="nettests discover --kubeconfig ~/.kube/config --json")
@cluster_options(CLUSTER)
@json_option("All facts with their origins, as JSON.")
def discover(*, common: CommonOptions, as_json: bool) -> None:
    """Show a cluster's facts, and why some are unknown."""
    with common.cluster() as options:
        facts = read_facts(options, profile_of(options))
    if as_json:
        terminal.document(to_data(facts))
        return
    terminal.lines(_described(facts))


@click.command(cls=Command, example="nettests plan --lab --flow=icmp-egress")
@cluster_options(CLUSTER, CHECKS, IDS)
@json_option("Checks with expectations, and skips, as JSON.")
def plan(*, common: CommonOptions, as_json: bool) -> None:
    """List the checks of a run, and the expected outcome of each.

    Each check is listed with the limitation entry that decides it. Reads the cluster; creates nothing.
    """
    tell_plan(read_blueprint(common), as_json=as_json)


def tell_plan(blueprint: Blueprint, *, as_json: bool) -> None:
    """Print a plan."""
    if as_json:
        terminal.document(_as_data(blueprint))
        return
    terminal.lines(planned_lines(blueprint))


def read_facts(options: RunOptions, profile: ClusterProfile) -> ClusterFacts:
    """Connect and discover; nothing is created."""
    with closing(connect(options.kubeconfig, options.context, profile.timing)) as connection:
        return facts_of(connection, profile, options)


def planned_on(
    common: CommonOptions, also: Callable[[RunOptions, ClusterProfile], None] | None = None
) -> tuple[ClusterProfile, Blueprint]:
    """Plan as a run would; return the plan with the cluster profile. ``also`` reads more while the cluster is open."""
    flows = common.registry().flows
    # Broken manifests are reported before a cluster is contacted or a lab started.
    read = read_manifests(common.options.manifests)
    with common.cluster() as options:
        profile = profile_of(options)
        facts = read_facts(options, profile)
        if also is not None:
            also(options, profile)
    return profile, blueprint(facts, flows, read, options.enabled, options.choice)


def read_blueprint(common: CommonOptions) -> Blueprint:
    """Read suites, manifests and the cluster, in this order, and plan."""
    return planned_on(common)[1]


def planned_lines(blueprint: Blueprint) -> Iterator[str]:
    """Yield the lines of a plan: each check with its expectation, each skip with its reason, and the totals."""
    for check in blueprint.plan.checks:
        swept = f", {counted([of.label for of in check.members])}" if check.members else ""
        yield f"{check.id}  {_expected(blueprint.expectations[check.id])}{swept}"
    for skip in blueprint.plan.skips:
        yield f"{skip.id}  skipped: {skip.reason}"
    yield _totals(blueprint.plan)
    if blueprint.remark:
        yield blueprint.remark


def _as_data(blueprint: Blueprint) -> dict[str, object]:
    return {
        "checks": [
            {**to_data(check), "expectation": to_data(blueprint.expectations[check.id])}
            for check in blueprint.plan.checks
        ],
        "skips": to_data(blueprint.plan.skips),
        "pods": to_data(blueprint.plan.pods),
        "services": to_data(blueprint.plan.services),
    }


def _expected(expectation: Expectation) -> str:
    if expectation.undecided:
        return f"undecided: {expectation.undecided}"
    words = "open" if expectation.expected is None else str(expectation.expected)
    return f"{words} ({expectation.limitation.id})" if expectation.limitation else words


def _totals(plan: Plan) -> str:
    flows = Counter(check.flow for check in plan.checks)
    return (
        f"{plural(len(plan.checks), 'check')} of {plural(len(flows), 'flow')}, {len(plan.skips)} skipped; "
        f"{plural(len(plan.pods), 'Pod')}, {plural(len(plan.services), 'Service')}"
    )


def _described(facts: ClusterFacts) -> Iterator[str]:
    yield f"context          {facts.context}"
    yield f"API server       {facts.server_git_version}"
    single: dict[str, Fact[Any]] = {
        "CNI plugin": facts.cni.plugin,
        "CNI backend": facts.cni.backend,
        "VXLAN VNI": facts.cni.vni,
        "VXLAN port": facts.cni.vxlan_port,
        "pod CIDRs": facts.pod_cidrs,
        "Service CIDRs": facts.service_cidrs,
        "DNS address": facts.dns_address,
        "cluster domain": facts.cluster_domain,
        "pod A records": facts.pod_records,
    }
    for name, fact in single.items():
        yield f"{name:16} {_value(fact)}"
    yield f"{'external target':16} {_external(facts)}"
    if facts.denied:
        yield f"{'denied':16} {', '.join(facts.denied)}"
    for node in facts.nodes:
        yield ""
        yield from _node(node)


def _node(node: NodeFacts) -> Iterator[str]:
    state = "Ready" if node.ready else "not Ready"
    cordoned = "" if node.schedulable else ", cordoned"
    yield f"{node.name}: {node.pool}, no. {node.member}, {state}{cordoned}"
    facts: dict[str, Fact[Any]] = {
        "kubelet": node.kubelet,
        "runtime": node.runtime,
        "CNI driver": node.cni_driver,
        "kube-proxy mode": node.kube_proxy.mode,
    }
    if node.os is OS.WINDOWS:
        facts = {
            "build": node.build,
            **facts,
            "DSR": node.kube_proxy.dsr,
            "source VIP": node.kube_proxy.source_vip,
            "HostProcess": node.host_process,
        }
    for name, fact in facts.items():
        yield f"  {name:16} {_value(fact)}"


def _value(fact: Fact[Any]) -> str:
    if fact.value is None:
        return f"unknown: {fact.origin}"
    value = fact.value
    if isinstance(value, bool):
        text = "yes" if value else "no"
    elif isinstance(value, tuple):
        text = ", ".join(map(str, value))
    else:
        text = str(value)
    return f"{text}  ({fact.origin})"


def _external(facts: ClusterFacts) -> str:
    target = facts.external_target
    vantage = f"vantage: {facts.external_vantage}{', UDP too' if facts.external_udp else ''}"
    if target is None:
        return f"none declared; {vantage}"
    return f"{target.address or 'no address'}, {target.name or 'no name'}; {vantage}"


@click.command(
    cls=Command,
    example="nettests images --kubeconfig ~/.kube/config --registry=registry.example/mirror",
)
@cluster_options(CLUSTER, IMAGES, CHECKS, IDS)
@own_options("images")
@json_option()
def images(*, common: CommonOptions, digests: bool, as_json: bool) -> None:
    """List the images that a run pulls, for a mirror.

    Copy them there, and name the mirror with --registry.
    """
    nodes: list[dict[str, Any]] = []

    def read_nodes(options: RunOptions, profile: ClusterProfile) -> None:
        connection = connect(options.kubeconfig, options.context, profile.timing)
        with closing(connection):
            nodes.extend(connection.items("/api/v1/nodes"))

    profile, blueprint = planned_on(common, read_nodes if digests else None)
    needed = needed_images(blueprint.plan, blueprint.facts, profile.images)
    known_digests = digests_of(nodes, [image.image for image in needed]) if digests else {}
    out = {node.name: unusable(node) for node in blueprint.facts.nodes if unusable(node)}
    if as_json:
        listed = [
            {**asdict(image), **({"digests": known_digests[image.image]} if digests else {})}
            for image in needed
        ]
        data = {"images": listed, "left_out": out}
        terminal.document(data)
        return
    for image in needed:
        terminal.line(image.image)
        for line in _pinned(known_digests[image.image]) if digests else ():
            terminal.line(f"  {line}")
        if image.image != image.origin:
            terminal.line(f"  a copy of {image.origin}")
        terminal.line(
            f"  for {image.purpose} on {', '.join(image.nodes)} ({'; '.join(image.platforms)})"
        )
    for name, reason in out.items():
        terminal.line(f"{name} is left out: {reason}")


def _pinned(references: tuple[str, ...]) -> tuple[str, ...]:
    """Return the digests of an image that nodes know, or how to find one."""
    if not references:
        return (
            "digest not known: no node names one; run once with --pre-pull, or query the registry",
        )
    if len(references) > 1:
        return ("nodes have different images by this name:", *references)
    return references


_WITHOUT_ADDRESSES = "in a run with the addresses of its pods, and owned by the Service"


@click.command(
    cls=Command, example="nettests render --kubeconfig ~/.kube/config --namespace=net-tests"
)
@cluster_options(*STARTS_PODS)
def render(*, common: CommonOptions) -> None:
    """Print every object that a run would create.

    Objects are printed in the order of creation, with a comment on what they expose.

    The last ones are short-lived: Pods that pull images, and Pods of single checks. Services that disruptive
    checks recreate are printed as they are created first.
    """
    profile, blueprint = planned_on(common)
    facts, run_id = blueprint.facts, new_run_id()
    marks = ownership(run_id)
    namespace = facts.namespace or f"nettests-{run_id}"
    blank = blank_of(marks.labels, profile, facts, namespace)
    items = [marks.marked(item) for item in probes.rendered(blueprint.plan, facts, blank)]
    if items:
        lease = lease_object(marks, namespace, profile.timing.lease)
        items.insert(0 if blank.existing else 1, lease)
    ports = probes.exposed_ports(items)
    for item in items:
        subject = f"{item['kind']} {item['metadata']['name']}"
        terminal.line("---")
        for port in ports:
            if port.object == subject:
                terminal.line(
                    f"# exposed: {port.way} leads to {port.protocol} {port.port}, {port.server}"
                )
        if item["kind"] == "EndpointSlice":
            terminal.line(f"# {_WITHOUT_ADDRESSES}")
        # Control characters are escaped; the YAML keeps its meaning.
        terminal.block(write_yaml(_without_secrets(item), ascii_only=True))


def _without_secrets(item: Object) -> Object:
    """Return an object without a Secret's content, which stays in the user's file."""
    if item["kind"] != "Secret":
        return item
    return {**item, "data": dict.fromkeys(item["data"], "")}
